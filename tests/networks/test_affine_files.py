"""Affine layers in files: what each form says, against its formula; exact round trips; and what is refused, by its name."""

import cmath
import json
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

import tallystick as ts
from tallystick.errors import BadInput
from tallystick.numbers import exact

KINDS = {"selective": ts.SelectiveLayer, "matrices": ts.MatrixLayer, "lru": ts.LruLayer}
every_layer = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
STRINGS = ["".join(tokens) for length in range(6) for tokens in product("()", repeat=length)]
BINARY = {"kind": "binary", "weight": [[1, 1]], "bias": [0]}


def some_layer(kind, units, inputs=2, seed=0):
    generator = np.random.default_rng(seed)

    def numbers(*shape):
        if shape:
            return tuple(numbers(*shape[1:]) for _ in range(shape[0]))
        return float(generator.normal())

    return kind(*(numbers(*shape) for shape in kind.shapes(units, inputs).values()))


@pytest.fixture
def read(tmp_path):
    def network(content):
        path = tmp_path / "network.json"
        path.write_text(json.dumps(content))
        return ts.read_network(path)

    return network


def outputs(network, string):
    return network.readout.outputs(network.cell.hidden(network.cell.final_state(string)))


@every_layer
@pytest.mark.parametrize("suffix", ["json", "safetensors"])
def test_a_file_reads_back_exactly_equal(kind, suffix, tmp_path):
    path = tmp_path / f"network.{suffix}"
    layer = some_layer(kind, 4)
    above = some_layer(kind, 2, 4, seed=1)
    tokens = ((0.5, 1.0, 2.0), (1.0, -1.0, 0.25))
    embedded = ts.Stack((some_layer(kind, 4, 3), above), tokens, start=((0.5, 0, 0, 1), (1, 2)))
    for cell in (layer, ts.Stack((layer, above)), embedded):
        written = ts.Network(cell, ts.Readout(((0.5,) * cell.units,), (0.25,)))
        ts.write_network(written, path)
        found = ts.read_network(path)
        assert found == written.map_weights(exact)
        assert type(found.cell) is type(cell)


def test_a_vector_is_the_diagonal(read):
    weight = [[1, -1], [2, 0]]
    full = read({"cell": "linear", "input_weight": weight, "recurrent_weight": [[1, 0], [0, "1/3"]], "readout": BINARY})
    short = read({"cell": "linear", "input_weight": weight, "recurrent_weight": [1, "1/3"], "readout": BINARY})
    assert full == short
    factors = {"(": [1, 0.5], ")": [2, -1]}
    diagonal = read({"cell": "selective", "input_weight": weight, "recurrent_weight": factors, "readout": BINARY})
    assert isinstance(diagonal.cell, ts.SelectiveLayer)
    matrices = {token: [[a, 0], [0, b]] for token, (a, b) in factors.items()}
    dense = read({"cell": "selective", "input_weight": weight, "recurrent_weight": matrices, "readout": BINARY})
    assert isinstance(dense.cell, ts.MatrixLayer)
    assert [diagonal.cell.final_state(string) for string in STRINGS] == [
        dense.cell.final_state(string) for string in STRINGS
    ]


@pytest.mark.parametrize("has_matrices", [False, True])
def test_a_matrix_of_each_token_stands_beside_the_tokens_vectors(read, has_matrices):
    """The vectors say what is added, and the token alone which matrix is taken."""
    vectors = {"(": [1, 2, 3], ")": [2, 4, 6]}
    factors = {"(": [1, 2], ")": [3, -1]}
    recurrent = {token: [[a, 1], [0, b]] if has_matrices else [a, b] for token, (a, b) in factors.items()}
    layer = {"cell": "selective", "input_weight": [[1, 0, 0], [0, 1, -1]], "recurrent_weight": recurrent}
    network = read({"tokens": vectors, "layers": [layer], "readout": {"weight": [[1, 1]]}, "answer": {"kind": "sign"}})
    for string in STRINGS:
        h = np.zeros(2)
        for token in string:
            matrix = np.array(recurrent[token]) if has_matrices else np.diag(recurrent[token])
            h = matrix @ h + np.array(layer["input_weight"]) @ np.array(vectors[token])
        assert network.cell.hidden(network.cell.final_state(string)) == tuple(h)


def by_recurrence(factors, weights, C, strings, direct=None):
    """Re(C·z) of z' = λ∘z + B[x] in complex floats, plus what the last token adds."""
    for string in strings:
        z = np.zeros(len(factors), complex)
        for token in string:
            z = np.array(factors) * z + np.array(weights)[:, "()".index(token)]
        last = 0 if direct is None or not string else np.array(direct)[:, "()".index(string[-1])]
        yield (np.array(C) @ z).real + last


