"""Whatever a file holds, it is read or refused in one line that names it; `soak/inputs.py` tries many more."""

import numpy as np
import pytest
from damage import TEXTS
from good_files import make_good_files, state_dicts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from readers import readers

from tallystick.errors import BadInput
from tallystick.networks import network_to_json
from tallystick.networks.tensors.state_dicts import network_of_tensors

EXAMPLES = 12
FEW = 3
"""Of what takes a report or a compiled network to read."""
NAMES = (
    *("strings", "authors' strings", "model, bytes", "model, values", "safetensors, bytes", "safetensors, header"),
    *("machine, bytes", "machine, values", "certificate, bytes", "certificate, values", "scheduler's file"),
    *("settings of a run", "rows of a run", "part of a run", "rows of a run of GRUs", "histograms"),
    *("rows of a comparison", "models of a report", "replicates of a report", "paths of a report"),
    *("record of a report", "settings of a report"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_good_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def every_reader(folder):
    return {reader.name: reader for reader in readers(folder)}


def test_every_reader_is_tried(every_reader):
    assert sorted(every_reader) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_any_file_is_read_or_refused_in_one_line(name, folder, every_reader):
    reader = every_reader[name]

    examples = FEW if "report" in name or "rows" in name else EXAMPLES

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(reader.contents)
    def try_it(content):
        reader.try_on(folder, content)

    try_it()


def test_good_files_are_read(folder, every_reader):
    once = {reader.read: reader for reader in every_reader.values() if (folder / reader.file).exists()}
    assert all(reader.try_on(folder, (folder / reader.file).read_bytes()) for reader in once.values())


KINDS = st.sampled_from(
    [np.float16, np.float32, np.longdouble, np.complex64, np.bool_, np.int64, object, "U3", "M8[s]", "V4"]
)
SHAPES = st.sampled_from([(), (0,), (1,), (1, 1), (1, 3), (3, 1), (4, 1), (6, 2), (2, 0), (1, 1, 1), (300, 100)])
TENSOR_NAMES = st.sampled_from(
    ["weight", "bias", "a.weight", "rnn.weight_hh_l0", "weight_hh_l1", "weight_ih_l0_reverse", "weight_hr_l0", "", "\n"]
)


@st.composite
def damaged_state_dicts(draw):
    """Tensors of another kind, shape or name, or with numbers that are none."""
    tensors = dict(draw(st.sampled_from(state_dicts())))
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(tensors)) if tensors else TENSOR_NAMES)
        old = tensors.pop(name, np.zeros(1))
        changed = [
            lambda old: np.zeros(draw(SHAPES), draw(KINDS)),
            lambda old: (
                np.full_like(old, draw(st.sampled_from([np.nan, np.inf, 0.1]))) if old.dtype.kind == "f" else old
            ),
            lambda old: np.zeros(draw(SHAPES)),
        ]
        if draw(st.booleans()):
            tensors[draw(st.just(name) | TENSOR_NAMES)] = draw(st.sampled_from(changed))(old)
    return tensors, draw(st.dictionaries(st.sampled_from(["cell", "readout", "nonlinearity"]), TEXTS, max_size=2))


@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(damaged_state_dicts())
def test_any_state_dict_is_read_or_refused_in_one_line(found):
    try:
        network_to_json(network_of_tensors(*found))
    except BadInput as refusal:
        assert str(refusal).isprintable()  # noqa: PT017 -- most are refused, some are not
