"""Explanations in words, and as plain values for JSON."""

from typing import Any

import numpy as np

from tallystick.reports.findings import percent
from tallystick.studies.explain.explanation import Explanation
from tallystick.studies.explain.rounding import NEVER, SHARES, Rounding
from tallystick.training.setting import OWN, Setting
from tallystick.training.weights import Weights

_NOTHING = 1e-12  # of the largest: what is left of sums that cancel


def setting_name(setting: Setting) -> str:
    """Name a setting but for its training length: task, bias, method, and an arithmetic of its own."""
    finer = [setting.precision] if setting.precision != "float32" else []
    finer += [f"{setting.gradients} gradients"] if setting.gradients != OWN else []
    return ", ".join([setting.task, "with bias" if setting.bias else "no bias", setting.method, *finer])


def as_text(one: Explanation, rounding: Rounding | None) -> str:
    """Return what was found of a setting in a few lines."""
    lines = [
        f"exact counter: {_counter(one)}; balanced {_summands(one)} {_percent(one.strings.balanced_share)}",
        f"{_loss(one)}; force {_force(one)}",
        *_method(one),
        _verdict(one),
        _left(one),
        _least(one),
        _ends(one),
        _rounding(rounding),
    ]
    return "\n  ".join([f"{setting_name(one.setting)}, training length {one.setting.train_length}", *lines]) + "\n"


def _counter(one: Explanation) -> str:
    counter = one.counter
    threshold = f", threshold {counter.threshold:.2f}" if one.setting.readout_bias else ""
    return f"a {counter.step:.3g}, scale v·a {counter.scale:.3g}{threshold}"


def _summands(one: Explanation) -> str:
    return "prefixes" if one.setting.procedure.every_token else "strings"


def _loss(one: Explanation) -> str:
    there = one.at_counter
    return f"loss {there.loss:.3g}" + ("" if there.is_minimum else f", {there.limit:.3g} as the scale grows")


def _force(one: Explanation) -> str:
    slope = one.at_counter.slope
    return _forces(*(-derivative for derivative in (*slope.inputs, *slope.recurrent)))


def _forces(a: float, b: float, U: float) -> str:
    return f"on a {a + 0.0:+.2g}, on b {b + 0.0:+.2g}, on U {U + 0.0:+.2g}"  # + 0.0 makes 0 of −0


def _method(one: Explanation) -> list[str]:
    """Say what the method adds to the loss, and what it holds."""
    pull, found = one.pull, list[str]()
    if one.setting.procedure.regulariser is not None:
        found.append(f"the method adds {pull.added_term:g} to the loss and {pull.added_slope:g} to its slope")
    if pull.multipliers:
        largest = max(map(abs, pull.multipliers))
        cancelling = " and ".join(f"{m if abs(m) > _NOTHING * largest else 0:.2g}" for m in pull.multipliers)
        found.append(f"multipliers of {cancelling} would cancel the pull off the conditions; they begin at 0")
    held = [name for name, holds in (("b = −a", pull.holds_steps), ("U = 1", pull.holds_recurrent)) if holds]
    if held:
        found.append(f"the method holds {' and '.join(held)}; the force that is left {_forces(*pull.speed[:3])}")
    return found


def _verdict(one: Explanation) -> str:
    """Say whether the counter is a minimum, and which way training leaves it."""
    unused = "" if one.strings.uses_recurrence else "; strings of one token say nothing of U"
    if one.at_counter.is_minimum:
        return f"a minimum, and a place to stay{unused}"
    moves = [
        f"{name} {'rises' if move > 0 else 'falls'}"
        for name, move in (("a/b", one.ratio_moves), ("U", one.recurrent_weight_moves))
        if move
    ]
    if moves:
        return f"no minimum; training leaves it: {' and '.join(moves)}{unused}"
    kept = "the method keeps both conditions" if _holds_both(one) else "nothing pulls off the conditions"
    return f"no minimum, since a larger scale has less loss; {kept}{unused}"


def _left(one: Explanation) -> str:
    left = one.left
    return (
        f"an epoch from exact counters of scale 1 takes a/b above −1 in {_percent(left.ratio_above)} of the seeds, "
        f"U above 1 in {_percent(left.recurrent_above)}; {_percent(left.exact)} stay exact"
    )


def _holds_both(one: Explanation) -> bool:
    return one.pull.holds_steps and one.pull.holds_recurrent


def _least(one: Explanation) -> str:
    start = "least loss at that scale" + (", multipliers at 0: " if one.pull.multipliers else ": ")
    if one.least is None:
        return start + "beyond the part of the plane looked at"
    loss, ratio, U = one.least
    if (ratio, U) == (-1, 1):
        return start + f"{loss:.3g}, at the counter"
    return start + f"{loss:.3g}, {one.at_counter.loss - loss:.2g} below the counter's, at a/b {ratio:.5f}, U {U:.5f}"


