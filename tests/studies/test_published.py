"""A folder of published networks: a row for each, whatever is wrong with the others, and certificates that hold."""

import csv
import json
import shutil

import pytest
from walking import ROOT

from tallystick import check_certificate
from tallystick.cli import main
from tallystick.studies.published import survey
from tallystick.studies.published_table import FILES, as_markdown, as_record, draw_published

ABOUT = {"source": "a repository", "claim": "99 % | to length 20", "tested": "1,000"}
UNREADABLE = "unreadable"
SATURATING = {
    "tokens": {"a": [1, 0], "b": [0, 1]},
    "layers": [{"cell": "tanh", "input_weight": [["1/4", "-1/4"]], "recurrent_weight": [[1]]}],
    "readout": {"weight": [[2], [9], [-9]], "bias": [0, -1, 2]},
    "answer": {"kind": "threshold", "outputs": ["a", "b", "#"], "end": "#", "threshold": "1/100"},
    "task": "anbn",
}
"""A tanh unit that counts a's and forgets them: it answers after every token."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two networks of the examples, one of them with texts about it, one over a and b, and a file that is none."""
    folder = tmp_path_factory.mktemp("published")
    for name in ("leaky", "tenth"):
        shutil.copy(ROOT / "examples" / f"{name}.json", folder)
    network = json.loads((folder / "leaky.json").read_text())
    (folder / "leaky.json").write_text(json.dumps({"about": ABOUT, **network}))
    (folder / "saturating.json").write_text(json.dumps(SATURATING))
    (folder / f"{UNREADABLE}.json").write_text('{"cell": "unheard of"}')
    return folder


@pytest.fixture(scope="module")
def rows(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("certificates")
    return survey(folder, out), out


def test_each_network_has_its_horizons_in_real_numbers_and_as_executed(rows):
    leaky, _, tenth, unreadable = rows[0]
    assert (leaky.findings["real"].horizon, leaky.findings["real_even"].horizon) == (8, 12)
    assert (tenth.findings["real"].horizon, tenth.findings["float32"].horizon) == ("unlimited", 5)
    assert as_record(tenth)["float32_fails"] == "((()))"
    assert as_record(leaky)["real_fails"] == "((((())))"
    assert unreadable.network is None
    assert "unreadable.json: field" in unreadable.problem


def test_what_a_file_says_about_a_network_is_shown_and_changes_nothing(rows):
    leaky = rows[0][0]
    assert leaky.about == ABOUT
    assert leaky.tested == 1000
    assert "99 % \\| to length 20" in as_markdown(rows[0])


def test_a_network_over_another_alphabet_has_its_first_wrong_member(rows):
    saturating = rows[0][1]
    network = saturating.network.in_arithmetic("float64")
    wrong = next(n for n in range(100) if network.class_of("a" * n + "b" * n) != "accepted")
    assert {name: found.first_wrong for name, found in saturating.members.items()} == {"real": wrong, "float32": wrong}
    assert "real_even" not in saturating.findings
    assert f"n = {wrong} (real)" in as_markdown(rows[0])


def test_every_certificate_is_written_and_holds(rows):
    found, out = rows
    named = {one.certificate for row in found for one in row.findings.values()} - {None}
    assert named == {path.name for path in out.iterdir()}
    assert len(named) == 7
    assert all(check_certificate(path).valid for path in out.iterdir())
    assert found[1].findings["float32"].check.startswith("none: ")
    others = {one.check for row in found for one in row.findings.values() if one.certificate}
    assert others == {"holds"}


def test_the_figure_has_a_line_for_each_network(rows):
    axes = draw_published(rows[0]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [UNREADABLE, "tenth", "saturating", "leaky"]


def test_the_command_writes_the_table_the_figure_and_certificates(folder, tmp_path, capsys):
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as ended:
        main(["published", str(folder), "--out", str(out), "--json"])
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)["networks"]
    assert [row["network"] for row in found] == ["leaky", "saturating", "tenth", UNREADABLE]
    assert set(FILES) <= {path.name for path in out.iterdir()}
    table = list(csv.DictReader((out / "published.csv").read_text().splitlines()))
    assert [row["real_horizon"] for row in table if row["network"] != "saturating"] == ["8", "unlimited", ""]


@pytest.mark.parametrize(
    ("made", "said"),
    [("nothing", "is not a folder of network files"), ("empty", "holds no network files"), ("again", "exists already")],
)
def test_what_is_wrong_with_the_folders_is_one_line(made, said, folder, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    if made == "again":
        (tmp_path / "published.md").touch()
    source = folder if made == "again" else tmp_path / made
    with pytest.raises(SystemExit) as ended:
        main(["published", str(source), "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
