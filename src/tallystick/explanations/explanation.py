"""A setting explained: what its objective says at the exact counter, where its loss is least, and where seeds end."""

from dataclasses import dataclass, replace

import numpy as np

from tallystick.errors import BadInput
from tallystick.experiments.training_run import training_job
from tallystick.explanations.ends import Ends, ends_of
from tallystick.explanations.exact_counter import AtCounter, ExactCounter, at_counter
from tallystick.explanations.profile import Profile, profile
from tallystick.explanations.pull import Pull, pull_of
from tallystick.explanations.resting_place import LOOKED_AT, Least, LossOverPlane, least_loss
from tallystick.explanations.scored import scored
from tallystick.training.ensemble import train
from tallystick.training.objectives import SQUARED_ERROR
from tallystick.training.setting import Setting

_NO_MOVE = 1e-6
"""What is smaller than this part of the force comes of sums that cancel."""


@dataclass(frozen=True)
class Explanation:
    """What is known of one setting.

    Attributes:
        setting: the setting.
        strings: the profile of what is scored of its training set.
        ends: where seeds end.
        left: where one epoch leads that starts at exact counters, of scale 1.
        counter: the exact counter with the step and the readout that seeds reach.
        at_counter: the objective there.
        pull: what the method makes of it.
        loss_over: the loss of the cells around it.
        least: where that is least; None where no such point is in view.
    """

    setting: Setting
    strings: Profile
    ends: Ends
    left: Ends
    counter: ExactCounter
    at_counter: AtCounter
    pull: Pull
    loss_over: LossOverPlane
    least: Least | None

    @property
    def ratio_moves(self) -> int:
        """Which way a/b goes from −1 as the trained numbers follow the gradient down: 1, 0 or −1."""
        return self._sign(self.counter.step * self.pull.speed.ratio)

    @property
    def recurrent_weight_moves(self) -> int:
        """Which way U goes from 1."""
        return self._sign(self.pull.speed.recurrent_weight)

    @property
    def keeps_conditions(self) -> bool:
        """Whether training that starts at the exact counter goes on along exact counters."""
        return not (self.ratio_moves or self.recurrent_weight_moves)

    @property
    def ends_where_pulled(self) -> bool:
        """Whether the median of the seeds lies on the side that a/b and U are pulled to, for each that is pulled."""
        off = (self.ends.ratio + 1, self.ends.recurrent_weight - 1)
        moves = (self.ratio_moves, self.recurrent_weight_moves)
        return all(move * distance > 0 for move, distance in zip(moves, off, strict=True) if move)

    def _sign(self, speed: float) -> int:
        return int(np.sign(speed)) if abs(speed) > _NO_MOVE * self.at_counter.force else 0


def explain(setting: Setting, seeds: int = 1000, seed: int = 0) -> Explanation:
    """Explain a setting of the linear cell; `seeds` networks are trained to see where they end."""
    if setting.cell != "linear":
        raise BadInput(f"cell: {setting.cell!r}; only the linear cell's exact counter is explained")
    strings = training_job(setting, seeds, seed).strings
    leaving = replace(setting, start="exact", epochs=1, snap=False)
    ends, left = (_trained(one, seeds, seed) for one in (setting, leaving))
    return explained(setting, strings, ends, left)


def _trained(setting: Setting, seeds: int, seed: int) -> Ends:
    job = training_job(setting, seeds, seed)
    return ends_of(train(setting, job.initial(np.arange(seeds)), job.strings))


def explained(setting: Setting, strings: list[str], ends: Ends, left: Ends) -> Explanation:
    """Explain a setting of which it is known where seeds end, and where an epoch leads from exact counters."""
    counter, found = counter_reached(setting, ends), scored(setting, strings)
    summed = profile(found)
    there = at_counter(setting, summed, counter)
    pull = pull_of(setting, counter, there.slope)
    loss_over = LossOverPlane(setting, found, counter)
    least = least_loss(loss_over, LOOKED_AT.held(pull))
    return Explanation(setting, summed, ends, left, counter, there, pull, loss_over, least)


def counter_reached(setting: Setting, ends: Ends) -> ExactCounter:
    """Return the exact counter with the step and the readout that seeds reach; regression asks for one readout, its own."""
    if setting.objective is SQUARED_ERROR:
        return ExactCounter.of_scale(setting, step=ends.step)
    return ExactCounter.of_scale(setting, ends.scale, step=ends.step, threshold=ends.threshold)
