"""A folder of published networks: a row for each, whatever is wrong with the others, and certificates that hold."""

import csv
import json
import shutil
import subprocess
import sys

import pytest
from language_documents import SATURATING
from published_cases import CASES, ELNAGGAR, case_of
from walking import ROOT

from tallystick import check_certificate
from tallystick.cli import main
from tallystick.studies.published import survey
from tallystick.studies.published_table import FILES, as_markdown, as_record, draw_published

ABOUT = {"source": "a repository", "claim": "99 % | to length 20", "tested": "1,000"}
UNREADABLE = "unreadable"


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
    assert "unreadable.json: " in unreadable.problem


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


TRUE_OF_THEM = {
    "weiss_anbn_gru": (2, "abb", 2, "abb", 116, 116),
    "weiss_anbncn_lstm": (171, "a^58 b^57 c^57", 171, "a^58 b^57 c^57", 65, 65),
    "mdlrnn_an_bn": ("unlimited", None, 2**25, f"a^{2**24 + 1} b^{2**24}", None, None),
    "mdlrnn_an_bn_cn": (67_108_832, "a^22369611 b^22369611 c^22369611", 49, "a^17 b^17 c^16", None, 17),
    "elnaggar_10epochs": (0, "(", 0, "(", None, None),
    "elnaggar_20epochs": (0, ")", 0, ")", None, None),
}
"""Horizon and shortest failing string in real numbers and in float32, and the first wrong member in both."""


@pytest.mark.long
def test_what_is_known_of_six_published_networks_comes_out(tmp_path):
    case_of(CASES[0])  # skips where the folder is missing
    source = next(parent / "shared" / "published-networks" for parent in ROOT.parents if (parent / "shared").is_dir())
    script = ROOT / "examples" / "convert_cases.py"
    subprocess.run([sys.executable, script, source / "cases.json", tmp_path / "networks"], check=True)
    (tmp_path / "certificates").mkdir()
    found = {row.name: row for row in survey(tmp_path / "networks", tmp_path / "certificates")}
    for name, known in TRUE_OF_THEM.items():
        record, members = as_record(found[name]), found[name].members
        verdicts = [record[f"{which}_{what}"] for which in ("real", "float32") for what in ("horizon", "fails")]
        assert (*verdicts, *(members[one].first_wrong if members else None for one in ("real", "float32"))) == known
        assert record["real_check"] == "holds"
    assert [found[name].findings["real_even"].horizon for name in ELNAGGAR] == [4, 12]


def test_certificates_do_not_lie_among_the_networks(folder, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["published", str(folder), "--out", str(folder / ".")])
    assert ended.value.code == 2
    assert "holds the networks themselves" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("nothing", "nothing: is not a folder of network files"),
        ("empty", "empty: holds no network files"),
        ("again", "published.md: exists already"),
        ("certified", "tenth.float32.certificate.json: exists already"),
    ],
)
def test_what_is_wrong_with_the_folders_is_one_line(made, said, folder, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    there = {"again": "published.md", "certified": "tenth.float32.certificate.json"}
    if made in there:
        (tmp_path / there[made]).touch()
    source = folder if made in there else tmp_path / made
    with pytest.raises(SystemExit) as ended:
        main(["published", str(source), "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
