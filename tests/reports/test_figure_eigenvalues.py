"""The leading eigenvalues of a run's linear networks, against those of each network alone, and as a figure of the run."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from tallystick import LinearLayer, LruLayer, Network, Readout, SelectiveLayer
from tallystick.certificates.verdict import UNLIMITED
from tallystick.cli import main
from tallystick.reports.figure_eigenvalues import FILES, Leading, draw_eigenvalues, leading_sizes

COUNT = 5


def arrays(generator, *shape):
    if not shape:
        return generator.normal(size=COUNT)
    return tuple(arrays(generator, *shape[1:]) for _ in range(shape[0]))


def sizes_of(cell, readout):
    return leading_sizes(Network(cell, readout), SimpleNamespace(accuracy_train=np.zeros(COUNT)))


def test_the_largest_eigenvalue_of_each_matrix():
    generator = np.random.default_rng(0)
    matrix = arrays(generator, 3, 3)
    cell = LinearLayer(arrays(generator, 3, 2), matrix, arrays(generator, 3), arrays(generator, 3))
    found = sizes_of(cell, Readout(arrays(generator, 1, 3), arrays(generator, 1)))
    stacked = np.moveaxis(np.array(matrix), -1, 0)
    assert found == pytest.approx(np.abs(np.linalg.eigvals(stacked)).max(axis=1))


def test_an_eigenvalue_that_is_not_seen_does_not_lead():
    one, zero = np.ones(COUNT), np.zeros(COUNT)
    cell = LinearLayer(((one, -one), (one, -one)), ((0.5 * one, zero), (zero, 3 * one)), (zero, zero), (zero, zero))
    assert sizes_of(cell, Readout(((one, zero),), (zero,))) == pytest.approx(0.5)
    # Of three outputs the differences count: all see the second unit alike.
    ternary = Readout(((-one, one), (zero, one), (one, one)), (zero,) * 3)
    assert sizes_of(cell, ternary) == pytest.approx(0.5)


def test_layers_of_other_kinds():
    generator = np.random.default_rng(1)
    one, zero = np.ones(COUNT), np.zeros(COUNT)
    factors = arrays(generator, 1, 2)
    selective = SelectiveLayer(((one, -one), (zero, zero)), (*factors, (zero, zero)), (zero, zero))
    found = sizes_of(selective, Readout(((one, zero),), (zero,)))
    assert found == pytest.approx(np.sqrt(np.abs(factors[0][0] * factors[0][1])))
    turns = LruLayer(((one, -one), (zero, zero)), ((0.6 * one,), (0.8 * one,)), (zero, zero))
    assert sizes_of(turns, Readout(((one, zero),), (zero,))) == pytest.approx(1)


def test_proved_networks_stand_apart():
    found = Leading("linear, 2 units", np.array([0.9, 1.0, 1.1]), np.array([4, UNLIMITED, 8]))
    assert found.as_record()["horizon_median"] == 8
    assert (found.as_record()["horizon_best"], found.as_record()["proved"]) == ("unlimited", 1)
    (axes,) = draw_eigenvalues([found]).axes
    triangles = next(line for line in axes.lines if line.get_marker() == "v")
    assert triangles.get_xdata().tolist() == [1.0]
    assert len(draw_eigenvalues([found] * 4).axes) == 6


def run(*arguments):
    with pytest.raises(SystemExit) as status:
        main(list(map(str, arguments)))
    return status.value.code


@pytest.mark.long
def test_the_report_of_a_training_run(tmp_path, capsys):
    asked = ("--task", "binary", "--train-length", 2, "--seeds", 4, "--epochs", 1, "--out", tmp_path / "run")
    assert run("train", "--cell", "linear", "--units", 2, *asked) == 0
    capsys.readouterr()
    assert run("report", tmp_path / "run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == list(FILES)
    assert [row["models"] for row in found["settings"]] == [4]
    assert found["settings"][0]["setting"] == "linear, 2 units, binary, no bias, published, training length 2"
    assert all((tmp_path / "run" / name).exists() for name in FILES)
    assert run("report", tmp_path / "run") == 0
    assert "eigenvalue median" in capsys.readouterr().out
