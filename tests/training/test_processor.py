"""The fused kernel for processors trains as the compiled scan does: every cell, task, method and precision."""

import ctypes
import mmap
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from llvmlite import ir

import tallystick as ts
from tallystick.datasets.strings import training_set
from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY
from tallystick.training.engines import MOST_WEIGHTS, Engine, devices_named, engine_for, engine_text
from tallystick.training.ensemble import train
from tallystick.training.fused import processor, vectors
from tallystick.training.fused.numbering import SEEDS, Writer, numbers, unwritable
from tallystick.training.fused.programs import SHARING, Layout
from tallystick.training.fused.vectors import FLOATS, OPERATIONS, Vectors
from tallystick.training.lessons import course_of, lessons_of, script_of
from tallystick.training.methods import METHODS
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

STRINGS = training_set(BINARY, 4, 0)
"""On fewer strings some slopes are rounding alone, which Adam makes as large as any; with `tied-unit` and two units they are in
float32 on any."""
CPU = devices_named("cpu")


def setting_of(**options):
    return Setting(**{"task": "binary", "bias": True, "train_length": 4, "epochs": 2, **options})


def initial(setting, seeds=70):
    sizes = {"bias": setting.bias, "dtype": setting.dtype, "units": setting.units}
    return fresh_weights(setting.kind, setting.goal, np.arange(seeds), **sizes)


# What the loop does differently from method to method, every kind of cell, three outputs, and every precision.
SETTINGS = [
    {},
    {"task": "ternary"},
    {"task": "count"},
    {"precision": "float64", "cell": "selective", "method": "tied-unit"},
    {"method": "projected"},
    {"cell": "relu", "method": "count-penalty", "task": "count"},
    {"cell": "linear", "units": 3, "method": "count-exact"},
    {"cell": "lru", "units": 2},
]
LONG = [
    {"method": "curriculum", "cell": "tanh"},
    {"task": "ternary", "precision": "float64"},
    {"cell": "selective", "units": 2, "task": "ternary"},
    {"cell": "lstm", "units": 1, "method": "saturating", "precision": "float64"},
    {"bias": False},
    {"method": "lagrangian"},
    {"cell": "lstm", "units": 2, "bias": False},
    {"cell": "gru", "units": 1, "method": "count-tokens", "task": "ternary"},
    {"task": "ternary", "method": "count-tokens", "gradients": "float64"},
    *({"cell": cell, "units": 2} for cell in ("relu", "tanh", "gru", "lstm")),
    *(
        {"cell": "linear", "units": 2, "method": method, "precision": "float64"}
        for method in METHODS
        if "saturating" not in method
    ),
    {"cell": "gru", "units": 1, "method": "saturating-labels", "precision": "float64"},
    {"cell": "lstm", "units": 4, "precision": "float64"},
    {"cell": "lru", "units": 4, "method": "count-calm", "task": "ternary", "precision": "float64"},
]


def names(options):
    return "-".join(map(str, options.values())) or "plain"


