"""Languages, counter machines and exact cells: three definitions of the same sets."""

import random
from fractions import Fraction

import pytest
from strings import all_strings

from tallystick import BB, DYCK1, SEMI_DYCK1, LinearCell, ReluCell, SelectiveCell
from tallystick.languages.ready_machines import BB_COUNTER, DYCK1_BY_PARITY, DYCK1_COUNTER, SEMI_DYCK1_COUNTER

THIRD = Fraction(1, 3)
GROUPS = {
    "bb": (
        BB,
        [BB_COUNTER],
        [LinearCell(THIRD, -THIRD, Fraction(1)), SelectiveCell(THIRD, 2 * THIRD, Fraction(-1, 2), Fraction(-2))],
    ),
    "dyck1": (DYCK1, [DYCK1_COUNTER, DYCK1_BY_PARITY], []),
    "semidyck1": (SEMI_DYCK1, [SEMI_DYCK1_COUNTER], [ReluCell(THIRD, -THIRD, Fraction(1))]),
}

every_group = pytest.mark.parametrize(("language", "machines", "cells"), GROUPS.values(), ids=GROUPS)


def assert_agreement(language, machines, cells, string):
    member = language.contains(string)
    assert all(machine.accepts(string) == member for machine in machines), string
    assert all((cell.final_state(string) == 0) == member for cell in cells), string


@pytest.mark.parametrize("longest", [11, pytest.param(14, marks=pytest.mark.long)])
@every_group
def test_agreement_on_every_string_up_to_a_length(language, machines, cells, longest):
    for string in all_strings(longest):
        assert_agreement(language, machines, cells, string)


@every_group
def test_agreement_on_random_strings_of_length_1000(language, machines, cells):
    generator = random.Random(6)
    for _ in range(20):
        member = language.sample(1000, generator)
        assert_agreement(language, machines, cells, member)
        position = generator.randrange(1000)
        flipped = member[:position] + ("(" if member[position] == ")" else ")") + member[position + 1 :]
        assert_agreement(language, machines, cells, flipped)
        assert_agreement(language, machines, cells, "".join(generator.choices("()", k=1000)))
