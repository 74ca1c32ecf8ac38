"""The kernel for processors: a few networks are read once, trained over all epochs, and written once.

The loop's own learner is traced for one string, and LLVM compiles it into one function over vectors with a lane per network
(`numbering`). That function goes through all stages, epochs and strings of a script for one block of vectors after another, so
that their weights and moments stay in registers and the first cache. A step may be cut into phases (`graph.Phases`): while one
vector is in the second, the next one is in the first, and the processor waits less. Nothing depends on how many networks there
are or which core runs them: the same seed gives the same weights whatever stands beside it.
"""

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, c_int64, c_void_p
from functools import cache
from itertools import chain
from math import prod
from threading import Lock
from typing import Any, NamedTuple

import jax
import numpy as np
from llvmlite import binding, ir

from tallystick.cells import Cell
from tallystick.languages.tasks import Task
from tallystick.training.fused.graph import INPUT, Phases, Place, Step, Writing, phases_for, share_reciprocals
from tallystick.training.fused.numbering import SEEDS, Numbers, Writer, numbers
from tallystick.training.fused.programs import SHARING, Layout, Program, Traced, note_step, program_of, shapes_of, trace
from tallystick.training.fused.vectors import FLOATS, INTEGER, Value, Vectors, type_of
from tallystick.training.lessons import Script, Shape
from tallystick.training.methods import Method
from tallystick.training.weights import AnyWeights, PerSeed

_LONG = ir.IntType(64)
_POINTER = ir.IntType(8).as_pointer()
_LOCK = Lock()


_FLUSH = 0x8040
"""The bits of x86's register MXCSR by which results below the normal numbers become 0, and operands count as 0."""

_REGISTER = {"float32": 16, "float64": 8}
"""Lanes of the widest vectors that processors have."""

_FEW_WEIGHTS, _SOME_WEIGHTS = 30, 60
"""The most weights of a network for which three phases pay, and counting right answers is a good part of a step; and the most for
which two pay. With more, there is enough to do beside a root or a quotient, and phases have more numbers than registers hold."""

_THREES = range(7, 17)
"""The weights of networks of doubles in which three quotients, not two, share a reciprocal. Quotients of doubles take long, and
the nine or ten weights that a linear cell has with three outputs need fewer of them in threes."""

_FEW_TOKENS = 2
"""The most tokens for which doubles are divided as singles are: a step then has too little else to do while it waits."""

_VECTORS = 12
"""The vectors of a block of networks with few weights: a multiple of any number of phases, and few enough for the first cache."""


@cache
def with_best_layout(program: Program) -> Program:
    """Return a program, given with single vectors, in the layout that measured best; all layouts round alike.

    Of networks with few weights, several vectors are in different phases of a step at the same time, so that the wait for a root
    or a quotient of one is filled by the products of the others. Of larger networks a step has enough to do of its own.
    """
    weights = sum(map(prod, program.shapes))
    if weights > _SOME_WEIGHTS:
        return program
    few = weights <= _FEW_WEIGHTS
    phases = phases_for(_step_of(program, counts=False), most=3 if few else 2)
    layout = program.layout._replace(vectors=_VECTORS if few else phases, phases=phases, counts_apart=few)
    return program._replace(layout=layout)


