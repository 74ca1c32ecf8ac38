"""The commands as a user meets them: output, exit status, and one line for every mistake."""

import json

import pytest
import z3

from tallystick.cli import main
from tallystick.theorems.catalogue import THEOREMS
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
