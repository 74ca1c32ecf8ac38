import random
import re
from collections import Counter
from itertools import accumulate

import pytest
from scipy.stats import chisquare
from strings import all_strings

from tallystick.errors import BadInput, UnknownToken
from tallystick.languages.brackets import BB, DYCK1, LANGUAGES, SEMI_DYCK1

every_language = pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)


def rewritten(string: str) -> str:
    """Strike out matched pairs until none is left: a second definition, with no counting in it."""
    while "()" in string:
        string = string.replace("()", "")
    return string


def by_definition(name: str, string: str) -> bool:
    match name:
        case "bb":
            return string.count("(") == string.count(")")
        case "dyck1":
            return rewritten(string) == ""
        case "semidyck1":
            return "(" not in rewritten(string)
    raise AssertionError(name)


@every_language
def test_membership_sizes_and_listings_agree_with_the_definition(language):
    for length in range(13):
        strings = all_strings(length, shortest=length)
        members = [string for string in strings if by_definition(language.name, string)]
        assert [string for string in strings if language.contains(string)] == members
        assert list(language.members(length)) == members
        assert list(language.non_members(length)) == [string for string in strings if string not in set(members)]
        assert language.size(length) == len(members)


@every_language
def test_completions_count_the_members_beyond_every_prefix(language):
    length = 10
    members = list(language.members(length))
    for prefix in all_strings(length):
        count = language.running_counts(prefix)[-1]
        beyond = sum(member.startswith(prefix) for member in members)
        assert language.completions(count, length - len(prefix)) == beyond
        assert language.reachable(count, length - len(prefix)) == (beyond > 0)


@every_language
def test_long_lengths_are_exact_and_quick(language):
    length = 12_000
    # The number of members is p(N)·2^N with p from the central binomial; its ratio to the next even length is rational.
    ratio = {"bb": (4 * (length + 1), length + 2), "dyck1": (4 * (length + 1), length + 4)}
    ratio["semidyck1"] = ratio["bb"]
    numerator, denominator = ratio[language.name]
    assert language.size(length + 2) * denominator == language.size(length) * numerator
    assert next(language.members(length)).startswith("(")
    member = language.sample(length, random.Random(1))
    assert len(member) == length
    assert language.contains(member)


@every_language
@pytest.mark.parametrize("length", [2, 6, 7, 8])
def test_sampling_is_uniform(language, length):
    members = list(language.members(length))
    if not members:
        with pytest.raises(BadInput, match=f"length {length}.*no member of odd length"):
            language.sample(length, random.Random(0))
        return
    generator = random.Random(20)
    drawn = Counter(language.sample(length, generator) for _ in range(300 * len(members)))
    assert set(drawn) == set(members)
    assert len(members) == 1 or chisquare([drawn[member] for member in members]).pvalue > 1e-4


@every_language
def test_samples_of_one_seed_are_the_same(language):
    assert language.sample(100, random.Random(5)) == language.sample(100, random.Random(5))


def test_counts_and_classes():
    for string in all_strings(9):
        difference = string.count("(") - string.count(")")
        assert BB.count(string) == DYCK1.count(string) == difference
        assert BB.binary_class(string) == ("Pos" if difference > 0 else "ZeroNeg")
        assert BB.ternary_class(string) == {-1: "Neg", 0: "Zero", 1: "Pos"}[(difference > 0) - (difference < 0)]
        *_, clamped = accumulate(string, lambda k, x: max(0, k + (1 if x == "(" else -1)), initial=0)
        assert SEMI_DYCK1.count(string) == clamped
        assert SEMI_DYCK1.ternary_class(string) == ("Pos" if clamped else "Zero")


@every_language
@pytest.mark.parametrize("ask", ["contains", "count", "binary_class", "ternary_class", "running_counts"])
def test_a_strangers_character_is_named_with_its_position(language, ask):
    with pytest.raises(UnknownToken, match=re.escape("unknown token '[' at position 3; the alphabet is ( )")):
        getattr(language, ask)("()[")


@every_language
@pytest.mark.parametrize("length", [-1, 2.0, True, "4", None])
def test_a_length_that_is_none_is_refused(language, length):
    for ask in (language.size, language.members, language.non_members, lambda n: language.sample(n, random.Random(0))):
        with pytest.raises(BadInput, match="length: .* is not a whole number from 0 on"):
            ask(length)