def test_lru_by_its_factors_and_a_complex_readout(read):
    network = read(
        {
            "cell": "lru",
            "input_weight": {"real": [[1, -1], [0.5, 0]], "imaginary": [[0, 2], [1, 1]]},
            "recurrent_weight": {"real": [0.5, 0], "imaginary": [0.25, 1]},
            "readout": {"kind": "binary", "weight": {"real": [[1, 2]], "imaginary": [[-1, 0.5]]}},
        }
    )
    expected = by_recurrence([0.5 + 0.25j, 1j], [[1, -1 + 2j], [0.5 + 1j, 1j]], [[1 - 1j, 2 + 0.5j]], STRINGS)
    for string, right in zip(STRINGS, expected, strict=True):
        assert list(map(float, outputs(network, string))) == list(right)


def lru_content():
    return {
        "cell": "lru",
        "nu_log": [-2, -1.5],
        "theta_log": [-1, 0.5],
        "gamma_log": [-0.5, -0.25],
        "input_weight": {"real": [[1, -1], [0.5, 0]], "imaginary": [[0, 2], [1, 1]]},
        "C": {"real": [[1, 2], [0, 1]], "imaginary": [[-1, 0.5], [3, 0]]},
        "D": [[1, 0.5], [0, -2]],
        "readout": {"kind": "binary", "weight": [[2, -1]], "bias": [0.5]},
    }


def test_lru_by_its_parameters(read):
    content = lru_content()
    factors = [cmath.exp(-exp(nu) + 1j * exp(theta)) for nu, theta in zip((-2, -1.5), (-1, 0.5), strict=True)]
    weights = np.array([[1, -1 + 2j], [0.5 + 1j, 1j]]) * np.exp([[-0.5], [-0.25]])
    C = [[1 - 1j, 2 + 0.5j], [3j, 1]]
    expected = [2 * y[0] - y[1] + 0.5 for y in by_recurrence(factors, weights, C, STRINGS, content["D"])]
    found = [float(outputs(read(content), string)[0]) for string in STRINGS]
    assert found[1:] == pytest.approx(expected[1:], rel=1e-12)


def test_every_rounded_parameter_is_a_float64(read):
    cell = read(lru_content()).cell
    numbers = [*cell.input_weight[0], *cell.recurrent_weight[0], *cell.recurrent_weight[1]]
    assert all(Fraction(float(number)) == number for number in numbers)


@pytest.mark.parametrize("discretisation", ["zoh", "bilinear"])
@pytest.mark.parametrize("factor", [1, 2])
def test_s4d_by_its_parameters(read, discretisation, factor):
    """Two channels of two units each, with their own steps, over an input layer."""
    rates, turns, steps = np.array([[-0.5, 0.1], [0.2, 0.3]]), np.array([[0.5, 3], [2, 6]]), np.array([-2, -1.0])
    C, D = np.array([[1 + 1j, -2], [0.5j, 1 - 1j]]), np.array([0.5, -1])
    reads, biases = np.array([[1, -1], [0.5, 2]]), np.array([0.25, 0])
    content = {
        "cell": "lru",
        "log_A_real": rates.tolist(),
        "A_imag": turns.tolist(),
        "log_dt": steps.tolist(),
        "C": {"real": C.real.tolist(), "imaginary": C.imag.tolist()},
        "D": D.tolist(),
        "discretisation": discretisation,
        "factor": factor,
        "input_weight": reads.tolist(),
        "input_bias": biases.tolist(),
    }
    A, dt = -np.exp(rates) + 1j * turns, np.exp(steps)[:, None]
    if discretisation == "zoh":
        factors, B = np.exp(dt * A), (np.exp(dt * A) - 1) / A
    else:
        factors, B = (1 + dt * A / 2) / (1 - dt * A / 2), dt / (1 - dt * A / 2)
    head = {"weight": [[1, -0.5]], "bias": [0.125]}
    alone = read({**content, "readout": {"kind": "binary", **head}})
    stacked = read({"layers": [content], "readout": head, "answer": {"kind": "sign"}})
    for string in STRINGS[1:]:
        z = np.zeros((2, 2), complex)
        for token in string:
            u = reads[:, "()".index(token)] + biases
            z = factors * z + B * u[:, None]
        y = factor * (C * z).sum(1).real + D * u
        for network in (alone, stacked):
            assert float(outputs(network, string)[0]) == pytest.approx(y[0] - 0.5 * y[1] + 0.125, rel=1e-11, abs=1e-12)


