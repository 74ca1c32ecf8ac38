"""Strings that the tests go through."""

from itertools import product


def all_strings(longest: int, alphabet: str = "()", shortest: int = 0) -> list[str]:
    """Every string over the alphabet from the shortest to the longest length, in order."""
    return ["".join(tokens) for length in range(shortest, longest + 1) for tokens in product(alphabet, repeat=length)]