@pytest.mark.parametrize(
    "options", [*SETTINGS, *(pytest.param(options, marks=pytest.mark.long) for options in LONG)], ids=names
)
def test_the_kernel_agrees_with_the_scan(options):
    setting = setting_of(**options)
    start = initial(setting)
    fused, scanned = (train(setting, start, STRINGS, device="cpu", engine=engine) for engine in ("fused", "scan"))
    size = 1e-9 if setting.precision == "float64" else 1e-4
    for found, expected, before in zip(*map(jax.tree.leaves, (fused.weights, scanned.weights, start)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=size)
        assert found.dtype == before.dtype
        assert not np.array_equal(found, before)
    assert fused.accuracy_train.tolist() == scanned.accuracy_train.tolist()


@pytest.mark.parametrize("options", [{}, {"cell": "gru", "units": 1}], ids=names)
def test_neither_block_nor_workers_nor_neighbours_matter(options):
    setting = setting_of(**options)
    start = initial(setting, 150)
    whole = train(setting, start, STRINGS, device="cpu", engine="fused")
    for chosen, block, workers in ((slice(0, 150), 16, 2), (slice(149, 150), None, 1), (slice(60, 70), 64, 1)):
        how = {"block": block, "workers": workers, "device": "cpu", "engine": "fused"}
        part = train(setting, start.places(chosen), STRINGS, **how)
        for found, expected in zip(*map(jax.tree.leaves, (part.weights, whole.weights)), strict=True):
            assert np.array_equal(found, expected[..., chosen])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"epochs": 1, "task": "ternary"},
        {"task": "ternary", "precision": "float64"},
        {"method": "curriculum"},
        {"method": "count-tokens", "gradients": "float64"},
        {"cell": "gru", "units": 1, "method": "saturating-labels"},
        {"cell": "relu"},
    ],
    ids=names,
)
def test_phases_and_counting_apart_change_no_bit(options):
    setting = setting_of(**options)
    lanes, sharing = (8, 3) if setting.precision == "float64" else (16, SHARING)
    strings = lessons_of(setting, STRINGS), course_of(setting, STRINGS)
    script, shape = script_of(*strings, setting.procedure)
    parts = {"shape": shape, "kind": setting.kind, "task": setting.goal, "method": setting.procedure}
    layouts = [Layout(lanes, sharing, *layout) for layout in ((1, 1, False), (2, 2, True), (4, 2, False), (6, 3, True))]
    plain, *others = (
        processor.train_on_processor(initial(setting), script, layout=layout, **parts) for layout in (*layouts, None)
    )
    for other in others:
        jax.tree.map(np.testing.assert_array_equal, plain, other)


