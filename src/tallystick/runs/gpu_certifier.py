"""Certifies on a GPU the networks that it trained: it decides most of them in the time that the host needs for a few.

The bounds are those of the host, in float64. What the GPU leaves open of linear cells the host decides; of networks that it
searches by boxes the host looks for a string that fails. What `numbers.boxes` assumes of NumPy's tanh and exp is assumed of
CUDA's too.

**Boxes.** A GPU is quick only where it has much to do at once, while a network begins with one box, comes to thousands, and ends.
So networks do not go through the lengths side by side. There is room for some number of boxes, and whenever networks have ended,
others begin in their place, each at a length of its own. Those for which there is no room after all begin once more later.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import LinearCell
from tallystick.certificates.boxes.box_proof import UNSURE
from tallystick.certificates.boxes.box_search import Found, Known, Seen, note, open_yet
from tallystick.certificates.boxes.ensemble import search_on_cores, some_of, take
from tallystick.certificates.boxes.joined_boxes import EITHER_TOKEN, BoxedNetworks, Places, keys_of, width_at
from tallystick.certificates.one_unit.linear_ensemble import FirstFailures, Mask, Powers, decide_length
from tallystick.certificates.one_unit.sorted_strings import critical_strings
from tallystick.networks import Network, Readout
from tallystick.numbers.boxes import Box
from tallystick.numbers.values import map_states, numbers_of
from tallystick.training.weights import compile_once

LONGEST = 4096
"""Lengths of linear cells that a GPU goes through; the few that last longer are left to the host."""

_PAIRS = 16
"""Pairs of lengths between two looks at whether a model is left: the host has to wait for the device before it can look."""

LEVELS = ((2**-9, 1 << 12, 400), (2**-11, 1 << 14, 1800), (2**-13, 1 << 16, 10000))
"""The widths of the first cells of the grid, one after the other; how many boxes a network may have then, and usually has."""

MOST_ENTRIES = 100
"""The most weights in the matrices of a network whose boxes a GPU searches: its program is compiled weight by weight."""

ROOM = 1 << 20
"""Boxes at a time."""

_TOGETHER = 16
"""How many boxes are joined at once; where a cell of the grid has more, what is left of them is joined at the next length."""

_NOBODY = np.uint64(2**64 - 1)
"""The key of a box that belongs to no network."""

jax.tree_util.register_dataclass(Box, ["low", "high"], [])


@dataclass(frozen=True)
class GpuCertifier:
    """A device that certifies.

    Attributes:
        using: lets the thread compute there.
        room: how many boxes there may be at a time.
    """

    using: Callable[[], AbstractContextManager[object]]
    room: int = ROOM

    def first_failures(self, models: Network, chosen: Mask) -> FirstFailures:
        """Go through the first lengths of linear cells with one unit."""
        arrays = (tuple(vars(models.cell).values()), (models.readout.weight, models.readout.bias))
        with self.using(), jax.enable_x64(True):
            found = _first_failures(*arrays, chosen)
            return FirstFailures(*(np.asarray(part) for part in found))

    def search(self, networks: Network, limit: int, found: Known) -> Known:
        """Search by boxes with one grid after the other; networks with more weights are left to the cores."""
        if not networks.task.classes or networks.cell.matrix_entries > MOST_ENTRIES:
            return search_on_cores(networks, limit, found)
        # A program is compiled for a number of networks, so there is one for all numbers up to the next power of two.
        size = len(networks.readout.bias[0])
        places = _filled_up(np.arange(size), 1 << (size - 1).bit_length())
        weights: list[Any] = []

        def blank(weight: Any, _: str) -> float:  # noqa: ANN401 -- an array
            weights.append(weight)
            return 0.0

        template = some_of(networks, places).map_weights(blank)
        with self.using(), jax.enable_x64(True):
            arrays = jax.tree.map(jnp.asarray, (weights, take(found, places)))
            for width, most, usual in LEVELS:
                left = np.flatnonzero(np.asarray(open_yet(arrays[1]))[:size])
                while left.size:
                    queue = _filled_up(left, len(places)).astype(np.int32)
                    waiting, fitting = np.int32(len(left)), np.int32(min(most, self.room))
                    asked = _Asked(queue, waiting, fitting, np.int32(usual), np.float64(width))
                    known, late = _search(*arrays, asked, template=template, limit=limit, room=self.room)
                    arrays, left = (arrays[0], known), np.flatnonzero(np.asarray(late))
            return {lengths: Found(*(np.array(array)[:size] for array in one)) for lengths, one in arrays[1].items()}


def _filled_up(places: Places, size: int) -> Places:
    """Return so many places, the last of which is repeated."""
    return np.concatenate([places, np.full(size - len(places), places[-1])])


class _Boxes(NamedTuple):
    """The boxes of networks of various lengths, of which the first `number` count, in the order of their owners.

    Attributes:
        number: how many there are.
        owners: the network that each belongs to; where there is no box, a number beyond the last one.
        closings: how many closing brackets its strings have.
        state: the boxes.
        begun: how many networks of the queue have begun.
        lengths: the length that each network has come to.
        at_work: which networks have boxes.
        late: which networks must begin once more, since there was no room for their boxes.
        found: what is known of each network.
    """

    number: Any
    owners: Any
    closings: Any
    state: Any
    begun: Any
    lengths: Any
    at_work: Any
    late: Any
    found: Known


class _Asked(NamedTuple):
    """What is searched: the networks in a queue, of which so many wait, with one grid.

    Attributes:
        queue: their numbers.
        waiting: how many count.
        most: how many boxes a network may have at a length.
        usual: how many it usually has at most.
        width: of the first cells of the grid.
    """

    queue: Any
    waiting: Any
    most: Any
    usual: Any
    width: Any


@compile_once
@partial(jax.jit, static_argnames=("template", "limit", "room"))
def _search(
    weights: Any,  # noqa: ANN401 -- arrays
    found: Known,
    asked: _Asked,
    *,
    template: Network,
    limit: int,
    room: int,
) -> tuple[Known, Any]:
    """Search some networks, with the weights in the place of those of a template; return what is known, and who came too late."""
    each = iter(weights)
    networks = BoxedNetworks.of(template.map_weights(lambda *_: next(each)))
    size, start = networks.size, networks.network.cell.initial_state
    assert size * (limit + 2) < 1 << 32, "networks and counts are told apart by 32 bits"
    right = jnp.asarray(template.task.right_classes(np.array([-1, 0, 1])))

    def begin(boxes: _Boxes) -> _Boxes:
        """Let as many networks of the queue begin as there is room for their boxes, once they have the usual number."""
        taken = jnp.maximum(boxes.number, asked.usual * boxes.at_work.sum(dtype=jnp.int32))
        new = jnp.maximum((room - taken) // asked.usual, boxes.number == 0)
        place = jnp.arange(room, dtype=jnp.int32) - boxes.number
        begins = (place >= 0) & (place < jnp.minimum(new, asked.waiting - boxes.begun))
        who = jnp.where(begins, asked.queue[jnp.clip(boxes.begun + place, 0, size - 1)], size)

        def put(box: Box, number: float) -> Box:
            return Box(*(jnp.where(begins, number, end) for end in box.ends))

        return boxes._replace(
            number=boxes.number + begins.sum(dtype=jnp.int32),
            owners=jnp.where(begins, who, boxes.owners),
            closings=jnp.where(begins, 0, boxes.closings),
            state=map_states(put, boxes.state, start),
            begun=boxes.begun + begins.sum(dtype=jnp.int32),
            at_work=boxes.at_work.at[who].set(True, mode="drop"),
        )

    def lengthen(boxes: _Boxes) -> _Boxes:
        """Read one more token, note what that decides, and join the boxes of those networks that go on."""
        there = jnp.minimum(boxes.owners, size - 1)
        images = networks.cell_of(there).step(boxes.state, EITHER_TOKEN)
        state = map_states(lambda box: Box(*(end.reshape(-1) for end in box.ends)), images)
        owners, closings = jnp.tile(boxes.owners, 2), jnp.concatenate([boxes.closings, boxes.closings + 1])
        there, lengths = jnp.tile(there, 2), boxes.lengths + boxes.at_work
        counts = lengths[there] - 2 * closings
        given, none = networks.classes(there, state), jnp.zeros(size, jnp.int32)
        doubt = jnp.where(given == right[jnp.sign(counts) + 1], 0, jnp.where(given == UNSURE, 1, 2))
        most_doubt, sizes = none.at[owners].max(doubt, mode="drop"), none.at[owners].add(1, mode="drop")
        seen = Seen(boxes.at_work & (sizes <= asked.most), most_doubt > 1, most_doubt == 0)
        found, going_on = note(boxes.found, lengths, limit, seen)
        groups = owners.astype(jnp.int64) * (limit + 2) + closings
        keys = keys_of(groups, state, width_at(asked.width, lengths[there], counts))
        keys = jnp.where((owners < size) & going_on[there], keys, _NOBODY)
        joined = _join(keys, [end for box in numbers_of(state) for end in (-box.low, box.high)], room)
        rest = iter(joined.ends)
        late = boxes.late.at[owners.at[joined.left_out].get(mode="fill", fill_value=size)].set(True, mode="drop")
        return _Boxes(
            number=joined.number,
            owners=owners.at[joined.kept].get(mode="fill", fill_value=size),
            closings=closings.at[joined.kept].get(mode="clip"),
            state=map_states(lambda _: Box(-next(rest), next(rest)), state),
            begun=boxes.begun,
            lengths=lengths,
            at_work=going_on & ~late,
            late=late,
            found=found,
        )

    nothing, none = jnp.zeros(room, jnp.int32), jnp.zeros(size, bool)
    state = map_states(lambda _: Box(jnp.zeros(room), jnp.zeros(room)), start)
    boxes = _Boxes(
        jnp.int32(0), nothing + size, nothing, state, jnp.int32(0), jnp.zeros(size, jnp.int32), none, none, found
    )
    boxes = jax.lax.while_loop(lambda boxes: boxes.number > 0, lambda boxes: begin(lengthen(boxes)), begin(boxes))
    return boxes.found, boxes.late


class _Joined(NamedTuple):
    """What is left of boxes of which some were joined.

    Attributes:
        number: how many there are.
        kept: for each, the number of one of the boxes that it is made of; where there is none, a number beyond the last one.
        ends: how far each reaches, a row for every end.
        left_out: the number of each box that there was no room for, among numbers beyond the last one.
    """

    number: Any
    kept: Any
    ends: Any
    left_out: Any


def _join(keys: Any, ends: list[Any], room: int) -> _Joined:  # noqa: ANN401 -- arrays
    """Join boxes that have one key, up to a number of them at once; `ends` says how far each reaches, one array per end."""
    size, every = len(keys), jnp.arange(len(keys), dtype=jnp.int32)
    keys, order = jax.lax.sort((keys, every), num_keys=1, is_stable=True)
    there = keys < _NOBODY
    new = jnp.concatenate([jnp.ones(1, bool), keys[1:] != keys[:-1]])
    first = there & ((every - jax.lax.cummax(jnp.where(new, every, 0))) % _TOGETHER == 0)
    place = jnp.cumsum(first, dtype=jnp.int32) - 1
    group, reach = jnp.where(there, place, -1), jnp.stack(ends, axis=1)[order]
    for distance in (1 << power for power in range((_TOGETHER - 1).bit_length())):
        same = group == jnp.roll(group, -distance)
        reach = jnp.where(same[:, None], jnp.maximum(reach, jnp.roll(reach, -distance, axis=0)), reach)
    stands = jnp.full(room, size, jnp.int32).at[jnp.where(first, place, room)].set(every, mode="drop")
    return _Joined(
        jnp.minimum(first.sum(dtype=jnp.int32), room),
        order.at[stands].get(mode="fill", fill_value=size),
        reach.at[stands].get(mode="clip").T,
        jnp.where(first & (place >= room), order, size),
    )


@compile_once
@jax.jit
def _first_failures(cell: Any, readout: Any, chosen: Any) -> FirstFailures:  # noqa: ANN401 -- trees
    """Go through the lengths in pairs, an odd and an even one, while a model is left."""
    models = Network(LinearCell(*cell), Readout(*readout))
    strings = [critical_strings(models.task, parity) for parity in (0, 1)]

    nowhere = jnp.full(chosen.shape, -1)

    def two_lengths(state: tuple[Any, ...]) -> tuple[Any, ...]:
        length, powers, active, found_all, found_even = state
        powers = powers.longer(even=False)
        passes, fails = decide_length(models, powers, strings[1], length + 1)
        waiting = found_all < 0
        found_all = jnp.where(active & fails & waiting, length, found_all)
        active = active & (passes | fails | ~waiting)
        powers = powers.longer(even=True)
        passes, fails = decide_length(models, powers, strings[0], length + 2)
        found_all = jnp.where(active & fails & (found_all < 0), length + 1, found_all)
        found_even = jnp.where(active & fails, length, found_even)
        return length + 2, powers, active & passes, found_all, found_even

    def some_lengths(state: tuple[Any, ...]) -> tuple[Any, ...]:
        return jax.lax.fori_loop(0, _PAIRS, lambda _, state: two_lengths(state), state)

    start = (jnp.int32(0), Powers.at_zero(cell[2]), chosen, nowhere, nowhere)
    _, _, _, found_all, found_even = jax.lax.while_loop(
        lambda state: (state[0] < LONGEST) & state[2].any(), some_lengths, start
    )
    return FirstFailures(found_all, found_even)
