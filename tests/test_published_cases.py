"""Published networks as they are built for the tests answer as their authors' equations do."""

import numpy as np
import pytest
from published_cases import ELNAGGAR, case_of, network_of, numbers_in
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
