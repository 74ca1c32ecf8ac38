"""Measurements: what is counted, compared, refused and drawn. Times themselves are never asserted."""

import doctest
import json
import subprocess
import sys
from dataclasses import replace
from math import inf

import jax
import numpy as np
import pytest
from baselines import EPOCHS, EVERY_KIND, case, loaded, vector_case
from matplotlib.text import Text
from scipy.optimize import linprog
from walking import ROOT

from benchmarks import divider, figures, limits, machine, run, speed, training
from benchmarks.figures import DRAWINGS, _labels
from benchmarks.instructions import step_instructions
from benchmarks.limits import Cost, Rates, gpu_rates, most_runs, processor_rates
from benchmarks.machine import Gpu, Machine, Processor
from benchmarks.run import Request, Suite, measure
from benchmarks.speed import Timing, time_kernel, time_seeds
from tallystick.errors import BadInput
from tallystick.training.engines import devices_named
from tallystick.training.ensemble import train
from tallystick.training.setting import Setting

BINARY_8 = Setting("binary", bias=False, train_length=8)
PROCESSOR = Processor("a processor", cores=2, vector_bits=256, vector_units=2, gigahertz=2.5)
GPU = Gpu("a GPU", number=1, capability="9.0", multiprocessors=132, gigahertz=1.98)
MACHINE = Machine(PROCESSOR, GPU, {"Python": "3"})


def test_the_instructions_of_one_token_are_those_found_by_hand():
    # h = a, so o = v·a; the slope by a is (p − 1)·v, by v it is (p − 1)·a, by b and U it is known to be 0.
    one_output = {"multiplication": 1, "addition": 1, "exp": 1, "reciprocal": 1}
    error_and_slopes = {"addition": 1, "multiplication": 2}
    # Adam: M takes a multiply-add, S a product and a multiply-add; a root, what is added to it, and the weight's multiply-add.
    moved = {"multiplication": 1, "multiply-add": 3, "sqrt": 1, "addition": 1}
    # With a slope of 0, M and S only fade.
    faded = {"multiplication": 2, "multiply-add": 1, "sqrt": 1, "addition": 1}
    # Two quotients share a reciprocal: of a product, times the rate, times either divisor.
    shared = {"multiplication": 4, "reciprocal": 1}
    expected = {}
    for part in (one_output, error_and_slopes, moved, moved, faded, faded, shared, shared):
        for name, size in part.items():
            expected[name] = expected.get(name, 0) + size
    assert step_instructions(BINARY_8, ["("]) == expected


def test_a_further_token_costs_four_instructions():
    # One each for h and its derivatives by a, b and U; neither string is positive, nor one of its parts like another.
    short, long = (sum(step_instructions(BINARY_8, [string]).values()) for string in ("))()((", "))()(()"))
    assert long - short == 4


def test_the_instructions_of_a_set_are_the_mean_of_its_strings():
    alone = [step_instructions(BINARY_8, [string]) for string in ("(", "(", ")())")]
    together = step_instructions(BINARY_8, ["(", ")())", "("])
    for name, size in together.items():
        assert size == pytest.approx(np.mean([part.get(name, 0) for part in alone]))


def test_what_divides_by_the_same_number_shares_a_reciprocal():
    # Two softmaxes of three shares need two; of nine weights that are moved two share one, which makes seven.
    assert step_instructions(replace(BINARY_8, task="ternary"), ["(()"])["reciprocal"] == 7


def test_a_limit_is_that_of_the_unit_that_is_full_first():
    counted = {"multiply-add": 6.0, "exp": 2.0}
    assert Rates(100, inf, {}).steps(counted) == 100 / 8
    assert Rates(100, inf, {"exp": Cost(7)}).steps(counted) == 100 / 20
    assert Rates(100, 4, {"exp": Cost(1, 1)}).steps(counted) == 4 / 2


