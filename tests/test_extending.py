"""The page on extending is followed to the letter, and what it adds goes all the way, from training to a certificate."""

import doctest
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import jax
import numpy as np
import polars as pl
import pytest

import tallystick as ts
from tallystick.cells import CELLS, ScalarCell
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.deciders import DECIDERS
from tallystick.certificates.verdict import Lengths, Outcome, Verdict
from tallystick.checker import check
from tallystick.cli import main
from tallystick.explore import answers, formulas, run_answers
from tallystick.explore.app import application
from tallystick.explore.run import Window, open_run
from tallystick.languages.tasks import BINARY, READY_TASKS, TASKS, Task
from tallystick.networks.readout import DECISIONS
from tallystick.numbers import Number, positive_part
from tallystick.reports import report
from tallystick.reports.findings import number_text
from tallystick.reports.reading import read_run
from tallystick.reports.table import table_rows
from tallystick.runs.columns import COLUMNS
from tallystick.runs.directory import RunDirectory
from tallystick.runs.rows import ensemble_of
from tallystick.runs.runner import train
from tallystick.training.methods import METHODS
from tallystick.training.weights import CELL_BOUND, fresh_weights

sys.path.insert(0, str(Path(__file__).parent / "reports"))
from synthetic import write_run

PAGE = Path(__file__).parent.parent / "docs" / "extending.md"


@pytest.fixture(autouse=True, scope="module")
def tables():
    """Take out again what is added to a table."""
    before = [(table, dict(table)) for table in (CELLS, METHODS, DECISIONS, DECIDERS, READY_TASKS, TASKS)]
    columns = list(COLUMNS)
    yield
    COLUMNS[:] = columns
    for table, entries in before:
        table.clear()
        table.update(entries)


@pytest.fixture(scope="module")
def page(tables):
    """Follow the page; return the names that it defines."""
    walk = doctest.DocTestParser().get_doctest(PAGE.read_text(), {}, PAGE.name, str(PAGE), 0)
    found = doctest.DocTestRunner().run(walk, clear_globs=False)
    assert found.attempted > 40
    assert found.failed == 0
    return walk.globs


@pytest.fixture
def command(capsys):
    def run(*arguments, status=0):
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments), "--json"])
        assert end.value.code == status, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


SHORT = ("--epochs", 2, "--train-length", 2, "--seeds", 5)


def test_what_the_page_adds_goes_all_the_way(page, command, tmp_path):
    run, strings = tmp_path / "run", tmp_path / "run" / "strings" / "not-negative_20.txt"
    command("train", "--cell", "capped", "--task", "not-negative", "--method", "count-linear", *SHORT, "--out", run)
    rows = RunDirectory(run).models()
    assert rows["drift"].to_list() == pytest.approx((rows["open_step"] + rows["close_step"]).to_list())
    (accuracy,) = command("evaluate", run, "--strings", strings)["accuracy"]
    assert accuracy["accuracy_mean"] == pytest.approx(rows["accuracy_20"].mean())
    (horizons,) = command("certify", run)["horizons"]
    assert horizons["exact"] == 5
    networks = train("not-negative", train_length=2, seeds=5, cell="capped", method="count-linear", epochs=2)
    assert [ts.certify(networks.network(seed)).horizon for seed in range(5)] == rows["horizon_all"].to_list()


def test_a_column_of_the_page_is_counted_and_summed_up(page, command, tmp_path):
    command("train", *SHORT, "--keep", "summary", "--out", tmp_path / "run")
    (setting,) = json.loads((tmp_path / "run" / "summary.json").read_text())["settings"]
    assert len(setting["drift"]["quantiles"]["0.5"]) == 2
    counted = pl.read_parquet(tmp_path / "run" / "histograms.parquet").filter(column="drift")
    assert counted["models"].sum() == 5


def test_a_column_of_the_page_is_explored(page, command, tmp_path):
    command("train", *SHORT, "--out", tmp_path / "run")
    run, rows = open_run(tmp_path / "run"), RunDirectory(tmp_path / "run").models()
    shown = {"name": "drift", "title": "a + b", "condition": 0.0}
    assert shown in run_answers.summary_of(run)["columns"]
    settings = run.choose("")
    (series,) = run_answers.histogram(settings, "drift", 10)["series"]
    assert series["median"] == pytest.approx(rows["drift"].median())
    points = run_answers.points_of(settings, Window(-1e12, 1e12, -1e12, 1e12), 5)["points"]
    assert {point["seed"]: point["values"]["drift"] for point in points} == dict(
        rows.select("seed", "drift").iter_rows()
    )
    parameters = application().openapi()["paths"]["/api/run/histogram"]["get"]["parameters"]
    assert any("drift" in parameter["schema"].get("enum", ()) for parameter in parameters)


