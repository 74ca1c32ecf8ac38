"""The frozen corpus: what the tool answered before its code was rearranged, asked through the command line alone.

    python tests/frozen/freeze.py verdicts   # asks every question again and replaces the answers in verdicts.jsonl.gz
    python tests/frozen/freeze.py runs       # trains every cell with every method for every task again and replaces runs.json

A question is a network's file with the options of `certify`, and for most also a length for `accuracy`; its answers are the JSON
that `certify`, `check` and `accuracy` print, with their exit statuses. A run is kept as digests of its columns. Nothing here
imports the package but its command line, so that the corpus outlives any change inside. It is renewed only where a change of
answers is meant and CHANGELOG.md says so.
"""

import contextlib
import gzip
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

VERDICTS, RUNS = (Path(__file__).with_name(name) for name in ("verdicts.jsonl.gz", "runs.json"))

METHODS = [
    "published",
    "corrected",
    "decayed",
    "count",
    "count-tokens",
    "count-calm",
    "count-penalty",
    "penalty",
    "lagrangian",
    "tied",
    "unit",
    "tied-unit",
    "projected",
    "curriculum",
]
CELLS = ("linear", "selective", "relu", "tanh", "gru", "lstm")


def command(*arguments: str) -> tuple[int, str]:
    """Run a command in this process; return its status and what it printed."""
    from tallystick.cli import main  # noqa: PLC0415 -- for --help no library is needed

    printed, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaint):
        try:
            main(list(arguments))
        except SystemExit as end:
            return int(end.code or 0), printed.getvalue() or complaint.getvalue()
    raise AssertionError("a command ends with a status")


def answers(question: dict, folder: Path) -> dict:
    """Ask a question; return the answers with their statuses, without what names this machine's files."""
    model, certificate = folder / "model.json", folder / "certificate.json"
    model.write_text(json.dumps(question["model"]))
    options = [f"--{name}={value}" for name, value in question["options"].items()]
    given = command("certify", str(model), *options, "--json", "--out", str(certificate), "--force")
    found = {"certify": _answer(given, folder)}
    if given[0] != 2:
        found["check"] = _answer(command("check", str(certificate), "--json"), folder)
        found["certificate"] = sha256(certificate.read_bytes()).hexdigest()
    if "accuracy" in question:
        asked = f"--length={question['accuracy']}", f"--arithmetic={question['options']['arithmetic']}"
        found["accuracy"] = _answer(command("accuracy", str(model), *asked, "--json"), folder)
    return found


def _answer(given: tuple[int, str], folder: Path) -> dict:
    status, text = given
    text = text.replace(f"{folder}/", "")
    return {"status": status, "said": json.loads(text) if status != 2 else text}


def corpus() -> Iterator[dict]:
    """Go through the questions with their answers."""
    with gzip.open(VERDICTS, "rt") as lines:
        yield from map(json.loads, lines)


def _answered(question: dict) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        return {**question, "answers": answers(question, Path(folder))}


def write_corpus(questions: list[dict]) -> None:
    """Answer questions and write them, the same bytes for the same answers."""
    with ProcessPoolExecutor(2) as processes:
        lines = [json.dumps(entry) + "\n" for entry in processes.map(_answered, questions, chunksize=50)]
    VERDICTS.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def run_options() -> Iterator[tuple[str, ...]]:
    """Go through the options of a small run of every cell, method and task."""
    for cell in CELLS:
        for method in METHODS:
            for task in ("binary", "ternary", "count"):
                size = ("--units=2",) if cell in ("gru", "lstm") else ("--bias",)
                yield f"--cell={cell}", f"--method={method}", f"--task={task}", *size


def columns_of_run(options: tuple[str, ...], folder: Path) -> dict[str, list] | str:
    """Train a small run; return its columns, or the line it is refused with."""
    import polars as pl  # noqa: PLC0415

    # The bits are those of the compiled scan.
    short = ("--train-length=2", "--epochs=4", "--seeds=6", "--engine=scan", "--device=cpu")
    status, said = command("train", *options, *short, f"--out={folder / 'run'}", "--json")
    if status:
        return said
    rows = pl.read_parquet((folder / "run" / "models.parquet").read_bytes())
    return rows.to_dict(as_series=False)


def digests(columns: dict[str, list] | str) -> dict[str, str] | str:
    """Return a digest of each column."""
    if isinstance(columns, str):
        return columns
    return {name: sha256(json.dumps(values).encode()).hexdigest()[:16] for name, values in columns.items()}


def rounding() -> dict[str, object]:
    """Return what the bits of a trained weight depend on beside the code."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return {"jax": version("jax"), "avx512": "avx512f" in flags}


def _run(options: tuple[str, ...]) -> dict[str, str] | str:
    with tempfile.TemporaryDirectory() as folder:
        return digests(columns_of_run(options, Path(folder)))


def write_runs() -> None:
    """Train every run and write the digests of their columns."""
    runs = {" ".join(options): _run(options) for options in run_options()}
    RUNS.write_text(json.dumps({"rounding": rounding(), "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["verdicts"]:
        write_corpus([{name: part for name, part in entry.items() if name != "answers"} for entry in corpus()])
    elif sys.argv[1:] == ["runs"]:
        write_runs()
    else:
        sys.exit(__doc__)
