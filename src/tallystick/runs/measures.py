"""How networks do on long strings: accuracy by length, the first point of failure, and units that count.

Every function takes a `Network` whose weights are numbers, or arrays with one entry per network: then each result has one
entry per network, in the same order. Networks run in the precision of their weights, all of them and all strings side by side,
on the processors or on the kind of device that is named.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from tallystick.cells import Token
from tallystick.errors import check_whole
from tallystick.networks import Network
from tallystick.training.engines import devices_named
from tallystick.training.ensemble import precision_context

LENGTHS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""The lengths at which a curve of accuracies is measured by default."""

_FARTHEST = 2
_LONGEST = 100_000
_MOST_TOKENS = 10**8
_MOST_STATES = {"cpu": 2**22, "gpu": 2**24}
"""Networks times strings that are run at once, by the kind of device."""

_MOST_KEPT = 2**22
"""Networks times tokens whose states are kept at once."""

_PADDED = 10_000
"""Strings are padded to a multiple of this, and run to their own length: one compiled program serves all lengths."""

Tokens = Bool[np.ndarray, "string token"]
"""Strings as rows, True for a closing bracket."""


def uniform_strings(length: int, number: int, seed: int) -> Tokens:
    """Draw strings, each as likely as any other; long ones are rarely near a count of zero."""
    _check_size(length, number)
    return np.random.default_rng([seed, length]).random((number, length)) < 0.5  # noqa: PLR2004 -- either bracket


def border_strings(length: int, number: int, seed: int) -> Tokens:
    """Draw strings whose counts are −2 to 2, as the length's parity allows: those where one step of the count decides.

    >>> counts = 6 - 2 * border_strings(6, 6, seed=0).sum(axis=1)
    >>> sorted(counts.tolist())
    [-2, -2, 0, 0, 2, 2]
    """
    _check_size(length, number)
    generator = np.random.default_rng([seed, length])
    counts = [count for count in range(-_FARTHEST, _FARTHEST + 1) if (count - length) % 2 == 0]
    closing = (length - np.resize(counts, number)) // 2
    return generator.permuted(np.arange(length) < closing[:, None], axis=1)


def accuracy_by_length(
    model: Network,
    lengths: tuple[int, ...] = LENGTHS,
    *,
    strings: int = 100,
    seed: int = 0,
    draw: Callable[[int, int, int], Tokens] = border_strings,
) -> dict[int, Float[np.ndarray, " network"]]:
    """Return for each length the share of right answers, in percent, on strings drawn anew."""
    return {length: 100 * judge(model, draw(length, strings, seed))[0].mean(axis=1) for length in lengths}


