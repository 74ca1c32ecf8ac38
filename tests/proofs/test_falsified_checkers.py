"""Falsified copies of the checkers of floating point and of gated networks: Coq refuses to prove each of them sound.

Each copy changes what the checker computes, and nothing of what it is to compute. `make proofs` compiles the files as they stand.
"""

import shutil
from pathlib import Path

import pytest
from compiled_copies import CHECK, compile_copy

compile_file, Refused = CHECK["compile_file"], CHECK["Refused"]
FILES = [
    *(
        "Claims",
        "Networks",
        "Runs",
        "NearestEven",
        "Rounding",
        "Floats",
        "CountGroups",
        "FloatSteps",
        "FloatClasses",
        "FloatBetween",
    ),
    *("FloatSearch", "FloatStrings", "FloatDepth", "FloatStates", "FloatCheck"),
    *("Exponential", "Gated", "Squashing", "GatedBoxes", "GatedClasses", "GatedGroups", "GatedCheck"),
]

pytestmark = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")

FALSIFIED = {
    "rounding up, not to nearest": ("NearestEven", "Z.shiftl 1 (cut - 1) - 1)", "Z.shiftl 1 cut - 1)"),
    "ties to the odd number": (
        "NearestEven",
        "if Z.testbit value cut then 1 else 0",
        "if Z.testbit value cut then 0 else 1",
    ),
    "a length left out": (
        "CountGroups",
        "rows_are_right more (length + 1) next",
        "rows_are_right more (length + 2) next",
    ),
    "closing brackets forgotten": (
        "CountGroups",
        "first :: join (map (image Open) row) rest",
        "map (image Open) row ++ [first]",
    ),
    "ends not exchanged by a falling map": ("FloatSearch", "if first <=? second then", "if true then"),
    "an overflow let pass": ("FloatSearch", "(- far p <? fst e) && (snd e <? far p)", "(snd e <? far p)"),
    "an inequality turned": (
        "FloatBetween",
        "single || negb (may_cross p c) then float",
        "single || may_cross p c then float",
    ),
    "a third of the error": ("FloatClasses", "(3 * sizes + Z.shiftl 2", "(1 * sizes + Z.shiftl 2"),
    "one digit more than there are": (
        "FloatDepth",
        "depth * odd <=? Z.shiftl 1 (digits form)",
        "depth * odd <=? Z.shiftl 2 (digits form)",
    ),
    "a string that does not fail": (
        "Runs",
        "negb (given =? right_class_of_runs t failing)",
        "(given =? right_class_of_runs t failing)",
    ),
    "states left out": ("FloatStates", "| Gt => y :: with_second ys'", "| Gt => with_second ys'"),
    "a series of wrong signs": (
        "Exponential",
        "one - Z.shiftr (y * fst ends) places / k)",
        "one + Z.shiftr (y * fst ends) places / k)",
    ),
    "a square rounded down above": (
        "Exponential",
        "Z.shiftr (snd ends * snd ends) places + 1)",
        "Z.shiftr (snd ends * snd ends) places)",
    ),
    "tanh of x for that of 2x": (
        "Squashing",
        "sigmoid_box (2 * fst box, 2 * snd box)%Z in",
        "sigmoid_box (fst box, snd box)%Z in",
    ),
    "products of low ends alone": (
        "GatedBoxes",
        "if (0 <=? a)%Z && (0 <=? c)%Z then (shift_down",
        "if (0 <=? a)%Z then (shift_down",
    ),
    "a tie that is above": (
        "GatedClasses",
        "if ready_strict c then (0 <? low)%Z",
        "if ready_strict c then (0 <=? low)%Z",
    ),
    "the last box of a group": ("GatedGroups", "Some (Groups.add key joined m)", "Some (Groups.add key boxes m)"),
    "a length of groups left out": ("GatedCheck", "r t l more (length + 1) next", "r t l more (length + 2) next"),
}


def compile_from(directory: Path, name: str) -> None:
    """Compile the files from one on: what stands before it does not change."""
    for file in FILES[FILES.index(name) :]:
        compile_file(directory / "checker" / f"{file}.v", directory)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    """A copy in which all files compile as they stand."""
    return compile_copy(tmp_path_factory.mktemp("floats") / "copy", {f"checker/{name}.v" for name in FILES})


@pytest.mark.parametrize(("name", "old", "new"), FALSIFIED.values(), ids=FALSIFIED)
def test_a_falsified_checker_is_not_proved_sound(name, old, new, compiled, tmp_path):
    directory = tmp_path / "falsified"
    shutil.copytree(compiled, directory)
    path = directory / "checker" / f"{name}.v"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(Refused, match="does not compile") as refused:
        compile_from(directory, name)
    # A proof fails, and not the reading of what was written.
    assert "Syntax error" not in str(refused.value)
    assert "Error" in str(refused.value)
