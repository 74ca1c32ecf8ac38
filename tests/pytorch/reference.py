"""The oracle for the training loop: the same training by PyTorch's autograd and its own Adam, in float64.

Nothing here is shared with the package, so that an error would have to be made twice.
"""

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")


def last_state(string, weights):
    """Return h after the whole string, token by token from h = 0."""
    h = torch.zeros((), dtype=torch.float64)
    for token in string:
        # Both weights take part in every token, one of them times zero: a weight left out would have no gradient at all,
        # and Adam passes over such a weight, where a gradient of zero lets its moments carry it on.
        inputs = (token == "(") * weights["open_weight"] + (token == ")") * weights["close_weight"]
        h = inputs + weights["recurrent_weight"] * h
        if weights["cell_bias"] is not None:
            h = h + weights["cell_bias"]
    return h


def outputs_for(string, weights):
    """Return v·h + c after the last token, an entry an output."""
    outputs = weights["readout_weight"] * last_state(string, weights)
    return outputs if weights["readout_bias"] is None else outputs + weights["readout_bias"]


def binary_cross_entropy(outputs, target):
    """Cross-entropy of the sigmoid; the target is 0 or 1."""
    return torch.nn.functional.binary_cross_entropy(torch.sigmoid(outputs), torch.tensor([float(target)]).double())


def cross_entropy(outputs, target):
    """Ordinary cross-entropy of the outputs; the target is the number of the class."""
    return torch.nn.functional.cross_entropy(outputs, torch.tensor(int(target)))


def doubled_softmax(outputs, target):
    """Cross-entropy that takes the softmax's shares for outputs, as the paper's did; the target is the number of the class."""
    return cross_entropy(torch.softmax(outputs, dim=0), target)


def squared_error(outputs, target):
    """The square of what is missing to the count."""
    return (outputs[0] - float(target)) ** 2


LOSSES = {loss.__name__: loss for loss in (binary_cross_entropy, cross_entropy, doubled_softmax, squared_error)}


def as_tensors(**weights):
    """Return the weights as float64 tensors that gradients are taken by; None stays None."""
    return {
        name: None if value is None else torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for name, value in weights.items()
    }


def reference_training(strings, targets, *, objective, epochs=100, learning_rate=0.005, **initial):
    """Train one network, a string a step in the order given, and return its final weights.

    Args:
        strings: the training set.
        targets: one a string: 0 or 1 for "binary_cross_entropy", the class's number for "cross_entropy" and
            "doubled_softmax", the count for "squared_error".
        objective: a name from `LOSSES`.
        epochs: passes over the set.
        learning_rate: Adam's.
        initial: `open_weight`, `close_weight`, `recurrent_weight` (numbers), `cell_bias` (a number or None),
            `readout_weight` (a list) and `readout_bias` (a list or None).

    Returns:
        The final weights under the names of the initial ones.
    """
    weights = as_tensors(**initial)
    adam = torch.optim.Adam([weight for weight in weights.values() if weight is not None], lr=learning_rate)
    for _ in range(epochs):
        for string, target in zip(strings, targets, strict=True):
            adam.zero_grad()
            LOSSES[objective](outputs_for(string, weights), target).backward()
            adam.step()
    return {name: None if weight is None else weight.tolist() for name, weight in weights.items()}
