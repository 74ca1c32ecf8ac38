"""The kernel for processors: a few networks are read once, trained over all epochs, and written once.

The loop's own learner is traced for one string, and LLVM compiles it into one function over vectors with a lane per network
(`writing`). That function goes through all stages, epochs and strings of a script for one vector of networks after another, so
that their weights and moments stay in registers and the first cache. Nothing in it depends on how many networks there are or
which core runs it: the same seed gives the same weights whatever stands beside it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, c_int64, c_void_p
from functools import cache
from threading import Lock
from typing import Any

import jax
import numpy as np
from llvmlite import binding, ir

from tallystick.cells import Cell
from tallystick.languages.tasks import Task
from tallystick.training.fused.numbering import SEEDS, Numbers, numbers
from tallystick.training.fused.programs import Layout, Program, Traced, program_of, shapes_of, trace
from tallystick.training.fused.script import Script, Shape
from tallystick.training.fused.vectors import FLOATS, INTEGER, Value, Vectors, type_of
from tallystick.training.fused.writing import Writer
from tallystick.training.methods import Method
from tallystick.training.weights import AnyWeights, PerSeed

_LONG = ir.IntType(64)
_POINTER = ir.IntType(8).as_pointer()
_LOCK = Lock()


LANES = 64
"""Every layout's number of lanes divides this."""

_FEW_WEIGHTS, _SOME_WEIGHTS = 6, 16


def layout_for(shapes: tuple[tuple[int, ...], ...], precision: str) -> Layout:
    """Return the layout that measured best: the more numbers a network has, the fewer networks stay in the first cache.

    Two quotients share a reciprocal.
    """
    weights = sum(int(np.prod(shape)) for shape in shapes)
    lanes = LANES if weights <= _FEW_WEIGHTS else LANES // 2 if weights <= _SOME_WEIGHTS else LANES // 4
    return Layout(lanes if precision == "float32" else min(lanes, LANES // 2), sharing=2)


def train_on_processor(
    weights: AnyWeights,
    script: Script,
    *,
    shape: Shape,
    kind: type[Cell],
    task: Task,
    method: Method,
    layout: Layout | None = None,
) -> tuple[AnyWeights, PerSeed]:
    """Train networks; return their weights and how many strings each network got right. A last vector is filled up."""
    chosen = layout or layout_for(shapes_of(weights), str(weights.example.dtype))
    program = program_of(weights, str(script.asked.dtype), shape, kind, task, method, chosen)
    with _LOCK:  # several blocks begin at once, and the first of them compiles
        run = _function(program)
    leaves, structure = jax.tree.flatten(weights)
    precision, gradients, seeds = np.dtype(program.precision), np.dtype(program.gradients), leaves[0].shape[-1]
    networks = -(-seeds // program.layout.lanes) * program.layout.lanes
    inputs = [np.ascontiguousarray(np.take(leaf, np.arange(networks), -1, mode="clip")) for leaf in leaves]
    ends, right = [np.empty_like(leaf) for leaf in inputs], np.empty(networks, precision)
    bits = np.arange(shape.tokens)
    tokens = [((np.asarray(word)[:, None] >> bits) & 1).astype(gradients) for word in (script.opening, script.closing)]
    arrays = [*inputs, *ends, right, *tokens, np.asarray(script.asked, gradients), np.asarray(script.stages, np.int32)]
    arrays += [np.asarray(table, precision) for table in (*script.folded, script.temperature)]
    arrays += [np.asarray(number, precision) for number in (script.strength, script.learning_rate)]
    arrays = list(map(np.ascontiguousarray, arrays))
    pointers = np.array([array.ctypes.data for array in arrays], np.int64)
    run(pointers.ctypes.data, networks, len(script.stages))
    return jax.tree.unflatten(structure, [end[..., :seeds] for end in ends]), right[:seeds]


# --- The function ---------------------------------------------------------------------------------------------------------------


@cache
def _function(program: Program) -> Callable[[int, int, int], None]:
    """Compile the training of one kind of network; it takes where the arrays are, and how many networks and stages there are."""
    traced = trace(program)
    module = ir.Module("training")
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_POINTER.as_pointer(), _LONG, _LONG]), "train")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    _Training(builder, program, traced, *function.args).write()
    builder.ret_void()
    return _compile(module)


