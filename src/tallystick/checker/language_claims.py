"""Claims about a network that is asked about a language, as their files write them."""

from itertools import pairwise
from typing import Any, NamedTuple, cast

from .answers import require
from .any_order import ANY_ORDER, arithmetic_name, require_assumed
from .asked import THRESHOLD, Asked, asked_of
from .floating import FORMATS
from .reading import fields_of, list_of, one_of

LIVE, GROUPS, TREE = "live prefixes", "grouped prefixes", "whole tree"
STATES, FORMS = "exact states", "closed form"

_EXECUTED = ("sum", "product", "positive_part", "mean", "square", "step")
"""What rounding alone decides, whoever executes it."""


class LanguageExample(NamedTuple):
    """A string as runs of (place of a token, size), what is said of it and what is right, in words."""

    runs: list[tuple[int, int]]
    given: str
    right: str

    @property
    def length(self) -> int:
        """The number of tokens."""
        return sum(size for _, size in self.runs)


class LanguageClaim(NamedTuple):
    """Every counted length up to the horizon is right: a multiple of the stride from `first` on. None is no horizon: PROVED."""

    network: Asked
    first: int
    stride: int
    arithmetic: str
    verdict: str
    horizon: int | None
    counterexample: LanguageExample | None
    method: str
    evidence: dict[str, Any]

    def is_counted(self, length: int) -> bool:
        """Say whether strings of a length count."""
        return length >= self.first and length % self.stride == 0

    def phase(self, length: int) -> int:
        """Return a length, from `first` on only its remainder: what follows is the same."""
        return length if length < self.first else self.first + (length - self.first) % self.stride


def language_claim_of(content: dict[str, Any]) -> LanguageClaim:
    """Read a claim whose digest fits."""
    network = asked_of(content["model"])
    require(content["readout"] == network.readout.kind, "the readout is not the model's")
    stride = {"all": 1, "even": 2}[one_of(content["lengths"], ("all", "even"))]
    first = content.get("first", 1)
    require(type(first) is int and first >= 0 and ("first" not in content or first != 1), "first is not a length")
    arithmetic = arithmetic_name(content["arithmetic"], ("real", *FORMATS))
    any_order = arithmetic.endswith(ANY_ORDER)
    if arithmetic != "real" and not any_order:
        names = {operation.name for program in network.programs for operation in program.operations}
        require(names <= set(_EXECUTED), "nothing says how exact an executed tanh or sigmoid is here")
        require(network.readout.kind != THRESHOLD, "nothing says how exact an executed exponential is")
    verdict = one_of(content["verdict"], ("PROVED", "REFUTED", "BOUNDED"))
    horizon = content["horizon"]
    if verdict == "PROVED":
        require(horizon == "unlimited", "what is proved has no horizon")
    else:
        require(type(horizon) is int and horizon >= -1, "the horizon is not a length")
    require((content["counterexample"] is None) == (verdict != "REFUTED"), "a counterexample goes with REFUTED alone")
    example = None
    if verdict == "REFUTED":
        example = _example(content["counterexample"], network)
        follows = horizon == max(-1, example.length - stride)
        counted = example.length >= first and example.length % stride == 0
        require(follows and counted, "the counterexample does not follow the horizon")
    evidence = content["evidence"]
    require(isinstance(evidence, dict), "an object is missing")
    methods = (LIVE, GROUPS, TREE) if any_order else (LIVE, GROUPS, TREE, STATES, FORMS)
    method = one_of(cast("dict[str, Any]", evidence).get("method"), methods)
    if any_order:
        require_assumed(fields_of(evidence, "method assumed")["assumed"], arithmetic)
    elif method != FORMS:
        fields_of(evidence, "method")
    reached = None if verdict == "PROVED" else cast("int", horizon)
    return LanguageClaim(network, first, stride, arithmetic, verdict, reached, example, method, evidence)


def _example(value: object, network: Asked) -> LanguageExample:
    found = fields_of(value, "runs class right_class trace")
    runs = [list_of(run, 2) for run in list_of(found["runs"])]
    alphabet = network.language.alphabet
    places = [alphabet.index(one_of(token, alphabet)) for token, _ in runs]
    require(all(type(size) is int and size > 0 for _, size in runs), "a run of no tokens")
    require(all(token != other for token, other in pairwise(places)), "a run that goes on")
    require(found["trace"] is None, "no trace is written of such a string")
    require(all(isinstance(found[name], str) for name in ("class", "right_class")), "a class without a name")
    require(found["class"] != found["right_class"], "the counterexample does not fail")
    sizes = [cast("int", size) for _, size in runs]
    return LanguageExample(list(zip(places, sizes, strict=True)), found["class"], found["right_class"])
