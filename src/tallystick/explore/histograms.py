"""How a column of a run is distributed, setting by setting, over common bins."""

import numpy as np

from tallystick.explore.run import CONDITIONS, Networks, Values
from tallystick.reports.findings import Interval, middle_range


def histogram(settings: list[Networks], column: str, bins: int, ends: Interval | None = None) -> dict[str, object]:
    """Return the counts in bins between two ends, and how many lie below, above and nowhere."""
    numbers = {networks.id: networks.columns[column] for networks in settings}
    condition = CONDITIONS.get(column)
    shown = () if condition is None else (condition,)
    low, high = middle_range(numbers.values(), *shown) if ends is None else ends
    edges = np.linspace(low, high, bins + 1)
    series = [{"setting": name, **_series(values, edges)} for name, values in numbers.items()]
    return {"column": column, "condition": condition, "edges": edges.tolist(), "series": series}


def _series(values: Values, edges: Values) -> dict[str, object]:
    low, high = edges[0], edges[-1]
    known = values[~np.isnan(values)]
    median = float(np.median(known)) if len(known) else np.inf
    return {
        "counts": np.histogram(known, len(edges) - 1, (low, high))[0].tolist(),
        "below": int((values < low).sum()),
        "above": int((values > high).sum()),
        "missing": len(values) - len(known),
        "median": median if np.isfinite(median) else None,
        "total": len(values),
    }