def test_a_column_of_the_page_is_reported(page, tmp_path):
    models = pl.read_parquet(write_run(tmp_path) / "models.parquet")
    run = read_run(tmp_path)
    assert "a + b" not in report.page(run, table_rows(run), {"fresh": []}, {})
    models.with_columns(drift=pl.col("open_step") + pl.col("close_step")).write_parquet(tmp_path / "models.parquet")
    run = read_run(tmp_path)
    setting = next(iter(run.of_edition("fresh")))
    median = number_text(run.of_edition("fresh")[setting]["drift"].median())
    found = report.page(run, table_rows(run), {"fresh": []}, {})
    assert "<th>a + b</th>" in found
    assert f"<td>{median} (" in found


def test_a_network_of_the_pages_cell_readout_and_task_has_a_file_a_certificate_and_a_view(page, command, tmp_path):
    network = ts.Network(page["CappedCell"](1, -1, 1), ts.Readout.binary(1, 0.5), page["task"])
    ts.write_network(network, tmp_path / "network.json")
    assert ts.read_network(tmp_path / "network.json") == network.in_arithmetic("rational")
    found = command("certify", tmp_path / "network.json", status=1)
    assert (found["verdict"], found["horizon"], found["right_class"]) == ("REFUTED", 8, "below")
    assert found["model"]["task"] == "not-negative"
    seen = answers.trace(network, "real", "(((((")
    assert seen["states"] == [0, 1, 2, 3, 4, 4]
    assert {band["class"] for band in seen["bands"]} == {"below", "not below"}
    offered = formulas.choices()
    (capped,) = [cell for cell in offered["cells"] if cell["name"] == "capped"]
    assert capped["steps"][0] == "4 − max(0, 8 − max(0, U·h + a + 4))"
    (readout,) = [readout for readout in offered["readouts"] if readout["name"] == "not-below"]
    assert [one["formula"] for one in readout["classes"]] == ["v·h + c < 0", "v·h + c ≥ 0"]
    own = ts.Network(ts.LinearCell(1, -1, 1), ts.Readout(((1,),), (0,), "not below"))
    ts.write_network(own, tmp_path / "own.json")
    assert command("certify", tmp_path / "own.json", status=1)["readout"] == "not-below"


def test_a_vector_cell_of_the_page_is_trained_kept_and_certified(page, command, tmp_path):
    run = tmp_path / "run"
    command("train", "--cell", "elman", "--units", 2, "--bias", *SHORT, "--out", run)
    rows = RunDirectory(run).models()
    assert rows["tensors"].list.len().unique().to_list() == [2 * 2 + 2 * 2 + 2]
    networks = train("binary", train_length=2, seeds=5, cell="elman", units=2, bias=True, epochs=2)
    jax.tree.map(np.testing.assert_array_equal, ensemble_of(rows, networks.setting).weights, networks.weights)
    (proved,) = command("certify", run, "--limit", 6)["horizons"]
    assert proved["models"] == 5
    ts.write_network(networks.network(0), tmp_path / "network.json")
    assert ts.read_network(tmp_path / "network.json") == networks.network(0).in_arithmetic("rational")


def networks_of(page):
    """A network of each thing that the page adds, and of all at once."""
    counter, own = ts.LinearCell(1, -1, 1), ts.Readout(((1,),), (0,), "not below")
    elman = page["ElmanCell"](((0.25, -0.25), (0.5, -0.5)), ((1, 0.25), (0, 0.5)), (0, 0.125))
    return {
        "cell": ts.Network(page["CappedCell"](1, -1, 1), ts.Readout.binary(1, -0.5)),
        "vector cell": ts.Network(elman, ts.Readout(((1, 0.5),), (-0.25,))),
        "readout": ts.Network(counter, own),
        "task": ts.Network(ts.LinearCell(1, -1, 0.75), ts.Readout.binary(1, 0.5), page["task"]),
        "proved task": ts.Network(counter, ts.Readout.binary(1, 0.5), page["task"]),
        "tanh and task": ts.Network(ts.TanhCell(0.25, -0.25, 1), ts.Readout.binary(1, 0.125), page["task"]),
        "all": ts.Network(page["CappedCell"](1, -1, 1), ts.Readout(((1,),), (0.5,), "not below"), page["task"]),
    }


