"""GRUs and LSTMs trained into a run directory, and verdicts on all of its networks."""

import json

import numpy as np
import polars as pl
import pytest

from tallystick import BadInput, certify, train_gated
from tallystick.cli import main
from tallystick.experiments.gated_runs import model_of_row, read_gated_run, rows_of_gated


def output(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(list(map(str, arguments)))
    return end.value.code, *capsys.readouterr()


TINY = ("--train-length", 2, "--seeds", 3, "--epochs", 1)


def test_a_run_is_trained_measured_and_certified(tmp_path, capsys):
    run = tmp_path / "run"
    train = ["train", "--cell", "gru", "--units", 2, *TINY, "--out", run]
    code, out, _ = output([*train, "--json"], capsys)
    (found,) = json.loads(out)["networks"]
    assert (code, found["cell"], found["units"], found["models"]) == (0, "gru", 2, 3)
    assert 0 <= found["accuracy_1000"] <= 100
    assert sorted(path.name for path in run.iterdir()) == ["config.toml", "models.parquet", "record.json"]
    rows = read_gated_run(run)
    assert rows["seed"].to_list() == [0, 1, 2]
    assert (rows["first_failure"] > 0).all()
    assert ((rows["counting_r_squared"] >= 0) & (rows["counting_r_squared"] <= 1)).all()

    code, out, _ = output(["certify", run, "--json"], capsys)
    (horizons,) = json.loads(out)["horizons"]
    each = [certify(model_of_row(row), limit=200).horizon for row in rows.to_dicts()]
    assert (code, horizons["horizon_all_max"], horizons["horizon_all_median"]) == (0, max(each), np.median(each))

    assert output(train, capsys)[0] == 2
    code, _, err = output([*train, "--resume"], capsys)
    assert (code, "resume: a run of gated networks is written at its end; start it anew" in err) == (2, True)
    for command in (["indicators", run], ["evaluate", run, "--strings", run / "config.toml"]):
        code, _, err = output(command, capsys)
        assert (code, len(err.splitlines())) == (2, 1)


@pytest.mark.parametrize("bias", [True, False])
def test_a_row_is_the_network_itself(bias):
    ensemble = train_gated("lstm", 2, "count", 2, bias=bias, seeds=2, epochs=1)
    rows = rows_of_gated(ensemble).to_dicts()
    assert [model_of_row(row) for row in rows] == [ensemble.model(seed) for seed in range(2)]
    assert len(rows[0]["input_bias"]) == (8 if bias else 0)


def test_what_does_not_go_is_refused(tmp_path, capsys):
    out = tmp_path / "run"
    for arguments, message in (
        (["--cell", "linear", "--units", 2], "units: 2 is for cells with gates; a linear cell has 1"),
        (["--cell", "lstm", "--units", 99], "units: 99 is more than 16"),
        (["--cell", "lstm", "--method", "tied"], "method: 'tied' needs the conditions of a counting theorem"),
    ):
        code, _, err = output(["train", *arguments, *TINY, "--out", out], capsys)
        assert (code, message in err) == (2, True)
    with pytest.raises(BadInput, match="colour: no such option"):
        train_gated(colour="red")
    out.mkdir()
    (out / "config.toml").write_text('command = "train"\ncell = "linear"\n')
    pl.DataFrame({"seed": [0]}).write_parquet(out / "models.parquet")
    with pytest.raises(BadInput, match="a run of linear cells, which have no gates"):
        read_gated_run(out)
