"""The certifier against everything that can contradict it, over blocks of edge models of one kind.

Each model gets a verdict for all or for even lengths, which is held against every string to a short length, the theorems'
conditions in rationals, and the independent checker. Shares of them are held against longer strings, exact counts, a larger
limit, a solver, and the ensemble that decides many models at once. A block has a seed: what it finds can be found again.
"""

import random
from collections import Counter
from itertools import product
from typing import NamedTuple

import numpy as np
from agreement import (
    count_disagreement,
    wrong_certificate,
    wrong_limits,
    wrong_proof,
    wrong_string,
    wrong_verdict,
)
from brute_force import MOST_DIGITS, READOUTS, SCALAR_CELLS, classes_of_many, digits_needed
from edge_models import edge_model, is_refused
from edge_vector_networks import edge_vector_network
from ensemble_agreement import ensemble_disagreements, in_floats
from solver import solver_disagreement
from vector_networks import wrong_verdict as wrong_vector_verdict

from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import ARITHMETIC_NAMES, REAL, Lengths, arithmetic_of
from tallystick.errors import BadInput

LIMIT = 8
LONGEST = 6
LONGER = 10
TANH_LONGEST = 4
"""The limit of a search; the longest strings, those for a share, and those where each takes a tanh to sixty digits."""

LARGER_LIMIT = 40
LONGEST_RUN = 400
"""A failing string is run by itself to this length."""

SHARES = {"counts": 40, "longer strings": 60, "larger limits": 25, "z3": 10}
"""One in so many models that can be is also compared so."""


class Block(NamedTuple):
    """Some models of one kind, drawn from a seed."""

    cell: str
    readout: str
    arithmetic: str
    seed: int
    cells: int

    @property
    def real_tanh(self):
        """Whether a tanh of a real number is needed, which is slow."""
        return (self.cell, self.arithmetic) == ("tanh", REAL)

    def models(self):
        """The block's models; every other block of real ones holds doubles alone, so that an ensemble can be made of them."""
        generator = random.Random(" ".join(map(str, self)))
        kinds = SCALAR_CELLS[self.cell], self.readout, self.arithmetic
        drawn = [edge_model(*kinds, generator) for _ in range(self.cells)]
        if not self.in_doubles:
            return drawn
        return [in_floats(model) for model in drawn if not is_refused(model, "float64")]

    @property
    def in_doubles(self):
        """Whether every weight is a double."""
        return self.arithmetic == REAL and self.seed % 2 == 0


class VectorBlock(NamedTuple):
    """Some GRUs and LSTMs of one unit, drawn from a seed."""

    seed: int
    cells: int


