"""The checker's own numbers: its rounding against NumPy and ml_dtypes, its bounds of tanh against ball arithmetic."""

import random
from fractions import Fraction

import flint
import ml_dtypes
import numpy as np
import pytest
from forged import checked_model

from tallystick.checker.effort import Limit
from tallystick.checker.exponential import POWER_ERROR, power_function, shares_above
from tallystick.checker.floating import FORMATS, Floating, FloatTanh
from tallystick.checker.sorted_strings import sign
from tallystick.checker.tanh import squash_function, tanh_above, tanh_below
from tallystick.errors import BadInput
from tallystick.numbers import FORMATS as NUMPY_FORMATS
from tallystick.numbers import nearest

KINDS = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
each = pytest.mark.parametrize("name", FORMATS)


def in_units(value, form):
    """A NumPy float as the checker's whole number; an infinity as what stands for it."""
    value = float(value)
    if np.isinf(value):
        return form.infinity if value > 0 else -form.infinity
    units = Fraction(value) * 2**form.places
    assert units.denominator == 1
    return units.numerator


def some_floats(name, number, seed):
    """Floats of every size: by their bits, near one, and at the ends of the format."""
    generator, kind = np.random.default_rng(seed), KINDS[name]
    width = np.dtype(kind).itemsize
    bits = generator.integers(0, 2 ** (8 * width), number, dtype=np.uint64).astype(f"u{width}").view(kind)
    ends = np.array(
        [0, ml_dtypes.finfo(kind).max, ml_dtypes.finfo(kind).tiny, ml_dtypes.finfo(kind).smallest_subnormal]
    )
    near = generator.normal(size=number).astype(kind)
    found = np.concatenate([bits, near, ends.astype(kind), -ends.astype(kind)])
    with np.errstate(invalid="ignore"):  # NaN among the bits
        found = found[np.isfinite(found.astype(np.float64))]
    generator.shuffle(found)
    return found


def test_the_formats_are_those_of_numpy():
    for name, form in FORMATS.items():
        known = NUMPY_FORMATS[name]
        assert (form.digits, -form.places) == (known.digits, known.least_exponent)
        assert Fraction(form.greatest, 2**form.places) == known.greatest


