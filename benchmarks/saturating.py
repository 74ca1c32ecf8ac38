"""The tables of docs/measurements.md on gates that saturate: how many LSTMs count exactly, as executed in float32.

    python -m benchmarks.saturating [SEEDS] [TABLE ...]

Every row is one training run. The networks are run step by step in NumPy's float32, on random strings of 1,000 tokens. Columns:

    right     the right class after every token of every string
    counts    of some unit, the memory is the count times one and the same step, to the last bit, after every token
    margin    of some unit, the inputs of i and f are above 18 and that of g is beyond ±10 for every token and every h in
              [−1, 1]: then i and f round to 1 and g to ±1 whatever came before
    both      right, with such a margin
    at 1,000  the mean accuracy on the paper's kind of strings of 1,000 tokens, in percent
    train     the mean accuracy during the last epoch

The last table runs the first network of some rows in PyTorch, on strings of a million tokens.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.datasets.strings import long_suite
from tallystick.languages.tasks import Task
from tallystick.runs.runner import train
from tallystick.training.ensemble import Ensemble
from tallystick.training.methods import METHODS
from tallystick.training.weights import TensorWeights

TOKENS, STRINGS = 1000, 8
OPEN_GATE, ENDS = 18, 10
MILLION = 10**6

Row = tuple[str, dict[str, Any]]
SIZES = [(task, units) for units in (1, 2, 4, 8) for task in ("binary", "ternary")]
FEWER: dict[int, dict[str, Any]] = {4: {"seeds": 128}, 8: {"seeds": 128}}
"""Eight units take a minute or two for a block of 128 networks, so there are fewer of them."""


def _row(method: str, changes: dict[str, Any] | None = None, **options: object) -> Row:
    """Return a row: a method, with some of its fields changed, and the options of `tallystick train`."""
    shown = {name: value for name, value in options.items() if name not in ("cell", "seeds")} | (changes or {})
    label = " ".join([method, *(f"{name}={value}" for name, value in shown.items())])
    if changes:
        METHODS[label] = replace(METHODS[method], **changes)  # under a name of its own, for this run alone
    return label, {"cell": "lstm", "bias": True, **options, "method": label if changes else method}


NO_PENALTY: dict[str, Any] = {"regulariser": None}
TABLES: dict[str, list[Row]] = {
    "saturating": [_row("saturating", task=task, units=u, **FEWER.get(u, {})) for task, u in SIZES],
    "labels": [_row("saturating-labels", task=task, units=u, **FEWER.get(u, {})) for task, u in SIZES],
    "other orders": [
        _row(method, task=task, seed=seed)
        for method in ("saturating", "saturating-labels")
        for task in ("binary", "ternary")
        for seed in (1, 2)
    ],
    "ablations": [
        *(_row("saturating", change) for change in ({"temperature": 1.0}, {"memory": 0.0}, NO_PENALTY)),
        _row("saturating", NO_PENALTY, units=4),
        *(
            _row("saturating-labels", {"temperature": t}, task=task)
            for task in ("binary", "ternary")
            for t in (1.0, 32.0, 128.0)
        ),
        *(_row("saturating-labels", change) for change in ({"every_token": True}, NO_PENALTY)),
        _row("saturating-labels", NO_PENALTY, units=4),
    ],
    "gru": [
        _row("saturating-labels", {"temperature": t}, cell="gru", units=units)
        for units in (1, 4)
        for t in (1.0, 4.0, 32.0, 512.0)
    ],
}


def memories(weights: TensorWeights, opening: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Go through the memories and the outputs after each token, with the axes unit or output, seed and string."""
    W, U, bias = weights.inputs, weights.recurrent, np.asarray(weights.bias).sum(axis=0)
    h = c = np.zeros((weights.readout_weight.shape[1], W.shape[-1], opening.shape[1]), np.float32)
    with np.errstate(over="ignore"):
        for row in opening:
            read = np.where(row, (W[:, 0] + bias)[..., None], (W[:, 1] + bias)[..., None])
            i, f, g, o = np.split(read + np.einsum("rus,usn->rsn", U, h), 4)
            i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
            c = f * c + i * np.tanh(g)
            h = o * np.tanh(c)
            yield c, np.einsum("ous,usn->osn", weights.readout_weight, h) + weights.readout_bias[0][..., None]