def _step_of(program: Program, *, counts: bool) -> Step:
    """Return a step as it is written: with slopes in doubles, what has the same divisor is multiplied by its reciprocal."""
    step = note_step(trace(program), counts=counts)
    return share_reciprocals(step) if program.gradients == "float64" and program.shape.tokens > _FEW_TOKENS else step


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
    """Train networks; return their weights and how many strings each network got right. The last vectors are filled up."""
    precision = str(weights.example.dtype)
    has_threes = sum(map(prod, shapes_of(weights))) in _THREES and shape.tokens > _FEW_TOKENS
    single = Layout(_REGISTER[precision], 3 if precision == "float64" and has_threes else SHARING)
    program = program_of(weights, str(script.asked.dtype), shape, kind, task, method, layout or single)
    with _LOCK:  # several blocks begin at once, and the first of them compiles
        program = program if layout else with_best_layout(program)
        run = _function(program)
    leaves, structure = jax.tree.flatten(weights)
    precision, gradients, seeds = np.dtype(program.precision), np.dtype(program.gradients), leaves[0].shape[-1]
    together = program.layout.lanes * program.layout.phases
    networks = -(-seeds // together) * together
    inputs = [leaf if networks == seeds else leaf.take(np.arange(networks), -1, mode="clip") for leaf in leaves]
    ends, right = [np.empty(leaf.shape, precision) for leaf in inputs], np.empty(networks, precision)
    tables = [np.asarray(table, gradients) for table in (script.opening, script.closing, script.asked)]
    arrays = [*inputs, *ends, right, *tables, np.asarray(script.stages, np.int32)]
    arrays += [np.asarray(table, precision) for table in (script.folded.rate, script.folded.offset, script.temperature)]
    arrays += [np.asarray(number, precision) for number in (script.strength, script.learning_rate)]
    arrays = list(map(np.ascontiguousarray, arrays))
    pointers = np.array([array.ctypes.data for array in arrays], np.int64)
    run(pointers.ctypes.data, networks, len(script.stages))
    return jax.tree.unflatten(structure, [end[..., :seeds] for end in ends]), right[:seeds]


def forget_compiled() -> None:
    """Forget the compiled kernels, so that each is compiled anew: for measurements that write operations in other ways."""
    _function.cache_clear()


# --- The function ---------------------------------------------------------------------------------------------------------------


@cache
def _function(program: Program) -> Callable[[int, int, int], None]:
    """Compile the training of one kind of network; it takes where the arrays are, and how many networks and stages there are."""
    traced = trace(program)
    module = ir.Module("training")
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_POINTER.as_pointer(), _LONG, _LONG]), "train")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    with _without_subnormals(builder):
        _Training(builder, program, traced, *function.args).write()
    builder.ret_void()
    return _compile(module)


class _At(NamedTuple):
    """Which step it is: of which vector of a block, on which string, after how many steps."""

    vector: Value
    string: Value
    done: Value


class _Cut(NamedTuple):
    """A step, its phases, and where their vectors keep what later phases read."""

    step: Step
    phases: Phases
    rooms: dict[Place, Value]


