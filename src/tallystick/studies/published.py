"""Networks that others published, a folder of them: how far each is right, in real numbers and as executed, and who can check it.

Every network is asked the same questions. A file that cannot be read, or a question that cannot be decided, leaves its reason in
the row and does not stop the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import NamedTuple

from tallystick.cells import Stack
from tallystick.certificates.certificate import write_certificate
from tallystick.certificates.deciders import certify_network
from tallystick.certificates.languages.members import Members, members
from tallystick.certificates.verdict import REAL, Runs, Verdict
from tallystick.checker import Unreadable, answer_file
from tallystick.errors import BadInput
from tallystick.files import read_document
from tallystick.networks import Network, read_network
from tallystick.networks.files import split_about

EXECUTED = "float32"
"""The arithmetic that networks are published in."""

MEMBERS = 200
"""Up to which n members are run where a network answers after every token; verdicts on all strings go further by themselves."""

_SHOWN_STRING = 20


class Question(NamedTuple):
    """What is asked of a network: which lengths count, and in which arithmetic it runs."""

    name: str
    arithmetic: str
    lengths: str


QUESTIONS = (
    Question("real", REAL, "all"),
    Question("float32", EXECUTED, "all"),
    Question("real_even", REAL, "even"),
)
"""Even lengths are asked about where a network answers at the end of a string of brackets, as in the data of such networks."""


@dataclass(frozen=True)
class Finding:
    """The answer to one question about one network.

    Attributes:
        verdict: the verdict; None where there is none.
        seconds: the processor time that it took to find it, which does not depend on what else the machine does.
        problem: why there is no verdict.
        certificate: the file that others can check; None where there is none.
        check: what the checker says of it, or why there is no certificate.
        check_seconds: the processor time of the check.
    """

    verdict: Verdict | None
    seconds: float
    problem: str | None = None
    certificate: str | None = None
    check: str | None = None
    check_seconds: float | None = None

    @property
    def horizon(self) -> int | str | None:
        """The last length up to which it is right, `unlimited`, or None where that is not known."""
        if self.verdict is None:
            return None
        return "unlimited" if self.verdict.horizon is None else self.verdict.horizon


@dataclass(frozen=True)
class Published:
    """What was found of one network.

    Attributes:
        name: its file's name without the ending.
        about: what the file says of it, such as `source` and `claim`.
        network: the network; None where the file cannot be read.
        problem: why it cannot be read.
        findings: the answers by the names of the questions.
        members: which members of its language are right, by the arithmetic, where it answers after every token.
    """

    name: str
    about: dict[str, str]
    network: Network | None
    problem: str | None
    findings: dict[str, Finding]
    members: dict[str, Members]

    @property
    def tested(self) -> int | None:
        """The greatest length that its authors tried, where the file says so."""
        digits = self.about.get("tested", "").replace(",", "")
        return int(digits) if digits.isdecimal() else None


def survey(
    folder: Path, out: Path | None = None, limit: int | None = None, tell: Callable[[Published], object] | None = None
) -> list[Published]:
    """Ask every network file of a folder the same questions.

    Args:
        folder: where the network files lie, each a `.json`.
        out: where certificates are written; None writes none.
        limit: how far to search where nothing else decides.
        tell: is told of each network when its row is complete.
    """
    rows: list[Published] = []
    for path in network_files(folder):
        rows.append(_published(path, out, limit))
        if tell is not None:
            tell(rows[-1])
    return rows


def network_files(folder: Path) -> list[Path]:
    """Return the network files of a folder, in the order of their names."""
    files = sorted(folder.glob("*.json"))
    if not files:
        raise BadInput(f"{folder}: holds no network files, whose names end in .json")
    return files


def certificate_names(folder: Path) -> list[str]:
    """Return the names of the certificates that networks of a folder may get."""
    return [_certificate_name(path, question) for path in network_files(folder) for question in QUESTIONS]


def _certificate_name(path: Path, question: Question) -> str:
    return f"{path.stem}.{question.name}.certificate.json"


def _published(path: Path, out: Path | None, limit: int | None) -> Published:
    try:
        network, about = read_network(path), about_of(path)
    except BadInput as error:
        return Published(path.stem, {}, None, str(error), {}, {})
    findings = {
        question.name: _finding(network, question, out and out / _certificate_name(path, question), limit)
        for question in QUESTIONS
        if question.lengths == "all" or (network.readout.steps is None and network.alphabet == ("(", ")"))
    }
    return Published(path.stem, about, network, None, findings, _members(network))


def _members(network: Network) -> dict[str, Members]:
    """Run the members of a language in both arithmetics; where there are too many, or it answers at the end, there is nothing."""
    try:
        return {arithmetic: members(network, MEMBERS, arithmetic) for arithmetic in (REAL, EXECUTED)}
    except BadInput:
        return {}


def about_of(path: Path) -> dict[str, str]:
    """Return what a network file says about the network: texts that no verdict depends on."""
    return split_about(read_document(path))[1]


def _finding(network: Network, question: Question, path: Path | None, limit: int | None) -> Finding:
    start = process_time()
    try:
        verdict = certify_network(network, question.lengths, question.arithmetic, limit)
    except BadInput as error:
        return Finding(None, process_time() - start, str(error))
    seconds = process_time() - start
    if path is None:
        return Finding(verdict, seconds)
    try:
        write_certificate(verdict, path)
        start = process_time()
        answer = answer_file(path)
    except (BadInput, Unreadable) as error:
        return Finding(verdict, seconds, check=f"none: {error}")
    return Finding(verdict, seconds, None, path.name, answer.word, process_time() - start)


def cell_text(network: Network) -> str:
    """Say of which cells a network is, and how many units it has.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.networks import Readout
    >>> cell_text(Network(LinearCell(1, -1, 1), Readout.zero()))
    'linear, 1 unit'
    """
    cell = network.cell
    names = " + ".join(layer.name for layer in (cell.layers if isinstance(cell, Stack) else (cell,)))
    return f"{names}, {cell.units} {'unit' if cell.units == 1 else 'units'}"


def failing_string(finding: Finding | None) -> str | None:
    """Return a shortest failing string, as runs where it is long; None where none is known."""
    verdict = finding.verdict if finding else None
    failure = (verdict.failure or verdict.known_failure) if verdict else None
    return None if failure is None else string_text(failure.runs)


def first_wrong_member(row: Published, arithmetic: str) -> int | None:
    """Return the least n of which a member is wrong, where one was found."""
    found = row.members.get(arithmetic)
    return None if found is None else found.first_wrong


def string_text(runs: Runs) -> str:
    """Write a string: token by token where it is short, else as runs.

    >>> string_text((("a", 1), ("b", 2))), string_text((("a", 58), ("b", 57), ("c", 57))), string_text(())
    ('abb', 'a^58 b^57 c^57', 'the empty string')
    """
    tokens = [token for token, size in runs for _ in range(min(size, _SHOWN_STRING + 1))]
    if not tokens:
        return "the empty string"
    if len(tokens) <= _SHOWN_STRING:
        return ("" if all(len(token) == 1 for token in tokens) else " ").join(tokens)
    return " ".join(f"{token}^{size}" if size > 1 else token for token, size in runs)
