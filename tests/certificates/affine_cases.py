"""Random affine networks of every kind, each twice: as the package has it, and as the matrices that `every_string` runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from affine_cores import KINDS, ONE, ZERO, Generator, parts, plus, times
from every_string import Affine, outputs_of, rightness
from linear_networks import matrix_product

import tallystick as ts
from tallystick.languages.tasks import BB_MEMBERSHIP, BINARY, TERNARY
from tallystick.languages.tasks import COUNT as COUNTING
from tallystick.networks.readout import COUNT, GREATEST, SIGN
from tallystick.networks.readout import ZERO as ZERO_CHECK

HALF = Fraction(1, 2)
UNITS = range(1, 7)


@dataclass(frozen=True)
class Case:
    """One network in both forms.

    Attributes:
        kind: how its matrices were made.
        network: as the package has it.
        affine: as `every_string` runs it.
    """

    kind: str
    network: ts.Network
    affine: Affine


@dataclass(frozen=True)
class Built:
    """A recurrence in both forms.

    Attributes:
        cell: as the package has it.
        affine: as `every_string` runs it, still without a readout.
        row: what an output may be made of, over the units that a readout sees.
        view: from a row over those units to one over the whole state, and what is added to the output beside.
    """

    cell: ts.Cell | ts.Stack
    affine: Affine
    row: list[Fraction]
    view: Callable[[list[Fraction]], tuple[list[Fraction], Fraction]]


def some_case(seed, kind, d=None, asked=None):
    """Make a case from a seed: of a kind, with any d where none is said, asked any question where none is said.

    Most networks fail on a string of one or two tokens, so some are drawn again until one does not.
    """
    generator = Generator(f"{kind} {d} {asked} {seed}")
    tries = generator.choice([1, 4, 10])
    while True:
        case, tries = _drawn_case(generator, kind, d, asked), tries - 1
        if tries == 0 or all(right.all() for right in rightness(case.affine, 2)):
            return case


def _drawn_case(generator, kind, d, asked):
    core, layer = KINDS[kind](generator, d or generator.choice(UNITS))
    bare = Affine(core.matrices, core.added, (ZERO,) * len(core.row), (), (), "", ())
    built = generator.choice([_alone, _alone, _with_start, _between_tokens, _below_another])(
        generator, layer, bare, core.row
    )
    question = QUESTIONS[asked or generator.choice([*OFTEN, *QUESTIONS])]
    rows, bias, decision, task, right = question(generator, built.row, *thresholds(generator, built))
    seen = [built.view(row) for row in rows]
    affine = replace(
        built.affine,
        rows=tuple(tuple(row) for row, _ in seen),
        bias=tuple(own + beside for own, (_, beside) in zip(bias, seen, strict=True)),
        decision=decision,
        right=right,
    )
    readout = ts.Readout(tuple(map(tuple, rows)), tuple(bias), decision)
    return Case(kind, ts.Network(built.cell, readout, task), affine)


# --- What stands around a layer ----------------------------------------------------------------------------------------------


def _alone(_, layer, bare, row):
    return Built(layer, bare, row, lambda row: (row, ZERO))


def _with_start(generator, layer, bare, row):
    start = tuple(parts(generator, len(row), 2, generator.choice([2, 8])))
    return Built(ts.Stack((layer,), start=(start,)), replace(bare, start=start), row, lambda row: (row, ZERO))


def _between_tokens(generator, layer, bare, row):
    """A token is read before each string, and one after it: the output v·(A·h + s) has another row and another bias."""
    before, after = generator.randrange(2), generator.randrange(2)
    one_hot = ((1, 0), (0, 1))
    start = plus(times(bare.matrices[before], bare.start), bare.added[before])
    stack = ts.Stack((layer,), first=(one_hot[before],), last=(one_hot[after],))

    def view(row):
        return matrix_product([row], bare.matrices[after])[0], times([row], bare.added[after])[0]

    return Built(stack, replace(bare, start=tuple(start)), row, view)


def _below_another(generator, layer, bare, row):
    """A layer of one or two units reads what the layer shows; a readout sees the upper layer alone."""
    upper, lower = generator.randint(1, 2), len(row)
    U = [parts(generator, upper, 2, 4) for _ in range(upper)]
    if generator.randrange(3):  # the first unit hands the row's product on as it is
        U[0] = [ZERO] * upper
    W = [list(row), *(parts(generator, lower, 2, 4) for _ in range(upper - 1))]
    bias = [parts(generator, upper, 1, 4) for _ in range(2)]
    above = ts.LinearLayer(tuple(map(tuple, W)), tuple(map(tuple, U)), *map(tuple, bias))
    start = tuple(parts(generator, lower, 1, 4)), tuple(parts(generator, upper, 1, 4))
    matrices, added = [], []
    for A, s in zip(bare.matrices, bare.added, strict=True):
        own = [[*line, *[ZERO] * upper] for line in A]
        matrices.append([*own, *([*read, *kept] for read, kept in zip(matrix_product(W, A), U, strict=True))])
        added.append([*s, *plus(times(W, s), *bias)])
    joined = replace(bare, matrices=tuple(matrices), added=tuple(added), start=(*start[0], *start[1]))
    seen = [ONE, *parts(generator, upper - 1, 1, 4)]
    return Built(ts.Stack((layer, above), start=start), joined, seen, lambda row: ([ZERO] * lower + list(row), ZERO))


# --- What is asked ------------------------------------------------------------------------------------------------------------


def thresholds(generator, built):
    """Two thresholds for the row's output, each often one that some string meets."""
    row, beside = built.view(built.row)
    plain = replace(built.affine, rows=(tuple(row),), bias=(beside,))
    met = [outputs_of(plain, string)[0] for string in generator.sample(["(", ")", "()", ")(", "(()", "))("], 2)]
    chosen = [HALF, HALF, HALF, ZERO, ONE, Fraction(generator.randint(0, 8), 8), *met]
    return generator.choice(chosen), -generator.choice(chosen)


