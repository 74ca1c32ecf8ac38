"""Safetensors files for the tests, and the one shape that every refusal has."""

import re

import pytest
from safetensors.numpy import save_file

from tallystick import BadInput, read_network


@pytest.fixture
def saved(tmp_path):
    """Write tensors and metadata to a file and return its path."""

    def save(tensors, **metadata):
        path = tmp_path / "model.safetensors"
        save_file(tensors, path, metadata)
        return path

    return save


@pytest.fixture
def refused():
    """Check that a file is refused in one line that names the file and says `message`."""

    def check(path, message):
        with pytest.raises(BadInput, match=re.escape(message)) as refusal:
            read_network(path)
        text = str(refusal.value)
        assert text.startswith(f"{path}: ")
        assert text.isprintable()
        assert len(text) < len(str(path)) + 300

    return check