def judge(
    model: Network, tokens: Tokens, device: str = "cpu"
) -> tuple[Bool[np.ndarray, "network string"], Int[np.ndarray, "network string"]]:
    """Return which strings each network gets right, and for each the length of its shortest beginning that is wrong, or 0."""
    portions = _portions(model, max(_MOST_STATES[device] // len(tokens), 1))
    padded = np.zeros((-(-tokens.shape[1] // _PADDED) * _PADDED, len(tokens)), np.bool_)
    padded[: tokens.shape[1]] = tokens.T
    wanted = model.task.classes_along(padded).astype(np.int8)
    strings = padded, wanted, np.int32(tokens.shape[1])
    found = [_run(portion, device, _judge_along, *strings) for portion in portions]
    right, failed = zip(*found, strict=True)
    return np.concatenate(right), np.concatenate(failed)


@dataclass(frozen=True)
class Curve:
    """How networks do on strings of some lengths, drawn near the border between the classes.

    Attributes:
        lengths: of the strings.
        strings: how many of each length.
        accuracy: the shares that are right, in percent.
    """

    lengths: tuple[int, ...]
    strings: int
    accuracy: Float[np.ndarray, "length network"]


def curve_to(model: Network, longest: int, *, shorter: bool = True, strings: int = 100, seed: int = 0) -> Curve:
    """Return the accuracies at a length and at those of `LENGTHS` that are shorter, or at this length alone."""
    check_whole(longest, "length", least=1, most=_LONGEST)
    check_whole(seed, "seed", least=0)
    lengths = (*(length for length in LENGTHS if shorter and length < longest), longest)
    found = accuracy_by_length(model, lengths, strings=strings, seed=seed)
    return Curve(lengths, strings, np.stack(list(found.values())))


def first_failures(model: Network, tokens: Tokens) -> Int[np.ndarray, "network string"]:
    """Return for each string the length of its shortest beginning that a network gets wrong, 0 where it gets all right."""
    return judge(model, tokens)[1]


def earliest_failures(model: Network, tokens: Tokens) -> Int[np.ndarray, " network"]:
    """Return the shortest of all beginnings of the strings that each network gets wrong, 0 where it gets all right."""
    return earliest(first_failures(model, tokens))


def earliest(failed: Int[np.ndarray, "network string"]) -> Int[np.ndarray, " network"]:
    """Return the least length of each network that is not 0, or 0 where all are."""
    none = np.iinfo(failed.dtype).max
    least = np.where(failed > 0, failed, none).min(axis=1)
    return np.where(least == none, 0, least)


@dataclass(frozen=True)
class CountingUnit:
    """How well a unit follows the count d: its state is slope·d + intercept and a rest, whose share of the variance is 1 − R².

    Attributes:
        part: `hidden` or `memory`.
        unit: its number, from 0 on.
        slope: per network.
        intercept: per network.
        r_squared: R², per network; 0 where the unit does not move.
    """

    part: str
    unit: int
    slope: Float[np.ndarray, " network"]
    intercept: Float[np.ndarray, " network"]
    r_squared: Float[np.ndarray, " network"]

    @classmethod
    def of_all(cls, portions: Sequence["CountingUnit"]) -> "CountingUnit":
        """Return the same unit of several portions of networks."""
        numbers = zip(*((one.slope, one.intercept, one.r_squared) for one in portions), strict=True)
        return cls(portions[0].part, portions[0].unit, *map(np.concatenate, numbers))

    def first(self, number: int) -> "CountingUnit":
        """Return the same for the first networks alone."""
        parts = (part[:number] for part in (self.slope, self.intercept, self.r_squared))
        return CountingUnit(self.part, self.unit, *parts)


def counting_units(model: Network, tokens: Tokens, device: str = "cpu") -> list[CountingUnit]:
    """Regress every unit on the count, over all beginnings of the strings."""
    counts = np.where(tokens, -1, 1).cumsum(axis=1).T.astype(np.float64)
    width = 1 << (max(_MOST_KEPT // tokens.size, 1).bit_length() - 1)  # of many networks, portions of one size
    found = []
    for portion in _portions(model, width):
        state = _run(portion, device, _states_along, tokens.T)
        parts = (("hidden", model.cell.hidden(state)), ("memory", getattr(state, "memory", ())))
        numbered = ((part, unit, values) for part, units in parts for unit, values in enumerate(units))
        found.append([_regress(part, unit, np.asarray(values, np.float64), counts) for part, unit, values in numbered])
    return [CountingUnit.of_all(units) for units in zip(*found, strict=True)]


def _regress(
    part: str, unit: int, values: Float[np.ndarray, "token network string"], counts: Float[np.ndarray, "token string"]
) -> CountingUnit:
    every = (0, 2)
    centred, aside = counts - counts.mean(), values - values.mean(axis=every, keepdims=True)
    together, spread = (aside * centred[:, None]).mean(axis=every), (centred**2).mean()
    variance = (aside**2).mean(axis=every)
    slope = together / spread if spread else np.zeros_like(together)
    moves = variance > 0
    r_squared = np.where(moves, slope * together / np.where(moves, variance, 1), 0.0)
    return CountingUnit(part, unit, slope, values.mean(axis=every) - slope * counts.mean(), r_squared)


def _portions(model: Network, width: int) -> Iterator[Network]:
    """Cut many networks into portions that fit the memory."""
    for start in range(0, np.size(_numbers(model)[0]), width):

        def some(value: Any, _: str, start: int = start) -> np.ndarray:  # noqa: ANN401 -- a number, or an array of them
            return np.atleast_1d(value)[start : start + width]

        yield model.map_weights(some)


def _run(model: Network, device: str, work: Callable[..., Any], *strings: Any) -> Any:  # noqa: ANN401 -- what the work gives
    """Bring the weights into columns, one row per network, and do the work in their precision."""
    model.require_usual()
    columns = model.map_weights(_column)
    numbers = _numbers(columns)
    with devices_named(device).using(), precision_context(numbers[0].dtype.name):
        found = work(jax.tree.map(jnp.asarray, numbers), *map(jnp.asarray, strings), form=columns.map_weights(_blank))
        return jax.tree.map(np.asarray, found)


def _column(value: Any, _: str) -> np.ndarray:  # noqa: ANN401 -- a number of any kind, or an array of them
    array = np.asarray(value)
    kept = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    return np.atleast_1d(kept)[:, None]


def _numbers(network: Network) -> list[Any]:
    """Return the weights one after the other, in the order in which `map_weights` goes through them."""
    found: list[Any] = []
    network.map_weights(lambda value, _: found.append(value) or value)
    return found


def _blank(_: object, __: str) -> int:
    """Stand for any weight: networks of one form are equal once each weight is 0, so one compiled program serves them."""
    return 0


@partial(jax.jit, static_argnames="form")
def _judge_along(numbers: list[Any], closing: Any, wanted: Any, size: Any, *, form: Network) -> Any:  # noqa: ANN401 -- trees
    network, start, step = _ready(numbers, closing, form)
    shape = numbers[0].shape[0], closing.shape[1]

    def judge(place: Any, carry: Any) -> Any:  # noqa: ANN401 -- trees
        state, failed, _ = carry
        state = step(state, closing[place])
        right = network.readout.class_index(network.cell.hidden(state)) == wanted[place]
        return state, jnp.where((failed == 0) & ~right, place + 1, failed), right

    first = start, jnp.zeros(shape, jnp.int32), jnp.ones(shape, bool)
    _, failed, right = jax.lax.fori_loop(jnp.int32(0), size, judge, first)
    return right, failed


@partial(jax.jit, static_argnames="form")
def _states_along(numbers: list[Any], closing: Any, *, form: Network) -> Any:  # noqa: ANN401 -- trees
    _, start, step = _ready(numbers, closing, form)
    return jax.lax.scan(lambda state, token: (step(state, token),) * 2, start, closing)[1]


def _ready(numbers: list[Any], closing: Any, form: Network) -> tuple[Network, Any, Callable[..., Any]]:  # noqa: ANN401
    """Put the weights back into their network; return it, its states before the first token, and its step."""
    weights, (example, *_) = iter(numbers), numbers
    network = form.map_weights(lambda *_: next(weights))
    shape = example.shape[0], closing.shape[1]
    start = jax.tree.map(
        lambda value: jnp.broadcast_to(jnp.asarray(value, example.dtype), shape), network.cell.initial_state
    )

    def step(state: Any, token: Any) -> Any:  # noqa: ANN401 -- a state of the cell's kind
        return network.cell.step(state, Token((~token).astype(example.dtype), token.astype(example.dtype)))

    return network, start, step


def _check_size(length: int, number: int) -> None:
    check_whole(length, "length", least=1, most=_LONGEST)
    check_whole(number, "strings", least=1, most=_MOST_TOKENS // length)
