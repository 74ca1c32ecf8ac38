"""What `make audit` would let through, and what it would not."""

import sys

import pytest
from walking import ROOT

sys.path.insert(0, str(ROOT / "audit"))

from dependencies import closure, dependencies
from licences import is_allowed, licence
from packages import differences, expected_in_archive, expected_in_wheel


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
    assert {"jax", "jaxlib", "numpy"} <= closure("")  # jaxlib through jax
    assert found["jax"] == ("core",)
    assert "starlette" in closure("explore") - closure("")
    assert "starlette" not in closure("cluster")
    assert found["pytest"] == ("dev",)
    assert all(is_allowed(licence(name)) for name in found)


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
