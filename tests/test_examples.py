"""The examples run as they stand, in an empty folder, and say what they should."""

import json
import re
import subprocess
import sys

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from walking import ROOT, alike, output_of

EXAMPLES = ROOT / "examples"
NOTEBOOK = EXAMPLES / "does_it_count.ipynb"
SAID = {
    "certify_a_cell.py": ("In real arithmetic: REFUTED, horizon 8,", "Right among all strings of length 10: 100.00%"),
    "train_networks_that_count.py": (
        r"as in the paper +0% +\d+ ",
        r"by the count at every token +\d\d% +unlimited +100 %",
        "then snapped +100% +unlimited +100 %",
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name.startswith("train") else []) for name in SAID]
)
def test_a_script_runs(name, tmp_path):
    done = subprocess.run([sys.executable, EXAMPLES / name], cwd=tmp_path, check=True, capture_output=True, text=True)
    for said in SAID[name]:
        assert re.search(said, done.stdout), done.stdout


def test_the_cell_is_the_one_given(tmp_path):
    command = [sys.executable, EXAMPLES / "certify_a_cell.py", "-1/3", "1/3", "1"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "In real arithmetic: PROVED, horizon unlimited" in done.stdout


def test_every_script_is_shown_and_run():
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    converters = {f"convert_{kind}.py" for kind in ("torch", "mdlrnn", "dynet", "golden", "cases")}
    assert scripts == {
        *SAID,
        *converters,
        "certify_a_torch_network.py",
    }  # which tests/test_converters.py and tests/pytorch run
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert all(f'--8<-- "examples/{name}"' in page for name in scripts)


@mpl.rc_context({"backend": "agg"})
def test_the_notebook_shows_what_its_cells_give(tmp_path, monkeypatch):
    """Each cell is run in turn, without Jupyter: the same text and HTML, up to rounding, and as many figures as it shows."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        results = [output["data"] for output in cell["outputs"] if output["output_type"] == "execute_result"]
        *before, last = "".join(cell["source"]).split("\n")
        printed = output_of(exec, "\n".join([*before, "" if results else last]), names)
        for shown in results:  # what Jupyter shows of an object in the last line
            found = eval(last, names)
            assert alike("".join(shown["text/html"]), found._repr_html_())
            assert "".join(shown["text/plain"]) == repr(found)
        shown = [output for output in cell["outputs"] if output["output_type"] == "stream"]
        assert {output["name"] for output in shown} <= {"stdout"}
        assert alike("".join(line for output in shown for line in output["text"]), printed), printed
        assert len(plt.get_fignums()) == sum("image/png" in output.get("data", {}) for output in cell["outputs"])
        plt.close("all")
    assert {"verdict", "proved"} <= names.keys()