@pytest.mark.skipif(sys.platform != "linux", reason="pages are protected as on Linux")
@pytest.mark.parametrize("ends", [True, False], ids=["end", "start"])
def test_no_array_is_read_beyond_its_ends(monkeypatch, ends):
    """Every array lies between two pages that nobody may touch; whoever does ends the process."""
    system = ctypes.CDLL(None)
    system.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def guard(array):
        size, page = array.nbytes, mmap.PAGESIZE
        room = -(-size // page) * page
        memory = mmap.mmap(-1, room + 2 * page)
        first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for start in (first, first + page + room):
            assert system.mprotect(start, page, 0) == 0
        place = page + (room - size if ends else 0)
        held = np.frombuffer(memory, array.dtype, array.size, place).reshape(array.shape)
        held[...] = array
        return held

    setting = setting_of(epochs=1)
    script, shape = script_of(lessons_of(setting, STRINGS), course_of(setting, STRINGS), setting.procedure)
    parts = {"shape": shape, "kind": setting.kind, "task": setting.goal, "method": setting.procedure}
    contiguous = np.ascontiguousarray
    monkeypatch.setattr(processor.np, "ascontiguousarray", lambda array: guard(contiguous(array)))
    processor.train_on_processor(initial(setting), script, **parts)


def test_every_core_has_as_many_blocks_of_one_width(monkeypatch):
    monkeypatch.setattr("tallystick.training.engines.cores", lambda: 2)
    kernel, cell, layer = Engine("fused", CPU), setting_of(), setting_of(cell="lstm", units=2)
    widths = {1: 128, 300: 256, 4_096: 2_048, 4_097: 1_152, 40_000: 5_120, 65_536: 8_192, 65_537: 6_656, 10**7: 8_192}
    assert {seeds: kernel.width(seeds, cell) for seeds in widths} == widths
    assert [kernel.width(seeds, layer) for seeds in (1, 1_024, 1_025, 10**6)] == [128, 512, 384, 512]


def test_what_it_cannot_train_is_refused_with_the_reason(monkeypatch):
    setting = setting_of()
    assert engine_for(setting, STRINGS, CPU, "fused").name == "fused"
    assert engine_for(setting, STRINGS, CPU).name == "fused"
    assert engine_for(setting, STRINGS, CPU, "scan").name == "scan"
    assert engine_text(setting, STRINGS, "cpu") == "cpu, fused kernel"
    assert engine_text(setting, STRINGS, "cpu", "scan") == "cpu, compiled scan"

    def refusal(chosen, strings=STRINGS):
        with pytest.raises(BadInput) as refused:
            engine_for(chosen, strings, CPU, "fused")
        return str(refused.value)

    spiral = replace(setting, cell="lru", units=2)
    assert engine_for(spiral, STRINGS, CPU).name == "fused"
    with monkeypatch.context() as patch:
        patch.delitem(OPERATIONS, "log")
        assert refusal(spiral) == "engine: the fused kernel has no form of log, which a step of a lru needs"
    wide = replace(setting, cell="linear", units=32)
    assert f"more than the {MOST_WEIGHTS['cpu']} that the fused kernel is compiled for" in refusal(wide)
    assert refusal(setting, ["(" * 17]).startswith("engine: strings of 17 tokens")
    monkeypatch.setitem(sys.modules, "tallystick.training.fused.vectors", None)
    assert refusal(setting).endswith("pip install 'tallystick[train]' brings it")
    assert engine_for(setting, STRINGS, CPU).name == "scan"


# Where there is a GPU, it trains, and JAX says that it will do without Triton one day.
@pytest.mark.filterwarnings("ignore:The Pallas Triton backend is deprecated:DeprecationWarning")
def test_it_trains_unless_the_scan_is_asked_for():
    usual, quick, slow = (
        ts.train("binary", 2, seeds=5, epochs=3, engine=engine) for engine in ("auto", "fused", "scan")
    )
    jax.tree.map(np.testing.assert_array_equal, usual.weights, quick.weights)
    for found, expected in zip(*map(jax.tree.leaves, (quick.weights, slow.weights)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


# --- The functions --------------------------------------------------------------------------------------------------------------


def compiled(work, dtype, lanes=16):
    """Compile a function of one number for vectors, and return it as a function of arrays of a whole number of vectors."""
    with jax.enable_x64(dtype == "float64"):
        program = jax.make_jaxpr(work)(jax.ShapeDtypeStruct((SEEDS,), dtype))
    module = ir.Module("function")
    pointers = ir.IntType(8).as_pointer().as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointers, *[ir.IntType(64)] * 2]), "train")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    writer, kind = Writer(Vectors(builder, lanes), multiply_adds=()), ir.VectorType(FLOATS[dtype], lanes).as_pointer()
    places = [
        builder.bitcast(builder.load(builder.gep(function.args[0], [ir.Constant(ir.IntType(64), place)])), kind)
        for place in range(2)
    ]
    with processor._count(builder, function.args[1]) as block:
        x = builder.load(builder.gep(places[0], [block]), align=4)
        (y,) = writer.write(program, [numbers([x], (SEEDS,))])
        builder.store(y.values.item(), builder.gep(places[1], [block]), align=4)
    builder.ret_void()
    run = processor._compile(module)

    def call(x):
        x = np.ascontiguousarray(x, dtype)
        y = np.empty_like(x)
        run(np.array([x.ctypes.data, y.ctypes.data]).ctypes.data, len(x) // lanes, 0)
        return y

    return call


FUNCTIONS = {
    "exp": (jnp.exp, np.exp, (-80, 80)),
    "tanh": (jnp.tanh, np.tanh, (-12, 12)),
    "small tanh": (jnp.tanh, np.tanh, (-1e-3, 1e-3)),
    "logistic": (jax.nn.sigmoid, lambda x: 1 / (1 + np.exp(-x)), (-40, 40)),
    "sin": (jnp.sin, np.sin, (-30, 30)),
    "cos": (jnp.cos, np.cos, (-30, 30)),
    "small sin": (jnp.sin, np.sin, (-1e-3, 1e-3)),
    "log": (jnp.log, np.log, (1e-3, 10)),
    "large log": (jnp.log, np.log, (1, 1e30)),
    "log near 1": (jnp.log, np.log, (0.999, 1.001)),
    "angle to the right": (lambda x: jnp.atan2(x, 1 + 0 * x), lambda x: np.atan2(x, 1 + 0 * x), (-4, 4)),
    "angle to the left": (lambda x: jnp.atan2(x, 0 * x - 2), lambda x: np.atan2(x, 0 * x - 2), (-4, 4)),
    "angle upwards": (lambda x: jnp.atan2(1 + 0 * x, x), lambda x: np.atan2(1 + 0 * x, x), (-4, 4)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("work", "known", "ends"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_are_right_to_the_last_places(work, known, ends, dtype):
    x = np.random.default_rng(1).uniform(*ends, 16_000).astype(dtype)
    found, exact = compiled(work, dtype)(x), known(x.astype(np.longdouble))
    off = np.abs(found - exact) / np.spacing(np.abs(exact).astype(dtype))
    assert off.max() < 4


@pytest.mark.parametrize("work", [jnp.exp, jax.nn.sigmoid], ids=["exp", "logistic"])
def test_every_processor_finds_the_same_roots_of_two(monkeypatch, work):
    """Those with AVX-512 look them up in a register, and others in memory."""
    x = np.random.default_rng(4).uniform(-750, 750, 16_000)
    usual = compiled(work, "float64", lanes=8)(x)
    monkeypatch.setattr(vectors, "_has_wide_lookups", lambda: False)
    np.testing.assert_array_equal(compiled(work, "float64", lanes=8)(x), usual)
    np.testing.assert_array_equal(compiled(work, "float64", lanes=2)(x), usual)


def test_numbers_that_are_not_finite_stay_so():
    x = np.array([np.nan, np.inf, -np.inf, 0] * 4)
    assert np.isnan(compiled(jnp.exp, "float64", lanes=8)(x)[::4]).all()
    assert compiled(jax.nn.sigmoid, "float64", lanes=8)(x)[[1, 3]].tolist() == [1, 0.5]
    x = np.array([np.nan, np.inf, -np.inf, 0] * 4, np.float32)
    assert np.isnan(compiled(jnp.tanh, "float32")(x)[::4]).all()
    assert compiled(jnp.tanh, "float32")(x)[1:4].tolist() == [1, -1, 0]
    assert np.isnan(compiled(jax.nn.relu, "float32")(x)[::4]).all()
    assert compiled(jnp.sign, "float32")(x)[1:4].tolist() == [1, -1, 0]
    assert np.isnan(compiled(jnp.sin, "float32")(x)[:3]).all()
    assert compiled(jnp.sin, "float32")(x)[3] == 0
    logarithms = compiled(jnp.log, "float32")(np.array([np.nan, -1, -np.inf, 0, -0.0, np.inf, 1, 1] * 2, np.float32))
    np.testing.assert_array_equal(logarithms[:8], [np.nan] * 3 + [-np.inf] * 2 + [np.inf, 0, 0])


def test_a_sine_is_right_after_many_turns():
    x = np.random.default_rng(3).uniform(-1e6, 1e6, 16_000).astype(np.float32)
    np.testing.assert_allclose(compiled(jnp.sin, "float32")(x), np.sin(x.astype(float)), rtol=0, atol=1e-7)


def test_the_angle_of_a_point_on_an_axis():
    x = np.array([0, 1, -1, 3] * 4, np.float32)
    assert compiled(lambda x: jnp.atan2(x, 0 * x), "float32")(x)[:4].tolist() == [
        0,
        *np.array([np.pi / 2, -np.pi / 2, np.pi / 2], np.float32).tolist(),
    ]
    assert compiled(lambda x: jnp.atan2(0 * x, x), "float32")(x)[:4].tolist() == [0, 0, np.float32(np.pi), 0]


def test_what_moves_numbers_moves_them_as_jax_does():
    """Of a program that turns, cuts, pads and adds up arrays, the result is that of JAX."""

    def work(x):
        rows = jnp.stack([x * n for n in range(6)]).reshape(2, 3, -1)
        turned = jnp.concatenate([rows.transpose(1, 0, 2)[::-1], rows.transpose(1, 0, 2)[1:]])
        left, right = jnp.split(jnp.pad(turned, ((1, 0), (0, 0), (0, 0)), constant_values=3), 2)
        carried, along = jax.lax.scan(lambda h, part: (h * 0.5 + part[0], h), x, left - right)
        return carried + (along * np.arange(3, dtype=np.float32)[:, None]).sum(axis=0) + (x > 0)

    x = np.random.default_rng(2).normal(size=32).astype(np.float32)
    np.testing.assert_allclose(compiled(work, "float32")(x), work(jnp.asarray(x)), rtol=2e-6, atol=2e-6)


def test_an_operation_without_a_form_is_found_wherever_it_stands():
    inner = jax.make_jaxpr(lambda x: jax.jit(lambda y: jnp.cosh(y) + 1)(x) + 2)(jnp.ones(3))
    assert unwritable(OPERATIONS, inner) == ["cosh"]
    unused = jax.make_jaxpr(lambda x: (jnp.cosh(x), x + 1)[1])(jnp.ones(3))
    assert unwritable(OPERATIONS, unused) == []
