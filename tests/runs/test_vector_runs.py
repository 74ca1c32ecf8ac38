"""GRUs and LSTMs trained into a run directory, tested, tried on long strings, and certified as a run."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tallystick import GruCell, certify, train, write_network
from tallystick.certificates.verdict import Outcome
from tallystick.cli import main
from tallystick.runs import rows as table_rows
from tallystick.runs import runner
from tallystick.runs.columns import lists, schema_of
from tallystick.runs.directory import RunDirectory
from tallystick.runs.evaluation import ensembles_of_run, exact_horizons, measures_of_run, proofs_on
from tallystick.runs.jobs import training_job
from tallystick.runs.rows import ensemble_of, rows_of
from tallystick.training.ensemble import Ensemble
from tallystick.training.setting import Setting

TINY = ("--train-length", "2", "--seeds", "3", "--epochs", "1")
GRU = ("train", "--cell", "gru", "--bias", *TINY)
SETTING = Setting("binary", True, 2, "gru", epochs=1)
PARTS = ("fresh-binary-bias-2-1-000000000", "fresh-binary-bias-2-1-000000002")
# A count of −1, 0 and 3.
STRINGS = [")", "()", "((("]


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    """Two seeds a part, so that three make two parts."""
    monkeypatch.setattr(table_rows, "NARROWEST", 2)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(table_rows, "NARROWEST", 2)
        with pytest.raises(SystemExit, match="0"):
            main([*GRU, "--out", str(path)])
    return path


def read(path):
    """The rows of a run of one setting, and its networks."""
    ((_, networks),) = ensembles_of_run(RunDirectory(path))
    return RunDirectory(path).models(), networks


def output(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(list(map(str, arguments)))
    return end.value.code, *capsys.readouterr()


def refusal(arguments, capsys):
    code, out, err = output(arguments, capsys)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    return err


def test_a_run_holds_a_row_a_network(run):
    assert sorted(path.name for path in run.iterdir()) == ["config.toml", "models.parquet", "record.json", "strings"]
    rows, networks = read(run)
    assert dict(rows.schema) == schema_of(GruCell)
    assert rows["seed"].to_list() == [0, 1, 2]
    assert (rows["first_failure"] > 0).all()
    assert ((rows["counting_r_squared"] >= 0) & (rows["counting_r_squared"] <= 1)).all()
    again = train("binary", 2, bias=True, cell="gru", seeds=3, epochs=1)
    assert [networks.network(seed) for seed in range(3)] == [again.network(seed) for seed in range(3)]


def test_the_summary_says_what_was_trained_and_what_became_of_it(run, tmp_path, capsys):
    rows, _ = read(run)
    code, out, _ = output([*GRU, "--out", run, "--resume"], capsys)
    shown = dict(line.rsplit(maxsplit=1) for line in out.splitlines())
    assert shown["horizon all max"] == str(rows["horizon_all"].max())
    assert shown["horizons exact"] == str(rows["horizon_all_exact"].sum())
    assert (code, shown["cell"], shown["units"], shown["method"]) == (0, "gru", "1", "published")
    assert shown["networks"] == "3"
    assert shown["first failure min"] == str(rows["first_failure"].min())
    (found,) = measures_of_run(RunDirectory(run))
    for length in ("train", 20, 50, 1000, 10_000):
        assert found[f"accuracy_{length}"] == pytest.approx(rows[f"accuracy_{length}"].mean())
    assert found["counting_unit"] == "hidden 0"
    copy = RunDirectory(shutil.copytree(run, tmp_path / "run"))
    copy.write_table(rows.with_columns(first_failure=pl.lit(None, pl.Int64)), "models.parquet")
    (never,) = measures_of_run(copy)
    assert (never["first_failure_median"], never["first_failure_min"]) == (float("inf"), None)


def test_a_killed_run_goes_on_to_the_same_rows(run, tmp_path, capsys, monkeypatch):
    """The second part is killed; resumed, it alone is trained, and the end is that of the run that was never killed."""
    begun, part_files = [], runner.part_files
    killed = tmp_path / "killed"

    def killed_at_seed_2(keep, job, seeds):
        begun.append(seeds[0])
        if seeds[0] == 2:
            raise KeyboardInterrupt
        return part_files(keep, job, seeds)

    monkeypatch.setattr(runner, "part_files", killed_at_seed_2)
    monkeypatch.setattr("tallystick.training.engines.cores", lambda: 1)
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        main([*GRU, "--out", str(killed)])
    assert begun == [0, 2]
    assert [path.name for path in (killed / "parts").iterdir()] == [f"{PARTS[0]}.parquet"]
    assert not (killed / "models.parquet").exists()
    assert "the command that began it goes on with --resume" in refusal(["certify", killed], capsys)

    monkeypatch.setattr(runner, "part_files", lambda *given: begun.append(given[2][0]) or part_files(*given))
    other = "epochs is 1 there and 2 now"
    assert other in refusal([*GRU[:-1], "2", "--out", killed, "--resume"], capsys)
    assert output([*GRU, "--out", killed, "--resume"], capsys)[0] == 0
    assert begun == [0, 2, 2]
    assert_frame_equal(read(killed)[0], read(run)[0], check_exact=True)
    assert not (killed / "parts").exists()
    assert "exists already; --resume goes on with it" in refusal([*GRU, "--out", killed], capsys)


def test_a_run_killed_before_it_says_how_it_was_made_says_so_when_resumed(run, tmp_path, capsys, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    copy = shutil.copytree(run, tmp_path / "run")
    (copy / "record.json").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(runner, "write_record", killed)
        assert output([*GRU, "--out", copy, "--resume"], capsys)[0] == 130
    assert output([*GRU, "--out", copy, "--resume"], capsys)[0] == 0
    assert (copy / "record.json").exists()


def test_a_torn_table_is_not_taken_for_a_finished_one(run, tmp_path, capsys):
    copy = shutil.copytree(run, tmp_path / "run")
    table = copy / "models.parquet"
    table.write_bytes(table.read_bytes()[:-9])
    assert "models.parquet: damaged" in refusal([*GRU, "--out", copy, "--resume"], capsys)


def test_a_part_of_other_columns_is_named(run, tmp_path, capsys):
    out = shutil.copytree(run, tmp_path / "run")
    (out / "models.parquet").unlink()
    (out / "parts").mkdir()
    pl.DataFrame({"seed": [0, 1]}).write_parquet(out / "parts" / f"{PARTS[0]}.parquet")
    said = refusal([*GRU, "--out", out, "--resume"], capsys)
    assert f"{PARTS[0]}.parquet: not of these columns; delete it" in said


def test_a_seeds_row_is_the_same_however_many_there_are(run, tmp_path, capsys):
    arguments = [*GRU, "--out", tmp_path / "one"]
    arguments[arguments.index("--seeds") + 1] = 1
    assert output(arguments, capsys)[0] == 0
    assert_frame_equal(read(tmp_path / "one")[0], read(run)[0].head(1), check_exact=True)


def test_a_run_may_keep_a_summary_or_a_sample(run, tmp_path, capsys):
    rows, _ = read(run)
    for keep, kept in (("summary", []), ("sample:2", [0, 2])):
        out = RunDirectory(tmp_path / keep)
        code, shown, _ = output([*GRU, "--keep", keep, "--out", out.path, "--json"], capsys)
        (found,) = json.loads(shown)["networks"]
        assert (code, found["cell"], found["units"]) == (0, "gru", 1)
        for length in ("train", 20, 50, 1000, 10_000):
            assert found[f"accuracy_{length}"] == pytest.approx(rows[f"accuracy_{length}"].mean(), abs=0.01)
        assert out.has("models.parquet") == bool(kept)
        if kept:
            assert_frame_equal(out.models(), rows.filter(pl.col("seed").is_in(kept)), check_exact=True)
    said = refusal(["certify", tmp_path / "summary"], capsys)
    assert "kept the summary of its models alone, as it was asked to" in said


def test_a_run_is_certified(run, capsys):
    _, networks = read(run)
    for lengths in ("all", "even"):
        code, out, _ = output(["certify", run, "--lengths", lengths, "--limit", 20, "--json"], capsys)
        (found,) = json.loads(out)["horizons"]
        each = [certify(networks.network(seed), lengths, limit=20) for seed in range(3)]
        horizons = [verdict.horizon for verdict in each]
        assert (code, found["cell"], found["models"]) == (0, "gru", 3)
        assert found[f"horizon_{lengths}_max"] == max(horizons)
        assert found[f"horizon_{lengths}_median"] == np.median(horizons)
        assert found["exact"] == sum(verdict.outcome is Outcome.REFUTED for verdict in each)
        failing = [verdict.failure.length for verdict in each if verdict.failure]
        assert (found["failing"], found["fails_at_max"]) == (len(failing), max(failing))
    for option in (("--arithmetic", "float32"), ("--out", "certificate.json"), ("--readout", "zero")):
        assert "--arithmetic, --from, --task, --classes, --tokens, --nonlinearity, --empty, --members" in refusal(
            ["certify", run, *option], capsys
        )


def test_a_network_that_is_no_longer_a_number_has_no_verdict(run):
    _, networks = read(run)
    networks.weights.inputs[0, 0, 1] = np.nan
    proofs = proofs_on(networks, "all", 10)
    assert [proof is None for proof in proofs] == [False, True, False]
    assert exact_horizons(proofs) == sum(proof is not None and proof.is_exact for proof in proofs)


def test_a_weight_beyond_its_precision_is_no_finite_number(run):
    rows, _ = read(run)
    huge = [[1e300, *weights[1:]] for weights in rows["tensors"].to_list()]
    networks = ensemble_of(rows.with_columns(pl.Series("tensors", huge, rows.schema["tensors"])), SETTING)
    assert np.isinf(networks.weights.inputs[0, 0]).all()
    assert proofs_on(networks, "all", 10) == [None] * 3


def test_horizons_that_may_be_longer_are_not_exact(run):
    _, networks = read(run)
    horizons = [certify(networks.network(seed), limit=20).horizon for seed in range(3)]
    assert exact_horizons(proofs_on(networks, "all", 2)) == sum(horizon < 2 for horizon in horizons)


def test_a_run_is_evaluated_on_a_file_of_strings(run, tmp_path, capsys):
    path = tmp_path / "strings.txt"
    path.write_text("\n".join(STRINGS))
    code, out, _ = output(["evaluate", run, "--strings", path, "--json"], capsys)
    (found,) = json.loads(out)["accuracy"]
    _, networks = read(run)
    each = [networks.network(seed) for seed in range(3)]
    shares = [np.mean([network.class_of(s) == network.right_class(s) for s in STRINGS]) for network in each]
    assert (code, found["cell"], found["units"], found["method"]) == (0, "gru", 1, "published")
    assert found["accuracy_mean"] == pytest.approx(100 * np.mean(shares))
    assert found["accuracy_min"] == pytest.approx(100 * min(shares))
    path.write_text("((,Neg")
    assert "label 'Neg' is wrong" in refusal(["evaluate", run, "--strings", path], capsys)


def test_indicators_of_a_run_name_what_to_use_instead(run, capsys):
    message = "its cells have no a, b and U; tallystick accuracy --curve and tallystick certify measure them"
    assert message in refusal(["indicators", run], capsys)


def test_a_runs_accuracy_by_length(run, tmp_path, capsys):
    code, out, _ = output(["accuracy", run, "--curve", "--length", 1000, "--json"], capsys)
    found = json.loads(out)
    assert (code, found["cell"], found["models"], found["sampled"]) == (0, "gru", 3, True)
    assert [point["length"] for point in found["curve"]] == [2, 5, 10, 20, 50, 100, 200, 500, 1000]
    # The strings of a thousand tokens are those that the rows are measured on.
    assert found["accuracy_mean"] == pytest.approx(read(run)[0]["accuracy_1000"].mean() / 100)
    figure = tmp_path / "curve.svg"
    code, out, _ = output(["accuracy", run, "--length", 50, "--number", 10, "--seed", 1, "--figure", figure], capsys)
    assert (code, "<svg" in figure.read_text()) == (0, True)
    assert out.startswith("3 networks, each gru with 1 unit, published:\npercent right among 10 strings of each length")
    assert out.splitlines()[2].split() == ["length", "50"]
    assert "exists already; --force overwrites it" in refusal(["accuracy", run, "--figure", figure], capsys)
    for option, message in (
        (("--length", 0), "length: 0 is not a whole number from 1 on"),
        (("--number", 0), "strings: 0 is not a whole number from 1 on"),
        (("--seed", -1), "seed: -1 is not a whole number from 0 on"),
        (("--length", 2, "--figure", tmp_path / "no.png"), "length: 2 alone is no curve"),
        (("--arithmetic", "float32"), "--readout and --arithmetic are for cells without gates"),
    ):
        assert message in refusal(["accuracy", run, *option], capsys)


def test_one_networks_accuracy_by_length(run, tmp_path, capsys):
    rows, networks = read(run)
    path = tmp_path / "network.safetensors"
    write_network(networks.network(1), path)
    code, out, _ = output(["accuracy", path, "--length", 20, "--curve", "--json"], capsys)
    found = json.loads(out)
    assert (code, found["strings"], [point["length"] for point in found["curve"]]) == (0, 100, [2, 5, 10, 20])
    assert found["accuracy"] == found["correct"] / 100
    assert found["first_failure"] == rows["first_failure"][1]
    assert found["units"][0]["r_squared"] == pytest.approx(rows["counting_r_squared"][1], abs=1e-6)
    code, out, _ = output(["accuracy", path, "--length", 20], capsys)
    assert out.splitlines()[-2].startswith(f"first failure: at {rows['first_failure'][1]} tokens among the beginnings")
    assert out.splitlines()[-1].startswith("hidden 0: R² ")
    strings = tmp_path / "strings.txt"
    strings.write_text("\n".join(STRINGS))
    code, out, _ = output(["evaluate", path, "--strings", strings], capsys)
    assert (code, "of 3 strings right in float64 arithmetic" in out) == (0, True)


@pytest.mark.parametrize("bias", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_row_is_the_network_itself(bias):
    setting, seeds = Setting("count", bias, 2, "lstm", units=2), np.arange(2)
    job = training_job(setting, 2, seed=0)
    ensemble = Ensemble(setting, job.initial(seeds), np.zeros(2))
    rows = rows_of(job, seeds, ensemble)
    again = ensemble_of(rows, setting)
    assert [again.network(seed) for seed in range(2)] == [ensemble.network(seed) for seed in range(2)]
    assert np.array_equal(again.accuracy(STRINGS), ensemble.accuracy(STRINGS))
    assert len(rows["tensors"][0]) == 16 + 16 + (8 + 8 if bias else 0)


@pytest.mark.parametrize(("cell", "numbers"), [("linear", 4 + 4 + 2 + 2), ("selective", 4 + 4 + 2), ("lru", 4 + 2 + 2)])
def test_a_row_is_the_layer_itself(cell, numbers):
    setting, seeds = Setting("binary", True, 2, cell, units=2), np.arange(2)
    job = training_job(setting, 2, seed=0)
    ensemble = Ensemble(setting, job.initial(seeds), np.zeros(2))
    tensors = pl.DataFrame(
        {
            "tensors": lists([ensemble.weights.inputs, ensemble.weights.recurrent, *ensemble.weights.bias], 2),
            "readout_weight": lists([ensemble.weights.readout_weight], 2),
            "readout_bias": lists(ensemble.weights.readout_bias, 2),
            "accuracy_train": [0.0, 0.0],
        }
    )
    assert len(tensors["tensors"][0]) == numbers
    again = ensemble_of(tensors, setting)
    assert [again.network(seed) for seed in range(2)] == [ensemble.network(seed) for seed in range(2)]


def test_what_does_not_go_is_refused(tmp_path, capsys):
    out = tmp_path / "run"
    for arguments, message in (
        (["--cell", "linear", "--units", 65], "units: 65 is more than a linear cell can have, 64"),
        (["--cell", "lstm", "--units", 99], "units: 99 is more than a lstm cell can have, 16"),
        (["--cell", "lstm", "--method", "tied"], "method: 'tied' needs the conditions of a counting theorem"),
    ):
        assert message in refusal(["train", *arguments, *TINY, "--out", out], capsys)


def test_a_run_of_something_else_is_refused(run, tmp_path, capsys):
    out = tmp_path / "run"
    out.mkdir()
    assert "config.toml" in refusal(["accuracy", out], capsys)
    (out / "config.toml").write_text('command = "train"\ncell = "linear"\n')
    assert "a run of linear cells; this is for runs of gru and lstm" in refusal(["accuracy", out], capsys)
    (out / "config.toml").write_bytes((run / "config.toml").read_bytes())
    rows = pl.read_parquet(run / "models.parquet")
    for changed, message in (
        (rows.drop("counting_unit"), "column 'counting_unit' is missing"),
        (rows.with_columns(units=pl.lit("1")), "column 'units' holds String, where Int64 is expected"),
        (rows.head(0), "holds no model"),
        (
            rows.with_columns(units=pl.lit(2, pl.Int64)),
            "column 'tensors': a row has not the 36 numbers of a gru binary network",
        ),
    ):
        changed.write_parquet(out / "models.parquet")
        assert message in refusal(["certify", out], capsys)
