"""From text to a claim: the JSON, its digest, its fields and its numbers, each refused at once if it is not in form."""

import hashlib
import json
import re
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn, cast

from .claim import CLASSES, Claim, Counterexample, GatedClaim, GatedModel, Model
from .finding import Refused, require
from .formats import FORMATS, FUSED

_FORMAT = "tallystick certificate 1"
_FIELDS = "format model readout lengths arithmetic verdict horizon counterexample evidence digest"
_MODEL_FIELDS = "cell open_step close_step recurrent_weight readout"
_GATED_FIELDS = "cell input_weight recurrent_weight input_bias recurrent_bias readout"
_GATES = {"gru": 3, "lstm": 4}
_MOST_UNITS = 64
_LINES = {"zero": 0, "binary": 1, "ternary": 3}
_LONGEST_TEXT = 10**7
_HORIZONS = 1 << 1024
# More digits than Python reads by itself would take quadratic time.
_WHOLE = re.compile(r"-?[0-9]{1,4300}")
_RATIO = re.compile(r"-?[0-9]{1,4300}/[0-9]{1,4300}")


def read(text: str) -> Claim | GatedClaim:
    """Return what a certificate claims, once its form and its digest are right."""
    require(len(text) <= _LONGEST_TEXT, "too long for a certificate")
    found = json.loads(
        text, object_pairs_hook=_no_repeats, parse_int=_whole, parse_float=_no_float, parse_constant=_no_float
    )
    content = _fields(found, _FIELDS)
    require(content["format"] == _FORMAT, "unknown format")
    require(content["digest"] == _digest(content), "the digest does not fit the content")
    return _claim(content)


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    require(len(dict(pairs)) == len(pairs), "a field stands twice")
    return dict(pairs)


def _whole(digits: str) -> int:
    require(_WHOLE.fullmatch(digits), "a number has too many digits")
    return int(digits)


def _no_float(_: str) -> NoReturn:
    raise Refused("a number is not exact")