def _ends(one: Explanation) -> str:
    ends = one.ends
    side = ""
    if not (one.at_counter.is_minimum or one.keeps_conditions):
        side = f", {'' if one.ends_where_pulled else 'not '}on the side they are pulled to"
    seeds = f"{ends.seeds:,} {'seed ends' if ends.seeds == 1 else 'seeds end'}"
    return (
        f"{seeds} at a/b {ends.ratio:.5f}, U {ends.recurrent_weight:.5f} in the median{side}; "
        f"a/b above −1 in {_percent(ends.ratio_above)}, U above 1 in {_percent(ends.recurrent_above)}, "
        f"exact in {_percent(ends.exact)}"
    )


def _rounding(found: Rounding | None) -> str:
    if found is None:
        return "rounding: float64 has no finer arithmetic beside it to be compared with"
    record = rounding_record(found)
    start = f"rounding of {found.setting.gradient_dtype.name} gradients, {record['seeds']} seeds: "
    half, whole = record["takes_over"]
    if half["step"] is None:
        return start + f"never half the gradient; at the most {_percent(record['most'])} of it in the median"
    return start + (
        f"half the gradient in {_percent(half['share_of_seeds'])} of them, first at step {half['step']:,} of "
        f"{record['steps']:,} (epoch {half['epoch']}) in their median; all of it in {_percent(whole['share_of_seeds'])}; "
        f"the gradient is {half['gradient']:.2g} then, Adam's ε {found.setting.procedure.momenta.epsilon:g}"
    )


def _percent(share: float) -> str:
    return f"{percent(share)} %"


def as_record(one: Explanation, rounding: Rounding | None) -> dict[str, object]:
    """Return what was found of a setting as plain values."""
    setting, there, pull, least, ends = one.setting, one.at_counter, one.pull, one.least, one.ends
    return {
        "task": setting.task,
        "bias": setting.bias,
        "method": setting.method,
        "train_length": setting.train_length,
        "precision": setting.precision,
        "gradients": setting.gradient_dtype.name,
        "every_token": setting.procedure.every_token,
        "balanced_share": one.strings.balanced_share,
        "at_counter": {
            "step": one.counter.step,
            "scale": one.counter.scale,
            "threshold": one.counter.threshold if setting.readout_bias else None,
            "loss": there.loss,
            "loss_as_scale_grows": None if there.is_minimum else there.limit,
            "gradient": _weights_record(there.slope),
            "minimum": there.is_minimum,
        },
        "method_there": {
            "added_to_loss": pull.added_term,
            "added_to_gradient": pull.added_slope,
            "gradient_by_trained": _weights_record(pull.by_trained),
            "holds_steps": pull.holds_steps,
            "holds_recurrent_weight": pull.holds_recurrent,
            "cancelling_multipliers": list(pull.multipliers) or None,
            "open_step_moves": pull.speed.open_step,
            "close_step_moves": pull.speed.close_step,
            "ratio_moves": one.ratio_moves * abs(pull.speed.ratio),
            "recurrent_weight_moves": one.recurrent_weight_moves * abs(pull.speed.recurrent_weight),
            "keeps_conditions": there.is_minimum or one.keeps_conditions,
        },
        "after_an_epoch_from_exact_counters": {
            "ratio_above": one.left.ratio_above,
            "recurrent_weight_above": one.left.recurrent_above,
            "exact": one.left.exact,
        },
        "least_loss": least and least._asdict(),
        "ends": {
            "seeds": ends.seeds,
            "ratio": ends.ratio,
            "recurrent_weight": ends.recurrent_weight,
            "ratio_above": ends.ratio_above,
            "recurrent_weight_above": ends.recurrent_above,
            "exact": ends.exact,
            "where_pulled": one.ends_where_pulled,
        },
        "rounding": rounding and rounding_record(rounding),
    }


def rounding_record(found: Rounding) -> dict[str, Any]:
    """Return when noise takes over as plain values; a step is the median over the seeds that have one."""
    return {
        "seeds": found.first.shape[1],
        "steps": int(found.ends[-1]),
        "window": int(found.ends[0]),
        "most": float(np.median(found.most)),
        "takes_over": [_takeover(found, place) for place in range(len(SHARES))],
    }


def _takeover(found: Rounding, place: int) -> dict[str, object]:
    there = found.first[place] != NEVER
    if not there.any():
        return {
            "share_of_gradient": SHARES[place],
            "share_of_seeds": 0.0,
            "step": None,
            "epoch": None,
            "gradient": None,
        }
    step = int(np.median(found.first[place][there]))
    return {
        "share_of_gradient": SHARES[place],
        "share_of_seeds": float(there.mean()),
        "step": step,
        "epoch": found.epoch(step),
        "gradient": float(np.median(found.then[place][there])),
    }


def _weights_record(weights: Weights) -> dict[str, list[float]]:
    return {name: [float(value) for value in values] for name, values in weights._asdict().items()}
