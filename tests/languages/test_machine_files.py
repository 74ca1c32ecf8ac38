import json
import re

import pytest

from tallystick.errors import BadInput, NotWritten
from tallystick.languages.machine_files import read_machine, write_machine
from tallystick.languages.ready_machines import READY_MACHINES

SHORT = {
    "alphabet": ["(", ")"],
    "states": ["q"],
    "initial_state": "q",
    "counters": 1,
    "cases": [{"token": "(", "update": ["+1"]}, {"token": ")", "update": ["-1"]}],
    "accepting": [{"zero_check": "0"}],
}


@pytest.mark.parametrize("name", READY_MACHINES)
def test_what_is_written_reads_back_equal(name, tmp_path):
    path = tmp_path / "machine.json"
    write_machine(READY_MACHINES[name], path)
    assert read_machine(path) == READY_MACHINES[name]
    assert [entry.name for entry in tmp_path.iterdir()] == ["machine.json"]


@pytest.mark.parametrize("update", ["×0", "x0"])
def test_a_counter_is_set_to_zero(update, tmp_path):
    path = tmp_path / "machine.json"
    path.write_text(json.dumps({**SHORT, "cases": [SHORT["cases"][0], {"token": ")", "update": [update]}]}))
    machine = read_machine(path)
    assert machine.accepts("(()")
    assert not machine.accepts("()(")


def test_a_case_left_out_stands_for_all(tmp_path):
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(SHORT))
    assert read_machine(path) == READY_MACHINES["bb"]


def with_case(**case):
    return json.dumps({**SHORT, "cases": [case]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: not JSON: expecting property name"),
        ("[]", "[] is not a JSON object"),
        ("{}", "field 'alphabet' is missing"),
        (json.dumps({**SHORT, "colour": 1}), "unknown field 'colour'; the fields are alphabet, states"),
        (json.dumps({**SHORT, "alphabet": "()"}), 'alphabet: "()" is not a JSON list'),
        (json.dumps({**SHORT, "states": [1]}), "states[0]: 1 is not a string"),
        (json.dumps({**SHORT, "counters": 1.5}), "counters: "),
        (json.dumps({**SHORT, "counters": 64}), "counters: 64, with 2 tokens and 1 states, needs more than"),
        (json.dumps({**SHORT, "initial_state": "p"}), "initial_state 'p' is not one of 'q'"),
        (json.dumps({**SHORT, "accepting": [{}, {}]}), "accepting[1]: a second entry for state 'q', zero check 0"),
        (with_case(update=["+1.5"]), 'cases[0]: update[0]: "+1.5" is not an update'),
        (with_case(update=["+1"], zero_check="2"), 'cases[0]: zero_check: "2" is not 1 of 0, 1 and *'),
        (with_case(update=["+1"], token="["), "updates: extra case: token '['"),
        (with_case(update=["+1"], token="("), "updates: missing case: token ')', state 'q', zero check 0 (and 1 more)"),
        (with_case(update=["+1", "+1"]), "is not one update (Add or TimesZero) for each counter"),
        (with_case(update=["+1"], next_state="p"), "next state 'p' is not one of 'q'"),
        (json.dumps({**SHORT, "cases": SHORT["cases"] * 2}), "cases[2]: a second entry for the case token '('"),
        ('{"counters": 1, "counters": 2}', "field 'counters' stands twice in one object"),
        ('{"counters": NaN}', "NaN is not a number"),
        ('{"counters": ' + "9" * 5000 + "}", "has 5000 characters; at most 4300 are read"),
        ("[" * 100_000, "nested too deeply"),
        ("\x00", "not JSON"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_names_it(tmp_path, text, message):
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=re.escape(message)) as refusal:
        read_machine(path)
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(BadInput, match="cannot be read: no such file"):
        read_machine(tmp_path / "nowhere.json")
    with pytest.raises(BadInput, match="cannot be read: is a directory"):
        read_machine(tmp_path)
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(BadInput, match="not UTF-8 text"):
        read_machine(tmp_path / "latin.json")
    (tmp_path / "large.json").write_bytes(b" " * (16 * 2**20 + 1))
    with pytest.raises(BadInput, match="larger than 16 MiB"):
        read_machine(tmp_path / "large.json")


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    with pytest.raises(NotWritten, match="machine.json: cannot be written: no such file"):
        write_machine(READY_MACHINES["bb"], tmp_path / "nowhere" / "machine.json")
    (tmp_path / "taken").mkdir()
    with pytest.raises(NotWritten, match="taken: cannot be written"):
        write_machine(READY_MACHINES["bb"], tmp_path / "taken")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]
