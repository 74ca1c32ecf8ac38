"""What libraries compute lies in the enclosures of any order, and no verdict is contradicted; `soak/executions.py` tries more."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from certificates.library_networks import (  # noqa: E402
    CONCATENATED,
    KINDS,
    LAYERS,
    contradiction,
    enclosure,
    leaving,
    leaving_any,
    random_network,
)

from tallystick.certificates.running.libraries import Build  # noqa: E402
from tallystick.certificates.running.library_functions import library_functions  # noqa: E402
from tallystick.numbers import FORMATS  # noqa: E402
from tallystick.numbers.values import standard_floats  # noqa: E402

STRINGS = 640
SOME = ("LstmCell", "GruCell", "MatrixLayer", "stack")


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def case(kind, seed, longest=9, strings=STRINGS):
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    network = random_network(kind, generator)
    return network, generator.integers(0, 2, (strings, int(generator.integers(longest // 2, longest))))


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_and_pytorch_stay_in_the_enclosure(kind):
    """Ten thousand strings in all, with JAX below."""
    network, rows = case(kind, 0)
    assert leaving_any(network, "float32", rows, ("numpy", "torch")) is None


@pytest.mark.parametrize("kind", ["LstmCell", "GruCell", "layer counter"])
def test_jax_stays_in_the_enclosure(kind):
    network, rows = case(kind, 1)
    assert leaving_any(network, "float32", rows, ("jax",)) is None


@pytest.mark.parametrize("arithmetic", ["float16", "bfloat16", "float64"])
def test_so_it_is_in_the_other_formats(arithmetic):
    for seed, kind in enumerate(("counter", *SOME)):
        network, rows = case(kind, seed, strings=40)
        assert leaving_any(network, arithmetic, rows, ("numpy", "torch")) is None


def test_a_fused_lstm_in_bfloat16_keeps_its_gates_in_float32():
    network, rows = case("counter", 2, strings=40)
    hidden, outputs = Build(network, "torch", FORMATS["bfloat16"]).along(rows)
    assert leaving(enclosure(network, "bfloat16", rows), (hidden, outputs), rows) is None


def test_a_number_outside_is_seen():
    network, rows = case("LstmCell", 0, strings=5)
    hidden, outputs = Build(network, "torch", FORMATS["float32"]).along(rows)
    hidden[3, -1, 0] += 0.01
    bounds = enclosure(network, "float32", rows)
    assert leaving(bounds, (hidden, outputs), rows).startswith("unit 0 after")
    assert any(issubclass(kind, CONCATENATED) for kind in LAYERS.values())


@pytest.mark.parametrize("kind", [*LAYERS, "stack", "counter", "layer counter"])
def test_no_verdict_is_contradicted_by_any_string_to_length_12(kind):
    assert contradiction(case(kind, 0)[0]) is None


@pytest.mark.long
@pytest.mark.parametrize("kind", [*LAYERS, "stack", "counter", "layer counter"])
def test_no_verdict_on_twenty_networks_of_a_kind_is_contradicted(kind):
    """260 gated and vector networks in all; the soak takes forty of each kind."""
    for seed in range(1, 21):
        assert contradiction(case(kind, seed)[0]) is None, seed


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_a_function_is_the_same_within_its_bounds_in_every_lane(library, name):
    """Each place of a vector and its remainder, single numbers, and arrays with gaps; scalars are arrays of one number."""
    form = FORMATS["float32"]
    function = library_functions(library, form)[name]
    x = np.random.default_rng(0).uniform(-12, 12, 67).astype(np.float32).astype(float)
    with standard_floats():
        true = np.tanh(x) if name == "tanh" else 1 / (1 + np.exp(-x))
        unit = np.ldexp(1.0, np.frexp(true)[1] - form.digits)
        for begin in range(17):
            for size in (1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 50):
                part = slice(begin, begin + size)
                assert (np.abs(function(x[part]) - true[part]) <= 8 * unit[part]).all()
        assert (np.abs(function(x[::3]) - true[::3]) <= 8 * unit[::3]).all()