class _Training:
    """Writes the loops around the traced programs."""

    def __init__(
        self, builder: ir.IRBuilder, program: Program, traced: Traced, arrays: Value, networks: Value, stages: Value
    ) -> None:
        self._build, self._program, self._traced = builder, program, traced
        self._networks, self._stage_count = networks, stages
        self._vectors = Vectors(builder, program.layout.lanes)
        # In float64 products are rounded as the compiled scan rounds them, so that the two stay together.
        self._writer = Writer(self._vectors, multiply_adds=("float32",))
        self._own, self._seen = FLOATS[program.precision], FLOATS[program.gradients]
        leaves = len(program.shapes)
        kinds = [self._own] * (2 * leaves + 1) + [self._seen] * 3 + [INTEGER] + [self._own] * 5
        pointers = [
            builder.bitcast(builder.load(builder.gep(arrays, [ir.Constant(_LONG, place)])), kind.as_pointer())
            for place, kind in enumerate(kinds)
        ]
        self._inputs, self._ends, self._right = pointers[:leaves], pointers[leaves : 2 * leaves], pointers[2 * leaves]
        tables = pointers[2 * leaves + 1 :]
        self._opening, self._closing, self._asked, self._stages, *self._folded, self._temperature, strength, rate = (
            tables
        )
        self._numbers = [self._single(builder.load(number)) for number in (strength, rate)]
        self._state = [self._room(part) for part in traced.kept]
        self._score, self._done = builder.alloca(self._vectors.vector(self._own)), builder.alloca(_LONG)

    def write(self) -> None:
        """Write the training of one vector of networks after another."""
        lanes = ir.Constant(_LONG, self._program.layout.lanes)
        with _count(self._build, self._build.sdiv(self._networks, lanes)) as block:
            self._write_block(self._build.mul(block, lanes))

    def _write_block(self, lane: Value) -> None:
        build, traced = self._build, self._traced
        initial = [
            numbers([self._lanes_at(pointer, place, lane) for place in range(int(np.prod(shape)))], (*shape, SEEDS))
            for pointer, shape in zip(self._inputs, self._program.shapes, strict=True)
        ]
        nothing = [self._single(ir.Constant(self._own, 0))] * 3
        none = self._vectors.spread(ir.Constant(self._own, 0))
        build.store(none, self._score)
        self._keep(self._writer.write(traced.start, [*initial, *nothing, *self._numbers]))
        build.store(ir.Constant(_LONG, 0), self._done)
        with _count(build, self._stage_count) as stage:
            strings, epochs = self._stage(stage)
            with _count(build, epochs):
                build.store(none, self._score)  # right answers count in the last epoch of the last stage
                with _count(build, strings) as place:
                    *student, right = self._writer.write(traced.step, self._arguments(initial, place))
                    self._keep(student)
                    right = self._vectors.spread(right.values.item())
                    build.store(build.fadd(build.load(self._score), right), self._score)
        temperature = self._single(self._temperature_after(build.load(self._done)))
        ended = self._writer.write(
            traced.weights, [*initial, *nothing[:2], temperature, *self._numbers, *self._student()]
        )
        for pointer, end in zip(self._ends, ended, strict=True):
            for place, value in enumerate(end.values.ravel()):
                self._store(pointer, place, lane, value)
        self._store(self._right, 0, lane, build.load(self._score))

    def _arguments(self, initial: list[Numbers], place: Value) -> list[Numbers]:
        """Return what a step reads: the corrections, the string, what is asked of it, and the student."""
        build, shape = self._build, self._program.shape
        done = build.load(self._done)
        build.store(build.add(done, ir.Constant(_LONG, 1)), self._done)
        tables = [*(self._entry(table, done) for table in self._folded), self._temperature_after(done)]
        opening, closing = (self._row(table, place, shape.tokens) for table in (self._opening, self._closing))
        tokens = [value for pair in zip(opening, closing, strict=True) for value in pair]
        rows = shape.tokens if shape.every_token else 1
        asked = self._row(self._asked, place, rows * shape.targets + shape.outputs)
        singles = [*map(self._single, tables), *self._numbers, *map(self._single, [*tokens, *asked])]
        return [*initial, *singles, *self._student()]

    def _temperature_after(self, done: Value) -> Value:
        sharpens = self._program.method.sharpens
        return self._entry(self._temperature, done if sharpens else ir.Constant(_LONG, 0))

    # --- Numbers in memory ---

    def _single(self, value: Value) -> Numbers:
        return numbers([value], ())

    def _room(self, part: Any) -> Value:  # noqa: ANN401 -- a shape and its dtype
        element = type_of(part.dtype)
        return self._build.alloca(self._vectors.vector(element) if SEEDS in part.shape else element)

    def _student(self) -> list[Numbers]:
        return self._traced.put_together([self._build.load(room) for room in self._state])

    def _keep(self, student: list[Numbers]) -> None:
        for value, room in zip(self._traced.take_apart(student), self._state, strict=True):
            is_vector = isinstance(room.type.pointee, ir.VectorType)
            self._build.store(self._vectors.spread(value) if is_vector else value, room)

    def _stage(self, stage: Value) -> tuple[Value, Value]:
        """Return how many strings a stage has, and how many epochs."""
        strings, epochs = (self._build.sext(number, _LONG) for number in self._row(self._stages, stage, 2))
        return strings, epochs

    def _entry(self, table: Value, place: Value) -> Value:
        return self._build.load(self._build.gep(table, [place]))

    def _row(self, table: Value, row: Value, width: int) -> list[Value]:
        start = self._build.mul(row, ir.Constant(_LONG, width))
        return [self._entry(table, self._build.add(start, ir.Constant(_LONG, place))) for place in range(width)]

    def _lanes_at(self, pointer: Value, number: int, lane: Value) -> Value:
        return self._build.load(self._place(pointer, number, lane), align=self._alignment)

    def _store(self, pointer: Value, number: int, lane: Value, value: Value) -> None:
        self._build.store(self._vectors.spread(value), self._place(pointer, number, lane), align=self._alignment)

    def _place(self, pointer: Value, number: int, lane: Value) -> Value:
        """Return where a number of the networks from a lane on stands: the networks are the last axis."""
        row = self._build.mul(self._networks, ir.Constant(_LONG, number))
        place = self._build.gep(pointer, [self._build.add(row, lane)])
        return self._build.bitcast(place, self._vectors.vector(self._own).as_pointer())

    @property
    def _alignment(self) -> int:
        return np.dtype(self._program.precision).itemsize


@contextmanager
def _count(builder: ir.IRBuilder, end: Value) -> Iterator[Value]:
    """Write a loop that counts from 0 to an end; what is written inside is its body."""
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    number = builder.phi(_LONG)
    number.add_incoming(ir.Constant(_LONG, 0), before)
    builder.cbranch(builder.icmp_signed("<", number, end), body, after)
    builder.position_at_end(body)
    yield number
    number.add_incoming(builder.add(number, ir.Constant(_LONG, 1)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)


# --- The compiler ---------------------------------------------------------------------------------------------------------------


@cache
def _machine() -> binding.TargetMachine:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features().flatten()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(cpu=binding.get_host_cpu_name(), features=features, opt=3)


_KEPT: list[Any] = []
"""What the compiled functions live in."""


def _compile(module: ir.Module) -> Callable[[int, int, int], None]:
    machine = _machine()
    parsed = binding.parse_assembly(str(module))
    options = binding.create_pipeline_tuning_options(speed_level=2)
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    _KEPT.append(engine)
    return CFUNCTYPE(None, c_void_p, c_int64, c_int64)(engine.get_function_address("train"))
