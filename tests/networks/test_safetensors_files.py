import json
from dataclasses import fields, replace
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from tallystick import (
    BadInput,
    LinearCell,
    Network,
    SelectiveCell,
    read_network,
    write_network,
)
from tallystick.cells import CELLS, LAYERS, ScalarCell, Stack
from tallystick.languages.tasks import BB_MEMBERSHIP
from tallystick.networks import Readout

SCALAR_CELLS = {name: kind for name, kind in CELLS.items() if issubclass(kind, ScalarCell)}
COUNTER = {"open_step": np.array(1.0), "close_step": np.array([-1.0]), "recurrent_weight": np.array([1.0])}
READOUT = {"readout.weight": np.array([2.5]), "readout.bias": np.array([-0.5])}
BINARY = {"cell": "linear", "readout": "binary"}
FLOATS = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
WHOLE = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@st.composite
def models(draw):
    numbers = st.floats(allow_nan=False, allow_infinity=False).map(Fraction)

    def drawn(size):
        return tuple(draw(numbers) for _ in range(size))

    cell = draw(st.sampled_from(list(SCALAR_CELLS.values())))
    readouts = (
        Readout.zero,
        lambda: Readout.binary(draw(numbers), draw(numbers)),
        lambda: Readout.ternary(drawn(3), drawn(3)),
    )
    return Network(cell(*drawn(len(fields(cell)))), draw(st.sampled_from(readouts))())


