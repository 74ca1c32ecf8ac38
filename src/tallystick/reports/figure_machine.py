"""A counter machine as a picture: its states in a row, and an arrow for every way from one to another."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from itertools import product
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

from tallystick.languages.counter_machine import Case, CounterMachine, ZeroMask, show_zero_check, zero_checks
from tallystick.reports.drawing import FAINT, WIDTH, footnote, write_figure

_RADIUS, _GAP, _LINE, _LOOP = 0.42, 3.4, 0.24, 0.82
_COLOUR = "#0072B2"
_LONGEST_NAME = 12


def write_machine_figure(machine: CounterMachine, path: Path) -> None:
    """Draw a machine into a file, whose ending says in which form."""
    write_figure(lambda: machine_figure(machine), path)


def machine_figure(machine: CounterMachine) -> Figure:
    """Draw a machine.

    An arrow says which tokens take it, with which zero checks (* is any), and what they do to the counters. A double circle
    accepts, with the zero checks under its name.
    """
    labels = _labels(machine)
    arrows = {ends: _Arrow.between(*(machine.states.index(state) for state in ends)) for ends in labels}
    loops = max((len(lines) for (a, b), lines in labels.items() if a == b), default=0)
    high = max(_RADIUS + 0.1, _LOOP + loops * _LINE if loops else 0) + 0.2
    depths = [arrow.depth + len(labels[ends]) * _LINE for ends, arrow in arrows.items() if arrow.is_below]
    low = max([_RADIUS, *depths]) + 0.3
    wide = _GAP * (len(machine.states) - 1) + 3.2
    scale = min(WIDTH / wide, 1.0)
    figure = Figure(figsize=(wide * scale, (high + low) * scale + 0.35), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(-1.6, wide - 1.6), ylim=(-low, high), aspect="equal")
    axes.set_axis_off()
    size = 7 * max(scale, 0.7)
    for place, state in enumerate(machine.states):
        _draw_state(axes, machine, state, _GAP * place, size)
    for ends, arrow in arrows.items():
        if arrow.start == arrow.end:
            _draw_loop(axes, arrow.start, labels[ends], size)
        else:
            _draw_arrow(axes, arrow, labels[ends], size)
    counters = "the counter" if machine.counters == 1 else f"the {machine.counters} counters"
    footnote(
        figure,
        f"token, zero check (0: it is zero, *: any) and what is done to {counters}; "
        "a double circle accepts with the zero checks under its name",
    )
    return figure


class _Arrow(NamedTuple):
    """An arrow between two states: to the next one above the row, to all others below it, the further the deeper."""

    start: float
    end: float
    is_below: bool
    depth: float

    @classmethod
    def between(cls, first: int, second: int) -> "_Arrow":
        is_below = second != first and second != first + 1
        return cls(_GAP * first, _GAP * second, is_below, 0.3 + 0.55 * abs(second - first) if is_below else 0.3)


def _draw_state(axes: Axes, machine: CounterMachine, state: str, x: float, size: float) -> None:
    checks = [check for name, check in machine.accepting if name == state]
    axes.add_patch(Circle((x, 0), _RADIUS, fill=False, linewidth=1))
    if checks:
        axes.add_patch(Circle((x, 0), _RADIUS * 0.86, fill=False, linewidth=0.7))
    name = state if len(state) <= _LONGEST_NAME else state[: _LONGEST_NAME - 1] + "…"
    axes.text(x, 0.06 if checks else 0, name, ha="center", va="center", fontsize=size)
    if checks:
        shown = " ".join(_patterns(checks, machine.counters))
        axes.text(x, -0.18, shown, ha="center", va="center", fontsize=0.8 * size, color=FAINT)
    if state == machine.initial_state:
        axes.add_patch(
            FancyArrowPatch((x - 1.2, 0), (x - _RADIUS, 0), arrowstyle="-|>", mutation_scale=8, shrinkA=0, shrinkB=0)
        )


def _draw_loop(axes: Axes, x: float, lines: list[str], size: float) -> None:
    ends = (x - 0.22, _RADIUS * 0.86), (x + 0.22, _RADIUS * 0.86)
    loop = FancyArrowPatch(
        *ends, connectionstyle="arc3,rad=-1.7", arrowstyle="-|>", mutation_scale=8, color=_COLOUR, shrinkA=0, shrinkB=0
    )
    axes.add_patch(loop)
    axes.text(x, _LOOP, "\n".join(lines), ha="center", va="bottom", fontsize=size, linespacing=1.1)


def _draw_arrow(axes: Axes, arrow: _Arrow, lines: list[str], size: float) -> None:
    forward, side = (1 if arrow.end > arrow.start else -1), (-1 if arrow.is_below else 1)
    edge = 0.75 if abs(arrow.end - arrow.start) > _GAP else 0.3
    away = _RADIUS * (1 - edge**2) ** 0.5
    ends = [(arrow.start + forward * away, side * _RADIUS * edge), (arrow.end - forward * away, side * _RADIUS * edge)]
    rise = arrow.depth - _RADIUS * edge
    bend = -2 * forward * side * rise / abs(ends[1][0] - ends[0][0])
    look = {"arrowstyle": "-|>", "mutation_scale": 8, "color": _COLOUR, "shrinkA": 0, "shrinkB": 0}
    axes.add_patch(FancyArrowPatch(*ends, connectionstyle=f"arc3,rad={bend}", **look))  # pyright: ignore[reportArgumentType]
    place = {"ha": "center", "va": "top" if arrow.is_below else "bottom", "fontsize": size, "linespacing": 1.1}
    axes.text((arrow.start + arrow.end) / 2, side * (arrow.depth + 0.06), "\n".join(lines), **place)  # pyright: ignore[reportArgumentType]


def _labels(machine: CounterMachine) -> dict[tuple[str, str], list[str]]:
    """Return what stands beside the arrow from one state to another: one line per token and update."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[ZeroMask]]] = {}
    for token, state, check in product(machine.alphabet, machine.states, zero_checks(machine.counters)):
        case = Case(token, state, check)
        way = found.setdefault((state, machine.transitions[case]), {})
        way.setdefault((token, " ".join(map(str, machine.updates[case]))), []).append(check)
    return {
        ends: [
            f"{token}  {' '.join(_patterns(checks, machine.counters))}:  {update}"
            for (token, update), checks in way.items()
        ]
        for ends, way in found.items()
    }


def _patterns(checks: list[ZeroMask], counters: int) -> list[str]:
    """Return zero checks with * where 0 and 1 both occur, joined as far as that goes."""
    left = {show_zero_check(check) for check in checks}
    for place in range(counters):
        for pattern in sorted(left):
            other = pattern[:place] + {"0": "1", "1": "0"}.get(pattern[place], "*") + pattern[place + 1 :]
            if pattern in left and other in left and other != pattern:
                left -= {pattern, other}
                left.add(pattern[:place] + "*" + pattern[place + 1 :])
    return sorted(left)
