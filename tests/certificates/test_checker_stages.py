"""The checker runs operations together: whatever order they stand in and however they are added up, boxes are the same."""

import math
import random
from fractions import Fraction

import pytest

from tallystick.checker.boxes import BoxedNetwork
from tallystick.checker.claims import KINDS, Network, Operation, Program, Readout, Task
from tallystick.checker.rounded import Rounded
from tallystick.checker.stages import stages_of

PLACES = 80
UNIT = 1 << PLACES
REAL = Rounded(PLACES)
NAMES = ("sum", "product", "positive_part", "tanh", "sigmoid", "square", "step", "mean")
TAKEN = {"product": 2, "mean": 3}


def some_sums(generator, rows, columns, denominators):
    """Sums over the same numbers."""
    weights = [[Fraction(generator.randrange(-99, 100), generator.choice(denominators)) for _ in range(columns)]]
    weights += [[Fraction(generator.gauss(0, 1)) for _ in range(columns)] for _ in range(rows - 1)]
    places = tuple(generator.sample(range(columns), columns))
    return [Operation("sum", places, tuple(row), Fraction(generator.randrange(-9, 9), 8)) for row in weights]


def some_boxes(generator, number, digits):
    """Boxes around numbers of up to so many binary digits before the point, narrow and wide, also single numbers."""
    for _ in range(number):
        low = generator.randrange(-UNIT << digits, UNIT << digits) >> generator.randrange(digits + PLACES)
        yield low, low + generator.choice([0, 1, generator.randrange(1 << generator.randrange(1, PLACES + digits))])


@pytest.mark.parametrize("denominators", [(1, 2, 1 << 40), (3, 7)], ids=["binary", "other"])
@pytest.mark.parametrize("digits", [1, 31, 40, 200])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3), (3, 1), (9, 4), (40, 10)])
def test_sums_are_rounded_outward_and_no_further(rows, columns, digits, denominators):
    """Against rationals: numbers too large to be packed and weights that are no binary fractions are added up as well."""
    generator = random.Random(f"{rows} {columns} {digits}")
    for _ in range(5):
        operations = some_sums(generator, rows, columns, denominators)
        boxes = list(some_boxes(generator, columns, digits))
        for operation, (low, high) in zip(operations, REAL.sums(operations)(boxes), strict=True):
            ends = [
                [w * end for end in boxes[place]] for w, place in zip(operation.weights, operation.places, strict=True)
            ]
            assert low == math.floor(sum(map(min, ends)) + operation.bias * UNIT)
            assert high == math.ceil(sum(map(max, ends)) + operation.bias * UNIT)


@pytest.mark.parametrize("edge", [1, 0, -1])
def test_the_largest_numbers_that_are_packed(edge):
    """All weights of one sign, and all numbers at the limit or a unit beside it."""
    most = (UNIT << 31) - edge
    for sign in (1, -1):
        operations = [Operation("sum", (0, 1, 2), (Fraction(sign * (2**24 - 1)),) * 3, Fraction(sign))] * 3
        for box in ((-most, most), (most, most), (-most, -most)):
            low, high = (sign * (3 * (2**24 - 1) * end + UNIT) for end in box[::sign])
            assert REAL.sums(operations)([box] * 3) == [(low, high)] * 3


def some_program(generator, size, operations):
    made = []
    for place in range(size, size + operations):
        name = generator.choice(NAMES)
        number = generator.randrange(4) if name == "sum" else TAKEN.get(name, 1)
        places = tuple(generator.randrange(place) for _ in range(number))
        if name == "sum" and made and generator.random() < 0.7:
            places = next((one.places for one in reversed(made) if one.name == "sum"), places)
        weights = tuple(Fraction(generator.randrange(-8, 9), 8) for _ in places) if name == "sum" else ()
        made.append(
            Operation(name, places, weights, Fraction(generator.randrange(-8, 9), 8) if name == "sum" else Fraction(0))
        )
    return Program(tuple(made), tuple(generator.randrange(size + operations) for _ in range(size)))


@pytest.mark.parametrize("seed", range(40))
def test_a_program_in_stages_finds_what_it_finds_one_by_one(seed):
    generator = random.Random(seed)
    size = generator.randrange(1, 5)
    program = some_program(generator, size, 25)
    start = tuple(Fraction(generator.randrange(-8, 9), 8) for _ in range(size))
    readout = Readout("binary", (((Fraction(1),) * size, Fraction(0)),), KINDS["binary"])
    hidden = Program((), tuple(range(size)))
    boxed = BoxedNetwork(Network("", start, (program, program), hidden, readout, Task(False, (0, 0, 1))), REAL)
    for state in (boxed.start, tuple(some_boxes(generator, size, 2))):
        boxes = list(state)
        for operation in program.operations:
            boxes += REAL.run([operation])(boxes)
        assert boxed.step(state, 0) == tuple(boxes[place] for place in program.results)


@pytest.mark.parametrize("seed", range(40))
def test_every_stage_needs_only_what_comes_before(seed):
    """No operation is lost, and what the state does not change is found without it."""
    generator = random.Random(seed)
    program = some_program(generator, 3, 25)
    fixed, moving, results = stages_of(program, 3)
    known, constant = 3, set()
    for stage in (*fixed, *moving):
        assert len({operation.name for operation in stage}) == 1
        assert all(place < known for operation in stage for place in operation.places)
        if stage in fixed:
            assert all(place in constant for operation in stage for place in operation.places)
            constant.update(range(known, known + len(stage)))
        known += len(stage)
    assert known == 3 + len(program.operations)
    assert all(place < known for place in results)
