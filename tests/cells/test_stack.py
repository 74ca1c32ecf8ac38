"""A stack of cells: the same as its layers run by hand, one network in files, and decided like any other."""

import json
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import tallystick as ts
from tallystick.cells import GruCell, LinearCell, LstmCell, ReluCell, Stack
from tallystick.cells.vector import State
from tallystick.certificates.certificate import digest
from tallystick.errors import BadInput
from tallystick.numbers import ARITHMETICS
from tallystick.runs.measures import judge


def numbers(generator, *shape):
    if not shape:
        return Fraction(generator.randint(-16, 16), 8)
    return tuple(numbers(generator, *shape[1:]) for _ in range(shape[0]))


def cell(generator, kind, units, inputs):
    return kind.from_tensors({name: numbers(generator, *shape) for name, shape in kind.shapes(units, inputs).items()})


def random_stack(seed):
    """An LSTM of two units over tokens of three numbers, a GRU above it, and states that are not zero."""
    generator = random.Random(seed)
    layers = cell(generator, LstmCell, 2, 3), cell(generator, GruCell, 1, 2)
    start = State(numbers(generator, 2), numbers(generator, 2)), State(numbers(generator, 1))
    return Stack(layers, numbers(generator, 2, 3), start)


def network(seed, outputs=1):
    generator = random.Random(-seed)
    return ts.Network(random_stack(seed), ts.Readout(numbers(generator, outputs, 1), numbers(generator, outputs)))


def test_a_stack_of_one_layer_is_that_layer():
    alone = LinearCell(Fraction(1, 3), -2, Fraction(1, 2))
    for string in ("", "(", "())((", "))(("):
        assert [state for (state,) in Stack((alone,)).trace(string)] == alone.trace(string)


def test_a_layer_reads_what_the_layer_below_shows():
    below, above = LinearCell(1, -1, 1), ReluCell(2, 3, 1)
    with pytest.raises(BadInput, match=r"layers\[1\]: reads vectors of 2 numbers, but layers\[0\] has 1"):
        Stack((below, above))
    stack = random_stack(3).map_weights(ARITHMETICS["float64"])
    first, second = stack.layers
    for before, after, token in zip(stack.trace("(()"), stack.trace("(()")[1:], "(()", strict=False):
        vector = stack.tokens["()".index(token)]
        expected = first.step(before[0], Fixed(vector))
        assert after == (expected, second.step(before[1], Fixed(expected.hidden)))


class Fixed:
    """A vector, as a layer reads it."""

    def __init__(self, vector):
        self.vector = vector

    def choose(self, *weights):
        """Return the product with a row of weights."""
        return sum(weight * x for weight, x in zip(weights, self.vector, strict=True))

    def weigh(self, weight, bias):
        """Return the product with a matrix, and add biases."""
        return [self.choose(*row) + term for row, term in zip(weight, bias, strict=True)]


def counting_network(seed):
    """An LSTM that counts nearly, over tokens of three numbers, and a GRU above it that passes its state on; both a bit off."""
    generator = random.Random(seed)

    def about(value):
        return Fraction(round(64 * (value + generator.uniform(-0.3, 0.3))), 64)

    gates = ((6, 6, 0), (6, 6, 0), (1, -1, about(0)), (6, 6, 0))
    below = LstmCell(tuple(tuple(map(about, row)) for row in gates), ((about(0),),) * 4, (0,) * 4, (0,) * 4)
    above = GruCell(((0,), (0,), (about(2),)), ((0,),) * 3, (0, -8, 0), (0,) * 3)
    start = State((about(0),), (about(0),)), State((about(0),))
    stack = Stack((below, above), ((1, 0, about(0)), (0, 1, about(0))), start)
    return ts.Network(stack, ts.Readout(((1,),), (-about(0.5),)))


@pytest.mark.parametrize("seed", range(6))
def test_its_verdict_is_that_of_every_string_and_its_certificate_holds(seed, tmp_path):
    """No output of these is near zero on short strings, so that doubles tell its sign."""
    model = counting_network(seed)
    verdict, doubles = ts.certify(model, limit=7), model.in_arithmetic("float64")
    strings = [["".join(tokens) for tokens in product("()", repeat=length)] for length in range(1, 8)]
    wrong = [[s for s in of_length if doubles.class_of(s) != model.right_class(s)] for of_length in strings]
    assert min(abs(doubles.outputs(s)[0]) for of_length in strings for s in of_length) > 1e-9
    assert verdict.horizon == next((length for length, found in enumerate(wrong) if found), 7)
    ts.write_certificate(verdict, tmp_path / "certificate.json")
    assert ts.check_certificate(tmp_path / "certificate.json").valid
    if not verdict.failure:
        return
    assert verdict.failure.string in wrong[verdict.horizon]
    content = json.loads((tmp_path / "certificate.json").read_text())
    content["horizon"] += 1
    content["digest"] = digest({name: value for name, value in content.items() if name != "digest"})
    (tmp_path / "forged.json").write_text(json.dumps(content))
    assert ts.check_certificate(tmp_path / "forged.json").valid is False