KINDS = ["cell", "vector cell", "readout", "task", "proved task", "tanh and task", "all"]


def renewed(content):
    """A certificate whose digest fits, whatever it says."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    return json.dumps({**rest, "digest": digest(rest)})


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_page_adds_is_certified_and_checked(page, kind, command, tmp_path):
    model, out = tmp_path / "network.json", tmp_path / "certificate.json"
    ts.write_network(networks_of(page)[kind], model)
    proved = kind == "proved task"
    found = command("certify", model, "--limit", 12, "--out", out, status=0 if proved else 1)
    assert found["verdict"] == ("PROVED" if proved else "REFUTED")
    assert command("check", out)["answer"] == "holds"
    content = json.loads(out.read_text())
    for lie in lies(content):
        answer = check(renewed(lie))
        # Bounds around the states of a tanh cell may not tell that a length fails.
        assert answer.status == 1 or (lie["verdict"], kind, answer.status) == ("BOUNDED", "tanh and task", 3)
    out.write_text(renewed(lie))
    assert command("check", out, status=1)["answer"] == "does not hold"
    out.write_text(json.dumps({**content, "lengths": "even"}))
    assert "digest" in command("check", out, status=1)["reason"]


def lies(content):
    """False claims about the same network, or about one that is a little different."""
    model, task = content["model"], content["model"]["task"]
    if content["verdict"] == "PROVED":
        yield {**content, "model": {**model, "close_step": "-3/4"}}
        yield {**content, "model": {**model, "task": {**task, "right": task["right"][::-1]}}}
        yield {**content, "model": {**model, "task": {**task, "machine": "semidyck1"}}}
        return
    example, further = content["counterexample"], content["horizon"] + 1
    yield {**content, "horizon": further}
    yield {**content, "horizon": further, "verdict": "BOUNDED", "counterexample": None}
    yield {**content, "counterexample": {**example, "class": example["right_class"]}}
    yield {**content, "counterexample": {**example, "class": example["right_class"], "right_class": example["class"]}}
    other = "(" if example["runs"][0][0] == ")" else ")"
    yield {**content, "counterexample": {**example, "runs": [[other, further]], "trace": None}}
    yield {**content, "model": {**model, "readout": {**model["readout"], "bias": [-100]}}}
    if "step" in model:
        still = {"operations": [], "results": list(range(len(model["start"])))}
        yield {**content, "model": {**model, "step": {"(": still, ")": still}}}


def test_a_step_that_looks_at_its_numbers_has_no_certificate(page, tmp_path):
    @dataclass(frozen=True)
    class LookingCell(ScalarCell):
        name = "looking"

        def step(self, h, token):
            return h + token.choose(self.open_step, self.close_step) if h < 3 else h

    @dataclass(frozen=True)
    class HalvingCell(LookingCell):
        def step(self, h, token):
            return (h + token.choose(self.open_step, self.close_step)) / 2

    for kind, reason in ((LookingCell, "the step looks at a number"), (HalvingCell, "unsupported operand")):
        network = ts.Network(kind(1, -1), ts.Readout.binary(1, -0.5))
        verdict = Verdict(network, Lengths.ALL, "real", Outcome.BOUNDED, 0, None, "search", "")
        with pytest.raises(
            ts.BadInput, match=f"cell: a certificate holds the step of a looking cell .*: {reason}"
        ) as found:
            ts.write_certificate(verdict, tmp_path / "certificate.json")
        assert len(str(found.value).splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_no_certificate_is_written_of_what_the_checker_cannot_prove(page):
    capped, readout = page["CappedCell"](1, -1, 1), ts.Readout.binary(1, -0.5)
    fused = ts.certify(ts.Network(capped, readout), arithmetic="float32-fused")
    proved = replace(fused, arithmetic="real", outcome=Outcome.PROVED, horizon=None, failure=None, method="own theorem")
    for verdict, reason in (
        (fused, "arithmetic: 'float32-fused' is outside a certificate of a capped cell; certify in float32 or in real"),
        (proved, "method: the checker knows no theorem 'own theorem' of a capped cell"),
        (
            replace(proved, model=ts.Network(ts.LinearCell(1, -1, 1), readout)),
            "no theorem 'own theorem' of a linear cell",
        ),
    ):
        with pytest.raises(ts.BadInput, match=reason):
            certificate(verdict)


@pytest.mark.parametrize(
    ("machine", "question"),
    [("dyck1", BINARY.question), ("bb", lambda machine, end: int(end.counters[0] >= 3))],
    ids=["another machine", "not the sign"],
)
def test_a_task_that_the_sign_of_the_count_does_not_decide_is_refused_by_what_needs_the_sign(machine, question):
    task = Task("own", ts.READY_MACHINES[machine], BINARY.classes, question)
    assert [str(task.right_class(string)) for string in ("(((", "()")] == ["Pos", "ZeroNeg"]
    network = ts.Network(ts.LinearCell(1, -1, 1), ts.Readout.binary(1), task)
    verdict = ts.certify(network)
    assert verdict.failure.right == task.right_class(verdict.failure.string) != network.class_of(verdict.failure.string)
    with pytest.raises(ts.BadInput, match="task: 'own' asks for more of the counters than which of them are zero"):
        certificate(verdict)
    for ask in (lambda: ts.extreme_failures(network, 4), lambda: task.index_of_count(1)):
        with pytest.raises(ts.BadInput, match="task: 'own' is not decided by the sign of one count.*upto=N") as refusal:
            ask()
        assert len(str(refusal.value).splitlines()) == 1


@dataclass(frozen=True)
class BentCell(ScalarCell):
    """h' = U·h + V·max(0, h) + S·c(x): three weights beside the steps."""

    recurrent_weight: Number
    positive_weight: Number
    step_scale: Number

    name = "own"

    def step(self, h, token):
        """Bend, then add."""
        bent = self.recurrent_weight * h + self.positive_weight * positive_part(h)
        return bent + self.step_scale * token.choose(self.open_step, self.close_step)


