"""A folder with one good file of every kind that is read: what is damaged in the tests, and what commands are given."""

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl

from tallystick import GruCell, LinearCell, LstmCell, Network, ReluCell, SelectiveCell, TanhCell, certify
from tallystick.certificates.certificate import write_certificate
from tallystick.datasets.strings import published_strings  # noqa: F401 -- the files below are its
from tallystick.languages.machine_files import write_machine
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.networks import Readout, write_network
from tallystick.runs.columns import schema_of

sys.path.insert(0, str(Path(__file__).parent.parent / "reports"))
from synthetic import write_run

UNLIMITED = 2**63 - 1
_TENTH = Fraction(1, 10)
TRAINED = {"edition": "fresh", "bias": False, "train_length": 4, "method": "published", "precision": "float32"}


def gru() -> Network:
    return Network(
        GruCell(((1, -1), (0, 0), (1, -1)), ((0,), (0,), (1,)), (0, 9, 0), (0, 0, 0)), Readout(((1,),), (0,))
    )


def lstm() -> Network:
    rows, state = ((1, 1), (1, 1), (2, -2), (1, 1)), ((0,), (0,), (0,), (0,))
    return Network(LstmCell(rows, state, (9, 9, 0, 9), (0, 0, 0, 0)), Readout(((1,), (0,), (-1,)), (0, 1, 0)))


def models() -> dict[str, Network]:
    """A model of every kind."""
    return {
        "linear": Network(LinearCell(1, -1, 1), Readout.binary(1, 0)),
        "ternary": Network(LinearCell(_TENTH, -_TENTH, Fraction(3, 4)), Readout.ternary((-1, 0, 1), (0, _TENTH, 0))),
        "selective": Network(SelectiveCell(1, -2, 2, Fraction(1, 2)), Readout.zero()),
        "relu": Network(ReluCell(1, -1, 1), Readout.zero()),
        "tanh": Network(TanhCell(1, -1, 1), Readout.binary(1, 0)),
        "gru": gru(),
        "lstm": lstm(),
    }


def trained_rows(cells: tuple[str, ...] = ("linear",)) -> pl.DataFrame:
    """Rows as a training run has them."""
    tasks = {"binary": (1, 0), "ternary": (3, 3), "count": (1, 0)}
    rows = [
        {
            **TRAINED,
            **{"cell": cell, "task": task, "seed": seed, "open_step": 1.0, "close_step": -1.0 - seed / 8},
            **{"recurrent_weight": 1.0, "close_recurrent_weight": 1.0 if cell == "selective" else None},
            **{
                "further_weights": [],
                "ab_ratio": -1.0,
                "readout_weight": [1.0] * width,
                "readout_bias": [0.5] * biases,
            },
            **{"accuracy_train": 100.0, "accuracy_20": 90.0, "accuracy_50": 80.0, "horizon_all": UNLIMITED},
            **{"horizon_even": 6, "horizon_all_exact": True, "horizon_even_exact": False},
        }
        for cell in cells
        for task, (width, biases) in tasks.items()
        for seed in range(2)
    ]
    return pl.DataFrame(rows, schema=schema_of(LinearCell))


def histograms() -> pl.DataFrame:
    """Counts as a run has them that keeps a summary alone."""
    counted = {
        "ab_ratio": (-1.0, -0.99),
        "recurrent_weight": (1.0, 1.01),
        "horizon_all": (6.0, 6.0),
        "horizon_even": (float(UNLIMITED), float(UNLIMITED)),
        "horizon_all_exact": (1.0, 1.0),
        "meets_conditions": (0.0, 0.0),
        "accuracy_train": (100.0, 100.0),
    }
    same = {**TRAINED, "task": "binary", "cell": "linear"}
    rows = [{**same, "column": name, "least": a, "next": b, "models": 5} for name, (a, b) in counted.items()]
    return pl.DataFrame([*rows, {**same, "column": "ab_ratio", "least": None, "next": None, "models": 1}])


def gru_rows() -> pl.DataFrame:
    """Rows as a run of GRUs has them."""
    schema = schema_of(GruCell)
    same = {**TRAINED, "cell": "gru", "units": 1, "task": "binary", "bias": True}
    weights = {"tensors": [1.0, -1.0] * 3 + [0.5] * 3 + [0.0] * 6, "readout_weight": [1.0], "readout_bias": [0.0]}
    measured = {name: 50.0 for name, kind in schema.items() if kind == pl.Float64}
    rest = {"first_failure": 3, "counting_unit": "hidden 0"}
    rows = [{**same, **measured, **weights, **rest, "seed": seed} for seed in range(2)]
    return pl.DataFrame(rows, schema=schema)


def config(**asked: object) -> str:
    """A run's settings."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in {"command": "train", **asked}.items())


def make_good_files(folder: Path) -> Path:
    """Make every kind of file in a folder."""
    for name, model in models().items():
        write_network(model, folder / f"{name}.json")
    write_network(models()["linear"], folder / "model.safetensors")
    write_network(lstm(), folder / "lstm.safetensors")
    for name, model in models().items():
        write_certificate(certify(model, limit=4), folder / f"{name}.certificate.json")
    write_certificate(certify(models()["ternary"], "even", "float16-fused"), folder / "float.certificate.json")
    write_machine(READY_MACHINES["dyck1"], folder / "machine.json")
    (folder / "strings.txt").write_text("()\n(()),ZeroNeg\n((,Pos\n\n)\n")
    (folder / "scheduler.json").write_text('{"type": "Scheduler", "address": "tcp://127.0.0.1:1"}')
    (folder / "authors").mkdir()
    for length in (2, 4, 8, 20, 50):
        for task, label in (("binary", "ZeroNeg"), ("ternary", "Zero")):
            (folder / "authors" / f"{task}_{length}.txt").write_text(f"{'()' * (length // 2)},{label}\n")
    make_run(folder / "run", trained_rows(), cell="linear", seed=0)
    make_run(folder / "grus", gru_rows(), cell="gru", units=1)
    make_run(folder / "summed", None, keep="summary")
    histograms().write_parquet(folder / "summed" / "histograms.parquet")
    (folder / "summed" / "summary.json").write_text("{}")
    write_run(folder / "reproduction", seeds=12)
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("nowhere")
    (folder / "weights.pt").write_bytes(b"\x80\x04N.")
    return folder


def make_run(folder: Path, rows: pl.DataFrame | None, **asked: object) -> None:
    """Make a run directory."""
    folder.mkdir()
    (folder / "config.toml").write_text(config(**asked))
    if rows is not None:
        rows.write_parquet(folder / "models.parquet")


def state_dicts() -> list[dict[str, np.ndarray]]:
    """Tensors as PyTorch names them: a cell over [x, h], a recurrent one, and one with gates, each with its readout."""
    readout = {"readout.weight": np.ones((1, 1), np.float32), "readout.bias": np.zeros(1, np.float32)}
    recurrent = {"rnn.weight_ih_l0": np.array([[1.0, -1.0]]), "rnn.weight_hh_l0": np.array([[1.0]])}
    gates = {"weight_ih_l0": np.ones((3, 2)), "weight_hh_l0": np.ones((3, 1)), "bias_ih_l0": np.ones(3)}
    return [
        {"step.weight": np.array([[1.0, -1.0, 1.0]]), **readout},
        {**recurrent, "rnn.bias_ih_l0": np.zeros(1), "rnn.bias_hh_l0": np.zeros(1), **readout},
        {**gates, "bias_hh_l0": np.ones(3), **readout},
        {"open_step": np.array([1.0]), "close_step": np.array([-1.0]), "recurrent_weight": np.array([1.0])},
    ]
