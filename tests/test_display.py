"""Notebooks: verdicts, networks, tasks, ensembles and runs show themselves, escaped and coloured by right and wrong, and plot."""

import json
import subprocess
import sys
from fractions import Fraction
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pytest
from language_documents import SATURATING, STACK
from matplotlib import pyplot as plt

import tallystick as ts
from tallystick.certificates.words import describe
from tallystick.display import Chart, Shown, Token, View, html_of
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import training_job
from tallystick.runs.runner import run_training
from tallystick.training.setting import Setting

VOID = {"line", "circle", "rect", "path", "polyline"}


class Page(HTMLParser):
    """Reads a piece of HTML; every element must be closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        assert tag in VOID
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def tokens(self):
        """The notes of the tokens of the string, and whether each is marked as wrong."""
        return [
            (found["title"], "underline" in found["style"])
            for tag, found in self.seen
            if tag == "span" and "title" in found
        ]


def leaky(decision="sign"):
    readout = ts.Readout(((1,),), (0 if decision == "count" else Fraction(-1, 2),), decision)
    return ts.Network(ts.LinearCell(1, -1, Fraction(9, 10)), readout)


def language(kind, tmp_path):
    answer = {name: value for name, value in SATURATING["answer"].items() if (name, kind) != ("threshold", "next")}
    path = tmp_path / "language.json"
    path.write_text(json.dumps({**SATURATING, "answer": {**answer, "kind": kind}}))
    return ts.read_network(path)


def test_a_verdict_shows_where_it_is_right_and_wrong():
    verdict = ts.certify(leaky())
    page = Page(verdict._repr_html_())
    assert "Right on every string up to length 4." in page.text
    assert "REFUTED, horizon 4, all lengths, real arithmetic" in page.text
    notes = page.tokens()
    assert [wrong for _, wrong in notes] == [False] * 4 + [True]
    assert notes[-1][0] == "says not positive, should say positive"
    assert notes[0][0] == "says positive"
    assert [tag for tag, _ in page.seen].count("svg") == 1
    assert sum(tag == "path" for tag, _ in page.seen) == 1  # the one cross


@pytest.mark.parametrize("kind", ["threshold", "next"])
def test_a_verdict_on_a_language(kind, tmp_path):
    verdict = ts.certify(language(kind, tmp_path))
    page = Page(verdict._repr_html_())
    assert page.tokens()[-1][1]
    assert len(page.tokens()) == verdict.failure.length


def test_a_count_is_right_if_it_is_near():
    notes = Page(ts.certify(leaky("count"))._repr_html_()).tokens()
    assert [wrong for _, wrong in notes] == [False, False, False, True]


@pytest.mark.parametrize("arithmetic", ["real", "float32", "float16-fused", "float32-any-order"])
def test_a_verdict_is_shown_in_its_arithmetic(arithmetic):
    page = Page(ts.certify(leaky(), arithmetic=arithmetic)._repr_html_())
    assert [wrong for _, wrong in page.tokens()] == [False] * 4 + [True]


def test_what_has_no_failing_string_is_shown_along_another():
    counter = ts.Network(ts.LinearCell(1, -1, 1), ts.Readout(((2,),), (-1,)))
    page = Page(ts.certify(counter)._repr_html_())
    assert page.text.startswith("VerdictRight on every string of every length.")
    assert [wrong for _, wrong in page.tokens()] == [False] * 12


def test_a_long_failing_string_is_said_and_not_drawn():
    verdict = ts.certify(ts.Network(ts.LinearCell(1, -1, Fraction(9999, 10000)), ts.Readout(((2,),), (-1,))))
    assert verdict.failure.length > 64
    assert "Fails on" in Page(verdict._repr_html_()).text
    with pytest.raises(ts.BadInput, match="plot: there is nothing to draw of this Verdict"):
        verdict.plot()


def test_a_program_that_was_run():
    verdict = ts.certify(lambda strings: [1 - 2 * s.startswith("))") for s in strings], task="binary", upto=3)
    page = Page(verdict._repr_html_())
    assert page.tokens() == [("says positive, should say not positive", True)]


def test_a_program_over_tokens_with_long_names(tmp_path):
    path = tmp_path / "stack.json"
    path.write_text(json.dumps(STACK))
    verdict = ts.certify(lambda rows: [True for _ in rows], task=path, tokens={"push": 0, "pop": 1}, upto=3)
    assert verdict.answer == "As run here, fails already on `push` (1 token): accepts it, should reject it."
    assert verdict.trace() == [(1.0,)]
    assert Page(verdict._repr_html_()).tokens()[0][1]


def test_a_network_shows_its_parts_and_its_answers(tmp_path):
    page = Page(leaky()._repr_html_())
    assert "linear cell of 1 unit" in page.text
    assert "binary: not positive or positive" in page.text
    assert len(page.tokens()) == 12
    assert Page(language("next", tmp_path)._repr_html_()).text.startswith("Network")
    huge = ts.Network(ts.TanhCell(10**400, -1, 1), ts.Readout.binary(1))
    assert Page(huge._repr_html_()).tokens() == []  # no double holds its weights


@pytest.mark.parametrize("task", ts.READY_TASKS.values(), ids=lambda task: task.name)
def test_a_task_shows_itself(task):
    page = Page(task._repr_html_())
    assert f"Task {task.name}" in page.text
    assert len(page.tokens()) == len(task.sample())
    assert len(repr(task)) < 100


def test_every_repr_is_short(tmp_path):
    verdict = ts.certify(leaky())
    assert repr(verdict) == f"Verdict(REFUTED, horizon 4, all lengths, real arithmetic: {verdict.answer})"
    assert str(verdict) == "\n".join(describe(verdict))
    assert repr(leaky()) == "Network(linear cell of 1 unit, answer sign, task binary)"
    assert repr(ts.READY_TASKS["binary"]) == "Task(binary: not positive or positive, over ( ))"
    assert repr(ts.READY_TASKS["count"]) == "Task(count: the count itself, over ( ))"
    stacked = ts.Network(
        ts.Stack((ts.LinearLayer(((1, 0), (0, 1)), ((1, 0), (0, 1)), (0, 0), (0, 0)), ts.LinearCell(1, -1, 1))),
        ts.Readout.binary(1),
    )
    assert repr(stacked) == "Network(linear cell of 1 unit above linear cell of 2 units, answer sign, task binary)"
    assert repr(RunDirectory(tmp_path)) == f"RunDirectory({str(tmp_path)!r})"


@pytest.fixture(scope="module")
def ensembles():
    options = {"train_length": 2, "seeds": 4, "epochs": 1}
    return {cell: ts.train("binary", cell=cell, units=units, **options) for cell, units in (("linear", 1), ("gru", 2))}


def test_an_ensemble_shows_itself(ensembles):
    linear, gru = ensembles.values()
    assert repr(linear).startswith("Ensemble(4 linear networks, task binary, trained to length 2 by published: ")
    page = Page(linear._repr_html_())
    assert "Ensemble of 4 networks" in page.text
    assert sum(tag == "circle" for tag, _ in page.seen) == 4
    assert linear.view().chart.x == pytest.approx(linear.cell().open_step / linear.cell().close_step)
    assert sum(gru.view().chart.lines["networks"]) == 4
    assert "4 networks" in Page(linear.networks()._repr_html_()).text


def test_a_run_shows_itself(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    run_training(training_job(Setting("binary", False, 2, epochs=1), 6, 0), 0, directory)
    page = Page(directory._repr_html_())
    assert "train" in page.text
    assert "networks6" in page.text
    assert sum(directory.view().chart.lines["networks"]) == 6


EVIL = '<script>alert("1")</script>\x1b[2J'


def test_whatever_comes_from_a_file_is_escaped():
    chart = Chart([0, 1], {EVIL: [0, 1], "b": [1, 2]}, EVIL, EVIL)
    view = View(EVIL, [EVIL, f"`{EVIL}`"], {EVIL: EVIL}, [Token(EVIL, False, EVIL)], EVIL, chart)
    page = html_of(view)
    assert "<script" not in page
    assert "\x1b" not in page
    assert Page(page).text.count("alert") == 11
    machine = ts.READY_MACHINES["bb"]
    task = ts.task_of_machine(machine, EVIL, {EVIL: {("q", (0,))}, "other": {("q", (1,))}})
    verdict = ts.certify(lambda strings: [[1, 0] for _ in strings], task=task, classes=[EVIL, "other"], upto=2)
    for shown in (task, verdict):
        assert "<script" not in shown._repr_html_()
        assert Page(shown._repr_html_()).seen


@mpl.rc_context({"backend": "agg"})
def test_plot_draws_and_returns_axes(ensembles):
    shown = [ts.certify(leaky()), leaky(), ts.READY_TASKS["anbncn"], *ensembles.values()]
    for one in shown:
        assert isinstance(one, Shown)
        axes = one.plot()
        assert axes.get_xlabel() == one.view().chart.x_label
        own = plt.subplots()[1]
        assert one.plot(own) is own
        plt.close("all")


def test_nothing_is_drawn_of_what_is_not_finite():
    chart = Chart([0, 1], {"h": [0.0, float("inf")]}, "x", "y")
    assert "<svg" not in html_of(View("x", chart=chart))


def test_a_verdict_is_shown_without_matplotlib_and_jax():
    script = (
        "import sys, tallystick as ts\n"
        "v = ts.certify(ts.Network(ts.LinearCell(1, -1, 0.5), ts.Readout.zero()))\n"
        "assert '<svg' in v._repr_html_() and '<svg' in v.model._repr_html_() and '<svg' in v.model.task._repr_html_()\n"
        "assert not {'matplotlib', 'jax'} & set(sys.modules), 'loaded'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_module_lists_exactly_its_public_names():
    assert dir(ts) == sorted(ts.__all__)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("network.json", "'network.json' is a path; read its file first: ts.certify(ts.read_network(path))"),
        (ts.LinearCell(1, -1, 1), "LinearCell has no readout; say ts.certify(ts.Network(cell, ts.Readout.zero()))"),
        (ts.LinearCell, "LinearCell is a class; make an object of it first"),
        ({"cell": "linear"}, "dict is not a Network, a PyTorch module, a function or an object"),
        (None, "NoneType is not a Network"),
        (np.zeros(3), "ndarray is not a Network"),
    ],
)
def test_certify_says_what_to_do_with_something_else(given, expected):
    with pytest.raises(ts.BadInput) as refusal:
        ts.certify(given)
    assert expected in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_certify_names_the_ways_to_ask_of_an_ensemble(ensembles):
    with pytest.raises(ts.BadInput, match=r"Ensemble is many networks; say ts.certify\(it.network\(0\)\) for one"):
        ts.certify(ensembles["linear"])