@dataclass(frozen=True)
class PlainCell(ScalarCell):
    """h' = h + c(x): no weight beside the steps."""

    name = "own"

    def step(self, h, token):
        """Add."""
        return h + token.choose(self.open_step, self.close_step)


@pytest.mark.parametrize("kind", [BentCell, PlainCell])
def test_a_cell_with_any_number_of_weights_is_trained_stored_and_read(kind, tmp_path, command):
    CELLS["own"] = kind
    out, strings = tmp_path / "run", tmp_path / "run" / "strings" / "binary_20.txt"
    (shown,) = command("train", "--cell", "own", *SHORT, "--out", out)["indicators"]
    networks = train("binary", train_length=2, seeds=5, cell="own", epochs=2)
    assert shown["models"] == 5
    assert ("recurrent_weight_mean" in shown) is (kind is BentCell)
    rows = RunDirectory(out).models()
    again = ensemble_of(rows, networks.setting)
    assert len(again.weights.recurrent) == len(kind.recurrent_fields())
    jax.tree.map(np.testing.assert_array_equal, again.weights, networks.weights)
    if kind is BentCell:
        assert rows["further_weights"].list.len().unique().to_list() == [2]
    (accuracy,) = command("evaluate", out, "--strings", strings)["accuracy"]
    assert accuracy["accuracy_mean"] == pytest.approx(rows["accuracy_20"].mean())
    (horizons,) = command("certify", out)["horizons"]
    assert horizons["horizon_all_median"] == "not worked out"


def test_a_further_weight_is_drawn_alike_however_many_follow():
    @dataclass(frozen=True)
    class LongerCell(BentCell):
        fourth_weight: Number

    drawn, more = (
        fresh_weights(kind, BINARY, np.arange(50), bias=True, dtype=np.dtype(np.float32))
        for kind in (BentCell, LongerCell)
    )
    jax.tree.map(np.testing.assert_array_equal, drawn, more._replace(recurrent=more.recurrent[:3]))
    apart = np.stack(jax.tree.leaves(more))
    assert len(np.unique(apart.round(6))) == apart.size  # no number is drawn twice
    further = np.stack(more.recurrent[2:])
    assert np.abs(further).max() < CELL_BOUND
    assert further.std() == pytest.approx(CELL_BOUND / 3**0.5, rel=0.2)
    other_order = fresh_weights(BentCell, BINARY, np.arange(49, -1, -1), bias=True, dtype=np.dtype(np.float32))
    np.testing.assert_array_equal(other_order.recurrent[2][::-1], drawn.recurrent[2])
