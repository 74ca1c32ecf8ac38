"""The fused kernel for GPUs trains as the compiled scan does.

Without a GPU it is worked out by JAX step by step, which shows that it does the right things in the right order, and it is
brought into the form that a GPU's compiler takes.
"""

import sys
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tallystick.cells import CELLS, LinearCell, ScalarCell, Token
from tallystick.cli.training import tell_slower_engine
from tallystick.errors import BadInput
from tallystick.runs.jobs import training_job
from tallystick.training.descent import (
    BINARY_CROSS_ENTROPY,
    CALM,
    CROSS_ENTROPY,
    Momenta,
    corrections,
    enlarge_offset,
    fold,
    folded_adam,
    grow,
    shrink,
)
from tallystick.training.engines import (
    MOST,
    NETWORKS,
    Devices,
    Engine,
    devices_named,
    engine_for,
    engine_text,
    on_processors,
)
from tallystick.training.ensemble import train, training_precision
from tallystick.training.fused import instructions
from tallystick.training.fused.kernel import launch_for, train_fused
from tallystick.training.fused.programs import exercise_of, shapes_of
from tallystick.training.fused.reading import read_string, reading_of
from tallystick.training.gradients import gradient_of, linear_gradient
from tallystick.training.lessons import course_of, lessons_of, script_of
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

STRINGS = ["(", ")(", "(()", "))((", "()()"]


def initial(setting, seeds=8):
    sizes = {"bias": setting.bias, "dtype": setting.dtype, "units": setting.units}
    return fresh_weights(setting.kind, setting.goal, np.arange(seeds), **sizes)


def script_for(setting, strings):
    return script_of(lessons_of(setting, strings), course_of(setting, strings), setting.procedure)


def train_as_a_gpu(setting, start, strings, **changes):
    """Train by the kernel for GPUs, which JAX works out step by step: the weights, and the percentage of right answers."""
    fill = np.minimum(np.arange(-(-len(start.example) // NETWORKS) * NETWORKS), len(start.example) - 1)
    with training_precision(setting):
        script, shape = script_for(setting, strings)
        parts = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure}
        launch = launch_for(shapes_of(start), script, setting.kind, setting.procedure)._replace(**changes)
        arrays = jax.tree.map(jnp.asarray, (start.places(fill), script, np.int32(len(start.example))))
        weights, right = train_fused(*arrays, shape=shape, launch=launch, interpret=True, **parts)
    weights = jax.tree.map(np.asarray, weights).places(slice(0, len(start.example)))
    return weights, (100 * np.asarray(right, np.float64) / len(strings))[: len(start.example)]


# Methods that differ in what the loop does, every cell, three outputs, and every precision of weights and gradients.
SETTINGS = [
    {"method": "published"},
    {"task": "ternary"},
    {"task": "count", "cell": "relu", "method": "count-penalty"},
    {"cell": "linear", "units": 2},
]
LONG = [
    {"task": "ternary", "cell": "selective", "method": "tied-unit", "precision": "float64"},
    {"cell": "linear", "units": 2, "method": "count-exact"},
    {"cell": "lstm", "units": 2, "bias": False},
    {"cell": "lstm", "units": 1, "method": "saturating", "precision": "float64"},
    {"cell": "gru", "units": 2, "method": "count-tokens", "task": "ternary"},
    {"cell": "selective", "units": 2, "task": "ternary"},
    {"cell": "tanh", "units": 2},
    {"cell": "lru", "units": 2},
    {"cell": "relu", "units": 2, "precision": "float64"},
    {"method": "lagrangian"},
    {"method": "projected"},
    {"task": "ternary", "method": "count-tokens", "gradients": "float64"},
    {"task": "ternary", "precision": "float64"},
    {"method": "tied"},
    {"method": "curriculum"},
    {"task": "count", "cell": "tanh", "method": "count"},
]


@pytest.mark.parametrize(
    "options",
    [*SETTINGS, *(pytest.param(options, marks=pytest.mark.long) for options in LONG)],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_the_kernel_agrees_with_the_scan(options):
    setting = Setting(**{"task": "binary", "bias": True, "train_length": 4, "epochs": 2, **options})
    start = initial(setting)
    (weights, accuracy), scanned = (
        train_as_a_gpu(setting, start, STRINGS),
        train(setting, start, STRINGS, engine="scan"),
    )
    size = 1e-9 if setting.precision == "float64" else 2e-5
    for found, expected, before in zip(*map(jax.tree.leaves, (weights, scanned.weights, start)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=size)
        assert found.dtype == before.dtype
    assert accuracy.tolist() == scanned.accuracy_train.tolist()


EDGE = {"initial_scale": 2, "learning_rate": 0.05}


@pytest.mark.long
@pytest.mark.parametrize("options", [{"task": "count"}, {"task": "ternary", "method": "count"}])
def test_the_largest_gradients_that_the_kernel_takes_are_held(options):
    """The kernel multiplies divisors, which float32 could not hold of gradients much larger."""
    setting = Setting(**{"bias": True, "train_length": 8, "epochs": 5, **EDGE, **options})
    start = jax.tree.map(lambda weight: (2 * weight).astype(weight.dtype), initial(setting, 64))
    strings = ["((((((((", "()()()()", "))))((((", "(()())()"]
    (weights, _), scanned = train_as_a_gpu(setting, start, strings), train(setting, start, strings, engine="scan")
    for found, expected in zip(*map(jax.tree.leaves, (weights, scanned.weights)), strict=True):
        assert np.isfinite(expected).all()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"cell": "lstm", "method": "count-tokens"}, marks=pytest.mark.long),
        pytest.param({"method": "curriculum", "epochs": 8}, marks=pytest.mark.long),
    ],
)
def test_gradients_that_grow_teach_the_same(options):
    setting = Setting(
        **{"task": "binary", "bias": True, "train_length": 4, "epochs": 3, "precision": "float64"} | options
    )
    start = initial(setting)
    (one, _), (other, _) = (train_as_a_gpu(setting, start, STRINGS, grows=grows) for grows in (True, False))
    for grown, usual in zip(*map(jax.tree.leaves, (one, other)), strict=True):
        np.testing.assert_allclose(grown, usual, rtol=0, atol=1e-12)


