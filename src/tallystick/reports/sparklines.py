"""The distribution behind one entry of a table, as a picture the size of a word."""

from html import escape

import numpy as np

from tallystick.reports.reading import Values

_WIDTH, _HEIGHT, _BINS = 120, 22, 40
_EDGES = np.linspace(0, 100, _BINS + 1)


def sparkline(percentages: Values, average: float, printed: float, label: str) -> str:
    """Draw how many models have which accuracy, from 0 to 100 %, with a line at our average and one at the paper's."""
    counts, _ = np.histogram(np.clip(percentages, 0, 100), _EDGES)
    low, high = (_short(percentage) for percentage in (percentages.min(), percentages.max()))
    text = escape(f"{label}: {len(percentages):,} models, from {low} to {high} %")
    return (
        f'<svg class="spark" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{text}"><title>{text}</title>'
        f'<path class="bars" d="{_bars(counts)}"/>{_line("ours", average)}{_line("printed", printed)}</svg>'
    )


def _bars(counts: np.ndarray) -> str:
    """One path for all bars; the least of them can still be seen."""
    wide, heights = _WIDTH / _BINS, np.ceil(counts / counts.max() * (_HEIGHT - 2))
    return "".join(
        f"M{_short(place * wide)} {_HEIGHT}v-{int(height)}h{_short(wide)}v{int(height)}z"
        for place, height in enumerate(heights)
        if height
    )


def _line(style: str, percentage: float) -> str:
    x = _short(percentage / 100 * _WIDTH)
    return f'<path class="{style}" d="M{x} 0V{_HEIGHT}"/>'


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