def blocks(cells, each=100):
    """Go through blocks of every kind in turn, until there are so many cells; of what is slow there are fewer."""
    kinds, seed, total = list(product(SCALAR_CELLS, READOUTS, ARITHMETIC_NAMES)), 0, 0
    while total < cells:
        turn = [Block(*kind, seed, each) for kind in kinds]
        turn = [block._replace(cells=each // 4) if block.real_tanh else block for block in turn]
        yield from turn
        yield VectorBlock(seed, each // 2)
        seed, total = seed + 1, total + sum(block.cells for block in turn) + each // 2


def drawn_models(block):
    """Return the models of a block of either kind, the same ones each time."""
    if not isinstance(block, VectorBlock):
        return block.models()
    generator = random.Random(str(block))
    return [edge_vector_network(generator) for _ in range(block.cells)]


def compare(block):
    """Compare the models of a block; return how many were compared in which way, and what disagrees."""
    with np.errstate(all="raise"):  # what a user may have set is no matter of a verdict
        return _compare_vectors(block) if isinstance(block, VectorBlock) else _compare(block)


def _compare(block):
    models, tally, found = block.models(), Counter(), list[str]()
    refused = [model for model in models if is_refused(model, block.arithmetic)]
    fitting = [model for model in models if not is_refused(model, block.arithmetic)]
    tally.update(cells=len(models), refused=len(refused))
    for model in refused:
        found += _complaints(block, model, [_wrongly_taken(model, block.arithmetic)])
    for place, (model, strings) in enumerate(zip(fitting, _strings(fitting, block), strict=True)):
        found += _complaints(block, model, _wrongs(model, place, strings, block, tally))
    if block.in_doubles:
        tally["ensemble"] += len(fitting)
        found += _complaints(block, "an ensemble", _in_an_ensemble(fitting))
    return tally, found


def _complaints(block, model, answers):
    """What is wrong with a model, with all that it takes to see it again; whatever is raised is wrong, too."""
    try:
        return [f"{block} {model}: {answer}" for answer in answers if answer is not None]
    except Exception as error:
        return [f"{block} {model}: {error!r}"]


def _wrongly_taken(model, arithmetic):
    """A weight too large for the format is refused in one line that names the field."""
    try:
        certify(model, arithmetic=arithmetic)
    except BadInput as refusal:
        return None if "too large for" in str(refusal) and "\n" not in str(refusal) else f"refused: {refusal}"
    return "taken, though a weight is too large for the format"


def _strings(models, block):
    """For each model the class that every string gets and the right one, by length; None where that takes too many digits."""
    executed = [model.in_arithmetic(arithmetic_of(block.arithmetic)) for model in models]
    known = [model for model in executed if digits_needed(model) <= MOST_DIGITS]
    table = classes_of_many(known, TANH_LONGEST if block.real_tanh else LONGEST) if known else {}
    rows = iter(range(len(known)))
    return [_row(table, next(rows)) if digits_needed(model) <= MOST_DIGITS else None for model in executed]


def _row(table, place):
    return {length: (found[place], right) for length, (found, right) in table.items()}


def _wrongs(model, place, strings, block, tally):
    """Compare one model in every way that is its turn."""
    arithmetic, turn = block.arithmetic, (block.seed * block.cells + place) // len(Lengths)
    lengths = list(Lengths)[place % len(Lengths)]
    verdict = certify(model, lengths, arithmetic, LIMIT)
    tally[verdict.outcome.value] += 1
    tally["checker"] += 1
    yield wrong_certificate(verdict)
    if strings is not None:
        tally["brute force"] += 1
        yield wrong_verdict(verdict, strings)
        yield wrong_proof(verdict, strings)
        yield wrong_string(verdict, range(max(strings) + 1, LONGEST_RUN))
    if turn % SHARES["larger limits"] == 0:
        tally["larger limits"] += 1
        further = certify(model, lengths, arithmetic, LARGER_LIMIT)
        yield wrong_limits(verdict, further)
        yield wrong_certificate(further)
    if block.real_tanh:
        return
    if turn % SHARES["counts"] == 1:
        tally["counts"] += 1
        yield count_disagreement(model, arithmetic, strings)[0]
    if turn % SHARES["longer strings"] == 2:
        tally["longer strings"] += 1
        table = classes_of_many([model.in_arithmetic(arithmetic_of(arithmetic))], LONGER)
        yield wrong_verdict(certify(model, lengths, arithmetic, LONGER), _row(table, 0))
    if arithmetic == REAL and turn % SHARES["z3"] == 0:
        tally["z3"] += 1
        yield solver_disagreement(verdict, LONGEST)


def _in_an_ensemble(models):
    verdicts = {lengths: [certify(model, lengths, limit=LIMIT) for model in models] for lengths in Lengths}
    yield from ensemble_disagreements(models, verdicts, LIMIT)


def _compare_vectors(block):
    """Compare GRUs and LSTMs with every string in float64, beyond its rounding, and with the checker."""
    tally, found = Counter(cells=block.cells), list[str]()
    for place, model in enumerate(drawn_models(block)):
        found += _complaints(block, model, _vector_wrongs(model, list(Lengths)[place % len(Lengths)], tally))
    return tally, found


def _vector_wrongs(model, lengths, tally):
    verdict = certify(model, lengths, limit=LIMIT)
    tally.update([verdict.outcome.value, "several units", "brute force", "checker"])
    yield wrong_vector_verdict(verdict, LONGEST)
    yield wrong_certificate(verdict)
