"""Modules that a run on a few strings could take for something else: each is read as what it is, or not read at all."""

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from tallystick import certify, from_torch  # noqa: E402
from tallystick.certificates.verdict import Outcome  # noqa: E402
from tallystick.networks import Unreadable  # noqa: E402

torch.set_num_threads(1)

DECLARED = {"task": "binary", "tokens": {"(": 0, ")": 1}}
CLASSES = ["ZeroNeg", "Pos"]


class Counter(nn.Module):
    """A linear unit that counts, with the logit n − m − 1/2, and what is done to it."""

    def __init__(self, act=lambda logit: logit, every_step=False):
        super().__init__()
        self.read, self.keep = nn.Embedding(2, 1), nn.Parameter(torch.ones(1, 1))
        self.read.weight.data = torch.tensor([[1.0], [-1.0]])
        self.act, self.every_step = act, every_step

    def forward(self, tokens):
        """Return a logit per string, or per string and step."""
        read, found = self.read(tokens), [torch.zeros(len(tokens), 1)]
        for t in range(tokens.shape[1]):
            found.append(read[:, t] + functional.linear(found[-1], self.keep))
        return self.act((torch.stack(found[1:], 1) if self.every_step else found[-1]) - 0.5)


def both(logit):
    return torch.cat([-logit, logit], -1)


RIGHT = {
    "sigmoid": torch.sigmoid,
    "sigmoid of tanh": lambda logit: torch.sigmoid(torch.tanh(logit)),
    "tanh of tanh": lambda logit: torch.tanh(torch.tanh(logit)),
    "two sigmoids of sigmoids": lambda logit: torch.sigmoid(torch.sigmoid(both(logit))),
    "softmax of tanh": lambda logit: torch.softmax(torch.tanh(both(logit)), -1),
}


@pytest.mark.parametrize("act", RIGHT.values(), ids=RIGHT)
@pytest.mark.parametrize("every_step", [False, True])
def test_what_leaves_the_class_as_it_is_is_left_out(act, every_step):
    module = Counter(act, every_step).eval()
    classes = CLASSES if module(torch.zeros(1, 1, dtype=torch.int64)).shape[-1] > 1 else None
    assert certify(module, **DECLARED, classes=classes).outcome is Outcome.PROVED


@pytest.mark.parametrize("outer", [torch.sigmoid, torch.tanh])
def test_a_sigmoid_below_another_is_not_left_out(outer):
    """The logit of such a module is never negative, so it says nothing but Pos."""
    with pytest.raises(Unreadable, match="sigmoid is read at the very end"):
        from_torch(Counter(lambda logit: outer(torch.sigmoid(logit))).eval(), **DECLARED)


ORDERS = {
    "steps turned round": lambda logits: logits.flip(1),
    "steps turned on": lambda logits: logits.roll(1, 1),
    "strings turned round": lambda logits: logits[:, -1].flip(0),
    "strings turned round, all steps": lambda logits: logits.flip(0),
}


@pytest.mark.parametrize("act", ORDERS.values(), ids=ORDERS)
def test_answers_in_another_order_are_not_read(act):
    with pytest.raises(Unreadable, match="module: returns its answers in another order"):
        from_torch(Counter(act, every_step=True).eval(), **DECLARED)


@pytest.mark.parametrize("act", [lambda logits: logits.transpose(0, 1), lambda logits: logits.flatten()])
def test_answers_in_order_are_read_in_every_shape(act):
    assert certify(Counter(act, every_step=True).eval(), **DECLARED).outcome is Outcome.PROVED