@pytest.mark.parametrize("suffix", ["safetensors", "SAFETENSORS", "json"])
@given(model=models())
def test_a_model_of_doubles_reads_back_exactly_equal(tmp_path_factory, suffix, model):
    path = tmp_path_factory.mktemp("model") / f"model.{suffix}"
    write_network(model, path)
    assert read_network(path) == model
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_every_cell_and_readout_is_written(tmp_path):
    for kind in SCALAR_CELLS.values():
        cell = kind(*(0.1 * (place + 1) for place in range(len(fields(kind)))))
        for readout in (Readout.zero(), Readout.binary(0.1, 3), Readout.ternary((-0.1, 0, 0.1), (1, 2, 3))):
            write_network(Network(cell, readout), tmp_path / "model.safetensors")
            assert read_network(tmp_path / "model.safetensors") == Network(cell, readout)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Network(LinearCell(Fraction(1, 3), -1, 1), Readout.zero()), "open_step: 1/3 is not exactly a float64"),
        (Network(LinearCell(1, 2**53 + 1, 1), Readout.zero()), "close_step: 9007199254740993 is not exactly a float64"),
        (Network(LinearCell(1, -1, 10**400), Readout.zero()), "recurrent_weight: 1000000000"),
        (Network(SelectiveCell(1, -1, 1, Fraction(1, 10)), Readout.zero()), "recurrent_weight: 1/10 is not"),
        (Network(LinearCell(1, -1, 1), Readout.binary(1, Fraction(1, 2**1080))), "readout.bias: 1/"),
        (Network(LinearCell(1, -1, 1), Readout.ternary((1, Fraction(1, 7), 1))), "readout.weight: 1/7 is not"),
    ],
)
def test_a_number_that_is_no_double_is_not_rounded(tmp_path, model, message):
    path = tmp_path / "model.safetensors"
    path.write_text("what stood there before")
    with pytest.raises(BadInput, match=message) as refusal:
        write_network(model, path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert str(refusal.value).endswith("a JSON file keeps it as it is")
    assert len(str(refusal.value)) < len(str(path)) + 120
    assert path.read_text() == "what stood there before"
    write_network(model, tmp_path / "model.json")


@pytest.mark.parametrize("kind", FLOATS.values(), ids=FLOATS)
def test_floats_are_read_exactly(saved, kind):
    tenth = np.array([0.1]).astype(kind)
    model = read_network(saved({**COUNTER, "open_step": tenth}, cell="linear", readout="zero"))
    assert model.cell.open_step == Fraction(float(tenth[0])) != Fraction(1, 10)


@pytest.mark.parametrize("kind", WHOLE)
def test_whole_numbers_are_read_exactly(saved, kind):
    limits = np.iinfo(kind)
    tensors = {**COUNTER, "open_step": np.array([limits.max], kind), "close_step": np.array(limits.min, kind)}
    model = read_network(saved(tensors, cell="linear", readout="zero"))
    assert model.cell == LinearCell(Fraction(int(limits.max)), Fraction(int(limits.min)), Fraction(1))


@pytest.mark.parametrize("kind", FLOATS.values(), ids=FLOATS)
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_what_is_not_finite_is_refused(saved, refused, kind, value):
    bias = np.array([0.0, float(value), 0.0]).astype(kind)
    tensors = {**COUNTER, "readout.weight": np.ones(3), "readout.bias": bias}
    refused(saved(tensors, cell="relu", readout="ternary"), f"readout.bias[1]: {value} is not a finite number")


@pytest.mark.parametrize(
    ("change", "metadata", "message"),
    [
        ({}, {"readout": "binary"}, "metadata cell: missing; write one of linear, selective, relu, tanh"),
        ({}, {"cell": "linear"}, "metadata readout: missing; write one of zero, binary, ternary"),
        ({}, {**BINARY, "cell": "lstm"}, "metadata cell: 'lstm' is not one of linear,"),
        ({}, {**BINARY, "readout": "x\ny"}, r"metadata readout: 'x\ny' is not one of zero,"),
        ({}, {**BINARY, "cell": "x" * 900}, "xxx... is not one of linear,"),
        ({}, {**BINARY, "nonlinearity": "x" * 900}, "xxx... contradicts the tensors"),
        ({}, {**BINARY, "nonlinearity": "tanh"}, "metadata nonlinearity: 'tanh' contradicts the tensors"),
        (
            {},
            {**BINARY, "readout": "zero"},
            "readout.bias: unknown tensor; a linear cell with the zero readout has open",
        ),
        ({}, {**BINARY, "readout": "ternary"}, "readout.weight: shape 1 is not 3"),
        ({}, {**BINARY, "cell": "selective"}, "recurrent_weight: shape 1 is not 2"),
        ({"colour": np.ones(1)}, BINARY, "colour: unknown tensor"),
        ({"a\nb": np.ones(1)}, BINARY, r"'a\nb': unknown tensor"),
        ({"a" * 500: np.ones(1)}, BINARY, "aaa...: unknown tensor"),
        ({"": np.ones(1)}, BINARY, "'': unknown tensor"),
        ({"open_step": np.ones(2)}, BINARY, "open_step: shape 2 is not 1 or of a single number"),
        ({"open_step": np.ones((1, 1))}, BINARY, "open_step: shape 1×1 is not 1"),
        ({"open_step": np.ones(0)}, BINARY, "open_step: shape 0 is not 1"),
        ({"open_step": np.ones(2**20)}, BINARY, "open_step: shape 1048576 is not 1"),
        ({"open_step": np.array(True)}, BINARY, "open_step: entries of type BOOL are not one of F64, F32"),
        ({"open_step": np.array(1j, np.complex64)}, BINARY, "open_step: entries of type C64 are not one of"),
        ({"open_step": np.array([1], ml_dtypes.float8_e4m3fn)}, BINARY, "open_step: entries of type F8_E4M3 are not"),
        ({"open_step": None}, BINARY, "tensor 'open_step' is missing"),
        ({"recurrent_weight": None}, BINARY, "tensor 'recurrent_weight' is missing"),
        ({"readout.weight": None}, BINARY, "tensor 'readout.weight' is missing"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(saved, refused, change, metadata, message):
    tensors = {name: array for name, array in {**COUNTER, **READOUT, **change}.items() if array is not None}
    refused(saved(tensors, **metadata), message)


def test_a_readout_may_leave_out_its_bias(saved):
    model = read_network(saved({**COUNTER, "readout.weight": np.array([2.5])}, **BINARY))
    assert model.readout == Readout.binary(Fraction(5, 2), Fraction(0))


def test_foreign_metadata_is_left_alone(saved):
    assert read_network(saved({**COUNTER, **READOUT}, **BINARY, format="pt", author="someone")).cell == LinearCell(
        1, -1, 1
    )


def with_header(header, tail=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + tail


ENTRY = b'{"dtype":"F64","shape":[],"data_offsets":[0,8]}'
SOUND = save({**COUNTER, **READOUT}, BINARY)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a safetensors file: header too small"),
        (b"{}", "not a safetensors file: header too small"),
        (b"\xff" * 8 + b"{}", "not a safetensors file: header too large"),
        ((2**40).to_bytes(8, "little") + b"{}", "not a safetensors file: header too large"),
        (with_header(b"{" * 5000), "not a safetensors file: invalid JSON in header"),
        (with_header(b"\xff\xff"), "not a safetensors file: invalid UTF-8 in header"),
        (with_header([]), "not a safetensors file: invalid JSON in header"),
        (with_header({"open_step": 1}), "not a safetensors file: invalid JSON in header"),
        (with_header({"__metadata__": {"cell": 1}}), "not a safetensors file: invalid JSON in header"),
        (with_header({"a": {"dtype": "F64", "shape": [2**63, 2], "data_offsets": [0, 8]}}), "overflow"),
        (with_header({"a": {"dtype": "\n" * 900, "shape": [], "data_offsets": [0, 8]}}), "unknown variant"),
        (with_header(b'{"open_step":%b,"open_step":%b}' % (ENTRY, ENTRY), b"\0" * 8), "'open_step' stands twice"),
        (with_header(b'{"__metadata__":{"cell":"relu","cell":"tanh"}}'), "field 'cell' stands twice"),
        (with_header({}), "no cell among the tensors"),
        (with_header({"__metadata__": None}), "no cell among the tensors"),
        (SOUND + b"\0", "not a safetensors file: incomplete metadata, file not fully covered"),
        (b"\0" * (16 * 2**20 + 1), "larger than 16 MiB"),
    ],
)
def test_a_hostile_file_is_refused_in_one_line(tmp_path, refused, content, message):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    refused(path, message)


def test_a_file_cut_short_anywhere_is_refused(tmp_path, refused):
    path = tmp_path / "model.safetensors"
    for length in range(len(SOUND)):
        path.write_bytes(SOUND[:length])
        refused(path, "not a safetensors file: ")


@given(place=st.integers(0, len(SOUND) - 1), byte=st.integers(0, 255))
def test_a_changed_byte_gives_a_model_or_a_refusal(tmp_path_factory, place, byte):
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    path.write_bytes(SOUND[:place] + bytes([byte]) + SOUND[place + 1 :])
    try:
        read_network(path)
        message = f"{path}: none"
    except BadInput as refusal:
        message = str(refusal)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()


@pytest.mark.parametrize("suffix", ["pt", "pth", "ckpt", "bin", "PKL"])
def test_pickles_are_neither_read_nor_written(tmp_path, refused, suffix):
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(b"\x80\x04N.")
    refused(path, "save_file(module.state_dict(), ")
    if suffix not in ("pt", "pth"):  # of which PyTorch reads the tensors alone
        refused(path, f".{suffix} is a pickle, which can run code; save the weights as .safetensors")
    with pytest.raises(BadInput, match="is a pickle"):
        write_network(Network(LinearCell(1, -1, 1), Readout.zero()), path)


def test_a_missing_file_and_a_directory_are_refused(tmp_path, refused):
    refused(tmp_path / "none.safetensors", "cannot be read: no such file")
    (tmp_path / "folder.safetensors").mkdir()
    refused(tmp_path / "folder.safetensors", "cannot be read: is a directory")


def test_a_stack_is_written_and_read_back(tmp_path):
    lower, upper = CELLS["lstm"], LAYERS["relu"]
    shapes = lower.shapes(2, 3)

    def filled(shape, value):
        return tuple(filled(shape[1:], value + place) for place in range(shape[0])) if shape else Fraction(value, 8)

    below = lower.from_tensors({name: filled(shape, place) for place, (name, shape) in enumerate(shapes.items())})
    above = upper.from_tensors({name: filled(shape, 3) for name, shape in upper.shapes(1, 2).items()})
    state = type(below.initial_state)((Fraction(1, 2), Fraction(0)), (Fraction(1), Fraction(-1)))
    stack = Stack((below, above), ((Fraction(1), 0, 0), (0, Fraction(1, 4), 1)), (state, (Fraction(3),)))
    begun = replace(stack, first=((1, 2, 3),), last=((0, 0, 1), (1, 0, 0)))
    for readout, task in (
        (Readout(((Fraction(1),),), (Fraction(0),)), None),
        (
            Readout(((Fraction(1),), (Fraction(2),)), (Fraction(0),) * 2),
            BB_MEMBERSHIP.in_order(["accepted", "rejected"]),
        ),
        (Readout.zero(), None),
    ):
        for cell in (
            stack,
            begun,
            above.from_tensors({**above.tensors(), "input_weight": ((Fraction(1), Fraction(2)),)}),
        ):
            network = Network(cell, readout, task)
            write_network(network, tmp_path / "network.safetensors")
            assert read_network(tmp_path / "network.safetensors") == network


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"cell": "stack", "readout": "binary"}, "metadata layers: missing; write the names of the layers' cells"),
        ({"cell": "stack", "readout": "binary", "layers": "elman"}, "metadata layers: 'elman' is not one of linear"),
        ({"cell": "stack", "readout": "binary", "layers": "relu,relu"}, "tensor 'layers.1.open_step' is missing"),
        ({"cell": "stack", "readout": "binary", "layers": ",".join(["relu"] * 17)}, "17 are more than 16 layers"),
        ({"cell": "gru", "readout": "binary", "layers": "relu"}, "metadata cell: 'gru' is not one of relu"),
        ({"cell": "relu", "readout": "binary", "layers": "relu", "tokens": "()"}, "metadata tokens: '()' contradicts"),
        ({"cell": "relu", "readout": "binary", "layers": "relu", "task": "ternary"}, "task: 'ternary' has 3 classes"),
        ({"cell": "relu", "readout": "class", "layers": "relu"}, "decision: 'class' is not one of zero, sign"),
    ],
)
def test_a_bad_layer_is_refused_in_one_line(saved, refused, metadata, message):
    shapes = {f"layers.0.{name}": np.ones(shape) for name, shape in LAYERS["relu"].shapes(1).items()}
    refused(saved({**shapes, "readout.weight": np.ones((1, 1)), "readout.bias": np.ones(1)}, **metadata), message)