def _binary(_, row, above, below):
    return [row], [-above], SIGN, BINARY, (0, 0, 1)


def _ternary(_, row, above, below):
    return [[-x for x in row], [ZERO] * len(row), row], [below, ZERO, -above], GREATEST, TERNARY, (0, 1, 2)


def _two_outputs(_, row, above, below):
    return [[ZERO] * len(row), row], [above, ZERO], GREATEST, BINARY, (0, 0, 1)


def _two_reversed(_, row, above, below):
    return [row, [ZERO] * len(row)], [ZERO, above], GREATEST, BINARY.in_order(("Pos", "ZeroNeg")), (1, 1, 0)


def _any_outputs(generator, row, above, below):
    rows = [plus([k * x for x in row], parts(generator, len(row), 1, 4)) for k in (-1, 0, 1)]
    return rows, [below, *parts(generator, 1, 1, 4), -above], GREATEST, TERNARY, (0, 1, 2)


def _members_by_sign(_, row, above, below):
    return [row], [-above], SIGN, BB_MEMBERSHIP, (0, 1, 0)


def _members_by_greatest(_, row, above, below):
    return [[ZERO] * len(row), row], [ZERO, above], GREATEST, BB_MEMBERSHIP, (0, 1, 0)


def _zero(generator, row, above, below):
    return [row], [generator.choice([ZERO, ZERO, -above])], ZERO_CHECK, BB_MEMBERSHIP, (0, 1, 0)


def _count(generator, row, above, below):
    """Near the count itself: early strings are right wherever the row's product is near it."""
    return [row], [generator.choice([ZERO, Fraction(generator.randint(-4, 4), 8), HALF - above])], COUNT, COUNTING, ()


QUESTIONS = {
    "binary": _binary,
    "ternary": _ternary,
    "two outputs": _two_outputs,
    "two reversed": _two_reversed,
    "any outputs": _any_outputs,
    "members by sign": _members_by_sign,
    "members by greatest": _members_by_greatest,
    "zero": _zero,
    "count": _count,
}
OFTEN = ("binary", "ternary", "two outputs", "two reversed", "zero", "count")
"""Asked twice as often as the others, which are harder to get right."""
