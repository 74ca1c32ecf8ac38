"""From what a file holds to a claim: its fields and its digest, each refused at once if it is not in form."""

import hashlib
import json
from itertools import pairwise
from typing import Any, cast

from .answers import Refused, require
from .any_order import ANY_ORDER, arithmetic_name, require_assumed
from .asked import is_asked
from .claims import COUNT, Claim, Counterexample, Invariant, Model, Network, Rest, Tail
from .counters import METHOD as MATRICES
from .counts import class_names, network_of
from .floating import FORMATS, FUSED
from .language_claims import LanguageClaim, language_claim_of
from .models import GATES, model_of
from .paths import METHOD as PATHS
from .reading import Unreadable, fields_of, list_of, matrix_of, number_of, one_of
from .saturation import METHOD as SATURATION
from .saturation import invariant_from
from .sorting import METHOD as SORTING
from .zero_check import METHOD as ZERO_CHECK

_FORMAT = "tallystick certificate 1"
_LONGEST_TAIL, _LONGEST_RECURRENCE = 1 << 16, 1 << 10
_FIELDS = "format model readout lengths arithmetic verdict horizon counterexample evidence digest"


def claim_of(found: object) -> Claim | LanguageClaim:
    """Return what a certificate claims, once its digest fits; raise `Unreadable` for what cannot be one."""
    given = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    asked = is_asked(given.get("model"))
    first = " first" if asked and "first" in given else ""
    try:
        content = fields_of(cast("object", found), _FIELDS + first)
        require(content["format"] == _FORMAT, "unknown format")
    except Refused as refusal:
        raise Unreadable(str(refusal)) from None
    require(content["digest"] == _digest(content), "the digest does not fit the content")
    return language_claim_of(content) if asked else _claim(content)


