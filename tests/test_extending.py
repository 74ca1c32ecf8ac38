"""The page on extending is followed to the letter, and a cell with more weights than any of ours goes all the way."""

import doctest
import json
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
import pytest

from tallystick.arithmetic import Number, positive_part
from tallystick.cells import CELLS, Cell
from tallystick.cli import main
from tallystick.experiments.rows import ensemble_of
from tallystick.experiments.run_directory import RunDirectory
from tallystick.experiments.training_run import train
from tallystick.languages.tasks import BINARY
from tallystick.training.initial_weights import CELL_BOUND, fresh_weights
from tallystick.training.methods import METHODS

PAGE = Path(__file__).parent.parent / "docs" / "extending.md"


@pytest.fixture(autouse=True)
def tables():
    """What is added to a table is taken out again."""
    before = [(table, dict(table)) for table in (CELLS, METHODS)]
    yield
    for table, entries in before:
        table.clear()
        table.update(entries)


def test_the_walk_through_works():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 10
    assert found.failed == 0


@dataclass(frozen=True)
class BentCell(Cell):
    """h' = U·h + V·max(0, h) + S·c(x): three weights beside the steps."""

    recurrent_weight: Number
    positive_weight: Number
    step_scale: Number

    def step(self, h, token):
        """Bend, then add."""
        bent = self.recurrent_weight * h + self.positive_weight * positive_part(h)
        return bent + self.step_scale * token.choose(self.open_step, self.close_step)


@dataclass(frozen=True)
class PlainCell(Cell):
    """h' = h + c(x): no weight beside the steps."""

    def step(self, h, token):
        """Add."""
        return h + token.choose(self.open_step, self.close_step)


@pytest.mark.parametrize("kind", [BentCell, PlainCell])
def test_a_cell_with_any_number_of_weights_is_trained_stored_and_read(kind, tmp_path, capsys):
    CELLS["own"] = kind
    options = {"cell": "own", "epochs": 2}
    out, strings = str(tmp_path / "run"), tmp_path / "run" / "strings" / "binary_20.txt"

    def command(*arguments):
        with pytest.raises(SystemExit) as status:
            main([*arguments, "--json"])
        assert status.value.code == 0
        ((shown,),) = json.loads(capsys.readouterr().out).values()
        return shown

    shown = command("train", "--cell", "own", "--epochs", "2", "--train-length", "2", "--seeds", "5", "--out", out)
    networks = train("binary", train_length=2, seeds=5, **options)
    assert shown["models"] == 5
    assert ("recurrent_weight_mean" in shown) is (kind is BentCell)
    rows = RunDirectory(tmp_path / "run").models()
    again = ensemble_of(rows, networks.setting)
    assert len(again.weights.recurrent) == len(kind.recurrent_fields())
    jax.tree.map(np.testing.assert_array_equal, again.weights, networks.weights)
    if kind is BentCell:
        assert rows["further_weights"].list.len().unique().to_list() == [2]
    accuracy = command("evaluate", out, "--strings", str(strings))["accuracy_mean"]
    assert accuracy == pytest.approx(rows["accuracy_20"].mean())
    assert command("certify", out)["horizon_all_median"] == "not worked out"


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