@each
def test_products_and_sums_round_as_executed(name):
    form, floats = FORMATS[name], some_floats(name, 4000, seed=1)
    x, y = floats[: len(floats) // 2], floats[len(floats) // 2 :][: len(floats) // 2]
    with np.errstate(all="ignore"):
        products, sums = x * y, x + y
    for a, b, product, total in zip(x, y, products, sums, strict=True):
        m, n = in_units(a, form), in_units(b, form)
        assert form.round(m * n, form.places) == in_units(product, form)
        assert form.round(m + n, 0) == in_units(total, form)


def model(weight, term):
    return checked_model((weight, weight), (term, term), "binary", ((weight, term),))


@each
@pytest.mark.parametrize("fused", [False, True])
def test_a_step_rounds_once_or_twice(name, fused):
    form, floats = FORMATS[name], some_floats(name, 1500, seed=2)
    for w, c, h in zip(floats[::3], floats[1::3], floats[2::3], strict=False):
        weight, term, state = (Fraction(float(value)) for value in (w, c, h))
        machine = Floating(model(weight, term), form, fused)
        if fused:
            expected = form.nearest(weight * state + term)
        else:
            with np.errstate(all="ignore"):
                expected = in_units(w * h + c, form)
        assert machine.step(in_units(h, form), 0) == machine.outputs(in_units(h, form))[0] == expected


@each
def test_a_rational_rounds_once(name):
    """Against the certifier's own reading, at random and just beside the middle of two neighbours."""
    form, known, generator = FORMATS[name], NUMPY_FORMATS[name], random.Random(3)
    for value in some_floats(name, 700, seed=4).astype(np.float64):
        place = known.last_place(Fraction(value))
        beside = generator.choice([0, Fraction(1, 2**200), -Fraction(1, 2**200), Fraction(generator.uniform(-1, 1))])
        exact = Fraction(value) + place / 2 + place * beside
        try:
            expected = in_units(nearest(exact, known), form)
        except BadInput:
            expected = form.infinity if exact > 0 else -form.infinity
        assert form.nearest(exact) == expected


@each
def test_neighbours(name):
    form, edge = FORMATS[name], KINDS[name]
    for value in some_floats(name, 500, seed=5):
        if abs(in_units(value, form)) < form.greatest:
            up, down = (np.nextafter(value, edge(end)) for end in (np.inf, -np.inf))
            whole = in_units(value, form)
            assert (form.neighbour(whole, 1), form.neighbour(whole, -1)) == (in_units(up, form), in_units(down, form))
            assert form.neighbour(form.neighbour(whole, 4), -4) == whole or abs(whole) > form.greatest / 2


def ball_tanh(x, places):
    """2^places·tanh x, to two thousand digits more than asked for."""
    flint.ctx.prec = places + 2000
    return flint.arb(flint.fmpq(x.numerator, x.denominator)).tanh() * flint.arb(2) ** places


def some_rationals(number, seed):
    """Rationals of every size, also whole ones and ones with long denominators."""
    generator = random.Random(seed)
    for _ in range(number):
        yield generator.choice(
            [
                Fraction(generator.gauss(0, 1)),
                Fraction(generator.randrange(-(10**6), 10**6), generator.randrange(1, 10**6)),
                Fraction(generator.gauss(0, 1)) * Fraction(2) ** generator.randrange(-400, 400),
                Fraction(generator.uniform(-200, 200)),
                Fraction(generator.randrange(-40, 40)),
            ]
        )


@pytest.mark.parametrize("places", [1, 8, 10, 24, 64, 80, 128, 320, 512])
def test_tanh_lies_between_its_bounds(places):
    for x in some_rationals(800, seed=places):
        low, high = (bound(x.numerator, x.denominator, places) for bound in (tanh_below, tanh_above))
        tanh = ball_tanh(x, places)
        assert not tanh < flint.arb(low)
        assert not tanh > flint.arb(high)
        assert 0 <= high - low <= 2
        assert -(1 << places) <= low
        assert high <= 1 << places
        assert (low == high == 0) == (x == 0)


def some_units(places, number, seed):
    """Whole numbers of units of every size, at both ends of the entries of a table, and beyond what can be told from 1."""
    generator, unit = random.Random(seed), 1 << places
    for _ in range(number):
        yield generator.choice(
            [
                generator.randrange(unit),
                generator.randrange(30 * unit),
                generator.randrange(3 * places * unit),
                generator.randrange(1 << generator.randrange(1, places + 2)),
                generator.randrange(1 << 10) * (unit >> 8),
                generator.randrange(1 << 10) * (unit >> 8) + (unit >> 8) - 1,
                generator.randrange(1 << 20) * (unit >> 18) + (unit >> 18) - 1,
                generator.choice([0, 1, unit, unit << 300]),
            ]
        )


@pytest.mark.parametrize("places", [18, 32, 74, 88, 90, 330, 1300, 5130])
def test_a_power_is_as_close_as_it_is_said_to_be(places):
    flint.ctx.prec = places + 2000
    for x in some_units(places, 800 if places < 1000 else 100, seed=places):
        exact_power = (-flint.arb(x) / flint.arb(2) ** places).exp() * flint.arb(2) ** places
        assert abs(exact_power - power_function(places)(x)) < POWER_ERROR, x


@pytest.mark.parametrize("places", [80, 320])
def test_shares_are_told_where_their_bounds_tell(places):
    """Single outputs whose shares lie on both sides of a threshold, by a hair or far apart; a tie is not told."""
    flint.ctx.prec, unit, told = places + 2000, 1 << places, set()
    generator = random.Random(places)
    for _ in range(200):
        outputs = [generator.randrange(-9 * unit, 9 * unit) for _ in range(generator.randrange(2, 5))]
        powers = [(flint.arb(output) / unit).exp() for output in outputs]
        shares = [power / sum(powers) for power in powers]
        hair = Fraction(generator.choice([1, -1]), 1 << generator.choice([2, 40, places - 30]))
        threshold = max(Fraction(0), min(Fraction(1), exact(shares[0]).limit_denominator(1 << places) + hair))
        ends = flint.arb(flint.fmpq(threshold.numerator, threshold.denominator))
        found = shares_above([(output, output) for output in outputs], places, threshold)
        assert all(one is not (share <= ends) for one, share in zip(found, shares, strict=True) if one is not None)
        assert found[0] is not None
        told.add(found[0])
    assert told == {True, False}
    assert shares_above([(0, 0), (0, 0)], places, Fraction(1, 2)) == [False, False]
    assert shares_above([(0, unit), (0, unit)], places, Fraction(1, 2)) == [None, None]
    assert shares_above([(unit, 2 * unit), (0, unit - 1)], places, Fraction(1, 2)) == [True, False]


def ball_squashed(name, x, places):
    return ball_tanh(x, places) if name == "tanh" else (ball_tanh(x / 2, places) + flint.arb(2) ** places) / 2


@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
@pytest.mark.parametrize("places", [1, 10, 20, 64, 80, 96, 320])
def test_what_a_box_is_squashed_to_is_hardly_too_wide(places, name):
    """The ends are those of the function, rounded outward; a narrow box may be wider by a millionth of its width before."""
    squash, generator = squash_function(name, places), random.Random(places)
    unit, narrow, middle = 1 << places, 1 << max(0, places - 20), 0 if name == "tanh" else 1 << places - 1
    widths = [0, 1, narrow - 1, narrow, narrow + 1, unit >> 5, unit, 5 * unit]
    for size in some_units(places, 800, seed=name):
        width = generator.choice([*widths, generator.randrange(1 << generator.randrange(1, places + 1))])
        low = generator.choice([1, -1]) * size - generator.choice([0, width, width // 2])
        found = squash((low, low + width))
        least, greatest = (ball_squashed(name, Fraction(end, unit), places) for end in (low, low + width))
        assert not least < flint.arb(found[0])
        assert not greatest > flint.arb(found[1])
        assert least - found[0] < 1.2 + flint.arb(width >> 20)
        assert found[1] - greatest < 1.2 + flint.arb(width >> 20)
        assert 2 * middle - unit <= found[0] <= found[1] <= unit
        assert found == tuple(2 * middle - end for end in reversed(squash((-low - width, -low))))
    assert squash((0, 0)) == (middle, middle)


@each
def test_an_executed_tanh_lies_between_its_bounds(name):
    """The bounds are the correctly rounded tanh and its neighbours, or one neighbour more; NumPy's lies between them."""
    form, kind = FORMATS[name], KINDS[name]
    machine = FloatTanh(model(Fraction(1), Fraction(0))._replace(cell="tanh"), form, fused=False)
    one = 1 << form.places
    for value in some_floats(name, 1000, seed=8):
        x = in_units(value, form)
        low, high = machine.image((x, x), 0)
        middle = ball_tanh(Fraction(x, 2**form.places), 0)
        nearest_one = form.nearest(exact(middle))
        allowed = form.tanh_neighbours if x else 0
        for bound, steps in ((low, -allowed), (high, allowed)):
            wanted = max(-one, min(one, form.neighbour(nearest_one, steps)))
            assert bound in (wanted, max(-one, min(one, form.neighbour(wanted, -1 if steps < 0 else 1))))
        assert low <= in_units(np.tanh(np.float64(value)).astype(kind), form) <= high


def exact(ball):
    """The middle of a ball, which is a dyadic number."""
    digits, power = ball.mid().man_exp()
    return Fraction(int(digits)) * Fraction(2) ** int(power)


def test_signs_of_sums_of_powers():
    """Against exact sums, also where powers are too long to be written out at once and where the sum is 0."""
    generator = random.Random(9)
    for _ in range(600):
        base = generator.choice([Fraction(generator.randrange(1, 9), generator.randrange(1, 9)), Fraction(1 + 2**-30)])
        if base == 1:
            continue
        terms = [(generator.randrange(-5, 6), generator.choice([0, 1, 2, 3, 50, 3000])) for _ in range(4)]
        terms += [(-c, e) for c, e in terms] if generator.random() < 0.1 else []
        value = sum(c * base**e for c, e in terms)
        assert sign(terms, base, Limit()) == (value > 0) - (value < 0)
    assert sign([(1, 10**30), (-2, 0)], Fraction(3, 2), Limit()) == 1
    assert sign([(1, 10**300), (-1, 10**300 + 1)], Fraction(2, 3), Limit()) == 1


def test_the_shares_of_equal_outputs_are_equal():
    unit = 1 << 80
    assert shares_above([(unit, unit)] * 4, 80, Fraction(1, 4)) == [False] * 4
    assert shares_above([(unit, unit)] * 4, 80, Fraction(2499, 10_000)) == [True] * 4