def _digest(content: dict[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != "digest"}
    spelled = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


def _claim(content: dict[str, Any]) -> Claim:
    names = [form + order for form in FORMATS for order in ("", FUSED)]
    name = arithmetic_name(content["arithmetic"], ("real", *names))
    any_order = name.endswith(ANY_ORDER)
    model, classes = model_of(content["model"], apart=any_order)
    model = network_of(model) if any_order and isinstance(model, Model) else model
    require(content["readout"] == model.readout.kind, "the readout is not the model's")
    stride = {"all": 1, "even": 2}[one_of(content["lengths"], ("all", "even"))]
    require(name == "real" or model.readout.kind != COUNT, "a count is decided in real arithmetic")
    verdict = one_of(content["verdict"], ("PROVED", "REFUTED", "BOUNDED"))
    horizon = content["horizon"]
    if verdict == "PROVED":
        require(horizon == "unlimited", "what is proved has no horizon")
    else:
        require(type(horizon) is int and horizon >= 0, "the horizon is not a length")
        require(horizon % stride == 0, "the horizon is not a counted length")
    require((content["counterexample"] is None) == (verdict != "REFUTED"), "a counterexample goes with REFUTED alone")
    example = None if verdict != "REFUTED" else _counterexample(content["counterexample"], model, classes)
    horizon = 0 if verdict == "PROVED" else horizon
    if any_order:
        require(verdict != "PROVED", "no theorem speaks of floats in any order")
        method, invariant = _any_order_method(content["evidence"], model, name)
        return Claim(model, stride, name, verdict, horizon, example, method, invariant=invariant)
    if isinstance(model, Network) and _named(content["evidence"]) == ZERO_CHECK:
        rest = _rest(content["evidence"], verdict, stride)
        return Claim(model, stride, name, verdict, horizon, example, ZERO_CHECK, rest=rest)
    if isinstance(model, Network) and verdict == "PROVED" and _named(content["evidence"]) == PATHS:
        start = fields_of(content["evidence"], "method start")["start"]
        require(type(start) is int and 1 <= start <= _LONGEST_TAIL, f"a start is not 1 to {_LONGEST_TAIL}")
        return Claim(model, stride, name, verdict, horizon, example, PATHS, start=start)
    method, tail = _method(content["evidence"], model, name, verdict)
    if isinstance(model, Network) and method not in (SORTING, PATHS, MATRICES):
        _require_runnable(model, name, verdict)
    return Claim(model, stride, name, verdict, horizon, example, method, tail)


def _named(evidence: object) -> object:
    """Return the name of a method."""
    return cast("Any", evidence).get("method") if isinstance(evidence, dict) else None


def _require_runnable(network: Network, arithmetic: str, verdict: str) -> None:
    """Refuse claims about a program that no theorem and no standard speaks of."""
    if network.cell in GATES:
        require(arithmetic == "real" and verdict != "PROVED", "a cell of matrices is bounded, in real arithmetic only")
    require(verdict != "PROVED", "no theorem speaks of a program")
    require(not arithmetic.endswith(FUSED), "a program is not executed fused")
    operations = [operation for program in (*network.steps, network.hidden) for operation in program.operations]
    squashed = any(operation.name == "sigmoid" for operation in operations)
    require(arithmetic == "real" or not squashed, "nothing says how exact an executed sigmoid is")


def _method(evidence: object, model: Model | Network, arithmetic: str, verdict: str) -> tuple[str, Tail | None]:
    """Return the method's name, and what proves all lengths of a linear network.

    What is assumed of an executed tanh is fixed by the format, and so no assumption to choose.
    """
    if isinstance(model, Network) and _named(evidence) == SORTING:
        return SORTING, _tail(evidence, model, verdict)
    if isinstance(model, Network):
        boxes = "gated boxes" if model.cell in GATES else "boxes"
        proving = MATRICES if verdict == "PROVED" else PATHS
        return one_of(fields_of(evidence, "method")["method"], (boxes, proving)), None
    return _scalar_method(evidence, model, arithmetic), None


def _tail(evidence: object, model: Network, verdict: str) -> Tail | None:
    """Read the evidence of sorting: where all lengths are proved, the matrix E, the power m and the first length K."""
    if verdict != "PROVED":
        fields_of(evidence, "method")
        return None
    found = fields_of(evidence, "method tail")["tail"]
    if found is None:
        return None
    tail = fields_of(found, "limit power start")
    whole = all(type(tail[name]) is int and 1 <= tail[name] <= _LONGEST_TAIL for name in ("power", "start"))
    require(whole, f"a power or a start is not 1 to {_LONGEST_TAIL}")
    return Tail(matrix_of(tail["limit"], len(model.start), len(model.start)), tail["power"], tail["start"])


def _rest(evidence: object, verdict: str, stride: int) -> Rest | None:
    """Read the evidence of a zero check: where all lengths are proved, odd ones among them, how x comes to rest."""
    if verdict != "PROVED":
        fields_of(evidence, "method")
        return None
    found = fields_of(evidence, "method rest")["rest"]
    if found is None:
        return None
    require(stride == 1, "even lengths need no evidence")
    rest = fields_of(found, "period recurrence power start")
    names = ("period", "power", "start")
    whole = all(type(rest[name]) is int and 1 <= rest[name] <= _LONGEST_TAIL for name in names)
    require(whole, f"a period, a power or a start is not 1 to {_LONGEST_TAIL}")
    recurrence = tuple(map(number_of, list_of(rest["recurrence"], most=_LONGEST_RECURRENCE)))
    return Rest(rest["period"], recurrence, rest["power"], rest["start"])


def _any_order_method(evidence: object, model: Model | Network, arithmetic: str) -> tuple[str, Invariant | None]:
    """Return the method's name, once nothing else is assumed of a library than what was measured, and what proves a counter."""
    network = model if isinstance(model, Network) and _named(evidence) == SATURATION else None
    found = fields_of(evidence, "method assumed edge depth boxes above below" if network else "method assumed")
    require_assumed(found["assumed"], arithmetic)
    if network is not None:
        return SATURATION, invariant_from(found, len(network.start))
    return one_of(found["method"], ("any order",)), None


def _scalar_method(evidence: object, model: Model, arithmetic: str) -> str:
    if model.cell != "tanh":
        return one_of(fields_of(evidence, "method")["method"], ("theorem", "search", "sorted strings", "exact depth"))
    found = fields_of(evidence, "method tanh_neighbours")
    allowed = None if arithmetic == "real" else FORMATS[arithmetic.removesuffix(FUSED)].tanh_neighbours
    same = type(found["tanh_neighbours"]) is type(allowed) and found["tanh_neighbours"] == allowed
    require(same, "not what may be assumed of tanh")
    return one_of(found["method"], ("enclosures",))


def _counterexample(value: object, model: Model | Network, classes: tuple[str, ...]) -> Counterexample:
    found = fields_of(value, "runs class right_class trace")
    runs = [list_of(run, 2) for run in list_of(found["runs"])]
    tokens = [one_of(token, ("(", ")")) for token, _ in runs]
    require(all(type(size) is int and size > 0 for _, size in runs), "a run of no tokens")
    require(all(token != other for token, other in pairwise(tokens)), "a run that goes on")
    sizes = [cast("int", size) for _, size in runs]
    string = [("()".index(token), size) for token, size in zip(tokens, sizes, strict=True)]
    names = class_names(string) if model.readout.kind == COUNT else classes
    given, right = (names.index(found[name]) for name in ("class", "right_class"))
    trace = None
    if found["trace"] is not None:
        exact = isinstance(model, Model) and model.cell != "tanh"
        require(exact, f"no state of a {model.cell} cell is an exact number")
        require(len(list_of(found["trace"])) == 1 + sum(sizes), "the trace is not the string's")
        trace = [number_of(state) for state in found["trace"]]
    return Counterexample(string, given, right, trace)
