"""Documents that the tests of several rooms read: a network file and a machine file."""

SATURATING = {
    "tokens": {"a": [1, 0], "b": [0, 1]},
    "layers": [{"cell": "tanh", "input_weight": [["1/4", "-1/4"]], "recurrent_weight": [[1]]}],
    "readout": {"weight": [[2], [9], [-9]], "bias": [0, -1, 2]},
    "answer": {"kind": "threshold", "outputs": ["a", "b", "#"], "end": "#", "threshold": "1/100"},
    "task": "anbn",
}
"""A tanh unit that counts a's and forgets them: it answers after every token."""

STACK = {
    "alphabet": ["push", "pop"],
    "states": ["fine", "broken"],
    "initial_state": "fine",
    "counters": 1,
    "cases": [
        {"token": "push", "update": ["+1"]},
        {"token": "pop", "zero_check": "1", "update": ["-1"]},
        {"token": "pop", "zero_check": "0", "update": ["+0"], "next_state": "broken"},
    ],
    "accepting": [{"state": "fine", "zero_check": "0"}],
}
"""A stack of which only the height counts, whose tokens have long names."""
