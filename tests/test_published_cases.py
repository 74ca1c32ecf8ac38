"""Published networks as they are built for the tests answer as their authors' equations do."""

from fractions import Fraction

import numpy as np
import pytest
from published_cases import ELNAGGAR, MDL, case_of, network_of, numbers_in
from strings import all_strings


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def doubles(case):
    return {name: np.array(numbers_in(values), dtype=float) for name, values in case["weights"].items()}


def gru(w, string, alphabet):
    """The logits after each prefix, by the authors' equations."""
    h = w["h0"]
    yield w["V"] @ h + w["vb"]
    for token in string:
        x = w["E"][alphabet.index(token)]
        z = sigmoid(w["bz"] + w["Wz"] @ x + w["Uz"] @ h)
        n = np.tanh(w["bn"] + w["Wn"] @ x + w["Un"] @ h)
        h = z * h + (1 - z) * n
        yield w["V"] @ h + w["vb"]


def lstm(w, string, alphabet):
    h, c = w["h0"], w["c0"]
    yield w["V"] @ h + w["vb"]
    for token in string:
        x = w["E"][alphabet.index(token)]
        i, f, o = (sigmoid(w["b" + gate] + w["W" + gate] @ x + w["U" + gate] @ h) for gate in "ifo")
        c = c * f + np.tanh(w["bc"] + w["Wc"] @ x + w["Uc"] @ h) * i
        h = o * np.tanh(c)
        yield w["V"] @ h + w["vb"]


@pytest.mark.parametrize(
    ("name", "equations", "string"),
    [("weiss_anbn_gru", gru, "aaabbbba"), ("weiss_anbncn_lstm", lstm, "aaabbbbccca")],
)
def test_the_networks_of_weiss_are_their_equations(name, equations, string):
    case, network = case_of(name), network_of(name).in_arithmetic("float64")
    found = [network.outputs_of_state(state) for state in network.trace(string)]
    np.testing.assert_allclose(found, list(equations(doubles(case), string, case["alphabet"])), rtol=1e-9, atol=1e-12)


def test_the_gru_of_weiss_accepts_abb():
    network = network_of("weiss_anbn_gru").in_arithmetic("float64")
    wrong = [string for string in all_strings(3, "ab") if network.class_of(string) != network.right_class(string)]
    assert wrong == ["abb"]
    n = 116
    assert [network.class_of("a" * k + "b" * k) for k in (n - 1, n)] == ["accepted", "rejected"]


def test_the_lstm_of_weiss_accepts_its_failing_string():
    network = network_of("weiss_anbncn_lstm").in_arithmetic("float64")
    assert network.class_of("a" * 58 + "b" * 57 + "c" * 57) == "accepted"
    assert [network.class_of("a" * n + "b" * n + "c" * n) for n in (0, 57, 64, 65)] == ["accepted"] * 3 + ["rejected"]


@pytest.mark.parametrize("name", ELNAGGAR)
@pytest.mark.parametrize("padded", [True, False], ids=["padded", "unpadded"])
def test_the_networks_of_elnaggar_are_wrong_as_often_as_they_are(name, padded):
    truth = case_of(name)["truth"]
    expected = truth["padded_to_10"]["wrong_strings_by_length"] if padded else truth["unpadded_wrong_by_length"]
    network = network_of(name, padded=padded).in_arithmetic("float64")
    for n in range(1, 8):
        wrong = sum(network.class_of(string) != network.right_class(string) for string in all_strings(n, shortest=n))
        assert wrong == expected[str(n)]


FUNCTIONS = (lambda x: x, lambda x: max(x, 0), sigmoid, np.tanh, np.square)


def activated(groups, x):
    found = x.copy()
    for which, places in groups:
        for place in places:
            found[place] = FUNCTIONS[which](x[place])
    return found


def mdl(weights, string, alphabet, kind=np.float32):
    """The outputs after `#` and each prefix, by the authors' equations in floats of one kind."""

    def linear(found, x):
        return np.array(numbers_in(found["W"]), dtype=kind) @ x + np.array(numbers_in(found["b"]), dtype=kind)

    written, read, groups = (dict(weights[part]) for part in ("to_memory", "from_memory", "activations"))
    looped = sorted({source for source, *_ in weights["forward"]} | set(written))
    last = max(target for _, target, _ in weights["forward"])
    memory = np.zeros(weights["memory_size"], kind)
    for token in "#" + string:
        values, after = {0: np.array([token == one for one in alphabet], dtype=kind)}, np.zeros_like(memory)
        for layer in looped:
            values[layer] = values[layer] + (linear(read[layer], memory) if layer in read else 0)
            values[layer] = activated(groups[layer], values[layer])
            for source, target, found in weights["forward"]:
                if source == layer:
                    values[target] = values.get(target, 0) + linear(found, values[layer])
            after = after + (linear(written[layer], values[layer]) if layer in written else 0)
        memory = after
        yield activated(groups[last], values[last])


@pytest.mark.parametrize("name", MDL)
@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
def test_the_graphs_are_their_equations(name, arithmetic):
    case, network = case_of(name), network_of(name).in_arithmetic(arithmetic)
    string = "a" * 20 + "b" * 20 + "c" * 20 * (len(case["alphabet"]) > 3)
    found = [network.outputs_of_state(state) for state in network.trace(string)]
    expected = list(mdl(case["weights"], string, case["alphabet"], np.dtype(arithmetic).type))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 if arithmetic == "float32" else 1e-14)
    assert {type(number) for outputs in found for number in outputs} == {np.dtype(arithmetic).type}


def test_the_states_of_the_graphs_are_rational():
    for name in MDL:
        network = network_of(name)
        assert network.cell.is_rational
        assert not network.cell.shows_rationals
        string = "aabb" if name == "mdlrnn_an_bn" else "aabbcc"
        assert all(isinstance(number, Fraction) for (state,) in network.trace(string) for number in state)


def test_a_graph_for_anbncn_is_wrong_in_float32_where_its_authors_code_is():
    case, network = case_of("mdlrnn_an_bn_cn"), network_of("mdlrnn_an_bn_cn").in_arithmetic("float32")
    wrong = {n for first, last in case["truth"]["float32"]["wrong_n_ranges_upto_10000"] for n in range(first, last + 1)}
    for n in (16, 17, 28, 29, 59, 60):
        string = "a" * n + "b" * n + "c" * n
        asked = [string[:end] for end in range(n + 1, 3 * n + 1)]
        states = network.trace(string)
        said = [int(np.argmax(network.outputs_of_state(state))) for state in states[n + 1 :]]
        right = [case["alphabet"].index(network.right_class(prefix)) for prefix in asked]
        assert (said != right) == (n in wrong)


def test_arguments_of_activations_make_the_outputs():
    for name in MDL:
        network = network_of(name).in_arithmetic("float64")
        (cell,) = network.cell.layers
        for (state,) in network.trace("aabb"):
            finishes = cell.last_arguments(state)
            assert [finish.value for finish in finishes] == list(cell.hidden(state))