def test_one_channel_needs_no_rows(read):
    content = {"cell": "lru", "discretisation": "zoh", "factor": 2, "input_weight": [[1, -1]]}
    short = {"log_A_real": [-1, 0], "A_imag": [0, 1], "log_dt": -2, "C": {"real": [1, 2], "imaginary": [0, 1]}}
    long = {
        "log_A_real": [[-1, 0]],
        "A_imag": [[0, 1]],
        "log_dt": [-2],
        "C": {"real": [[1, 2]], "imaginary": [[0, 1]]},
    }
    readout = {"kind": "binary", "weight": [[1]]}
    assert read({**content, **short, "readout": readout}) == read({**content, **long, "readout": readout})


SELECTIVE = {"cell": "selective", "input_weight": [[1, -1], [0, 1]], "readout": BINARY}
LRU = {
    "cell": "lru",
    "input_weight": {"real": [[1, -1]], "imaginary": [[0, 0]]},
    "recurrent_weight": {"real": [1], "imaginary": [0]},
    "readout": BINARY,
}
S4D = {
    "cell": "lru",
    "log_A_real": [[0]],
    "A_imag": [[1]],
    "log_dt": [0],
    "C": {"real": [[1]], "imaginary": [[0]]},
    "input_weight": [[1, -1]],
    "discretisation": "zoh",
    "factor": 2,
    "readout": {"kind": "binary", "weight": [[1]]},
}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({**SELECTIVE, "recurrent_weight": {"(": [1, 1]}}, r"recurrent_weight: field '\)' is missing"),
        (
            {**SELECTIVE, "recurrent_weight": {"(": [1, 1], ")": [[1, 0], [0, 1]]}},
            r"recurrent_weight: \): .* is not of the form of the other token's: a vector",
        ),
        ({**SELECTIVE, "recurrent_weight": {"(": [1, 1], ")": [1]}}, r"\): \[1\] is not a list of 2 numbers"),
        ({**SELECTIVE, "recurrent_weight": {"(": 1, ")": 1}}, r"\(: 1 is not a matrix, or a vector"),
        ({**SELECTIVE, "recurrent_weight": [1, 1]}, r"recurrent_weight: .* a matrix or a vector for each token"),
        ({**LRU, "input_weight": [[1, -1]]}, "input_weight: .* is not a JSON object"),
        ({**LRU, "recurrent_weight": {"real": [1]}}, "recurrent_weight: field 'imaginary' is missing"),
        ({**LRU, "recurrent_weight": {"real": [], "imaginary": []}}, "1 to 128 complex units"),
        ({**LRU, "recurrent_weight": {"real": [1, 1], "imaginary": [0]}}, "imaginary: .* is not a list of 2 numbers"),
        ({**LRU, "readout": {"kind": "binary", "weight": {"real": [[1]], "imaginary": [[0, 0]]}}}, "imaginary"),
        ({**S4D, "discretisation": "euler"}, 'discretisation: "euler" is not one of zoh, bilinear'),
        ({**S4D, "factor": 3}, "factor: 3 is not 1 or 2"),
        ({key: value for key, value in S4D.items() if key != "factor"}, "field 'factor' is missing"),
        ({key: value for key, value in S4D.items() if key != "input_weight"}, "log_A_real: .* add an input_weight"),
        ({**S4D, "log_dt": [50]}, "log_dt: 50.0 is a logarithm; those of −40 to 40 are read"),
        (
            {
                "cell": "lru",
                "nu_log": [0],
                "theta_log": [0],
                "D": [[1, 1]],
                "input_weight": LRU["input_weight"],
                "readout": BINARY,
            },
            "D: .* is not of use without a C",
        ),
    ],
)
def test_what_does_not_fit_is_named(read, content, complaint):
    with pytest.raises(BadInput, match=complaint):
        read(content)


def test_only_the_lowest_layer_knows_the_token(read):
    layer = {"cell": "selective", "input_weight": [[1, 0]], "recurrent_weight": {"(": [1], ")": [1]}}
    below = {"cell": "linear", "input_weight": [[1, 0], [0, 1]], "recurrent_weight": [1, 1]}
    with pytest.raises(BadInput, match=r"layers\[1\]: recurrent_weight: .* what the layer below shows"):
        read({"layers": [below, layer], "readout": {"weight": [[1]]}, "answer": {"kind": "sign"}})