def launch_of(setting, strings, weights=4):
    return launch_for(((),) * weights, script_for(setting, strings)[0], setting.kind, setting.procedure)


def test_few_lengths_of_strings_have_steps_of_their_own():
    layer = Setting("binary", bias=False, train_length=4, cell="linear", units=2)
    assert launch_of(layer, ["()", "(", "))", ")(()"]).lengths == (2, 1, 4)
    assert launch_of(layer, ["()", "(", ""]).lengths == ()  # an empty string is a token of padding
    assert launch_of(layer, ["(" * length for length in range(1, 6)]).lengths == ()  # too many
    assert launch_of(layer, STRINGS, weights=41).lengths == ()
    assert launch_of(replace(layer, cell="lstm"), STRINGS).lengths == ()


def test_an_empty_string_is_learned_from():
    setting = Setting("binary", bias=True, train_length=4, epochs=2, cell="linear", units=2, precision="float64")
    start, strings = initial(setting), ["", "()", "("]
    (weights, _), scanned = train_as_a_gpu(setting, start, strings), train(setting, start, strings, engine="scan")
    for found, expected in zip(*map(jax.tree.leaves, (weights, scanned.weights)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_gradients_grow_only_where_nothing_overflows():
    setting = Setting("binary", bias=False, train_length=4)

    def grows(strings, **changes):
        return launch_of(replace(setting, **changes), strings).grows

    assert grows(STRINGS)
    assert not grows(STRINGS * 300)  # 0.999 to the power of −1500 / 2 is 2.1
    assert not grows(STRINGS, method="count-penalty")  # whose regulariser has a slope of its own
    assert not grows(STRINGS, optimiser="sign")  # which forgets all squares
    assert not grows(STRINGS, precision="float64")


def test_many_seeds_are_trained_as_few():
    setting = Setting("binary", bias=False, train_length=2, epochs=1)
    start = initial(setting, NETWORKS + 3)
    all_of_them, _ = train_as_a_gpu(setting, start, STRINGS[:2])
    last, _ = train_as_a_gpu(setting, start.places(slice(NETWORKS, None)), STRINGS[:2])
    assert [leaf[NETWORKS:].tolist() for leaf in jax.tree.leaves(all_of_them)] == [
        leaf.tolist() for leaf in jax.tree.leaves(last)
    ]


def test_a_block_that_only_fills_up_is_not_trained():
    setting = Setting("binary", bias=False, train_length=2, epochs=2)
    start, few = initial(setting, 3 * NETWORKS), NETWORKS + 1
    start = start.places(np.minimum(np.arange(3 * NETWORKS), few - 1))
    with training_precision(setting):
        script, shape = script_for(setting, STRINGS[:2])
        parts = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure, "shape": shape}
        launch = launch_for(shapes_of(start), script, setting.kind, setting.procedure)
        arrays = jax.tree.map(jnp.asarray, (start, script, np.int32(few)))
        weights, right = train_fused(*arrays, launch=launch, interpret=True, **parts)
    trained, _ = train_as_a_gpu(setting, start.places(slice(0, few)), STRINGS[:2])
    begun = 2 * NETWORKS  # the second block has one network that counts
    for found, expected in zip(*map(jax.tree.leaves, (weights, trained)), strict=True):
        assert found[..., :few].tolist() == expected.tolist()
        assert np.isnan(found[..., begun:]).all()  # which JAX leaves where nothing is written
    assert np.isnan(right[begun:]).all()


def as_on_a_gpu():
    """JAX from 0.12 on wants to know the GPU."""
    if jax.__version_info__ < (0, 12):
        return nullcontext()
    h100 = jax.sharding.AbstractDevice("NVIDIA H100 80GB HBM3", None, "gpu")
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), (), abstract_device=h100))


