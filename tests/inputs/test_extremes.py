"""Absurd files: memory and time stay bounded, and nothing in a file is ever run."""

import ast
import os
import pickle
from pathlib import Path

import polars as pl
import pytest
from command_lines import check, prepared, run
from extremes import broken, extremes, measured
from good_files import make_good_files

import tallystick
from tallystick import files
from tallystick.errors import BadInput
from tallystick.runs.parquet_files import read_or_refuse

QUICK = ("line of 10 GB in check", "header.safetensors in certify", "horizon of 10^18")
SOURCES = Path(tallystick.__file__).parent
BETWEEN_OWN_PROCESSES = {"runs/cluster.py", "explore/worker.py"}
"""They hand work to processes that they have started, or whose scheduler they were told to trust; no file is read so."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return prepared(make_good_files(tmp_path_factory.mktemp("files")))


@pytest.fixture(scope="module")
def every_extreme(folder):
    return {extreme.name: extreme for extreme in extremes(folder)}


@pytest.mark.parametrize("name", QUICK)
def test_absurd_files_take_little_memory(name, folder, every_extreme):
    assert broken(every_extreme[name], measured(every_extreme[name].words, folder)) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("evaluate", "run", "--strings", "uneven.txt"), "make a table of more than"),
        (("evaluate", "ternary.json", "--strings", "long.txt"), "--arithmetic float64 takes them"),
        (("certify", "swelling"), "rows unpack to"),
        (("certify", "near.json"), "horizon: about 2^20878 has more than 4,300 digits, too many to write"),
        (("certify", "deep.json"), "nested too deeply"),
        (("certify", "empty_tensor.safetensors"), "is not one that an array can have"),
    ],
)
def test_absurd_files_are_refused_in_words(words, message, folder, every_extreme):
    ended = run(words, folder)
    check(words, ended)
    assert ended.status == 2
    assert message in ended.err


def test_a_pipe_that_never_ends_is_not_waited_for(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    with pytest.raises(BadInput, match="pipe: cannot be read: its end did not come within"):
        files.read_bytes(tmp_path / "pipe")
    assert files.read_bytes(Path("/dev/null")) == b""


@pytest.mark.parametrize(("depth", "deep"), [(60, False), (70, True), (980, True), (10**5, True)])
def test_depth_is_bounded_wherever_it_is_read_from(depth, deep, tmp_path):
    (tmp_path / "deep.json").write_text('{"cell": "linear", "open_step": ' + "[" * depth + "]" * depth + "}")
    for words in (("certify", "deep.json"), ("accepts", "deep.json", "()"), ("check", "deep.json")):
        ended = run(words, tmp_path)
        check(words, ended)
        assert ("nested too deeply" in ended.err) == deep
    for text in ("x = " + "[" * depth + "]" * depth, "x." * depth + "x = 1"):
        (tmp_path / "config.toml").write_text(text)
        ended = run(("indicators", "."), tmp_path)
        check(("indicators", "."), ended)
        assert ("nested too deeply" in ended.err) == deep


def test_what_polars_says_of_a_damaged_file_is_not_heard(folder, tmp_path, capfd):
    content = (folder / "run" / "models.parquet").read_bytes()
    for cut in range(100, len(content) - 3000, 400):
        (tmp_path / "models.parquet").write_bytes(content[:cut] + bytes(300) + content[cut + 300 :])
        try:
            read_or_refuse(tmp_path / "models.parquet", "do it again", pl.read_parquet)
        except BadInput as refusal:
            assert str(refusal).endswith("; do it again")  # noqa: PT017 -- some are read all the same
    assert capfd.readouterr().err == ""


class _Trap:
    """What a pickle may hold: code that runs when it is read."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return (open, (self.mark, "w"))


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin", ".pkl", ".json", ".safetensors", ".PT", ""])
def test_a_pickle_is_refused_and_never_run(suffix, tmp_path):
    mark = tmp_path / "mark"
    (tmp_path / f"weights{suffix}").write_bytes(pickle.dumps(_Trap(mark)))
    for words in (("certify", f"weights{suffix}"), ("indicators", f"weights{suffix}"), ("check", f"weights{suffix}")):
        ended = run(words, tmp_path)
        check(words, ended)
        assert ended.status == 2
    assert not mark.exists()


def test_nothing_that_runs_what_it_reads_is_in_the_sources():
    """No eval, exec or compile of text, no YAML, no pickles but between own processes, and none through NumPy or PyTorch."""
    found = {(str(path.relative_to(SOURCES)), use) for path in SOURCES.rglob("*.py") for use in _uses(path)}
    assert found == {(path, "pickle") for path in BETWEEN_OWN_PROCESSES}


def _uses(path):
    modules = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in modules)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in modules:
            yield node.module
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("eval", "exec", "compile")
        ):
            yield node.func.id
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            alone = any(word.arg == "weights_only" and ast.unparse(word.value) == "True" for word in node.keywords)
            if (owner, node.func.attr) in (("np", "load"), ("numpy", "load"), ("torch", "load")) and not alone:
                yield f"{owner}.load"
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            yield "allow_pickle"
