"""The pages that use PyTorch do as they say, and so does the example."""

import shutil
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from walking import ROOT, blocks_of, walk  # noqa: E402

NAMES = ("tutorial", "models", "formats", "embeddings", "state_space", "transformers")


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{name}.md" for name in NAMES)])
def test_a_page_does_as_it_says(page, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(ROOT / page)
    assert any(block.needs_torch for block in blocks)
    walk(blocks)


def test_the_example_certifies_a_network(tmp_path):
    script = ROOT / "examples" / "certify_a_torch_network.py"
    done = subprocess.run([sys.executable, script], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "Wrong on strings of up to 8 tokens: 0 of 2048 answers" in done.stdout
    assert "the certificate holds: True" in done.stdout
    assert not list(tmp_path.iterdir())