class _Training:
    """Writes the loops around the traced programs."""

    def __init__(
        self, builder: ir.IRBuilder, program: Program, traced: Traced, arrays: Value, networks: Value, stages: Value
    ) -> None:
        assert not program.layout.vectors % program.layout.phases, "a phase without a vector of its own"
        self._build, self._program, self._traced = builder, program, traced
        self._networks, self._stage_count = networks, stages
        self._vectors = Vectors(builder, program.layout.lanes)
        self._writer = Writer(self._vectors, multiply_adds=tuple(FLOATS))
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
        self._score, self._done = self._rooms(self._vectors.vector(self._own)), builder.alloca(_LONG)
        counting = (False, True) if program.layout.counts_apart else (True,)
        self._steps = {counts: self._cut(_step_of(program, counts=counts)) for counts in counting}

    def _cut(self, step: Step) -> _Cut:
        phases = Phases(step, self._program.layout.phases)
        rooms = {place: self._rooms(self._vectors.vector(type_of(kind))) for place, kind in phases.crossing.items()}
        return _Cut(step, phases, rooms)

    def write(self) -> None:
        """Write the training of one block of networks after another; the last block may have fewer vectors."""
        build, most = self._build, ir.Constant(_LONG, self._program.layout.vectors)
        lanes = ir.Constant(_LONG, self._program.layout.lanes)
        vectors = build.sdiv(self._networks, lanes)
        blocks = build.sdiv(build.add(vectors, build.sub(most, ir.Constant(_LONG, 1))), most)
        with _count(build, blocks) as block:
            first = build.mul(block, most)
            left = build.sub(vectors, first)
            size = build.select(build.icmp_signed("<", left, most), left, most)
            self._write_block(first, size)

    def _write_block(self, first: Value, size: Value) -> None:
        build, traced = self._build, self._traced
        nothing = [self._single(ir.Constant(self._own, 0))] * 3
        with _count(build, size) as vector:
            initial = self._initial(first, vector)
            self._keep(vector, self._writer.write(traced.start, [*initial, *nothing, *self._numbers]))
        build.store(ir.Constant(_LONG, 0), self._done)
        last = build.sub(self._stage_count, ir.Constant(_LONG, 1))
        apart = self._program.layout.counts_apart
        with _count(build, self._stage_count) as stage:
            strings, epochs = self._stage(stage)
            is_last = build.zext(build.icmp_signed("==", stage, last), _LONG)
            self._write_steps(first, size, strings, build.sub(epochs, is_last) if apart else epochs, counts=not apart)
        if apart:
            strings, _ = self._stage(last)
            self._write_steps(first, size, strings, ir.Constant(_LONG, 1), counts=True)
        temperature = self._single(self._temperature_after(build.load(self._done)))
        with _count(build, size) as vector:
            fixed = [*nothing[:2], temperature, *self._numbers]
            arguments = [*self._initial(first, vector), *fixed, *self._student(vector)]
            ended = self._writer.write(traced.weights, arguments)
            for pointer, end in zip(self._ends, ended, strict=True):
                for place, value in enumerate(end.values.ravel()):
                    self._store(pointer, place, self._lane(first, vector), value)
            self._store(self._right, 0, self._lane(first, vector), build.load(build.gep(self._score, [vector])))

    def _write_steps(self, first: Value, size: Value, strings: Value, epochs: Value, *, counts: bool) -> None:
        """Write some epochs as one loop. A pass of it does the first phase of a step, and the later ones of those before it.

        Before the first step and after the last, a phase works in a room beside the block's, and nobody reads what it finds.
        """
        build, layout = self._build, self._program.layout
        none, one, beside = (ir.Constant(_LONG, number) for number in (0, 1, layout.vectors))
        steps, done = build.mul(size, build.mul(strings, epochs)), build.load(self._done)
        passes = build.add(steps, ir.Constant(_LONG, layout.phases - 1))
        outside = _At(beside, none, done)
        begun = [outside] * (layout.phases - 1)
        with _loop(build, passes, [none, none, done, *chain(*begun)]) as (number, values, later):
            at, *begun = (_At(*values[place : place + 3]) for place in range(0, len(values), 3))
            is_step = build.icmp_signed("<", number, steps)
            now = _At(*(build.select(is_step, *pair) for pair in zip(at, outside, strict=True)))
            each = [now, *begun]
            self._write_pass(first, each, self._steps[counts])
            vector = build.add(at.vector, one)
            is_last = build.icmp_signed("==", vector, size)
            string, done_then = (build.add(count, build.zext(is_last, _LONG)) for count in (at.string, at.done))
            string = build.select(build.icmp_signed("==", string, strings), none, string)
            later.extend(chain(_At(build.select(is_last, none, vector), string, done_then), *each[:-1]))
        build.store(build.add(done, build.mul(strings, epochs)), self._done)

    def _write_pass(self, first: Value, each: list[_At], cut: _Cut) -> None:
        """Write one phase of each of some steps, operation by operation in turn."""
        step, phases, rooms = cut
        written = [
            Writing(step.graph, phases.added, self._vectors, tuple(FLOATS), self._reader(first, phase, at, cut))
            for phase, at in enumerate(each)
        ]
        for place in phases.order:
            phase = phases.phase[place]
            at, value = each[phase], written[phase].value(place)
            if place in rooms:
                self._put(rooms[place], at.vector, value)
            for kept, ready in phases.ready[place]:
                self._put(self._state[kept], at.vector, written[phase].value(ready))
            if place == step.right:
                self._count_right(at, value)
        if step.counts and step.right not in phases.phase:
            self._count_right(each[-1], written[-1].value(step.right))
        ends = [written[-1].value(place) for _, place in phases.rest]  # all before any is written over
        for (kept, _), end in zip(phases.rest, ends, strict=True):
            self._put(self._state[kept], each[-1].vector, end)

    def _lane(self, first: Value, vector: Value) -> Value:
        """Return the first network of a vector."""
        return self._build.mul(self._build.add(first, vector), ir.Constant(_LONG, self._program.layout.lanes))

    def _initial(self, first: Value, vector: Value) -> list[Numbers]:
        lane = self._lane(first, vector)
        return [
            numbers([self._lanes_at(pointer, place, lane) for place in range(int(np.prod(shape)))], (*shape, SEEDS))
            for pointer, shape in zip(self._inputs, self._program.shapes, strict=True)
        ]

    def _reader(self, first: Value, phase: int, at: _At, cut: _Cut) -> Callable[[Place], Value | None]:
        """Return what reads the numbers that a phase does not compute itself: inputs, and what earlier phases have left."""
        given, (step, phases, rooms) = self._given(first, at), cut

        def read(place: Place) -> Value | None:
            name, _, detail = step.graph.noted[place]
            if name == INPUT:
                return (
                    given[detail] if detail < len(given) else self._entry(self._state[detail - len(given)], at.vector)
                )
            if phases.phase.get(place, phase) == phase:
                return None
            home = phases.at_home.get(place)
            return self._entry(rooms[place] if home is None else self._state[home], at.vector)

        return read

    def _count_right(self, at: _At, right: Value) -> None:
        """Add up who was right; every epoch begins anew, so that the right answers of the last one stay."""
        build, room = self._build, self._build.gep(self._score, [at.vector])
        none = self._vectors.spread(ir.Constant(self._own, 0))
        is_first = build.icmp_signed("==", at.string, ir.Constant(_LONG, 0))
        build.store(build.fadd(build.select(is_first, none, build.load(room)), self._vectors.spread(right)), room)

    def _given(self, first: Value, at: _At) -> list[Value]:
        """Return what a step reads beside the student: the initial weights, the corrections, the string, and what is asked."""
        build, shape = self._build, self._program.shape
        is_beside = build.icmp_signed("==", at.vector, ir.Constant(_LONG, self._program.layout.vectors))
        initial = self._initial(first, build.select(is_beside, ir.Constant(_LONG, 0), at.vector))
        tables = [*(self._entry(table, at.done) for table in self._folded), self._temperature_after(at.done)]
        opening, closing = (self._row(table, at.string, shape.tokens) for table in (self._opening, self._closing))
        tokens = [value for pair in zip(opening, closing, strict=True) for value in pair]
        rows = shape.tokens if shape.every_token else 1
        asked = self._row(self._asked, at.string, rows * shape.targets + shape.outputs)
        weights, rates = (
            [value for part in parts for value in part.values.ravel()] for parts in (initial, self._numbers)
        )
        return [*weights, *tables, *rates, *tokens, *asked]

    def _temperature_after(self, done: Value) -> Value:
        sharpens = self._program.method.sharpens
        return self._entry(self._temperature, done if sharpens else ir.Constant(_LONG, 0))

    # --- Numbers in memory ---

    def _single(self, value: Value) -> Numbers:
        return numbers([value], ())

    def _rooms(self, kind: ir.Type) -> Value:
        """Return room for a number of every vector of a block, and for one beside them."""
        return self._build.alloca(kind, ir.Constant(_LONG, self._program.layout.vectors + 1))

    def _room(self, part: Any) -> Value:  # noqa: ANN401 -- a shape and its dtype
        element = type_of(part.dtype)
        return self._rooms(self._vectors.vector(element) if SEEDS in part.shape else element)

    def _student(self, vector: Value) -> list[Numbers]:
        return self._traced.put_together([self._entry(room, vector) for room in self._state])

    def _keep(self, vector: Value, student: list[Numbers]) -> None:
        for value, room in zip(self._traced.take_apart(student), self._state, strict=True):
            self._put(room, vector, value)

    def _put(self, room: Value, vector: Value, value: Value) -> None:
        is_vector = isinstance(room.type.pointee, ir.VectorType)
        self._build.store(self._vectors.spread(value) if is_vector else value, self._build.gep(room, [vector]))

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
def _without_subnormals(builder: ir.IRBuilder) -> Iterator[None]:
    """Write what takes numbers below the normal ones for 0, as XLA does: some processors need a hundred times as long for them.

    Two bits of a register of x86 say so; what it held before is put back.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        yield
        return
    kind = ir.FunctionType(ir.VoidType(), [_POINTER])
    read, write = (ir.Function(builder.module, kind, f"llvm.x86.sse.{name}") for name in ("stmxcsr", "ldmxcsr"))
    before, during = builder.alloca(INTEGER), builder.alloca(INTEGER)
    builder.call(read, [builder.bitcast(before, _POINTER)])
    builder.store(builder.or_(builder.load(before), ir.Constant(INTEGER, _FLUSH)), during)
    builder.call(write, [builder.bitcast(during, _POINTER)])
    yield
    builder.call(write, [builder.bitcast(before, _POINTER)])


@contextmanager
def _loop(builder: ir.IRBuilder, end: Value, values: list[Value]) -> Iterator[tuple[Value, list[Value], list[Value]]]:
    """Write a loop that counts from 0 to an end and carries integers; what is written inside is its body.

    It gives the count, the integers, and an empty list for what they are in the next pass.
    """
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    carried = [builder.phi(_LONG) for _ in (end, *values)]
    builder.cbranch(builder.icmp_signed("<", carried[0], end), body, after)
    builder.position_at_end(body)
    next_values: list[Value] = []
    yield carried[0], carried[1:], next_values
    next_values.insert(0, builder.add(carried[0], ir.Constant(_LONG, 1)))
    for number, first, following in zip(carried, [ir.Constant(_LONG, 0), *values], next_values, strict=True):
        number.add_incoming(first, before)
        number.add_incoming(following, builder.block)
    builder.branch(head)
    builder.position_at_end(after)


@contextmanager
def _count(builder: ir.IRBuilder, end: Value) -> Iterator[Value]:
    """Write a loop that counts from 0 to an end."""
    with _loop(builder, end, []) as (number, _, _):
        yield number


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
