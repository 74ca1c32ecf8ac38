"""The commands as a user meets them: output, exit status, and one line for every mistake."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
import z3

from tallystick import LinearCell, LinearLayer, Network, certify, write_network
from tallystick.cli import look_for_gpus, main, show_json
from tallystick.networks import Readout
from tallystick.theorems.account import THEOREMS
from tallystick.theorems.proof import Part, Step, Theorem


@pytest.fixture
def run(capsys):
    """Run a command and return its status, standard output and standard error."""

    def run(*arguments: str):
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        output = capsys.readouterr()
        return ended.value.code, output.out, output.err

    return run


def test_accepts_says_so_and_exits_with_the_answer(run):
    assert run("accepts", "bb", "(()))(") == (0, "bb accepts (()))(\n", "")
    assert run("accepts", "bb", "(()") == (1, "bb rejects (()\n", "")
    assert run("accepts", "dyck1", "") == (0, "dyck1 accepts the empty string\n", "")


def test_extract_writes_a_machine_that_accepts_reads_and_draws_it(run, tmp_path):
    network, machine, figure = (tmp_path / name for name in ("network.json", "machine.json", "machine.svg"))
    write_network(Network(LinearCell(2, -1, 1), Readout.zero()), network)
    status, out, _ = run("extract", str(network), "--out", str(machine), "--figure", str(figure))
    assert status == 0
    assert out.startswith("equal to a machine with 1 state and 1 counter on all strings at every length\nbecause ")
    assert run("accepts", str(machine), "())")[0] == 0
    assert run("accepts", str(machine), "()")[0] == 1
    assert figure.read_text().startswith("<?xml")
    assert run("extract", str(network), "--out", str(machine))[0] == 2
    assert json.loads(run("extract", str(network), "--json")[1])["horizon"] == "unlimited"


def test_no_result_takes_the_place_of_another_or_of_what_it_is_made_from(run, tmp_path):
    network, one = tmp_path / "network.json", tmp_path / "one.svg"
    write_network(Network(LinearCell(2, -1, 1), Readout.zero()), network)
    before = network.read_text()
    for arguments, reason in (
        (["extract", "--out", str(one), "--figure", str(one)], "one.svg: is the file of another result, too"),
        (["extract", "--out", str(one), "--figure", str(tmp_path / "two.txt")], "two.txt: a figure's name ends in"),
        (["certify", "--out", str(network), "--force"], "network.json: is the file that is read, too"),
        (
            ["failures", "--length", "3", "--out", str(network), "--force"],
            "network.json: is the file that is read, too",
        ),
    ):
        status, out, error = run(arguments[0], str(network), *arguments[1:])
        assert (status, out, len(error.splitlines())) == (2, "", 1)
        assert reason in error
    assert ([path.name for path in tmp_path.iterdir()], network.read_text()) == (["network.json"], before)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["certify", "--from", "-1"], "--from: -1 is not a whole number from 0 on"),
        (
            ["certify", "--limit", "many"],
            "'--limit': Input should be a valid integer, unable to parse string as an integer; it is 'many'",
        ),
        (["certify", "--members", "-1"], "--members: -1 is not a whole number from 0 on"),
        (["certify", "--members", "3", "--upto", "2"], "--upto and --out are for all strings"),
        (["certify", "--run-by", "numpy", "--arithmetic", "real"], "arithmetic: 'real' is not one of float16"),
        (["failures", "--length", "9", "--number", "10001"], "number: 10001 is more than 10,000"),
    ],
)
def test_options_are_refused_by_their_own_names_and_values(run, tmp_path, arguments, reason):
    network = tmp_path / "network.json"
    write_network(Network(LinearCell(2, -1, 1), Readout.binary(1)), network)
    status, out, error = run(arguments[0], str(network), *arguments[1:])
    assert (status, out, len(error.splitlines())) == (2, "", 1)
    assert reason in error


def test_accepts_with_a_trace(run):
    status, out, _ = run("accepts", "anbncn", "abc", "--trace")
    assert status == 0
    assert out.splitlines()[-2].split() == ["3", "c", "01", "+0", "-1", "c", "0", "0"]
    status, out, _ = run("accepts", "bb", ")", "--trace", "--json")
    assert status == 1
    assert json.loads(out) == {
        "machine": "bb",
        "string": ")",
        "accepted": False,
        "trace": [{"token": ")", "zero_check": "0", "update": ["-1"], "state": "q", "counters": [-1]}],
    }


def test_a_machine_of_the_users_own(run, tmp_path):
    _, text, _ = run("machines", "shuffle2")
    path = tmp_path / "machine.json"
    path.write_text(text)
    assert run("accepts", str(path), "([)]")[0] == 0
    assert run("accepts", str(path), "([)")[0] == 1


def test_machines_are_listed(run):
    status, out, _ = run("machines")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(json.loads(run("machines", "--json")[1]))


def test_prove_ends_in_0_with_every_step_proved(run):
    status, out, _ = run("prove")
    assert status == 0
    assert all(theorem.title in out for theorem in THEOREMS.values())
    assert "refuted" not in out


def test_prove_as_json(run):
    status, out, _ = run("prove", "--json")
    result = json.loads(out)
    assert status == 0
    assert result["proved"] is True
    assert [theorem["name"] for theorem in result["theorems"]] == list(THEOREMS)
    cases = result["theorems"][0]["parts"][0]["steps"]
    assert [(case["string"], case["state"]) for case in cases][4] == ("(())", "b + Ub + U²a + U³a")
    for theorem in result["theorems"]:
        for part in theorem["parts"]:
            for step in part["steps"]:
                assert (step["verdict"], step["proved_by"]) in {("PROVED", "solver"), ("ARGUED", "argument")}


def test_a_false_theorem_ends_in_1_with_the_counterexample(run, monkeypatch):
    a, U = z3.Reals("a U")
    step = Step("`((` rejected gives U ≠ 1", (a + U * a != 0,), U != 1)
    monkeypatch.setitem(THEOREMS, "false", Theorem("false", "A false theorem", "It fails.", (Part("Only", (step,)),)))
    status, out, _ = run("prove", "false")
    assert status == 1
    assert "refuted" in out
    assert "counterexample: " in out
    assert "U = 1" in out.split("counterexample: ")[1]
    status, out, _ = run("prove", "false", "--json")
    assert status == 1
    assert json.loads(out)["proved"] is False


def test_queries_are_written_and_not_overwritten_unasked(run, tmp_path):
    directory = tmp_path / "new" / "queries"
    assert run("prove", "six-strings", "--smtlib", str(directory))[0] == 0
    files = sorted(path.name for path in directory.iterdir())
    assert files == [f"six-strings-{number:02d}.smt2" for number in range(1, 9)]
    assert "(check-sat)" in (directory / files[0]).read_text()
    status, out, err = run("prove", "six-strings", "--smtlib", str(directory))
    assert (status, out) == (2, "")
    assert "exists already; --force overwrites it" in err
    assert run("prove", "six-strings", "--smtlib", str(directory), "--force")[0] == 0


def test_version_and_help(run):
    assert run("--version")[0] == 0
    for command in ("accepts", "machines", "prove"):
        status, out, _ = run(command, "--help")
        assert status == 0
        assert "Example: tallystick " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no command given; tallystick --help lists them"),
        (("count",), "No such command 'count'."),
        (("accepts",), "Missing argument"),
        (("accepts", "bb"), "Missing argument"),
        (("accepts", "bb", "()", "()"), "unexpected extra argument"),
        (("accepts", "bb", "()", "--colour"), "--colour"),
        (("accepts", "bb", "(()x"), "unknown token 'x' at position 4; the alphabet is ( )"),
        (("accepts", "cc", "()"), "MACHINE: 'cc' is neither a file nor one of bb, dyck1"),
        (("accepts", "nowhere.json", "()"), "nowhere.json: cannot be read: no such file"),
        (("machines", "cc"), "NAME: 'cc' is not one of bb"),
        (("prove", "fermat"), "THEOREM: 'fermat' is not one of theorem1"),
        (("prove", "extremes"), "THEOREM: 'extremes' is proved in Coq alone, not by the solver: "),
        (("prove", "theorem1", "--smtlib", "/dev/null/x"), "/dev/null/x"),
    ],
)
def test_a_mistake_gives_one_line_and_status_2(run, arguments, message):
    status, out, err = run(*arguments)
    assert status == 2
    assert message in err
    assert err.startswith("tallystick: ")
    assert err.count("\n") == 1
    assert out == "" or not arguments


COUNTER = '{"cell": "linear", "open_step": 1, "close_step": -1, "recurrent_weight": 1, "readout": {"kind": "zero"}}'


@pytest.fixture
def files(tmp_path):
    """A counter, a leaky cell and some strings."""
    (tmp_path / "counter.json").write_text(COUNTER)
    (tmp_path / "leaky.json").write_text(COUNTER.replace('weight": 1', 'weight": 0.9'))
    (tmp_path / "strings.txt").write_text("(()),Zero\n(()\n")
    (tmp_path / "stray.txt").write_text("()\n(}\n")
    (tmp_path / "wrong.txt").write_text("(),Pos\n")
    (tmp_path / "empty.txt").write_text("")
    return tmp_path


def test_indicators_of_a_model(run, files):
    status, out, _ = run("indicators", str(files / "counter.json"))
    assert (status, out) == (0, "a/b = −1   holds: a/b = -1, off by 0\nU = 1      holds: U = 1, off by 0\n")
    status, out, _ = run("indicators", str(files / "leaky.json"), "--json")
    assert status == 1
    assert json.loads(out)["conditions"][1] == {
        "formula": "U = 1",
        "holds": False,
        "finding": "U = 9/10 (0.9), off by -1/10 (-0.1)",
        "value": "9/10",
        "distance": "-1/10",
    }


def test_evaluate_a_model(run, files):
    arguments = ("evaluate", str(files / "counter.json"), "--strings", str(files / "strings.txt"))
    assert run(*arguments)[:2] == (0, "2 of 2 strings right in rational arithmetic: 100.00 %\n")
    assert json.loads(run(*arguments, "--json")[1])["accuracy"] == 100
    assert run("evaluate", str(files / "leaky.json"), *arguments[2:])[1].startswith("1 of 2")


def test_train_then_evaluate_then_look(run, tmp_path):
    out = str(tmp_path / "run")
    arguments = ("train", "--task", "ternary", "--train-length", "2", "--epochs", "5", "--seeds", "12", "--out", out)
    status, shown, err = run(*arguments, "--json")
    assert (status, err) == (0, "")
    assert json.loads(shown)["indicators"][0]["models"] == 12
    strings = str(tmp_path / "run" / "strings" / "ternary_50.txt")
    status, shown, _ = run("evaluate", out, "--strings", strings, "--json")
    assert status == 0
    assert 0 <= json.loads(shown)["accuracy"][0]["accuracy_mean"] <= 100
    assert run("indicators", out)[0] == 0
    assert run(*arguments) == (
        2,
        "",
        f"tallystick: {out}: exists already; --resume goes on with it, --force starts it anew\n",
    )
    assert run(*arguments, "--resume")[0] == 0
    assert run("evaluate", out, "--strings", str(tmp_path / "run" / "config.toml"))[0] == 2
    assert (
        "arithmetic: 'float64' is for a model"
        in run("evaluate", out, "--strings", strings, "--arithmetic", "float64")[2]
    )


@pytest.mark.long
def test_reproduce(run, tmp_path):
    out = tmp_path / "reproduction"
    status, shown, err = run("reproduce", "--seeds", "0", "--replicates", "2", "--out", str(out))
    assert (status, err) == (0, "")
    assert "Edition fresh" in shown
    for name in (
        "table2.csv",
        "table2.md",
        "table2.tex",
        "figure1.png",
        "figure1.pdf",
        "figure1.svg",
        "claims.json",
        "report.html",
    ):
        assert (out / name).stat().st_size > 100, name


def test_a_closed_pipe_is_neither_a_verdict_nor_bad_input():
    shell = f"{sys.executable} -m tallystick machines shuffle2 | true; echo ${{PIPESTATUS[0]}}"
    found = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert found.stdout.strip() in ("0", "141")  # 0 where the output fitted into the pipe before it closed
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("arguments", [["machines", "shuffle2"], ["machines"], ["--help"], ["accepts", "bb", "("]])
def test_output_without_a_reader_ends_a_command_quietly(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tallystick", *arguments]
    found = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (found.returncode, found.stderr) == (141, b"")


def test_complaints_without_a_reader_change_no_status():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tallystick", "accepts", "nothing", "("]
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=writer, check=False)
    os.close(writer)
    assert (found.returncode, found.stdout) == (2, b"")


def test_a_connection_that_breaks_is_told_and_ends_no_command_quietly():
    code = """if True:
        import socket
        from tallystick.cli import app, main

        @app.command()
        def broken() -> None:
            here, there = socket.socketpair()
            there.close()
            here.send(b"x")

        main()
        """
    command = [sys.executable, "-c", code, "broken"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "tallystick: a process that this one was connected to has gone\n"


def test_a_closed_output_still_answers_by_its_status():
    found = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m tallystick accepts bb '(' >&-"], stderr=subprocess.PIPE, check=False
    )
    assert (found.returncode, found.stderr) == (1, b"")


def test_json_has_null_where_a_number_is_not_finite(run, capsys):
    show_json({"ratio": [float("nan"), float("inf"), 1.5]})
    assert json.loads(capsys.readouterr().out) == {"ratio": [None, None, 1.5]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "counter.json"), "Missing option '--strings'"),
        (("evaluate", "counter.json", "--strings", "stray.txt"), "stray.txt: line 2: unknown token '}' at position 2"),
        (("evaluate", "counter.json", "--strings", "wrong.txt"), "wrong.txt: line 1: label 'Pos' is wrong for ()"),
        (("evaluate", "counter.json", "--strings", "empty.txt"), "empty.txt: holds no string"),
        (("evaluate", "counter.json", "--strings", "nowhere.txt"), "nowhere.txt: cannot be read: no such file"),
        (("evaluate", "nowhere.json", "--strings", "strings.txt"), "nowhere.json: cannot be read"),
        (
            ("evaluate", "counter.json", "--strings", "strings.txt", "--arithmetic", "float8"),
            "arithmetic: 'float8' is not",
        ),
        (("evaluate", ".", "--strings", "strings.txt"), ".: not a run directory, since it has no config.toml"),
        (("indicators", "strings.txt"), "strings.txt: line 1: not JSON"),
        (("train", "--task", "quaternary", "--out", "run"), "task: 'quaternary' is not one of binary, ternary, count"),
        (("train", "--task", "binary"), "Missing option '--out'"),
        (("train", "--seeds", "many", "--out", "run"), "--seeds"),
        (("train", "--cell", "elman", "--out", "run"), "cell: 'elman' is not one of linear, selective, relu"),
        (("reproduce", "--precision", "float8", "--out", "run"), "precision: 'float8' is not one of float32, float64"),
        (("reproduce", "--authors-data", "nowhere", "--out", "run"), "authors_data: nowhere is not a folder"),
        (
            ("reproduce", "--authors-data", ".", "--out", "run"),
            "holds neither binary_20.txt nor CounterDataset20Tokens.txt",
        ),
        (("report", "nowhere"), "nowhere"),
    ],
)
def test_a_mistake_in_an_experiment_gives_one_line_and_writes_nothing(run, files, monkeypatch, arguments, message):
    monkeypatch.chdir(files)
    before = sorted(files.rglob("*"))
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(files.rglob("*")) == before


def test_certify_an_exact_counter(run, files):
    status, out, _ = run("certify", str(files / "counter.json"))
    assert status == 0
    assert out.startswith(
        "Right on every string of every length.\nPROVED, horizon unlimited, all lengths, real arithmetic\n"
    )
    assert "As executed it counts exactly to depth 2,048 in float16, 256 in bfloat16,\n  16,777,216 in float32, " in out


def test_certify_a_leaky_cell_and_check_the_certificate(run, files):
    certificate = files / "certificate.json"
    arguments = ("certify", str(files / "leaky.json"), "--out", str(certificate))
    status, out, _ = run(*arguments, "--json")
    found = json.loads(out)
    assert status == 1
    assert (found["verdict"], found["horizon"], found["counterexample"]) == ("REFUTED", 1, "()")
    assert {"readout", "lengths", "arithmetic", "model"} <= found.keys()
    assert run("check", str(certificate))[:2] == (
        0,
        f"{certificate}: holds: REFUTED: every counted length to 1 is right, the next one fails\n",
    )
    assert run(*arguments)[0] == 2
    certificate.write_text(certificate.read_text().replace('"horizon": 1', '"horizon": 2'))
    status, out, _ = run("check", str(certificate), "--json")
    assert status == 1
    assert json.loads(out)["valid"] is False


def test_certify_in_float32_names_a_failing_string(run, files):
    (files / "tenth.json").write_text(COUNTER.replace('step": 1', 'step": 0.1').replace('step": -1', 'step": -0.1'))
    status, out, _ = run("certify", str(files / "tenth.json"), "--arithmetic", "float32", "--json")
    string = json.loads(out)["counterexample"]
    assert status == 1
    assert len(string) <= 6
    h = np.float32(0)
    for token in string:
        h = np.float32(1) * h + np.float32(0.1 if token == "(" else -0.1)
    assert (h == 0) != (string.count("(") == string.count(")"))


def test_exact_accuracy(run, files):
    status, out, _ = run("accuracy", str(files / "leaky.json"), "--length", "6", "--json")
    found = json.loads(out)
    cell = LinearCell(Fraction(1), Fraction(-1), Fraction(9, 10))
    right = sum((cell.final_state("".join(s)) == 0) == (s.count("(") == 3) for s in product("()", repeat=6))
    assert (status, found["strings"], found["correct"]) == (0, 64, right)
    assert sum(part["correct"] for part in found["classes"].values()) == right
    assert (
        "all           1,125,899,906,842,624 of 1,125,899,906,842,624"
        in run("accuracy", str(files / "counter.json"), "--length", "50")[1]
    )


def test_linear_networks_are_counted_or_drawn(run, tmp_path):
    """All strings of a length that is said, and drawn ones where their number is."""
    layer = LinearLayer(((1, -1), (1, 0)), ((1, 0), (0, 0)), (0, 0), (0, 0))
    model = tmp_path / "layer.json"
    write_network(Network(layer, Readout(((1, 1),), (-0.5,))), model)
    counted = json.loads(run("accuracy", str(model), "--length", "4", "--json")[1])
    assert (counted["strings"], counted["correct"]) == (16, 13)  # three balanced strings end with `(`
    drawn = json.loads(run("accuracy", str(model), "--length", "4", "--number", "5", "--json")[1])
    assert drawn["sampled"] is True


def test_accuracy_has_a_curve_and_a_figure(run, files):
    model = str(files / "leaky.json")
    status, out, _ = run("accuracy", model, "--length", "5", "--curve", "--json", "--arithmetic", "float32")
    curve = json.loads(out)["curve"]
    assert (status, [point["length"] for point in curve]) == (0, [1, 2, 3, 4, 5])
    assert curve[-1]["correct"] == json.loads(out)["correct"]
    assert json.loads(out)["arithmetic"] == "float32"
    assert len(run("accuracy", model, "--length", "5", "--curve")[1].splitlines()) == 5
    figure = files / "curve.svg"
    assert run("accuracy", model, "--length", "5", "--figure", str(figure))[0] == 0
    assert "<svg" in figure.read_text()
    assert run("accuracy", model, "--length", "5", "--figure", str(figure))[0] == 2


def test_failing_strings_are_listed_and_serve_as_tests(run, files):
    (files / "drifts.json").write_text(
        '{"cell": "linear", "open_step": 1, "close_step": -1.1, "recurrent_weight": 1,'
        ' "readout": {"kind": "ternary", "weight": [-1, 0, 1], "bias": [-0.5, 0, -0.5]}}'
    )
    model, strings = str(files / "drifts.json"), files / "failing.txt"
    status, out, _ = run("failures", model, "--length", "12", "--number", "4", "--out", str(strings), "--json")
    found = json.loads(out)
    assert status == 0
    assert len(found["random"]) == 4
    assert found["extreme"]
    assert all(failure["class"] != failure["right_class"] for failure in found["random"] + found["extreme"])
    status, out, _ = run("evaluate", model, "--strings", str(strings), "--json")
    assert json.loads(out)["right"] == 0
    status, out, _ = run("failures", model, "--length", "12")
    assert "extreme: says 'negative', should say 'zero'" in out
    assert run("failures", model, "--length", "4")[1] == "no string of length 4 is known to fail\n"


def test_certify_a_run(run, tmp_path):
    out = str(tmp_path / "run")
    run("train", "--train-length", "4", "--seeds", "20", "--out", out)
    status, shown, _ = run("certify", out, "--json")
    assert status == 0
    assert json.loads(shown)["horizons"][0]["horizon_even_median"] >= 4
    rows = pl.read_parquet(tmp_path / "run" / "models.parquet")
    for row in rows.head(5).iter_rows(named=True):
        model = Network(
            LinearCell(row["open_step"], row["close_step"], row["recurrent_weight"]),
            Readout.binary(row["readout_weight"][0]),
        )
        assert certify(model).horizon == row["horizon_all"]
        assert certify(model, lengths="even").horizon == row["horizon_even"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("certify", "counter.json", "--readout", "binary"),
            "readout: 'binary' is neither zero nor the model's own, zero",
        ),
        (("certify", "counter.json", "--lengths", "odd"), "lengths: 'odd' is not one of all, even"),
        (("certify", "counter.json", "--arithmetic", "float8"), "arithmetic: 'float8' is not one of real, float16"),
        (("certify", "counter.json", "--limit", "1"), "limit: 1 is not a whole number from 2 on"),
        (("certify", "strings.txt"), "strings.txt: line 1: not JSON"),
        (("check", "nowhere.json"), "nowhere.json: cannot be read"),
        (("accuracy", "counter.json"), "length: missing; say how long the strings are, as with --length 50"),
        (
            ("accuracy", "counter.json", "--length", "4", "--seed", "1"),
            "counter.json: --number and --seed are for GRUs and LSTMs, whose strings are drawn",
        ),
        (("accuracy", "counter.json", "--length", "0"), "length: 0 is not a whole number from 1 on"),
        (("accuracy", "leaky.json", "--length", "1000000000"), "length: "),
        (
            ("accuracy", "leaky.json", "--length", "4", "--figure", "curve.gif"),
            "a figure's name ends in .png, .pdf, .svg",
        ),
        (("accuracy", "leaky.json", "--length", "1", "--figure", "curve.png"), "length: 1 alone is no curve"),
        (("failures", "leaky.json", "--length", "2000"), "length: 2000 is more than 400"),
        (("check", "strings.txt"), "strings.txt: line 1: not JSON"),
        (("certify", "leaky.json", "--out", "nowhere/c.json"), "nowhere/c.json: there is no folder nowhere"),
        (("certify", "leaky.json", "--out", "."), ".: is a folder, not a file to write"),
        (("failures", "leaky.json", "--length", "4", "--number", "-1"), "number: -1 is not a whole number from 0 on"),
    ],
)
def test_a_mistake_with_certificates_gives_one_line(run, files, monkeypatch, arguments, message):
    monkeypatch.chdir(files)
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["train", "sweep", "reproduce", "compare"])
def test_a_command_looks_for_gpus_ahead_where_it_may_use_one(run, monkeypatch, command):
    looked = []
    monkeypatch.setattr("tallystick.cli._look_for_gpus", lambda: looked.append(command))
    for options in (["--device", "cpu"], ["--cluster", "local:2"], []):
        assert run(command, *options, "--seeds", "-1", "--out", "never")[0] == 2
        assert looked == [command] * (not options)


def test_looking_for_gpus_ahead_says_nothing_where_there_is_no_jax_or_no_gpu(monkeypatch, capfd):
    for _ in range(2):
        thread = look_for_gpus("auto", None)
        assert thread is not None
        thread.join()
        monkeypatch.setitem(sys.modules, "jax", None)
    assert capfd.readouterr() == ("", "")