SCALAR_METHODS = ("count-penalty", "tied-unit", "projected")


@pytest.mark.long
# It also says that it will do without Triton one day: then the scan trains.
@pytest.mark.filterwarnings("ignore:The Pallas Triton backend is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("cell", "units"),
    [*((name, 1) for name, kind in CELLS.items() if issubclass(kind, ScalarCell)), ("linear", 2), ("lru", 2)],
)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_gpu_compiler_takes_the_kernel(cell, units, precision):
    """As far as it goes without a GPU: JAX brings the kernel, with the device's instructions, into Triton's language."""
    methods = ("published",) if units > 1 else ("curriculum",) if cell == "tanh" else SCALAR_METHODS
    for method in methods:
        options = {"method": method, "precision": precision, "units": units}
        setting = Setting("count", bias=True, train_length=4, cell=cell, **options)
        with training_precision(setting), as_on_a_gpu():
            script, shape = script_for(setting, STRINGS)
            arrays = jax.tree.map(jnp.asarray, (initial(setting, NETWORKS), script, np.int32(NETWORKS)))
            parts = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure}
            launch = launch_for(shapes_of(arrays[0]), script, setting.kind, setting.procedure)
            traced = train_fused.__wrapped__.trace(*arrays, shape=shape, launch=launch, **parts)
            text = traced.lower(lowering_platforms=("cuda",)).as_text()
        assert "rcp.approx.ftz" in text
        assert ("fma.rn.f32" in text) == (precision == "float32")
        assert ("@p add.rn" in text) == (units > 1)


def test_a_script_reads_as_the_lessons_do():
    setting = Setting("ternary", bias=False, train_length=4, method="count-tokens")
    lessons = lessons_of(setting, STRINGS)
    script, shape = script_for(setting, STRINGS)
    assert shape.tokens == 4
    arrays = jax.tree.map(jnp.asarray, script)
    reading = reading_of(arrays, LENGTHS, grows=False)
    for place, string in enumerate(STRINGS):
        assert LENGTHS[reading.branch(place)] == len(string)
        for tokens in (shape.tokens, len(string)):
            unpadded = shape._replace(tokens=tokens)
            own = unpadded if tokens == len(string) else None
            string_read, asked = read_string(reading.strings, place, shape, script.asked.dtype, own)
            string_read = [Token(*(flag.number for flag in token)) for token in string_read]
            read = exercise_of(string_read, asked, unpadded, as_arrays=False)
            known = lessons.exercise(place)
            assert [float(token.opening) for token in read.string] == known.string.opening[-tokens:].tolist()
            assert [float(token.closing) for token in read.string] == known.string.closing[-tokens:].tolist()
            assert np.array(read.targets).tolist() == np.array(known.targets)[:, -tokens:].tolist()
            assert np.array(read.answers).tolist() == np.array(known.answers).tolist()


