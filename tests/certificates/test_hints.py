"""A verdict that looks like a wrong encoding says which declaration would go further, and every string says the same."""

import json
import random
from fractions import Fraction
from itertools import permutations, product

import pytest
from vector_networks import counting_lstm

from tallystick.cells import LinearCell, ReluCell, ReluLayer, SelectiveCell, Stack, TanhCell
from tallystick.certificates.certify import certify
from tallystick.certificates.hints import LEAST
from tallystick.cli import main
from tallystick.languages.tasks import BB_MEMBERSHIP, BINARY, SEMI_DYCK1_MEMBERSHIP, TERNARY, ready_task
from tallystick.networks import Network, Readout, write_network

HALF = Fraction(1, 2)
TERNARY_READOUT = Readout.ternary((-1, 0, 1), (-HALF, 0, -HALF))


@pytest.mark.parametrize(
    ("network", "hint"),
    [
        (
            Network(LinearCell(-1, 1, 1), Readout.binary(1, -HALF)),
            "the two tokens swapped the horizon would be unlimited",
        ),
        (
            Network(SelectiveCell(-1, 2, HALF, 2), Readout.binary(1, -HALF / 2)),
            "the two tokens swapped the horizon would be",
        ),
        (
            Network(TanhCell(Fraction(-1, 100), Fraction(1, 100), 1), Readout.binary(1, Fraction(-1, 200))),
            "the two tokens swapped the horizon would be at least 16",
        ),
        (
            Network(LinearCell(1, -1, Fraction(19, 20)), TERNARY_READOUT, TERNARY.in_order(["Zero", "Pos", "Neg"])),
            "classes=['Neg', 'Zero', 'Pos'] the horizon would be 6",
        ),
        (
            Network(LinearCell(1, -1, 1), TERNARY_READOUT, TERNARY.in_order(["Pos", "Zero", "Neg"])),
            "the two tokens swapped the horizon would be unlimited, and likewise with classes=['Neg', 'Zero', 'Pos']",
        ),
        (Network(ReluCell(1, -1, 1), Readout.zero(), BB_MEMBERSHIP), "task='semidyck1' the horizon would be unlimited"),
        (
            Network(ReluCell(1, -1, 1), Readout.binary(-1, HALF), BINARY),
            "task='semidyck1' the horizon would be at least 16",
        ),
        (
            Network(Stack((LinearCell(1, -1, 1),), ((0, 1), (1, 0))), Readout.binary(1, -HALF)),
            "the two tokens swapped the horizon would be unlimited",
        ),
        (
            Network(counting_lstm(6.0).cell, counting_lstm(6.0).readout, BINARY.in_order(["Pos", "ZeroNeg"])),
            "classes=['ZeroNeg', 'Pos'] the horizon would be at least 16",
        ),
    ],
    ids=lambda value: value.cell.name if isinstance(value, Network) else "",
)
def test_a_wrong_encoding_is_told(network, hint):
    verdict = certify(network)
    assert verdict.horizon <= 2
    assert verdict.hint.startswith(f"with {hint}")


def test_a_recogniser_of_something_else_is_told():
    """The second unit is above zero for good once a string is lost."""
    layer = ReluLayer(((1, -1), (-1, 1)), ((1, 0), (-1, 100)), (0, 0), (0, 0))
    verdict = certify(Network(layer, Readout(((-1, -1),), (HALF,)), BB_MEMBERSHIP))
    assert (verdict.horizon, verdict.failure.string) == (1, ")(")
    assert verdict.hint == "with task='dyck1' the horizon would be at least 16"


def test_nothing_is_said_where_nothing_would_go_further():
    for cell in (LinearCell(1, 3, Fraction(1, 5)), LinearCell(0, 0, 0), LinearCell(1, 1, 1)):
        verdict = certify(Network(cell, Readout.binary(1, -HALF)))
        assert verdict.horizon <= 2
        assert verdict.hint is None
    far = certify(Network(LinearCell(1, -1, Fraction(9, 10)), Readout.binary(1, -HALF)))
    assert far.horizon > 2
    assert far.hint is None
    assert certify(Network(LinearCell(1, -1, 1), Readout.zero())).hint is None


def right_to(network, task, order, swapped, longest):
    """How far every string is right when outputs and tokens are declared otherwise; each string is run as it is."""
    for length in range(1, longest + 1):
        for string in map("".join, product("()", repeat=length)):
            read = string.translate(str.maketrans("()", ")(")) if swapped else string
            index = network.task.classes.index(network.class_of(read))
            if order[index] != task.right_class(string):
                return length - 1
    return longest


def test_hints_are_what_every_string_says():
    generator, told = random.Random(4), 0
    for _ in range(30):
        a, U = generator.choice([1, -1, HALF]), generator.choice([1, Fraction(9, 10), Fraction(11, 10)])
        lines = generator.choice([((1,), -HALF), ((-1,), HALF), ((-1,), -HALF), ((1,), 0)])
        task = generator.choice([BINARY, BINARY.in_order(["Pos", "ZeroNeg"]), BB_MEMBERSHIP, SEMI_DYCK1_MEMBERSHIP])
        kind = generator.choice([LinearCell, ReluCell])
        network = Network(kind(a, -a, U), Readout((lines[0],), (lines[1],)), task)
        verdict = certify(network, limit=8)
        if verdict.failure is None or verdict.horizon > 2:
            continue
        tried = [
            right_to(network, other, order, swapped, 6)
            for other in (BINARY, BB_MEMBERSHIP, SEMI_DYCK1_MEMBERSHIP, ready_task("dyck1"))
            for order in permutations(other.classes)
            for swapped in (False, True)
        ]
        assert (verdict.hint is not None) is (max(tried) >= LEAST), network
        told += verdict.hint is not None
    assert told > 5


def test_the_command_tells_it(tmp_path, capsys):
    path = tmp_path / "network.json"
    write_network(Network(LinearCell(-1, 1, 1), Readout.binary(1, -HALF)), path)
    with pytest.raises(SystemExit):
        main(["certify", str(path)])
    assert "\nHint: with the two tokens swapped the horizon would be unlimited\n" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["certify", str(path), "--json"])
    assert json.loads(capsys.readouterr().out)["hint"] == "with the two tokens swapped the horizon would be unlimited"
    write_network(Network(LinearCell(1, -1, 1), Readout.binary(1, -HALF)), path)
    with pytest.raises(SystemExit):
        main(["certify", str(path), "--json"])
    assert "hint" not in json.loads(capsys.readouterr().out)