def test_a_processor_has_so_many_lanes():
    assert processor_rates(PROCESSOR, "float32", cores=2).instructions == 2 * 2 * 8 * 2.5e9
    assert processor_rates(PROCESSOR, "float64", cores=1).instructions == 2 * 4 * 2.5e9
    assert processor_rates(replace(PROCESSOR, gigahertz=None), "float32", cores=2) is None


def test_a_gpu_has_so_many_lanes():
    found = gpu_rates(GPU, "float32", 1)
    assert (found.instructions, found.special) == pytest.approx((132 * 128 * 1.98e9, 132 * 16 * 1.98e9))
    assert gpu_rates(GPU, "float64", 1).instructions == pytest.approx(132 * 64 * 1.98e9)
    assert gpu_rates(replace(GPU, capability="1.0"), "float32", 1) is None


def test_a_limit_goes_with_cores_and_epochs():
    setting = replace(BINARY_8, train_length=2)
    most = most_runs(setting, MACHINE, "cpu")
    assert most_runs(setting, MACHINE, "cpu", units=1) == pytest.approx(most / 2)
    assert most_runs(replace(setting, epochs=50), MACHINE, "cpu") == pytest.approx(2 * most)
    assert most_runs(setting, replace(MACHINE, gpu=None), "gpu") is None


def test_the_busier_unit_is_busy_as_short_as_can_be():
    root, quotient = divider.Held(16, 2), divider.Held(9, 3)
    units = divider.Units(1, root, quotient, root_by_hand=8, quotient_by_hand=5)
    for step in (divider.Step(100, 4, 1), divider.Step(10, 4, 1), divider.Step(0, 0, 2), divider.Step(30, 9, 7)):
        found = divider.least_clocks(step, units)
        # The same as a linear programme: how much of the roots and of the quotients the divider computes.
        relief = -step.roots * (8 - 2), -step.quotients * (5 - 3)
        rows = [(16 * step.roots, 9 * step.quotients, -1), (*relief, -1)]
        most = [0, -(step.products + 8 * step.roots + 5 * step.quotients)]
        solved = linprog([0, 0, 1], A_ub=rows, b_ub=most, bounds=[(0, 1), (0, 1), (0, None)])
        assert found == pytest.approx(solved.fun)


def test_kernels_without_roots_train_differently_and_are_forgotten():
    setting = replace(BINARY_8, train_length=2, epochs=1, precision="float64")
    weights, strings = speed.initial_weights(setting, 4), limits.strings_of(setting)
    with_roots = train(setting, weights, strings, device="cpu").weights
    with divider.products_for_roots():
        without = train(setting, weights, strings, device="cpu").weights
    again = train(setting, weights, strings, device="cpu").weights
    assert (with_roots.readout_weight[0] != without.readout_weight[0]).all()
    assert (with_roots.readout_weight[0] == again.readout_weight[0]).all()


def test_limits_are_listed_with_what_they_are_counted_from(monkeypatch):
    setting = replace(BINARY_8, train_length=2)
    monkeypatch.setattr(limits, "paper_grid", lambda precision: [replace(setting, precision=precision)])
    monkeypatch.setattr(limits, "this_machine", lambda: MACHINE)
    (row,) = limits.count_limits()
    assert (row["task"], row["train_length"], row["steps_a_run"], row["sqrt"]) == ("binary", 2, 600, 4)
    # The special-function unit is full first: 16 lanes, and 3 reciprocals, 4 roots and an exponential a step.
    assert row["gpu_float32"] == pytest.approx(132 * 16 * 1.98e9 / 8 / 600)
    assert row["cpu_float64"] == most_runs(replace(setting, precision="float64"), MACHINE, "cpu")