LENGTHS = (4, 3, 2, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"cell": "linear", "units": 2},
        *(
            pytest.param(options, marks=pytest.mark.long)
            for options in (
                {"task": "ternary"},
                {"cell": "relu", "optimiser": "rmsprop"},
                {"cell": "selective", "units": 2},
                {"cell": "gru", "units": 1, "method": "count-tokens", "task": "ternary"},
                {"cell": "lstm", "units": 1},
            )
        ),
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_a_step_for_each_length_learns_what_one_step_for_all_does(options):
    """Padding adds zeros; a compiler for processors may round the two programs differently, one for GPUs does not."""
    common = {"bias": True, "train_length": 4, "epochs": 2, "precision": "float64"}
    setting = Setting(**{"task": "binary", **common, **options})
    start = initial(setting)
    (own, right), (together, all_right) = (
        train_as_a_gpu(setting, start, STRINGS, lengths=lengths) for lengths in (LENGTHS, ())
    )
    for one, other in zip(*map(jax.tree.leaves, (own, together)), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)
    assert right.tolist() == all_right.tolist()


STEPS, EPOCH = 200, 50


@pytest.mark.parametrize(
    ("momenta", "sharing", "grows"),
    [(Momenta(), 2, False), (CALM, 4, False), (Momenta(), 3, True), (Momenta(square_decay=0.98), 3, True)],
)
def test_folded_adam_is_adam(momenta, sharing, grows):
    with jax.enable_x64(True):
        generator = np.random.default_rng(0)
        weights = {name: jnp.array(generator.normal(size=5)) for name in "abcde"}  # whole groups, and one alone
        table = fold(corrections(jnp.arange(STEPS), 0.005, momenta), momenta)
        if grows:
            table = jax.tree.map(jnp.asarray, enlarge_offset(grow(table, np.arange(STEPS) // EPOCH * EPOCH, momenta)))
        ours = folded_adam(lambda done: jax.tree.map(lambda column: column[done], table), momenta, sharing, grows=grows)
        theirs = optax.adam(0.005, momenta.decay, momenta.square_decay, momenta.epsilon)
        states, ends = [ours.init(weights), theirs.init(weights)], [weights, weights]
        updates = [jax.jit(optimiser.update) for optimiser in (ours, theirs)]
        for step in range(STEPS):
            slope = jax.tree.map(
                lambda w: jnp.array(generator.normal(size=w.shape) * 10 ** generator.uniform(-9, 2)), weights
            )
            growth = table.growth[step] if grows else 1
            slopes = [jax.tree.map(lambda one, by=by: by * one, slope) for by in (growth, 1)]
            for place, update in enumerate(updates):
                changes, states[place] = update(slopes[place], states[place], ends[place])
                ends[place] = optax.apply_updates(ends[place], changes)
            if grows and (step + 1) % EPOCH == 0:
                states[0] = shrink(states[0], 0.5 if table.growth[min(step + 1, STEPS - 1)] < growth else 1.0)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-12), *ends)


@pytest.mark.parametrize("string", ["(", ")", "()", "))((", "(()())"])
@pytest.mark.parametrize(("task", "objective"), [("binary", BINARY_CROSS_ENTROPY), ("ternary", CROSS_ENTROPY)])
def test_the_lean_gradient_is_the_gradient(string, task, objective):
    setting = Setting(task, bias=True, train_length=4, precision="float64")
    with jax.enable_x64(True):
        weights = jax.tree.map(jnp.asarray, initial(setting))
        padded = [Token(0.0, 0.0), *(Token(float(token == "("), float(token == ")")) for token in string)]
        targets = (1.0, 0.0, 0.0)[: setting.goal.outputs]
        lean, general = linear_gradient(objective), gradient_of(LinearCell, objective)
        for tokens in (padded, padded[1:]):
            found, expected = lean(weights, tokens, targets), general(weights, tokens, targets)
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-13), found, expected)