def as_executed(weights: TensorWeights, task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Return which seeds have the right class after every token, and in which some unit counts exactly."""
    opening = np.random.default_rng(1).integers(2, size=(TOKENS, STRINGS)) == 1
    counts = np.cumsum(np.where(opening, 1, -1), axis=0, dtype=np.int32)
    step, right, counting = None, np.array(True), np.array(True)
    for (c, outputs), count in zip(memories(weights, opening), counts, strict=True):
        step = c[..., :1] * count[0] if step is None else step
        wanted = task.targets_of_counts(count).T
        found = outputs > 0 if len(outputs) == 1 else outputs == outputs.max(axis=0)
        right = right & (found == wanted[:, None]).all(axis=(0, 2))
        counting = counting & ((c == step * count.astype(np.float32)) & (step != 0)).all(axis=2)
    return np.asarray(right), np.asarray(counting.any(axis=0))


def has_margin(weights: TensorWeights) -> np.ndarray:
    """Return which seeds have a unit whose gates saturate for every token and every h in [−1, 1]."""
    units = weights.readout_weight.shape[1]
    read = weights.inputs.astype(np.float64) + np.asarray(weights.bias, np.float64).sum(axis=0)[:, None]
    looped = np.abs(weights.recurrent.astype(np.float64)).sum(axis=1)[:, None]
    i, f = np.split((read - looped).min(axis=1)[: 2 * units], 2)
    g = (np.abs(read) - looped).min(axis=1)[2 * units : 3 * units]
    return ((i >= OPEN_GATE) & (f >= OPEN_GATE) & (g >= ENDS)).any(axis=0)


def _line(networks: Ensemble, seed: int) -> str:
    setting, shares = networks.setting, ["–"] * 4
    if setting.cell == "lstm":
        right, counting = as_executed(networks.weights, setting.goal)
        margin = has_margin(networks.weights)
        shares = [f"{100 * np.mean(share):.1f}%" for share in (right, counting, margin, right & margin)]
    long = networks.accuracy(long_suite(setting.goal, TOKENS, seed)).mean()
    return "".join(f"{share:>8}" for share in shares) + f"{long:10.2f}{networks.accuracy_train.mean():8.2f}"


def _table(name: str, rows: list[Row], seeds: int) -> None:
    print(f"\n{name}\n{'':62}{'right':>8}{'counts':>8}{'margin':>8}{'both':>8}{'at 1,000':>10}{'train':>8}", flush=True)
    for label, options in rows:
        networks = train(**{"task": "binary", "seeds": seeds, **options})
        line = _line(networks, options.get("seed", 0))
        print(f"{label:62}{line}   of {networks.accuracy_train.size:,}", flush=True)


def _million(rows: list[Row]) -> None:
    import torch  # noqa: PLC0415 # pyright: ignore[reportMissingImports] -- only this table needs it

    torch.set_num_threads(1)
    print(
        "\nPyTorch, strings of 1,000,000 tokens: wrong answers, and tokens after which the memory of no unit is the count"
    )
    brackets = np.random.default_rng(2).integers(2, size=MILLION) == 1
    counts = np.cumsum(np.where(brackets, 1, -1))
    tokens = torch.tensor(np.stack([brackets, ~brackets], axis=1).astype(np.float32))
    for label, options in rows:
        networks = train(**{**options, "seeds": 1})
        weights, units = networks.weights.places(0), options["units"]
        cell = torch.nn.LSTMCell(2, units)
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        arrays = (weights.inputs, weights.recurrent, *weights.bias)
        cell.load_state_dict({name: torch.tensor(array) for name, array in zip(names, arrays, strict=True)})
        V, bias = torch.tensor(weights.readout_weight), torch.tensor(weights.readout_bias[0])
        with torch.inference_mode():
            h, c = torch.zeros(units), torch.zeros(units)
            outputs, memory = [], []
            for token in tokens:
                h, c = cell(token, (h, c))
                outputs.append(V @ h + bias)
                memory.append(c)
        found, kept = torch.stack(outputs).numpy(), torch.stack(memory).numpy()
        classes = found > 0 if found.shape[1] == 1 else found == found.max(axis=1, keepdims=True)
        wrong = (classes != networks.setting.goal.targets_of_counts(counts)).any(axis=1).sum()
        off = (np.abs(kept) != np.abs(counts)[:, None]).all(axis=1).sum()
        print(f"{label:62}{wrong:8,}{off:8,}   largest count {np.abs(counts).max():,}", flush=True)


def main(arguments: list[str]) -> None:
    """Print the tables whose names begin with what is asked for, all of them without arguments."""
    seeds, asked = int(arguments[0]) if arguments else 1000, tuple(arguments[1:])
    for name, rows in TABLES.items():
        if not asked or name.startswith(asked):
            _table(name, rows, seeds)
    if not asked or "million".startswith(asked):
        _million([*TABLES["saturating"][:2], *TABLES["labels"][:2]])


if __name__ == "__main__":
    main(sys.argv[1:])
