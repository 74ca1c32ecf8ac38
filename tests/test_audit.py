"""What `make audit` would let through, and what it would not; and that everything from outside is declared and pinned."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from types import SimpleNamespace

import pytest
from walking import ROOT

sys.path.insert(0, str(ROOT / "audit"))

from dependencies import OF_DEVELOPMENT, closure, dependencies
from licences import is_allowed, licence
from packages import differences, expected_in_archive, expected_in_wheel
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("BSD-3-Clause AND (0BSD OR Zlib)", True),
        ("MIT AND LGPL-3.0-or-later", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-2.0-or-later", False),
        ("AGPL-3.0-only OR MIT", False),
        ("Proprietary", False),
        ("unknown", False),
    ],
)
def test_a_licence_is_allowed_if_it_goes_with_apache_2(expression, allowed):
    assert is_allowed(expression) is allowed


def test_dependencies_are_followed_to_the_end_and_told_apart():
    found = dependencies().needed_by
    assert {"jax", "jaxlib"} <= closure("train") - closure("")  # jaxlib through jax
    assert found["numpy"][0] == "core"
    assert {"all", "train"} <= set(found["jax"])
    assert not {"core", "prove"} & set(found["jax"])
    assert "starlette" in closure("explore") - closure("")
    assert "starlette" not in closure("cluster")
    assert found["pytest"] == ("dev",)
    assert all(is_allowed(licence(name)) for name in found)


def imported_modules():
    """Return the top-level modules that the package imports anywhere, each with a file that imports it."""
    found = {}
    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            found.update({name.partition(".")[0]: str(file.relative_to(ROOT)) for name in names})
    return {name: file for name, file in found.items() if name not in sys.stdlib_module_names | {"tallystick"}}


def test_every_imported_package_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name not in OF_DEVELOPMENT}
    lines = [*project["dependencies"], *(line for lines in extras.values() for line in lines)]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    owners = packages_distributions()
    imported = imported_modules()
    assert {"jax", "numpy", "fastapi"} <= imported.keys()
    undeclared = {
        f"{file} imports {name}"
        for name, file in imported.items()
        if not declared & {canonicalize_name(owner) for owner in owners.get(name, [name])}
    }
    assert undeclared == set()


def test_actions_of_the_workflows_are_pinned_by_hash():
    used = [
        line.split("uses:")[1].strip()
        for file in (ROOT / ".github" / "workflows").iterdir()
        for line in file.read_text().splitlines()
        if "uses:" in line
    ]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", action)] == []


def test_what_the_torch_tests_install_is_pinned():
    pins = (ROOT / "requirements-torch.txt").read_text().splitlines()
    pinned = {Requirement(line).name: Requirement(line) for line in pins if line and not line.startswith("#")}
    assert {"torch", "numba"} <= pinned.keys()
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for pin in pinned.values())
    installs = [line for line in (ROOT / "Makefile").read_text().splitlines() if "torch" in line and "$(PIP)" in line]
    assert [line.split()[1:] for line in installs] == [["-r", "requirements-torch.txt"]]


def test_an_archive_holds_what_it_should_and_nothing_else():
    names = ["LICENSE", "src/tallystick/py.typed", "tests/test_audit.py"]
    wheel = expected_in_wheel(names, "tallystick-1")
    assert "tallystick/py.typed" in wheel
    assert not any("test" in name for name in wheel)
    assert list(differences("a.whl", wheel, wheel)) == []
    assert list(differences("a.whl", wheel - {"tallystick/py.typed"} | {".env"}, wheel)) == [
        "a.whl lacks tallystick/py.typed",
        "a.whl should not hold .env",
    ]
    assert expected_in_archive(names, "tallystick-1") == {f"tallystick-1/{name}" for name in (*names, "PKG-INFO")}


@pytest.fixture
def vulnerabilities():
    pytest.importorskip("pip_audit")
    import vulnerabilities  # noqa: PLC0415 -- needs pip-audit

    return vulnerabilities


def page(status, version="1.2", known=(), url="the index/pypi/thing/json"):
    answer = {"info": {"version": version}, "vulnerabilities": list(known)}
    return SimpleNamespace(status_code=status, ok=status == 200, url=url, json=lambda: answer)


@pytest.mark.parametrize(("newest", "heard"), [("1.2", True), ("1.3", False)])
def test_a_projects_page_answers_for_its_newest_version_only(vulnerabilities, monkeypatch, newest, heard):
    service, asked = vulnerabilities.Service(), []
    monkeypatch.setattr(service.session, "get", lambda url, timeout: asked.append(url) or page(200, newest))
    missing = page(404, url="the index/pypi/thing/1.2/json")
    found = service._newest(missing)
    assert asked == ["the index/pypi/thing/json"]
    assert (found is not missing) is heard
    assert service._newest(page(200)).status_code == 200


def test_what_could_not_be_asked_does_not_pass(vulnerabilities, monkeypatch, tmp_path, capsys):
    pins = tmp_path / "requirements.txt"
    pins.write_text("thing==1.2 \\\n    --hash=sha256:00\nother==3 ; python_version < '3'\n")
    known = SimpleNamespace(id="PYSEC-1", fix_versions=["1.3"])

    def answers(found):
        monkeypatch.setattr(vulnerabilities.Service, "query", lambda self, pin: found(pin))
        return vulnerabilities.main(str(pins)), capsys.readouterr().out

    def refuse(pin):
        raise vulnerabilities.NotReached("nobody there")

    assert answers(lambda pin: (pin, []))[0] == 0
    status, said = answers(refuse)
    assert status == 3
    assert "NOT ASKED: thing 1.2" in said
    assert "2 pins, 0 known vulnerabilities, 2 pins could not be asked about" in said
    status, said = answers(lambda pin: (pin, [known] if pin.name == "thing" else []))
    assert status == 1
    assert "VULNERABLE: thing 1.2: PYSEC-1, mended in 1.3" in said
