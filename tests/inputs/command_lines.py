"""Command lines of every kind: drawn from the commands' own options, so that a new command or option is tried unasked.

What a command reads and writes lies in one folder. What would take long once it has been accepted, train or serve,
is stubbed where the command hands over to the rest of the tool; all that is checked before runs as it is.
"""

import contextlib
import inspect
import io
import re
import shutil
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints
from unittest.mock import patch

from good_files import make_run, trained_rows
from hypothesis import strategies as st
from typer.models import ArgumentInfo

from tallystick.cli import COMMANDS, command_function, main
from tallystick.errors import printable

WRITTEN = ("out", "figure", "smtlib")
"""The options that name what is written; all other paths are read."""

ODD_NAMES = ("zz[1]", "T*", "q?", "{a,b}", "~", "a b", "new\nline", "seed=3", "%41", "./-x")
"""Names that a shell, polars or a reader of options would take for something else."""

NOT_UTF8 = "\udcff"
DECOYS = ("zz1", "T1", "qq", "a", "b", "home", "A")
"""Runs that they would be taken for; the home folder is one of them."""

ODD = {
    f"{name}{ending}": plain
    for name in (*ODD_NAMES, NOT_UTF8)
    for ending, plain in {
        "": "run",
        ".json": "linear.json",
        ".txt": "strings.txt",
        ".machine.json": "machine.json",
    }.items()
}
"""Good files and runs with such names, each with the plain name of the same."""

ODD_OUT = tuple(f"out/{name}{ending}" for name in (*ODD_NAMES, NOT_UTF8) for ending in ("", ".png", ".json"))

MODELS = (
    *("linear.json", "ternary.json", "selective.json", "relu.json", "tanh.json", "gru.json", "lstm.safetensors"),
    "model.safetensors",
)
GOOD = (
    *MODELS,
    *MODELS,
    *MODELS,
    "linear.certificate.json",
    "machine.json",
    "strings.txt",
    "authors",
    "run",
    "grus",
    "summed",
)
BAD = (
    *(
        "gru.certificate.json",
        "reproduction",
        "empty",
        "link",
        "weights.pt",
        "nowhere.json",
        ".",
        "",
        "a\tb",
        "x" * 300,
    ),
    *("strings.txt/x", "/dev/null", "\udcff", "scheduler.json", "run/models.parquet", "-"),
)
OUT = ("out/new", "out/new.png", "out/new/er", "out/there")
BAD_OUT = ("out", "nowhere/x.json", "strings.txt/x", "/dev/null", "link", "", "\udcff.svg", "run", "x" * 300)
WHOLE = ("0", "1", "2", "3", "8")
BAD_WHOLE = ("-1", "9" * 30, "9" * 5000, "1e3", "0x10", "2.5", "nan", "", " 7", "１", "x", "1_0", "100000")
REAL = ("0", "0.5", "1e-7", "0.005")
BAD_REAL = ("1", "2", "-1", "nan", "inf", "-inf", "1e999", "1e-999", "", "x", "0x1p-2", "9" * 5000)
WORDS = ("zero", "float16", "float64-fused", "binary", "0.1,0.2", "local:1", "sample:3", "8", "all", "()", "(()", "bb")
BAD_WORDS = (
    *("", "x", "x" * 5000, "\udcff", "\x1b[2J\n", "1,1", ",", "local:0", "local:" + "9" * 5000, "tcp://", "nan"),
    *("sample:" + "9" * 5000, "0.1," * 3000, "local:1025", "inf", "../..", "0"),
)
SECONDS = 60


class Accepted(BaseException):
    """The command line was accepted, and the long work would begin."""


class Hangs(BaseException):
    """Something has taken longer than anything here may."""


class Ended(NamedTuple):
    """How a command ended: its status, None where long work would have begun, and what it said."""

    status: int | None
    out: str
    err: str


class Parameter(NamedTuple):
    """What a command takes: its name, the flag before it (None for an argument), its kind, what its help says of it."""

    name: str
    flag: str | None
    kind: type
    help: str
    required: bool


def commands() -> dict[str, list[Parameter]]:
    """Every command by its name, with what it takes."""
    return {name: list(_parameters(command_function(name))) for name in COMMANDS}


def _parameters(function: Any) -> Iterator[Parameter]:
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        kind, info = get_args(hints[name])[:2]
        kind = next((part for part in get_args(kind) if part is not type(None)), kind)
        said = [text for text in (info.default, *(info.param_decls or ())) if isinstance(text, str)]
        flag = None if isinstance(info, ArgumentInfo) else said[0] if said else f"--{name.replace('_', '-')}"
        told = f"{info.metavar or ''} {info.help or ''}"
        yield Parameter(name, flag, kind, told, parameter.default is inspect.Parameter.empty)


