"""Strings that may fail, found by running the network in float64. None of this proves anything: a suspect is tried in boxes.

Two searches, both over lengths up to a limit:

- **Chosen strings**, all their beginnings included: sorted ones (ⁿ)ᵐ and )ᵐ(ⁿ, alternating ones, blocks, random ones, and random
  ones whose count stays near zero, where classes change.
- **Extremes.** For each length and count the strings that lead furthest in each direction are kept: up and down in every
  output and every unit. With one unit and rising maps these would be the extremes themselves; here it is a search.

Many networks whose weights are arrays can be run side by side, at one length.

A cell's step adds from the left, so that what is executed is known to the last digit. That does not matter here, and a large
layer takes a fraction of the time as one product of matrices, added in any order (`Rough`).
"""

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from heapq import merge
from math import isqrt
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT, Token
from tallystick.languages.brackets import ALPHABET
from tallystick.networks import Network
from tallystick.numbers import Number
from tallystick.numbers.products import FEWEST, multiply
from tallystick.numbers.values import LayerKey, Matrix, Vector, layer_of, map_states, numbers_of


@final
class Rough(np.ndarray):  # pyright: ignore[reportMissingTypeArgument, reportUntypedBaseClass] -- of doubles
    """An array of doubles whose sums may be added in any order; NumPy's functions give such arrays too."""


@layer_of.register
def _(first: Rough, weight: Matrix, bias: Vector, inputs: Vector) -> list[Number]:
    """Return W·x + b by a product of matrices, or weight by weight where there are few or each string has its own."""
    if len(inputs) < FEWEST or np.ndim(weight[0][0]) or np.ndim(bias[0]):
        return layer_of.dispatch(object)(first, weight, bias, inputs)
    weights, terms = _matrices(LayerKey(weight, bias))
    arrays = np.broadcast_arrays(*inputs)
    found = multiply(weights, np.stack(arrays).reshape(len(arrays), -1))
    found += terms
    return [row.reshape(arrays[0].shape).view(Rough) for row in found]


@lru_cache(maxsize=32)
def _matrices(layer: LayerKey) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array(layer.weight, np.float64), np.array(layer.bias, np.float64)[:, None]


Bits = NDArray[np.bool_]
"""Tokens, true where a closing bracket stands."""

LONGEST = 1000
_LONGEST_EXTREMES = 300
_RANDOM = 100
_MOST_WORK = 10**9
"""States times weights in one search; about a second, which only networks of many units need."""

_SIZES = (*range(1, 33), 40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400, 500)
_STAY = 0.75
"""How likely a string that stays near zero turns back towards it."""


def suspects(model: Network, limit: int) -> Iterator[str]:
    """Go through strings that fail in float64, at most one per length, the shortest first; no further than they are asked for."""
    executed = model.in_arithmetic("float64")
    chosen = _among_chosen(executed, min(limit, LONGEST, _longest_chosen(executed)))
    extreme = _among_extremes(executed, min(limit, _LONGEST_EXTREMES, _longest_extremes(executed)))
    last = 0
    for string in merge(chosen, extreme, key=len):
        if len(string) > last:
            last = len(string)
            yield string


def suspects_at(models: Network, length: int) -> tuple[Bits, NDArray[np.bool_]]:
    """Look for a string of a length that fails, for each of many networks, whose weights are arrays with one entry per network.

    Returns one string per network, a row each, and for which of them it fails.
    """
    every, tokens = np.arange(len(models.readout.bias[0])), _chosen_strings(length)
    one_axis = _beside(models, every, (-1, 1))
    state, counts = one_axis.cell.initial_state, np.where(tokens, -1, 1).sum(axis=1)
    for closing in tokens.T:
        state = one_axis.cell.step(state, _either(closing))
    failing = np.zeros((len(every), len(tokens)), np.bool_)
    failing |= _classes(one_axis, state) != models.task.right_classes(counts)
    strings, found = tokens[failing.argmax(axis=1)], np.logical_or.reduce(failing, axis=1)
    others = every[~found]
    if others.size and length <= _LONGEST_EXTREMES:
        rest = _beside(models, others, (-1, 1, 1))
        parents, state = deque(_extremes(rest, (len(others), 1, 1), length), maxlen=1).pop()
        wrong = _are_wrong(rest, state, length)
        for place in np.flatnonzero(wrong.any(axis=(1, 2))).tolist():
            row, column = np.argwhere(wrong[place])[0].tolist()
            found[others[place]] = True
            strings[others[place]] = _walk_back([one[place] for one in parents], row, column)
    return strings, found


def _beside(models: Network, places: NDArray[np.int64], shape: tuple[int, ...]) -> Network:
    """Return some of many networks, to run each on strings along further axes."""

    def own(weight: Any, _: str) -> Rough:  # noqa: ANN401 -- an array
        return np.asarray(weight, np.float64)[places].reshape(shape).view(Rough)

    return models.map_weights(own)


