"""How exact the tanh, the sigmoid and the exponential of a library are, measured on this machine.

Verdicts that hold in any order (`numbers.any_order`) rest on what a library's functions are assumed to be: within `ULPS` units in
the last place of the true value, tanh and the sigmoid within their range and exactly 1 from `SATURATED` on, tanh 0 equal to 0,
results that are subnormal, or nearly so, flushed to zero or not. No standard says so, and another build may be worse. Here it is
measured on numbers of every size, in arrays, whose places go through all lanes of a vector unit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.running.library_arrays import (
    Array,
    doubles_of,
    format_for,
    library_array,
    library_mode,
    load_library,
)
from tallystick.errors import BadInput
from tallystick.numbers import hyperbolic_tangent, sigmoid, standard_floats
from tallystick.numbers.any_order import FLUSHED, SATURATED, ULPS, least_normal
from tallystick.numbers.balls import ball_of, digits
from tallystick.numbers.floats import FloatFormat
from tallystick.numbers.operations import exponential

Doubles = NDArray[np.float64]

TANH, SIGMOID, EXP = "tanh", "sigmoid", "exp"
CASES = 6000
_BITS = 224
"""Enough for the error of a double's tanh, sigmoid or exponential, in units in its last place, to many digits."""


class Measured(NamedTuple):
    """How far off a function of a library is at most, as far as was measured, in units in the last place, and where."""

    name: str
    ulps: float
    argument: float


@standard_floats()
def check_library(library: str, arithmetic: str | None = None, cases: int = CASES, seed: int = 0) -> list[Measured]:
    """Measure a library's tanh, sigmoid and exponential in a format; refuse one that is worse than any-order verdicts assume.

    Args:
        library: `numpy`, `torch` or `jax`.
        arithmetic: `float16`, `bfloat16`, `float32` or `float64`; the default is what the library computes in by default.
        cases: how many arguments each function gets.
        seed: of the arguments.

    >>> [(one.name, one.ulps <= 8) for one in check_library("numpy", "float32", cases=100)]
    [('tanh', True), ('sigmoid', True), ('exp', True)]
    """
    form, found = format_for(library, arithmetic), list[Measured]()
    given = arguments(form, cases, np.random.default_rng(seed))
    for name, function in library_functions(library, form).items():
        kind = name.split(" ", maxsplit=1)[0]
        x = given[given < np.log(float(form.greatest)) - 1] if kind == EXP else given
        got = function(x)
        check_values(f"{library}: {name} in {form.name}", kind, x, got, form)
        off = ulps_off(kind, x, got, form)
        place = int(off.argmax())
        found.append(Measured(name, float(off[place]), float(x[place])))
        if off[place] > ULPS:
            raise BadInput(
                f"{library}: {name} in {form.name} is {off[place]:.3g} units in the last place off at {float(x[place])!r}, and "
                f"verdicts in any order assume at most {ULPS}; run the network itself, with run_by={library!r}, or use another "
                "build"
            )
    return found


def library_functions(library: str, form: FloatFormat) -> dict[str, Callable[[Doubles], Doubles]]:
    """Return the functions of a library, from numbers of a format to what it makes of them, both as doubles."""
    loaded = load_library(library)
    known: dict[str, Any]
    if library == "torch":
        known = {TANH: loaded.tanh, SIGMOID: loaded.sigmoid, EXP: loaded.exp}
        # A fused LSTM has functions of its own.
        known |= {f"{name} of nn.LSTM": _gate(loaded, name) for name in (TANH, SIGMOID)}
    elif library == "jax":
        jit, names = loaded.jit, loaded.numpy
        known = {TANH: jit(names.tanh), SIGMOID: jit(loaded.nn.sigmoid), EXP: jit(names.exp)}
        known["sigmoid as p/(p + q)"] = jit(sigmoid)
    else:
        known = {TANH: np.tanh, SIGMOID: sigmoid, EXP: np.exp}

    def in_doubles(function: Callable[[Array], Array], x: Doubles) -> Doubles:
        with library_mode(library, form), np.errstate(all="ignore"):
            return doubles_of(function(library_array(library, x, form)))

    return {name: lambda x, function=function: in_doubles(function, x) for name, function in known.items()}


