"""Certificates and forgeries of every kind that the proven checker covers, and what both checkers say of them."""

import json
import re
import subprocess
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

import affine_cases
from affine_forgers import FORGERS as AFFINE_FORGERS
from affine_forgers import Source, sealed
from claim_forgers import GATED_FORGERS, LONG_FORGERS, UNIT_FORGERS
from forged import issued
from proven_networks import some_executed, some_gated, some_long_unit, some_unit

from tallystick.certificates.verdict import Lengths
from tallystick.checker import check
from tallystick.errors import BadInput

PROGRAM = Path(__file__).parents[2] / "proofs" / "checker" / "build" / "proven-checker"
SECONDS = 3
"""How long each checker may take for a certificate; what takes longer is left open."""

_AFFINE_LIMIT, _BOXES_LIMIT = 40, 10
_LENGTHS = [lengths.value for lengths in Lengths]
_AFFINE_KINDS = list(affine_cases.KINDS)


@dataclass(frozen=True)
class Kind:
    """A kind of claims that the proven checker covers.

    Attributes:
        share: how many percent of all claims are to be of this kind.
        certificate: the certificate that belongs to a seed, or None where the certifier refuses the network.
        forgers: who forges certificates, each in turn.
        forge: the forgery of a seed by one of them, or None where it has nothing to forge.
    """

    share: int
    certificate: Callable[[int], dict | None]
    forgers: tuple[Callable, ...]
    forge: Callable[[int, Callable], dict | None]

    def forger(self, seed: int) -> Callable:
        """Who makes the forgery of a seed."""
        return self.forgers[seed % len(self.forgers)]

    def forgery(self, seed: int) -> dict | None:
        """The forgery of a seed, with a digest that fits, or None."""
        return self.forge(seed, self.forger(seed))


# --- Certificates and forgeries -------------------------------------------------------------------------------------------------


def _kind(share, some, forgers):
    """A kind of networks drawn with their arithmetic and how far to look; forgers change its certificates in place."""

    def certificate(seed):
        generator = Random(f"{some.__name__} {seed}")
        # Most networks fail on a string of a few tokens, so some are drawn again until one does not.
        for _ in range(generator.choice([1, 4, 10])):
            network, arithmetic, limit = some(generator)
            try:
                content = issued(network, arithmetic, generator.choice(_LENGTHS), limit)
            except BadInput:  # a weight that overflows
                content = None
            if content is not None and content["horizon"] not in range(5):
                break
        return content

    def forge(seed, forger):
        content = certificate(seed)
        forged = deepcopy(content)
        if content is not None:
            forger(forged, Random(f"{some.__name__} {forger.__name__} {seed}"))
        return None if forged == content else sealed(forged)

    return Kind(share, certificate, forgers, forge)


def _affine_certificate(seed):
    case = affine_cases.some_case(seed, _AFFINE_KINDS[seed % len(_AFFINE_KINDS)])
    lengths = _LENGTHS[seed // len(_AFFINE_KINDS) % 2]
    content = issued(case.network, "real", lengths, _AFFINE_LIMIT)
    # The proven checker tells all strings apart by their boxes, which takes twice as long for each token more.
    return issued(case.network, "real", lengths, _BOXES_LIMIT) if content["evidence"]["method"] == "boxes" else content


def _forge_affine(seed, forger):
    generator, kind = Random(f"proven forgery {seed}"), seed // len(AFFINE_FORGERS) % len(_AFFINE_KINDS)
    source = Source.of(affine_cases.some_case(seed, _AFFINE_KINDS[kind]), generator.choice(list(Lengths)))
    forged = forger(source, generator)
    if forged is None or forged[0] == source.content:
        return None
    content = forged[0]
    return content if content["digest"] != source.content["digest"] else sealed(content)


KINDS = {
    "unit": _kind(30, some_unit, UNIT_FORGERS),
    "long": _kind(20, some_long_unit, LONG_FORGERS),
    "affine": Kind(25, _affine_certificate, AFFINE_FORGERS, _forge_affine),
    "executed": _kind(15, some_executed, UNIT_FORGERS),
    "gated": _kind(10, some_gated, GATED_FORGERS),
}


# --- Both answers ---------------------------------------------------------------------------------------------------------------

ACCEPTED, REFUSED, CONTRADICTED = "accepted by both", "refused by both", "contradicted"
_OPEN = ("not covered: ", "too costly: ")
_NUMBER = re.compile(r"\d[\d,]*( (s|minutes|hours|days|years)\b)?( or more)?")


class Compared(NamedTuple):
    """What the checkers say of one certificate.

    Attributes:
        outcome: one of the three above, or the reason for which one of the checkers left it open, without its numbers.
        told: both answers in words.
    """

    outcome: str
    told: str

    @property
    def is_open(self) -> bool:
        """Whether one of the checkers left it open."""
        return self.outcome not in (ACCEPTED, REFUSED, CONTRADICTED)


def proven_answers(contents):
    """The lines that the proven checker prints, one for each certificate."""
    contents = list(contents)
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{place}.json" for place in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_text(json.dumps(content))
        command = [PROGRAM, "--minutes", str(SECONDS / 60), *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == len(contents), done.stderr
    return [line.partition(": ")[2] for line in lines] if len(lines) > 1 else lines


def compare(contents):
    """What both checkers say of some certificates. Python is not asked about what the proven checker leaves open."""
    return [_compared(content, line) for content, line in zip(contents, proven_answers(contents), strict=True)]


def _compared(content, line):
    if line.startswith(_OPEN):
        return Compared(_NUMBER.sub("…", line), line)
    answer, holds = check(json.dumps(content), Fraction(SECONDS, 60)), line.startswith("holds: ")
    told = f"proven: {line}; Python: {answer}"
    if answer.valid is None:
        return Compared(_NUMBER.sub("…", f"Python: {answer}"), told)
    return Compared(CONTRADICTED if answer.valid is not holds else ACCEPTED if holds else REFUSED, told)