def _longest_chosen(model: Network) -> int:
    """How far the chosen strings are run; there are about two per length."""
    return isqrt(_MOST_WORK // (2 * max(1, model.cell.matrix_entries)))


def _longest_extremes(model: Network) -> int:
    """How far extremes are kept: with a length, both their counts and the lengths themselves grow, and all units take part."""
    kept = 2 * (len(numbers_of(model.cell.initial_state)) + len(model.readout.bias))
    return isqrt(_MOST_WORK // (kept * max(1, model.cell.matrix_entries)))


def _among_chosen(model: Network, limit: int) -> Iterator[str]:
    """Run the chosen strings side by side; a beginning that fails is a suspect."""
    tokens = _chosen_strings(limit)
    state, counts = model.cell.initial_state, np.zeros(len(tokens), np.int64)
    for length, closing in enumerate(tokens.T, start=1):
        state = model.cell.step(state, _either(closing))
        counts = counts + np.where(closing, -1, 1)
        failing = np.flatnonzero(_classes(model, state) != model.task.right_classes(counts))
        if failing.size:
            yield _write_out(tokens[failing[0], :length])


def _either(closing: Bits) -> Token:
    """Return a token of each string."""
    return Token((~closing).astype(float).view(Rough), closing.astype(float).view(Rough))


def _classes(model: Network, state: Any) -> NDArray[np.int64]:  # noqa: ANN401 -- each cell has its own kind of state
    return np.asarray(model.readout.class_index(model.cell.hidden(state)))


def _chosen_strings(limit: int) -> Bits:
    """Sorted strings, alternating ones after a run, blocks of equal runs, each also with the brackets swapped; random ones."""
    places = np.arange(limit)
    sizes = [size for size in _SIZES if size <= max(limit // 2, 1)]
    ordered = [places >= size for size in range(1, max(limit // 2, 1) + 1)]
    ordered += [(places >= size) & ((places - size) % 2 == 0) for size in sizes]
    ordered += [places // size % 2 == 1 for size in sizes]
    ordered += [places < 0]
    generator = np.random.default_rng(0)
    random = [generator.random(limit) < 0.5 for _ in range(_RANDOM)]  # noqa: PLR2004 -- either token
    return np.array([*ordered, *(~tokens for tokens in ordered), *random, *_near_zero(limit, generator)])


def _near_zero(limit: int, generator: np.random.Generator) -> Bits:
    """Random strings whose count is drawn back to zero."""
    counts, tokens = np.zeros(_RANDOM, np.int64), np.zeros((_RANDOM, limit), np.bool_)
    for place in range(limit):
        chance = np.select([counts > 0, counts < 0], [_STAY, 1 - _STAY], 0.5)
        tokens[:, place] = generator.random(_RANDOM) < chance
        counts += np.where(tokens[:, place], -1, 1)
    return tokens


Parents = NDArray[np.int64]
"""For each kept string of a length, shaped "closing brackets" × "place", the place that it came from in the length before.

Places before the number of kept ones came by `(` from the same row, later ones by `)` from the row before. Arrays of many
networks have one more axis, the first."""


def _among_extremes(model: Network, limit: int) -> Iterator[str]:
    for length, (parents, state) in enumerate(_extremes(model, (1, 1), limit), start=1):
        failing = np.argwhere(_are_wrong(model, state, length))
        if failing.size:
            yield _write_out(_walk_back(parents, *map(int, failing[0])))


def _extremes(model: Network, shape: tuple[int, ...], limit: int) -> Iterator[tuple[list[Parents], Any]]:
    """Go through the lengths, from one string of this shape; return where all kept strings came from, and the last states."""

    def begin(number: float) -> Rough:
        return np.full(shape, number, np.float64).view(Rough)

    state, parents = map_states(begin, model.cell.initial_state), [np.zeros(shape, np.int64)]
    for _ in range(limit):
        state, kept = _advance(model, state)
        parents.append(kept)
        yield parents, state


def _are_wrong(model: Network, state: Any, length: int) -> Bits:  # noqa: ANN401 -- each cell has its own kind of state
    """Say which kept strings of a length fail."""
    counts = length - 2 * np.arange(length + 1)[:, None]
    return _classes(model, state) != model.task.right_classes(counts)


def _advance(model: Network, state: Any) -> tuple[Any, Parents]:  # noqa: ANN401
    """Read one more token; in each row keep the least and the greatest of every output and every unit."""
    opened, closed = (model.cell.step(state, ONE_HOT[token]) for token in ALPHABET)
    state = map_states(_stack, opened, closed)
    outputs = model.readout.outputs(model.cell.hidden(state))
    scores = [*numbers_of(state), *map(np.asarray, outputs)]
    kept = np.stack([pick for score in scores for pick in (score.argmin(-1), score.argmax(-1))], axis=-1)

    def keep(part: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(part, kept, axis=-1)

    return map_states(keep, state), kept


def _stack(opened: Any, closed: Any) -> NDArray[Any]:  # noqa: ANN401 -- numbers or arrays
    """Put side by side what leads to each row; rows that nothing leads to by one token take what the other leads there."""
    opened, closed = np.asarray(opened), np.asarray(closed)
    by_open = np.concatenate([opened, closed[..., -1:, :]], axis=-2)
    by_close = np.concatenate([opened[..., :1, :], closed], axis=-2)
    return np.concatenate([by_open, by_close], axis=-1).view(Rough)


def _walk_back(parents: list[Parents], row: int, place: int) -> Bits:
    tokens: list[bool] = []
    for before, own in zip(reversed(parents[:-1]), reversed(parents[1:]), strict=True):
        parent, width = int(own[row, place]), before.shape[1]
        closing = (parent >= width and row > 0) or row == len(own) - 1
        tokens.append(closing)
        row, place = row - closing, parent % width
    return np.array(tokens[::-1], np.bool_)


def _write_out(closing: Bits) -> str:
    return "".join(ALPHABET[int(token)] for token in closing)
