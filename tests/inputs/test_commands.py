"""Whatever a command is given, it answers or refuses in one line; `soak/inputs.py` tries many more."""

import pytest
from command_lines import Hangs, check, check_literal, command_lines, commands, prepared, run, without_long_work
from good_files import make_good_files
from hypothesis import HealthCheck, given, settings

EXAMPLES = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with without_long_work():
        yield prepared(make_good_files(tmp_path_factory.mktemp("files")))


@pytest.mark.parametrize("name", commands())
def test_any_command_line_is_answered_or_refused_in_one_line(name, folder):
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(command_lines(name))
    def try_it(words):
        try:
            ended = run(words, folder)
            check(words, ended)
            check_literal(words, ended, folder)
        except Hangs:
            pytest.fail(f"hangs: {words}")

    try_it()


def test_options_are_called_by_their_names():
    known = {(name, parameter.flag) for name, parameters in commands().items() for parameter in parameters}
    assert {("check", "--json"), ("train", "--train-length"), ("explore", "--open"), ("check", None)} <= known


def test_a_run_of_grus_is_named_where_it_is_not_wanted(folder):
    assert "grus: a run of tallystick train; a report is of what tallystick reproduce has made" in _refusal(
        folder, "report", "grus"
    )
    said = _refusal(folder, "failures", "gru.json", "--length", "4")
    assert "gru.json: a gru cell; this is for linear, selective, relu and tanh cells" in said


def test_rows_of_an_earlier_version_are_named_with_what_to_do(folder, tmp_path):
    from good_files import make_run, trained_rows  # noqa: PLC0415

    make_run(tmp_path / "old", trained_rows().drop("horizon_all_exact"))
    said = _refusal(folder, "certify", str(tmp_path / "old"))
    assert "column 'horizon_all_exact' is missing, which rows of this version have; --force makes the run anew" in said


def _refusal(folder, *words):
    ended = run(words, folder)
    assert ended.status == 2
    check(words, ended)
    return ended.err


def test_too_little_memory_is_said_in_one_line(folder, monkeypatch):
    def fill(_):
        raise MemoryError

    monkeypatch.setattr("tallystick.cli.theory.read_machine", fill)
    assert "not enough memory" in _refusal(folder, "accepts", "machine.json", "()")
