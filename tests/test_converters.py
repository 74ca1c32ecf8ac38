"""The converters in examples/ read small files of each format, made here, and refuse what is not in them."""

import json
import pickle
import subprocess
import sys
import zipfile
from fractions import Fraction

import numpy as np
import pytest
from published_cases import CASES, ELNAGGAR, case_of, network_of
from walking import ROOT

from tallystick import read_network
from tallystick.certificates.certify import certify
from tallystick.errors import BadInput

EXAMPLES = ROOT / "examples"
sys.path.insert(0, str(EXAMPLES))

import convert_dynet  # noqa: E402
import convert_golden  # noqa: E402
import convert_mdlrnn  # noqa: E402
import convert_torch  # noqa: E402

GOLDEN = {
    "forward": {1: [(6, 2)], 2: [(4, -3)], 6: [(5, 1)]},
    "recurrent": {6: [(6, 1)]},
    "biases": {3: -15, 4: "7/3", 6: -1},
    "activations": {3: "sigmoid", 5: "step", 6: "relu"},
}
"""The aⁿbⁿ network that is printed in the paper on minimum description length."""


def convert(name, *arguments):
    command = [sys.executable, EXAMPLES / name, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


class Call:
    """Pickled as a call of a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def zipped(path, content):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(content, protocol=2))
    return path


def test_a_pickle_that_would_run_code_is_refused_by_its_name(tmp_path):
    made = tmp_path / "made"
    path = zipped(tmp_path / "evil.pth", {"weight": Call(exec, f"open({str(made)!r}, 'w')")})
    with pytest.raises(BadInput, match=r"holds (__builtin__|builtins)\.exec, which is not read"):
        convert_torch.read_pickle(path)
    done = convert(
        "convert_torch.py", path, tmp_path / "out.json", "--task", "bb", "--classes", "a,b", "--cell", "lstm"
    )
    assert done.returncode == 1
    assert "evil.pth: holds" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not made.exists()
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x02}q\x00."])
def test_what_is_no_zip_of_torch_is_refused_in_one_line(content, tmp_path):
    path = tmp_path / "network.pth"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="cannot be read as a zip of torch.save"):
        convert_torch.read_pickle(path)


def test_a_tensor_is_a_view_of_its_storage_and_its_size_is_bounded():
    assert convert_torch._tensor((0.0, 1.0, 2.0, 3.0, 4.0), 1, (2, 2), (1, 2)) == [[1.0, 3.0], [2.0, 4.0]]
    with pytest.raises(BadInput, match="a tensor of 1,099,511,627,776 numbers"):
        convert_torch._tensor((0.0,), 0, (2**20, 2**20), (0, 0))


def dynet_text(weights, cell):
    """Write parameters as DyNet does: nine digits, matrices column by column, the embeddings last."""
    names = ["V", "vb", *(letter + gate for gate in convert_dynet.GATES[cell] for letter in "WUb"), "h0"]
    lines = []
    for place, name in enumerate([*names, *(["c0"] if cell == "lstm" else []), "E"]):
        values = np.asarray(weights[name], dtype=np.float32)
        if name == "E":
            values = values.T
        shape = ",".join(map(str, values.shape))
        numbers = " ".join(f"{value:+.8e}" for value in values.flatten(order="F"))
        head = f"#{'Lookup' if name == 'E' else ''}Parameter# /_{place} {{{shape}}} 481 ZERO_GRAD"
        lines += [head, numbers + " "]
    return "\n".join(lines) + "\n"


def dynet_weights(cell, alphabet):
    random, units, inputs, outputs = np.random.default_rng(1), 2, 3, len(alphabet) + 1
    shapes = {"V": (outputs, units), "vb": outputs, "h0": units, "c0": units, "E": (outputs, inputs)}
    for gate in convert_dynet.GATES[cell]:
        shapes |= {f"W{gate}": (units, inputs), f"U{gate}": (units, units), f"b{gate}": units}
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_dynet_file_gives_the_float32_numbers_that_were_written(cell, tmp_path):
    weights, path = dynet_weights(cell, "ab"), tmp_path / "network.data"
    path.write_text(dynet_text(weights, cell))
    found = convert_dynet.weights_of(convert_dynet.read_parameters(path.read_text()), cell)
    assert all(np.array_equal(np.array(found[name]), weights[name]) for name in found)
    done = convert(
        "convert_dynet.py",
        path,
        tmp_path / "n.json",
        "--cell",
        cell,
        "--alphabet",
        "ab",
        "--task",
        "anbn",
        "--threshold",
        0.01,
    )
    assert done.returncode == 0, done.stderr
    network = read_network(tmp_path / "n.json")
    assert network.alphabet == ("a", "b")
    assert network.readout.steps.threshold == Fraction(0.01)
    assert network.cell.tokens[1] == tuple(map(Fraction, weights["E"][1].tolist()))
    assert network.cell.start[0].hidden == tuple(map(Fraction, weights["h0"].tolist()))


def test_a_damaged_dynet_file_is_refused_in_one_line(tmp_path):
    path = tmp_path / "network.data"
    path.write_text("#Parameter# /_1 {3,2} 481 ZERO_GRAD\n+1.0 +2.0\n")
    arguments = ["--cell", "gru", "--alphabet", "ab", "--task", "anbn", "--threshold", 0.01]
    done = convert("convert_dynet.py", path, tmp_path / "n.json", *arguments)
    assert done.returncode == 1
    assert done.stderr.endswith("2 numbers follow, not 6\n")


def test_a_golden_network_is_the_one_that_is_written_down(tmp_path):
    path = tmp_path / "golden.txt"
    path.write_text(repr(GOLDEN))
    done = convert("convert_golden.py", path, tmp_path / "n.json", "--task", "anbn", "--alphabet", "ab")
    assert done.returncode == 0, done.stderr
    network = read_network(tmp_path / "n.json")
    executed = network.in_arithmetic("float64")
    assert [executed.class_of(string) for string in ("aab", "aabb", "ab")] == ["b", "#", "#"]
    assert network.right_class("aab") == "b"


def test_a_golden_network_whose_answer_is_a_set_of_tokens_is_proved(tmp_path):
    dyck1 = {
        "forward": {1: [(6, 2)], 6: [(3, -1), (5, 3)]},
        "recurrent": {6: [(6, 1)]},
        "biases": {3: 1, 6: -1},
        "activations": {3: "relu", 4: "sigmoid", 5: "tanh", 6: "relu"},
    }
    path = tmp_path / "golden.txt"
    path.write_text(repr(dyck1))
    options = ("--task", "dyck1", "--alphabet", "()", "--answer", "support")
    done = convert("convert_golden.py", path, tmp_path / "n.json", *options)
    assert done.returncode == 0, done.stderr
    assert str(certify(read_network(tmp_path / "n.json")).outcome) == "PROVED"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"activations": {5: "floor"}}, "activations: unit 5: 'floor' is not one of identity"),
        ({"weights": {}}, "weights: not one of forward"),
        ({"forward": {5: [(6, 1)], 6: [(5, 1)]}}, "feed each other in a circle"),
    ],
)
def test_a_golden_network_that_cannot_be_converted_is_refused(change, said):
    with pytest.raises(BadInput, match=said):
        convert_golden.graph_layer(convert_golden.golden_units({**GOLDEN, **change}, 3), 3)


def test_a_sum_that_pytorch_rounds_on_its_own_is_a_unit_of_its_own():
    units = {}
    terms = [
        ([2.0], 1.0, "input", [0]),
        ([1.0, 3.0], 0.0, "recurrent", ["m", "n"]),
        ([0.0, 5.0], 0.0, "forward", ["p", "q"]),
    ]
    convert_mdlrnn.add_unit(units, "u", "relu", terms)
    assert units["u"]["forward"] == {("u", 1): 1.0, "q": 5.0}
    assert units["u", 1]["recurrent"] == {"m": 1.0, "n": 3.0}


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    case_of(CASES[0])  # skips where the folder is missing
    source = next(parent / "shared" / "published-networks" for parent in ROOT.parents if (parent / "shared").is_dir())
    out = tmp_path_factory.mktemp("converted")
    done = convert("convert_cases.py", source / "cases.json", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("name", CASES)
def test_a_published_network_is_converted_exactly(name, converted):
    found, made = read_network(converted / f"{name}.json"), network_of(name, padded=name in ELNAGGAR)
    assert json.loads((converted / f"{name}.json").read_text())["about"]["claim"]
    alphabet = made.alphabet
    strings = ["", alphabet[0], "".join(alphabet), alphabet[0] * 3 + alphabet[1] * 3]
    assert found.alphabet == alphabet
    for string in strings:
        assert np.allclose(outputs(found, string), outputs(made, string), rtol=1e-12)


def outputs(network, string):
    return [float(value) for value in network.in_arithmetic("float64").outputs(string)]