def test_work_is_enlarged_until_it_takes_about_so_long(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(machine.time, "perf_counter", lambda: clock[0])

    def work_of(size):
        def work():
            clock[0] += size / 1000

        return work

    assert machine.enlarge(work_of, 1, 10**6, seconds=1.0) == (pytest.approx(1000, rel=0.5), pytest.approx(1, rel=0.5))
    assert machine.enlarge(work_of, 1, 64, seconds=1.0) == (64, pytest.approx(0.064))
    assert machine.enlarge(work_of, 5000, 10**6, seconds=1.0) == (5000, pytest.approx(5))


def some_contenders():
    return (
        training.Contender(training.LOOP, "cpu", "float32", lambda: Timing(1, 20.0, 1, "scaled")),
        training.Contender("this tool", "cpu", "float32", lambda: Timing(1000, 0.1, 2)),
        training.Contender("numba", "cpu", "float32", lambda: "needs numba"),
        training.Contender("this tool, fused", "gpu", "float32", lambda: Timing(1000, 0.001, None)),
    )


@pytest.fixture
def without_gpu(monkeypatch):
    monkeypatch.setattr("tallystick.training.engines._gpus", tuple)


def test_the_table_compares_with_the_loop_and_with_the_quickest(monkeypatch, without_gpu):
    monkeypatch.setattr(training, "CONTENDERS", some_contenders())
    loop, tool, numba, fused = training.compare(list(training.measure_training("auto")))
    assert (loop["runs_per_second"], tool["runs_per_second"], tool["and_core"]) == (0.05, 10_000, 5_000)
    assert (tool["times_the_loop"], tool["quickest_is_times"]) == (200_000, 1)
    assert (loop["times_the_loop"], loop["quickest_is_times"]) == (1, 200_000)
    assert (numba["runs_per_second"], numba["note"]) == (None, "needs numba")
    assert (fused["runs_per_second"], fused["note"]) == (None, "needs a GPU; JAX sees none")
    # The loop is held to the limit of the one core it runs on.
    ratio = tool["percent_of_limit"] / loop["percent_of_limit"]
    assert ratio == pytest.approx(200_000 / 2)


def test_one_that_fails_leaves_the_others_measured(monkeypatch, without_gpu):
    def broken():
        raise RuntimeError("no compiler\nat all")

    failing = training.Contender("compiled", "cpu", "float32", broken)
    monkeypatch.setattr(training, "CONTENDERS", (failing, *some_contenders()[:2]))
    rows = training.compare(list(training.measure_training("cpu")))
    assert [row["runs_per_second"] for row in rows] == [None, 0.05, 10_000]
    assert rows[0]["note"] == "failed: RuntimeError: no compiler"


def test_a_device_can_be_measured_alone_beside_the_loop(monkeypatch):
    monkeypatch.setattr(training, "CONTENDERS", some_contenders())
    monkeypatch.setattr("tallystick.training.engines._gpus", lambda: ("one",))
    monkeypatch.setattr(training, "this_machine", lambda: MACHINE)
    rows = training.compare(list(training.measure_training("gpu")))
    assert [row["what"] for row in rows] == [training.LOOP, "this tool, fused"]
    assert rows[1]["times_the_loop"] == pytest.approx(2e7)
    assert rows[1]["and_core"] is None
    assert 0 < rows[1]["percent_of_limit"] < 100


def test_every_setting_is_compared_with_the_next_contender(monkeypatch, without_gpu):
    monkeypatch.setattr(training, "_vmap", lambda *_: Timing(10, 1.0, 2))
    monkeypatch.setattr(training, "_batched_pytorch", lambda *_: "needs torch")
    monkeypatch.setattr(training, "time_tool", lambda *given: Timing(20 if "scan" in given else 50, 1.0, 2))
    monkeypatch.setattr(training, "_numba", lambda *_: Timing(30, 1.0, 2))
    rows = list(training.measure_contenders("cpu"))
    assert len({(row["task"], row["bias"], row["train_length"]) for row in rows}) == len(rows) == 12
    assert all((row["jax.vmap"], row["PyTorch"], row["scan"], row["this_tool"]) == (10, None, 20, 50) for row in rows)
    by_hand = [row["task"] == "binary" and row["bias"] == "without" for row in rows]
    assert [row["numba"] for row in rows] == [30 if each else None for each in by_hand]
    assert [row["times_the_next"] for row in rows] == [pytest.approx(5 / 3) if each else 2.5 for each in by_hand]
    assert [row["note"] for row in rows] == [
        "PyTorch needs torch" if each else "PyTorch needs torch; numba trains another setting" for each in by_hand
    ]


def test_growth_is_measured_along_four_axes(monkeypatch, without_gpu):
    monkeypatch.setattr(speed, "_SEEDS", {"cpu": 4})
    monkeypatch.setattr(speed, "_ALONG_SEEDS", {"cpu": (1, 3)})
    monkeypatch.setattr(speed, "_LENGTHS", (2,))
    monkeypatch.setattr(speed, "_EPOCHS", (1, 2))
    rows = list(speed.measure_scaling("auto"))
    points = {(row["along"], row["at"], row["seeds"], row["steps_a_run"]) for row in rows if row["along"] != "cores"}
    assert points == {
        ("seeds", 1, 1, 3540),
        ("seeds", 3, 3, 3540),
        ("training length", 2, 4, 60),
        ("epochs", 1, 4, 28),
        ("epochs", 2, 4, 56),
    }
    assert next(row["at"] for row in rows if row["along"] == "cores") == 1
    for row in rows:
        assert row["steps_per_second"] == pytest.approx(row["runs_per_second"] * row["steps_a_run"])


TRAINING_ROWS = [
    {"what": "slow", "device": "cpu", "precision": "float32", "runs_per_second": 0.02, "percent_of_limit": 1e-4},
    {"what": "absent", "device": "cpu", "precision": "float32", "runs_per_second": None, "percent_of_limit": None},
    {"what": "quick", "device": "gpu", "precision": "float64", "runs_per_second": 4e6, "percent_of_limit": None},
]
SETTINGS_ROWS = [
    {
        "task": "binary",
        "bias": "no",
        "train_length": length,
        "precision": precision,
        "runs_per_second": 1e5 / length,
        "kernel_alone": None,
        "percent_of_limit": 40.0,
    }
    for length in (2, 4)
    for precision in ("float32", "float64")
]
GPU_ROWS = [{**row, "kernel_alone": 2 * row["runs_per_second"]} for row in SETTINGS_ROWS]
SCALING_ROWS = [{"along": "seeds", "at": at, "device": "cpu", "steps_per_second": 1e6 * at} for at in (1, 10, 12)]


@pytest.mark.parametrize(
    ("name", "rows", "shown"),
    [
        ("training", TRAINING_ROWS, ["slow, float32", "quick, float64", "0.02 (0.0001 %)", "4,000,000"]),
        ("settings", SETTINGS_ROWS, ["binary, no bias, length 4", "25,000 (40 %)", "float64"]),
        ("settings", GPU_ROWS, ["25,000, 50,000 alone (40 %)"]),
        ("scaling", SCALING_ROWS, ["seeds trained at once", "on the CPU"]),
    ],
)
def test_a_suite_is_drawn_and_written(monkeypatch, tmp_path, name, rows, shown):
    monkeypatch.setitem(run.SUITES, name, Suite(lambda _: rows))
    texts = {text.get_text() for text in DRAWINGS[name](rows, "a machine").findobj(Text)}
    assert texts >= set(shown)
    assert any("a machine" in text for text in texts)
    request = Request(name, out=tmp_path / "figures.json", figure=tmp_path / "figure.svg", as_json=True)
    answer = json.loads(measure(request))
    assert answer["figures"] == rows
    assert answer["suite"] == name
    assert answer["machine"]["processor"]["cores"] >= 1
    assert json.loads((tmp_path / "figures.json").read_text()) == answer
    assert (tmp_path / "figure.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request("languages", device="cpu"), "device: 'cpu' decides nothing in the suite 'languages'"),
        (Request(device="tpu"), "device: 'tpu' is not one of auto, cpu, gpu"),
        (Request(device="gpu"), "device: 'gpu', but JAX sees none here"),
    ],
)
def test_a_device_that_cannot_be_measured_is_refused(without_gpu, request_, message):
    with pytest.raises(BadInput, match=message):
        measure(request_)


