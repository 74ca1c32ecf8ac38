"""Questions that begin at some length: what counts is looked at, and where nothing would be looked at, nothing is said."""

import pytest

from tallystick import certify
from tallystick.cells import LinearCell
from tallystick.certificates.certificate import write_certificate
from tallystick.certificates.verdict import Outcome
from tallystick.checker.checking import answer_file
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout

LEAKY = Network(LinearCell(1, -1.04, 0.98), Readout.binary(2, -1))
EXACT = Network(LinearCell(1, -1, 1), Readout.binary(2, -1))


@pytest.mark.parametrize(("first", "limit", "lengths"), [(301, None, "even"), (500, None, "all"), (900, 905, "all")])
def test_a_failure_is_found_at_the_first_length_that_counts(first, limit, lengths, tmp_path):
    verdict = certify(LEAKY, first=first, limit=limit, lengths=lengths)
    found = verdict.failure
    assert (verdict.outcome, found.length) == (Outcome.REFUTED, first + first % 2 if lengths == "even" else first)
    positive, negative = LEAKY.task.classes[::-1]
    more = found.string.count("(") > found.string.count(")")
    assert (found.right, found.found) == ((positive, negative) if more else (negative, positive))
    write_certificate(verdict, tmp_path / "certificate.json")
    assert answer_file(tmp_path / "certificate.json").valid


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ({"first": 2000}, "limit: no length up to 1000 counts; search at least to 2000, the first that does"),
        ({"first": 10**20}, "limit: no length up to 1000 counts"),
        ({"first": 5, "limit": 5, "lengths": "even"}, "limit: no length up to 5 counts; search at least to 6"),
        ({"first": 2000, "arithmetic": "float32"}, "limit: no length up to 1000 counts"),
    ],
)
def test_a_search_that_would_look_at_nothing_is_refused(question, reason):
    with pytest.raises(BadInput, match=reason):
        certify(LEAKY, **question)


def test_a_proof_of_all_lengths_needs_no_search():
    assert certify(EXACT, first=2000).outcome is Outcome.PROVED