def _digest(content: dict[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != "digest"}
    spelled = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


def _fields(value: object, names: str) -> dict[str, Any]:
    require(isinstance(value, dict), "an object is missing")
    found = cast("dict[str, Any]", value)
    require(set(found) == set(names.split()), f"the fields are not {names}")
    return found


def _list(value: object, size: int | None = None) -> list[Any]:
    require(isinstance(value, list), "a list is missing")
    found = cast("list[Any]", value)
    require(size is None or len(found) == size, f"a list has not {size} entries")
    return found


def _one_of(value: object, names: tuple[str, ...]) -> str:
    require(isinstance(value, str) and value in names, f"not one of {', '.join(names)}")
    return cast("str", value)


def _number(value: object) -> Fraction:
    """Read a whole number or "p/q"; nothing else, since Fraction itself would read 1e999999999 and fill the memory."""
    exact = type(value) is int or (isinstance(value, str) and _RATIO.fullmatch(value))
    require(exact, "a number is neither whole nor p/q")
    return Fraction(cast("int | str", value))


def _claim(content: dict[str, Any]) -> Claim | GatedClaim:
    gated = cast("dict[str, Any]", content["model"])["cell"] in tuple(_GATES)
    model = _gated_model(content["model"]) if gated else _model(content["model"])
    require(content["readout"] == model.readout, "the readout is not the model's")
    stride = {"all": 1, "even": 2}[_one_of(content["lengths"], ("all", "even"))]
    name = _one_of(content["arithmetic"], ("real", *FORMATS, *(form + FUSED for form in FORMATS)))
    verdict = _one_of(content["verdict"], ("PROVED", "REFUTED", "BOUNDED"))
    horizon = content["horizon"]
    if verdict == "PROVED":
        require(horizon == "unlimited", "what is proved has no horizon")
    else:
        require(type(horizon) is int and 0 <= horizon < _HORIZONS, "the horizon is not a length that can be checked")
        require(horizon % stride == 0, "the horizon is not a counted length")
    require((content["counterexample"] is None) == (verdict != "REFUTED"), "a counterexample goes with REFUTED alone")
    example = None if verdict != "REFUTED" else _counterexample(content["counterexample"], model)
    if isinstance(model, GatedModel):
        _one_of(_fields(content["evidence"], "method")["method"], ("gated boxes",))
        require(name == "real" and verdict != "PROVED", "a gated cell is bounded, in real arithmetic only")
        return GatedClaim(model, stride, verdict, horizon, example)
    method = _method(content["evidence"], model.cell, name)
    return Claim(model, stride, name, verdict, 0 if verdict == "PROVED" else horizon, example, method)


def _method(evidence: object, cell: str, arithmetic: str) -> str:
    """Return the method's name; what is assumed of an executed tanh is fixed by the format, and so no assumption to choose."""
    if cell != "tanh":
        return _one_of(_fields(evidence, "method")["method"], ("theorem", "search", "sorted strings", "exact depth"))
    found = _fields(evidence, "method tanh_neighbours")
    allowed = None if arithmetic == "real" else FORMATS[arithmetic.removesuffix(FUSED)].tanh_neighbours
    same = type(found["tanh_neighbours"]) is type(allowed) and found["tanh_neighbours"] == allowed
    require(same, "not what may be assumed of tanh")
    return _one_of(found["method"], ("enclosures",))


def _model(value: object) -> Model:
    found = _fields(value, _MODEL_FIELDS)
    cell = _one_of(found["cell"], ("linear", "selective", "relu", "tanh"))
    recurrent = found["recurrent_weight"]
    P, Q = map(_number, _list(recurrent, 2) if cell == "selective" else (recurrent, recurrent))
    kind = _one_of(cast("dict[str, Any]", found["readout"])["kind"], tuple(_LINES))
    readout = _fields(found["readout"], "kind weight bias" if _LINES[kind] else "kind")
    v, c = ([*map(_number, _list(readout.get(name, []), _LINES[kind]))] for name in ("weight", "bias"))
    steps = _number(found["open_step"]), _number(found["close_step"])
    return Model(cell, (P, Q), steps, kind, tuple(zip(v, c, strict=True)))


def _gated_model(value: object) -> GatedModel:
    found = _fields(value, _GATED_FIELDS)
    cell = _one_of(found["cell"], tuple(_GATES))
    rows = len(_list(found["recurrent_weight"]))
    units = rows // _GATES[cell]
    require(0 < units <= _MOST_UNITS, f"a gated cell has not 1 to {_MOST_UNITS} units")
    readout = _fields(found["readout"], "kind weight bias")
    kind = _one_of(readout["kind"], ("binary", "ternary"))
    lines = zip(_matrix(readout["weight"], _LINES[kind], units), _vector(readout["bias"], _LINES[kind]), strict=True)
    return GatedModel(
        cell,
        _matrix(found["input_weight"], units * _GATES[cell], 2),
        _matrix(found["recurrent_weight"], units * _GATES[cell], units),
        _vector(found["input_bias"], units * _GATES[cell]),
        _vector(found["recurrent_bias"], units * _GATES[cell]),
        kind,
        tuple(lines),
    )


def _matrix(value: object, rows: int, columns: int) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(_vector(row, columns) for row in _list(value, rows))


def _vector(value: object, size: int) -> tuple[Fraction, ...]:
    return tuple(map(_number, _list(value, size)))


def _counterexample(value: object, model: Model | GatedModel) -> Counterexample:
    found = _fields(value, "runs class right_class trace")
    runs = [_list(run, 2) for run in _list(found["runs"])]
    tokens = [_one_of(token, ("(", ")")) for token, _ in runs]
    require(all(type(size) is int and size > 0 for _, size in runs), "a run of no tokens")
    require(all(token != other for token, other in pairwise(tokens)), "a run that goes on")
    given, right = (CLASSES[model.readout].index(found[name]) for name in ("class", "right_class"))
    trace = None if found["trace"] is None else [_number(state) for state in _list(found["trace"])]
    exact = model.cell not in ("tanh", *_GATES)
    require(trace is None or exact, f"no state of a {model.cell} cell is an exact number")
    sizes = [cast("int", size) for _, size in runs]
    return Counterexample([("()".index(t), n) for t, n in zip(tokens, sizes, strict=True)], given, right, trace)