@st.composite
def command_lines(draw: st.DrawFn, name: str) -> list[str]:
    """A command with some of its options, each with a value of its kind, or nearly so."""
    words, parameters = [name], commands()[name]
    for parameter in parameters:
        left_out = (
            draw(st.integers(0, 19)) == 0 if parameter.required else draw(st.integers(0, len(parameters) // 2)) > 0
        )
        if left_out:
            continue
        words += [parameter.flag] if parameter.flag else []
        words += [] if parameter.kind is bool else [draw(_values(parameter))]
    return words + draw(st.sampled_from([[]] * 40 + [["--nonsense"], ["more"], ["--"], ["--json"], ["--help"]]))


def _values(parameter: Parameter) -> st.SearchStrategy[str]:
    """Something right three times out of four, as far as the kind of a parameter tells."""
    if parameter.kind is int:
        return _mostly(WHOLE, BAD_WHOLE)
    if parameter.kind is float:
        return _mostly(REAL, BAD_REAL)
    if parameter.kind is Path:
        odd = st.sampled_from(ODD_OUT if parameter.name in WRITTEN else list(ODD))
        return odd | (_mostly(OUT, BAD_OUT) if parameter.name in WRITTEN else _mostly(GOOD, BAD))
    if parameter.flag is None:
        return _mostly(("bb", "machine.json", "()", "(()", "theorem1", "", "anbn"), (*BAD_WORDS, *ODD))
    # The words that a help text says an option takes are among the words of the text.
    told = re.findall(r"[a-z0-9-]+", parameter.help)
    return _mostly((*told, *WORDS), (*BAD_WORDS, *GOOD, *BAD, *ODD)) | st.text(max_size=4)


def _mostly(right: Sequence[str], wrong: Sequence[str]) -> st.SearchStrategy[str]:
    rights = st.sampled_from(right)
    return st.one_of(rights, rights, rights, st.sampled_from(wrong))


def run(words: Sequence[str], folder: Path) -> Ended:
    """Run a command in a folder; one that hangs is ended."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        patch.dict("os.environ", HOME=str(folder / "home")),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        _at_most(SECONDS),
    ):
        try:
            main(list(words))
            status: int | None = 0
        except SystemExit as ended:
            status = int(ended.code or 0)
        except Accepted:
            status = None
    return Ended(status, out.getvalue(), err.getvalue())


def check(words: Sequence[str], ended: Ended) -> None:
    """A command ends with an answer, or with one line that says what is wrong."""
    assert ended.status in (None, 0, 1, 2) or (ended.status, words[0]) == (3, "check"), words
    assert "Traceback" not in ended.err
    if ended.status == 2:
        lines = ended.err.splitlines()
        assert lines, words
        assert lines[-1].startswith("tallystick: "), ended.err
        assert len(lines) == 1 or "compare" in words, ended.err  # it tells of each setting that it goes through
        assert len(lines[-1]) <= 1100
        assert lines[-1].isprintable()


def check_literal(words: Sequence[str], ended: Ended, folder: Path) -> None:
    """A command that reads files with odd names says the same as of files with plain ones, or that a name is not UTF-8."""
    written = {parameter.flag for parameter in commands().get(words[0], ()) if parameter.name in WRITTEN}
    odd = [word for word in words if word in ODD]
    if not odd or written & {*words} or (NOT_UTF8 in words and "the path is not UTF-8" in ended.err):
        return
    plain = run([ODD.get(word, word) for word in words], folder)
    assert ended.status == plain.status, words
    if plain.status in (0, 1):
        assert _without_names(ended.out) == _without_names(plain.out), words


def _without_names(text: str) -> str:
    """Take out the names of files, as they are printed and as JSON has them."""
    names = {*ODD, *(str(Path(odd)) for odd in ODD)}
    for name in sorted({*names, *map(printable, names), *ODD.values()}, key=len, reverse=True):
        text = text.replace(name, "")
    return text


@contextlib.contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def hang(*_: object) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, hang)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _begin(*_: object, **__: object) -> None:
    raise Accepted


def _no_scheduler(*_: object, **__: object) -> None:
    raise OSError("Timed out trying to connect")


STUBBED = (
    "tallystick.runs.runner.run_whole",
    "tallystick.studies.reproduce.run_and_report",
    "tallystick.studies.compare.compare",
    "tallystick.studies.published.survey",
    "tallystick.studies.explain.explanation.explain",
    "tallystick.studies.explain.rounding.gradient_rounding",
    "tallystick.theorems.proof.prove",
    "tallystick.reports.report._figures",
    "uvicorn.Config",
    "distributed.LocalCluster",
)


@contextlib.contextmanager
def without_long_work() -> Iterator[None]:
    """Stub what would take long; a server, a cluster and a browser are never started."""
    with contextlib.ExitStack() as stubs:
        for name in STUBBED:
            stubs.enter_context(patch(name, _begin))
        stubs.enter_context(patch("distributed.Client", _no_scheduler))
        stubs.enter_context(patch("webbrowser.open", lambda *_: None))  # in a thread of its own
        yield


def prepared(folder: Path) -> Path:
    """Add to the folder of good files what commands write into."""
    (folder / "out").mkdir()
    (folder / "out" / "there").write_text("something of the user's\n")
    for odd, plain in ODD.items():
        copy = shutil.copytree if (folder / plain).is_dir() else shutil.copy
        copy(folder / plain, folder / odd)
    for decoy in DECOYS:
        make_run(folder / decoy, trained_rows().head(1))
    return folder
