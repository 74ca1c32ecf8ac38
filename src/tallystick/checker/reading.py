"""From a file to a claim: text, JSON, digest, fields and numbers, each refused at once if it is not in form."""

import hashlib
import io
import json
import os
import re
from collections.abc import Iterable
from errno import ETIMEDOUT
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from select import select
from time import monotonic_ns
from typing import Any, NoReturn, cast

from .answers import Refused, require
from .claims import CLASSES, Claim, Counterexample, GatedClaim, GatedModel, Model
from .floating import FORMATS, FUSED

_FORMAT = "tallystick certificate 1"
_FIELDS = "format model readout lengths arithmetic verdict horizon counterexample evidence digest"
_MODEL_FIELDS = "cell open_step close_step recurrent_weight readout"
_GATED_FIELDS = "cell input_weight recurrent_weight input_bias recurrent_bias readout"
_GATES = {"gru": 3, "lstm": 4}
_MOST_UNITS = 64
_LINES = {"zero": 0, "binary": 1, "ternary": 3}
_LARGEST, _PIECE = 16 * 2**20, 2**20
_PATIENCE = 60
"""Seconds in which a pipe must have said all."""
_DEEPEST = 64
"""Lists and objects inside each other."""
# More digits than Python reads by itself would take quadratic time.
_WHOLE = re.compile(r"-?[0-9]{1,4300}")
_RATIO = re.compile(r"-?[0-9]{1,4300}/[0-9]{1,4300}")


class Unreadable(Exception):
    """Bad input, which cannot be a certificate: it is not JSON, has other fields, or holds numbers that no certificate holds."""


# --- The file ---------------------------------------------------------------------------------------------------------------


def read_text(path: Path | str) -> str:
    """Read a file of bounded size; a pipe is waited for, but not for ever."""
    try:
        with open(path, "rb", buffering=0, opener=_without_waiting) as file:
            content = _all_of(file, pipe=not Path(path).is_file())
    except (OSError, ValueError) as error:  # a path with a zero byte is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise Unreadable(f"cannot be read: {reason.lower()}") from None
    _require_readable(len(content) <= _LARGEST, f"larger than {_LARGEST // 2**20} MiB, the most that is read")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 text (byte {error.start})") from None


def _without_waiting(path: str, flags: int) -> int:
    """Open a named pipe even where nobody writes into it yet."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _all_of(file: io.FileIO, *, pipe: bool) -> bytes:
    """Read to the end, but not much more than the most that is read."""
    content, last = bytearray(), monotonic_ns() + _PATIENCE * 10**9
    while len(content) <= _LARGEST:
        if pipe:
            left = max(0, last - monotonic_ns()) // 10**9
            if not select([file], [], [], left)[0] or monotonic_ns() > last:
                raise TimeoutError(ETIMEDOUT, f"its end did not come within {_PATIENCE} s")
        part = file.read(_PIECE)
        if part == b"":
            break
        content += part or b""
    return bytes(content)


def _require_readable(fine: object, otherwise: str) -> None:
    """Refuse to read something unless it is fine."""
    if not fine:
        raise Unreadable(otherwise)


# --- Its JSON ---------------------------------------------------------------------------------------------------------------


def parse(text: str) -> object:
    """Read JSON strictly, or raise `Unreadable`: no field twice, no NaN, no number that is too long, nothing nested deeply."""
    _require_readable(len(text) <= _LARGEST, f"larger than {_LARGEST // 2**20} MiB, the most that is read")
    try:
        found: object = json.loads(
            text, object_pairs_hook=_no_repeats, parse_int=_whole, parse_float=_no_float, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        raise Unreadable(f"line {error.lineno}: not JSON: {error.msg.lower()}") from None
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    _require_shallow(found)
    return found


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    _require_readable(len(dict(pairs)) == len(pairs), "a field stands twice in one object")
    return dict(pairs)


def _whole(digits: str) -> int:
    _require_readable(_WHOLE.fullmatch(digits), "a number has too many digits")
    return int(digits)


def _no_constant(name: str) -> NoReturn:
    raise Unreadable(f"{name} is not a number")


def _no_float(_: str) -> NoReturn:
    """Refuse a number with a point or an exponent: it is JSON, but no certificate holds one."""
    raise Unreadable("a number is not exact")


def _require_shallow(value: object) -> None:
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = [inner for outer in level for inner in _parts(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise Unreadable(f"nested too deeply: at most {_DEEPEST} lists and objects inside each other are read")


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


# --- What it claims ---------------------------------------------------------------------------------------------------------


def claim_of(found: object) -> Claim | GatedClaim:
    """Return what a certificate claims, once its digest fits; raise `Unreadable` for what cannot be one."""
    try:
        content = _fields(found, _FIELDS)
        require(content["format"] == _FORMAT, "unknown format")
    except Refused as refusal:
        raise Unreadable(str(refusal)) from None
    require(content["digest"] == _digest(content), "the digest does not fit the content")
    return _claim(content)


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
        require(type(horizon) is int and horizon >= 0, "the horizon is not a length")
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
    sizes = [cast("int", size) for _, size in runs]
    given, right = (CLASSES[model.readout].index(found[name]) for name in ("class", "right_class"))
    trace = None
    if found["trace"] is not None:
        require(model.cell not in ("tanh", *_GATES), f"no state of a {model.cell} cell is an exact number")
        require(len(_list(found["trace"])) == 1 + sum(sizes), "the trace is not the string's")
        trace = [_number(state) for state in found["trace"]]
    return Counterexample([("()".index(t), n) for t, n in zip(tokens, sizes, strict=True)], given, right, trace)