def _gate(torch: Any, name: str) -> Callable[[Array], Array]:  # noqa: ANN401 -- a module
    """Return the function that a gate of an nn.LSTM is: c' = i·g, where the other of the two is 1."""

    def gate(x: Array) -> Array:
        module = torch.nn.LSTM(1, 1, dtype=x.dtype)
        for tensor in module.parameters():
            tensor.zero_()
        at_work, saturated = (2, 0) if name == TANH else (0, 2)
        module.weight_ih_l0[at_work], module.bias_ih_l0[saturated] = 1, 100
        return module(x.reshape(1, -1, 1))[1][1].reshape(-1)

    return gate


def arguments(form: FloatFormat, cases: int, generator: np.random.Generator) -> Doubles:
    """Return numbers of a format: where the functions are at work, of every size, and at their edges."""
    tanh, sigmoid_ = SATURATED[form.name]
    at_work = generator.uniform(-2 * sigmoid_, 2 * sigmoid_, cases // 2)
    sizes = generator.uniform(form.least_exponent, np.log2(float(form.greatest)), cases // 2)
    of_every_size = generator.choice((-1, 1), cases // 2) * 2.0**sizes
    least, greatest = least_normal(form), float(form.greatest)
    edges = [0, tanh, sigmoid_, 2 * tanh, least, least / 2, float(form.least), greatest, greatest / 2]
    edges += [*np.linspace(0.9, 1.1, 41) * -np.log(least)]  # where the sigmoid and the exponential become subnormal
    found = np.concatenate([at_work, of_every_size, edges, np.negative(edges)])
    return generator.permutation(np.clip(found, -greatest, greatest).astype(form.kind).astype(np.float64))


def check_values(what: str, kind: str, x: Doubles, got: Doubles, form: FloatFormat) -> None:
    """Refuse a value outside of the range of a function, one that is not 1 where it should be, and a tanh of 0 that is not 0."""
    low, high = {TANH: (-1.0, 1.0), SIGMOID: (0.0, 1.0), EXP: (0.0, np.inf)}[kind]
    wrong = ~((got >= low) & (got <= high))
    if kind != EXP:
        saturated = SATURATED[form.name][kind == SIGMOID]
        wrong |= (x >= saturated) & (got != 1)
    if kind == TANH:
        wrong |= (x <= -SATURATED[form.name][0]) & (got != -1) | (x == 0) & (got != 0)
    if wrong.any():
        place = int(wrong.argmax())
        raise BadInput(
            f"{what} is {float(got[place])!r} at {float(x[place])!r}, against what verdicts in any order assume; run "
            "the network itself, with run_by=, or use another build"
        )


def ulps_off(kind: str, x: Doubles, got: Doubles, form: FloatFormat) -> Doubles:
    """Return how far values are off, in units in the last place of the true value; what is subnormal may be flushed to zero."""
    wide = form.kind is np.float64
    true = _true_values(kind, x)
    unit = np.ldexp(1.0, np.maximum(np.frexp(true)[1] - form.digits, form.least_exponent))
    off = np.array([_ball_error(kind, *both) for both in zip(x, got, strict=True)]) if wide else np.abs(got - true)
    flushed = (got == 0) & (np.abs(true) <= FLUSHED * least_normal(form))
    return np.where(flushed, 0.0, off / unit)


def _true_values(kind: str, x: Doubles) -> Doubles:
    """Return the values in doubles, which are as good as true for any narrower format."""
    return _FUNCTIONS[kind](x)


def _ball_error(kind: str, x: float, got: float) -> float:
    """Return how far a double is from the true value."""
    with digits(_BITS):
        return float(abs(ball_of(got) - _FUNCTIONS[kind](ball_of(x))))


_FUNCTIONS = {TANH: hyperbolic_tangent, SIGMOID: sigmoid, EXP: exponential}
