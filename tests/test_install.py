"""The core install certifies and checks without the extras, loads only what it needs, and names the extra that is missing."""

import ast
import os
import re
import signal
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import tallystick
from tallystick.cli import COMMANDS, command_function, main
from tallystick.errors import EXTRAS, MissingExtra

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HEAVY = ("jax", "jaxtyping", "llvmlite", "matplotlib", "optax", "polars", "tomli_w", "torch", "z3")


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def run(code, *arguments, **how):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False, **how
    )


CERTIFIES = """
import sys
for library in sys.argv[3:]:
    sys.modules[library] = None  # as if it were not installed
import tallystick as ts
from tallystick.cli import main
assert not {"numpy", "rich"} & set(sys.modules), "the package loads what nobody has asked for yet"
verdict = ts.certify(ts.read_network(sys.argv[1]))
ts.write_certificate(verdict, sys.argv[2])
assert ts.check_certificate(sys.argv[2])
network, certificate = sys.argv[1:3]
for command in ["certify", network], ["check", certificate], ["accuracy", network, "--length", "9"], ["accepts", "bb", "()"]:
    try:
        main(command)
    except SystemExit as end:
        assert end.code in (0, 1), command
"""


def test_the_core_certifies_and_checks_without_the_extras(tmp_path):
    found = run(CERTIFIES, ROOT / "examples" / "leaky.json", tmp_path / "certificate.json", *HEAVY)
    assert found.returncode == 0, found.stderr


LOADS_NOT = """
import sys
from tallystick.cli import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    assert end.code in (0, 1), end.code
loaded = {*sys.argv[1].split()} & {*sys.modules}
assert not loaded, loaded
"""


@pytest.mark.parametrize(("command", "libraries"), [("certify", "rich"), ("check", "numpy rich")])
def test_a_short_answer_does_not_wait_for_what_it_does_not_need(command, libraries, tmp_path):
    path = ROOT / "examples" / "leaky.json"
    if command == "check":
        tallystick.write_certificate(tallystick.certify(tallystick.read_network(path)), path := tmp_path / "one.json")
    found = run(LOADS_NOT, libraries, command, path)
    assert found.returncode == 0, found.stderr


NAMES_EXTRA = """
import sys
for library in sys.argv[2:]:
    sys.modules[library] = None
import tallystick as ts
try:
    getattr(ts, sys.argv[1])
except ts.BadInput as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["Ensemble", "Setting", "reproduce", "train"])
def test_a_public_name_that_needs_an_extra_names_it(name):
    assert run(NAMES_EXTRA, name, *HEAVY).stdout.endswith(
        "is not installed; pip install 'tallystick[train]' brings it\n"
    )


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["train", "--out", "run"], "train"),
        (["reproduce"], "train"),
        (["compare"], "train"),
        (["sweep", "--out", "run"], "train"),
        (["explain"], "train"),
        (["published", "."], "train"),
        (["prove"], "prove"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_a_command_that_needs_an_extra_names_it(command, extra, tmp_path):
    code = f"import sys; sys.modules |= dict.fromkeys({HEAVY}); from tallystick.cli import main; main({command})"
    found = run(code, cwd=tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert re.fullmatch(
        rf"tallystick: \w+ is not installed; pip install 'tallystick\[{extra}\]' brings it\n", found.stderr
    )


def test_every_library_of_an_extra_is_named_with_it():
    extras = {extra for _, extra in EXTRAS.values()}
    brought = {name_of(one): extra for extra in extras for one in PROJECT["optional-dependencies"][extra]}
    homes = {module: name_of(names[0]) for module, names in packages_distributions().items()}
    for module, (_, extra) in EXTRAS.items():
        assert brought[homes.get(module, module)] == extra, module
        assert f"'tallystick[{extra}]'" in str(MissingExtra(module))
    in_core = {"tallystick", "typing-extensions"}  # the second with typer
    assert {homes.get(module, module) for module in EXTRAS} == brought.keys() - in_core


def test_the_core_asks_for_nothing_that_an_extra_brings():
    homes = {module: name_of(names[0]) for module, names in packages_distributions().items()}
    assert not {name_of(one) for one in PROJECT["dependencies"]} & {homes.get(module, module) for module in EXTRAS}


def test_all_is_every_extra_that_chooses_no_build():
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(re.search(r"\[(.*)\]", everything)[1].split(","))
    assert named == extras.keys() - {"all", "cuda", "dev", "docs", "fast", "tanh", "torch"}


def test_the_front_names_each_name_once_for_the_reader_and_once_for_python():
    tree = ast.parse(Path(tallystick.__file__).read_text())
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    shown = {(alias.asname or alias.name): (node.module, alias.name) for node in typed.body for alias in node.names}
    assert shown.keys() == set(tallystick.__all__)
    for name, (module, at_home) in shown.items():
        assert tallystick._HOME_OF[at_home] == module, name
        assert getattr(tallystick, name) is getattr(sys.modules[module], at_home)


def test_a_public_name_is_not_hidden_by_a_module():
    modules = {path.stem for path in Path(tallystick.__file__).parent.iterdir()}
    assert not modules & set(tallystick.__all__)


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="has no attribute 'check_file'"):
        tallystick.check_file  # noqa: B018 -- the name that it has at home
    assert set(dir(tallystick)) >= set(tallystick.__all__)


def test_the_help_loads_no_command():
    found = run(
        "import sys; from tallystick.cli import COMMANDS, main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {f'tallystick.cli.{module}' for module, *_ in COMMANDS.values()} & set(sys.modules)"
    )
    assert found.returncode == 0, found.stderr
    assert all(re.search(rf"^\W*{name} ", found.stdout, flags=re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_where_the_table_says(name):
    *_, said = COMMANDS[name]
    assert " ".join((command_function(name).__doc__ or "").split("\n\n", maxsplit=1)[0].split()) == said


def test_ctrl_c_is_quiet_while_the_program_is_imported(tmp_path):
    """A module that is imported early sends the signal, as a user may in the first moment."""
    (tmp_path / "typer.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-m", "tallystick", "machines"], env=environment, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout, found.stderr) == (128 + signal.SIGINT, "", "tallystick: interrupted\n")


def test_a_library_that_no_extra_brings_is_not_said_to_be_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "tallystick.cli.theory", None)
    with pytest.raises(ModuleNotFoundError, match=re.escape("tallystick.cli.theory")):
        main(["machines"])