def test_the_counting_ones_have_horizons_of_many_kinds():
    found = {ts.certify(counting_network(seed), limit=7).horizon for seed in range(6)}
    assert len(found) > 2


def test_its_file_gives_it_back(tmp_path):
    for seed in range(4):
        model = network(seed, outputs=1 if seed % 2 else 3)
        for suffix in ("json", "safetensors"):
            ts.write_network(model, tmp_path / f"{seed}.{suffix}")
            assert ts.read_network(tmp_path / f"{seed}.{suffix}") == model


def test_its_answers_on_many_strings_are_those_on_each():
    model = network(1).in_arithmetic("float64")
    tokens = np.random.default_rng(0).random((20, 7)) < 0.5
    right, failed = judge(model, tokens)
    for place, row in enumerate(tokens):
        string = "".join("()"[int(token)] for token in row)
        alike = [model.class_of(string[:n]) == model.right_class(string[:n]) for n in range(1, 8)]
        assert right[0, place] == alike[-1]
        assert failed[0, place] == (alike.index(False) + 1 if False in alike else 0)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"layers": ()}, r"layers: \(\) is not a tuple of cells"),
        ({"tokens": ((1, 0), (1,))}, r"tokens\[1\]: \(1,\) is not a tuple of 2 numbers"),
        ({"padding": (1, 0)}, "padding: a vector to fill up with and a length to fill up to go together"),
        ({"padding": (1,), "padded_to": 3}, "padding: .* is not a tuple of 2 numbers"),
        ({"tokens": ((1, 0, 0), (0, 1, 0))}, r"layers\[0\]: reads vectors of 2 numbers, but a token has 3"),
        ({"start": (1, 2)}, "start: 2 states for 1 layers"),
        ({"start": ((1,),)}, r"start\[0\]: \(1,\) has not the form of 0"),
        ({"start": (float("nan"),)}, r"start\[0\]: nan is not a finite number"),
    ],
)
def test_what_does_not_fit_is_named(parts, message):
    with pytest.raises(BadInput, match=message):
        Stack(**{"layers": (LinearCell(1, -1, 1),), **parts})


def test_a_bare_cell_reads_one_hot_tokens():
    wide = cell(random.Random(0), GruCell, 1, 3)
    with pytest.raises(BadInput, match="cell: reads vectors of 3 numbers"):
        ts.Network(wide, ts.Readout(((1,),), (0,)))


def test_what_stands_around_every_string_is_read_with_it(tmp_path):
    """Reading <BOS>, the string and <EOS> one after the other is the same as having them stand around it."""
    plain = random_stack(5).map_weights(ARITHMETICS["float64"])
    ends = ((0.5, -1.0, 0.25), (1.0, 1.0, 0.0)), ((2.0, 0.0, -0.5),)
    framed = Stack(plain.layers, plain.tokens, plain.start, *ends)
    for string in ("", "(", "())("):
        state = plain.start
        for vector in (*ends[0], *(plain.tokens["()".index(token)] for token in string), *ends[1]):
            read, after = vector, []
            for layer, before in zip(plain.layers, state, strict=True):
                after.append(layer.step(before, Fixed(read)))
                read = layer.hidden(after[-1])
            state = tuple(after)
        assert framed.hidden(framed.final_state(string)) == pytest.approx(plain.layers[-1].hidden(state[-1]), rel=1e-12)
    model = ts.Network(framed, ts.Readout(((1.0,),), (0.0,)))
    ts.write_network(model, tmp_path / "framed.json")
    assert ts.read_network(tmp_path / "framed.json") == model.map_weights(ARITHMETICS["rational"])


def test_an_end_of_the_wrong_length_is_named():
    with pytest.raises(BadInput, match=r"last\[0\]: \(1,\) is not a tuple of 2 numbers"):
        Stack((LinearCell(1, -1, 1),), last=((1,),))


@pytest.mark.parametrize("seed", range(3))
def test_a_verdict_on_framed_strings_is_that_of_every_string_and_its_certificate_holds(seed, tmp_path):
    plain = counting_network(seed)
    ends = ((Fraction(1, 4), Fraction(-1, 2), 1),), ((0, Fraction(1, 8), Fraction(1, 2)),)
    stack = Stack(plain.cell.layers, plain.cell.tokens, plain.cell.start, *ends)
    model = ts.Network(stack, plain.readout)
    verdict, doubles = ts.certify(model, limit=6), model.in_arithmetic("float64")
    strings = [["".join(tokens) for tokens in product("()", repeat=length)] for length in range(1, 7)]
    wrong = [[s for s in of_length if doubles.class_of(s) != model.right_class(s)] for of_length in strings]
    assert verdict.horizon == next((length for length, found in enumerate(wrong) if found), 6)
    ts.write_certificate(verdict, tmp_path / "certificate.json")
    assert ts.check_certificate(tmp_path / "certificate.json").valid
    content = json.loads((tmp_path / "certificate.json").read_text())
    assert len(content["model"]["first"]) == 1