def test_the_quickest_engine_is_chosen_and_says_why_not(monkeypatch):
    gpu, setting = Devices("gpu", devices_named("cpu").units), Setting("binary", bias=False, train_length=4)
    endless, long = replace(setting, epochs=10_000_000), ["(" * 17]
    assert engine_for(setting, STRINGS, gpu).name == "fused"
    assert engine_for(setting, STRINGS, gpu, "scan").name == "scan"
    assert engine_for(setting, long, gpu).name == engine_for(endless, STRINGS, gpu).name == "scan"
    assert engine_text(setting, STRINGS, "gpu") == "gpu, fused kernel"
    assert engine_text(setting, long, "gpu").startswith("gpu, compiled scan: strings of 17 tokens are longer")
    assert engine_text(endless, STRINGS, "gpu").startswith("gpu, compiled scan: 50,000,000 steps are more")
    with monkeypatch.context() as without_triton:
        without_triton.setitem(sys.modules, "jax.experimental.pallas.triton", None)
        assert engine_for(setting, STRINGS, gpu).name == "scan"
        assert "this version of JAX has no Pallas for Triton" in engine_text(setting, STRINGS, "gpu")
    for name, most in MOST.items():
        method = "penalty" if name == "strength" else "published"
        edge = replace(setting, **{name: most}, method=method)
        beyond = replace(setting, **{name: 1.5 * most}, method=method)
        assert engine_for(edge, STRINGS, gpu).name == "fused"
        assert engine_for(beyond, STRINGS, gpu).name == "scan"
        assert f"{name}: {1.5 * most:g} is more than {most:g}" in engine_text(beyond, STRINGS, "gpu")
    with pytest.raises(BadInput, match="engine: 'quick' is not one of auto, fused, scan"):
        engine_for(setting, STRINGS, gpu, "quick")
    with pytest.raises(BadInput, match="engine: strings of 17 tokens"):
        engine_for(setting, long, gpu, "fused")
    assert engine_for(replace(setting, cell="gru", units=2), STRINGS, gpu).name == "fused"
    with pytest.raises(BadInput, match="engine: 1,?[0-9]+ weights are more than the 150"):
        engine_for(replace(setting, cell="lstm", units=16), STRINGS, gpu, "fused")
    assert engine_for(replace(setting, cell="lru", units=2), STRINGS, gpu).name == "fused"
    monkeypatch.delitem(instructions.OPERATIONS, "sin")
    with pytest.raises(BadInput, match="engine: the fused kernel has no form of sin, which a step of a lru needs"):
        engine_for(replace(setting, cell="lru", units=2), STRINGS, gpu, "fused")


def test_blocks_of_a_gpu_have_few_widths_and_whole_layouts():
    unit = SimpleNamespace(core_count=132)
    gpu, setting = Engine("fused", Devices("gpu", (unit,))), Setting("binary", bias=False, train_length=4)
    widths = [gpu.width(seeds, setting) for seeds in (1, 512, 513, 100_000, 10_000_000)]
    assert widths == [512, 512, 1024, 131_072, 811_008]
    assert all(width % NETWORKS == 0 for width in widths)
    one_by_one, whole = ([((),) * n for n in range(3, 13)], [((n, 2),) for n in range(1, 20)])
    scripts = [script_for(replace(setting, precision=precision), STRINGS)[0] for precision in ("float32", "float64")]
    launches = [
        launch_for(shapes, script, setting.kind, setting.procedure)
        for script in scripts
        for shapes in one_by_one + whole
    ]
    assert all(NETWORKS % launch.block == 0 for launch in launches)


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(jax, "local_devices", _no_backend)
    assert devices_named("auto").kind == "cpu"
    with pytest.raises(BadInput, match="device: 'gpu', but JAX sees none here"):
        devices_named("gpu")
    with pytest.raises(BadInput, match="device: 'tpu' is not one of auto, cpu, gpu"):
        devices_named("tpu")


def test_what_has_no_engine_for_a_gpu_stays_on_the_processors():
    with on_processors():
        assert jax.config.jax_default_device == jax.devices("cpu")[0]


def test_jobs_that_a_gpu_trains_by_the_scan_are_told_once(capsys):
    long, short = (training_job(Setting("binary", False, 2, epochs=epochs), 1, 0) for epochs in (10**7, 1))
    tell_slower_engine([replace(job, device=device) for job in (long, short, long) for device in ("gpu", "cpu")])
    reason = "gpu, compiled scan: 60,000,000 steps are more than the 33,554,432 that a fused kernel has corrections for"
    assert capsys.readouterr().err.splitlines() == [reason]


def _no_backend(**_):
    raise RuntimeError("Unknown backend: 'gpu' requested")