def test_a_figure_that_cannot_be_drawn_is_refused_before_anything_is_measured(tmp_path):
    with pytest.raises(BadInput, match="the suite 'languages' has none"):
        measure(Request("languages", figure=tmp_path / "figure.png"))
    with pytest.raises(BadInput, match=r"does not end with one of \.png, \.pdf, \.svg"):
        measure(Request("scaling", figure=tmp_path / "figure.gif"))
    (tmp_path / "figure.png").write_bytes(b"mine")
    with pytest.raises(BadInput, match="exists already"):
        measure(Request("scaling", figure=tmp_path / "figure.png"))
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]


def test_measuring_needs_no_more_than_training_does():
    absent = ("polars", "typer", "rich", "pydantic", "z3", "dask", "distributed", "tomli_w", "flint")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({absent})); sys.argv = ['run', '--suite', 'languages', '--json'];"
        "import runpy; runpy.run_module('benchmarks.run', run_name='__main__')"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert [row["language"] for row in json.loads(found.stdout)["figures"]] == ["bb", "dyck1", "semidyck1"]


def test_the_languages_are_measured(capsys, tmp_path):
    run.main(["--suite", "languages", "--json", "--out", str(tmp_path / "bench.json")])
    shown = json.loads(capsys.readouterr().out)
    assert [row["language"] for row in shown["figures"]] == ["bb", "dyck1", "semidyck1"]
    assert json.loads((tmp_path / "bench.json").read_text()) == shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--suite", "poetry"), "suite: 'poetry' is not one of languages, training, certificates"),
        (("--suite", "languages", "--out", "mine.json"), "exists already; --force overwrites it"),
    ],
)
def test_a_mistake_gives_one_line_and_writes_nothing(monkeypatch, tmp_path, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.json").write_text("mine")
    with pytest.raises(SystemExit) as ended:
        run.main(arguments)
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("module", [figures, run])
def test_the_examples_of_docstrings_hold(module):
    assert doctest.testmod(module) == doctest.TestResults(failed=0, attempted=1)


@pytest.mark.parametrize(("task", "bias"), EVERY_KIND)
def test_jax_vmap_trains_to_the_same_weights(task, bias):
    given, expected = case(4, "float64", task, bias=bias)
    with jax.enable_x64(True):
        found = loaded("jax_vmap").train(*given, epochs=EPOCHS)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("cell", "units", "bias"), [("lstm", 2, True), ("linear", 3, False)])
def test_jax_vmap_of_several_units_trains_to_the_same_weights(cell, units, bias):
    given, expected = vector_case(cell, units, bias=bias)
    with jax.enable_x64(True):
        found = loaded("several_units").train_jax(*given, cell=cell, epochs=EPOCHS)
    np.testing.assert_allclose(found["inputs"], expected, rtol=0, atol=1e-13)


@pytest.mark.long
@pytest.mark.parametrize("kernel", ["train", "train_plain"])
def test_numba_trains_to_the_same_weights(kernel):
    given, expected = case(4, "float64")
    found = getattr(loaded("numba_kernel"), kernel)(*given, epochs=EPOCHS)
    # The kernel is float32.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_labels_that_would_touch_are_left_out():
    assert _labels([1, 10, 1e6, 1.1e6]) == ["1", "10", "1M", ""]


def test_as_many_seeds_are_timed_as_are_asked_for():
    setting = Setting("binary", bias=False, train_length=2, epochs=1)
    for found in (time_kernel(setting, devices_named("cpu"), seeds=512), time_seeds(setting, "cpu", 512)):
        assert found.seeds == 512
        assert found.runs_per_second > 0
