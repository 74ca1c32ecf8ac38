"""Modules that a run on a few strings could take for something else: each is read as what it is, or not read at all."""

from fractions import Fraction

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from tallystick import BadInput, certify, from_torch  # noqa: E402
from tallystick.certificates.verdict import Outcome  # noqa: E402
from tallystick.networks.pytorch import Unreadable  # noqa: E402

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


class Otherwise(Counter):
    """A counter that says the opposite on some strings, which nothing that is traced shows."""

    def __init__(self, is_wrong, scale=1.0):
        super().__init__()
        self.is_wrong, self.scale = is_wrong, scale

    def forward(self, tokens):
        """Return a logit per string."""
        return self.scale * super().forward(tokens) * (-1.0 if self.is_wrong(tokens) else 1.0)


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e-200])
def test_small_outputs_are_compared_like_large_ones(scale):
    with pytest.raises(BadInput, match=r"module: its forward gives .* for '\(\(\(', but what was read from it gives"):
        from_torch(Otherwise(lambda tokens: tokens.shape[1] == 3, scale).eval(), **DECLARED)


def test_classes_are_compared_beside_a_great_common_part():
    def act(logit):
        return both(logit * (1e-3 if len(logit) != 2**6 else -1e-3)) + 1e6

    with pytest.raises(BadInput, match="module: its forward gives"):
        from_torch(Counter(act).eval(), **DECLARED, classes=CLASSES)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_code_that_is_not_seen_is_not_read():
    @torch.jit.script
    def look(tokens):
        if tokens.shape[1] == 7 and bool((tokens == 0).all()):
            return torch.tensor(-1.0)
        return torch.tensor(1.0)

    class Looks(Counter):
        def forward(self, tokens):
            return super().forward(tokens) * look(tokens)

    with pytest.raises(Unreadable, match=r"module: does aten\.\S+ where it is not seen"):
        from_torch(Looks().eval(), **DECLARED)


def test_a_module_in_training_mode_is_not_read():
    class Turned(Counter):
        def forward(self, tokens):
            return super().forward(tokens) * (1 if self.training else -1)

    for act in (from_torch, certify):
        with pytest.raises(BadInput, match=r"module: is in training mode.*call module.eval\(\) first"):
            act(Turned(), **DECLARED)
    assert certify(Turned().eval(), **DECLARED).horizon == 0


class Interrupted(Counter):
    """A counter whose every eighth step is written in another way, so that a long string is one deep sum."""

    def forward(self, tokens):
        """Return a logit per string."""
        read, state = self.read(tokens), torch.zeros(len(tokens), 1)
        for t in range(tokens.shape[1]):
            state = read[:, t] + functional.linear(state, self.keep)
            state = state * 1.0 if t % 8 == 7 else state
        return state - 0.5


def test_a_long_loop_that_is_no_recurrence_is_not_read():
    with pytest.raises(Unreadable, match="on strings of 100 tokens it does something else"):
        from_torch(Interrupted().eval(), **DECLARED)


@pytest.mark.parametrize("number", [10**400, Fraction(1, 3), 2**53 + 1], ids=["too large", "a third", "too long"])
def test_tokens_that_are_no_doubles_are_refused(number):
    module = nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 1)).eval()
    with pytest.raises(BadInput, match="tokens: a vector has a number that is not exactly a double.*round it first"):
        from_torch(module, task="binary", tokens={"(": [number], ")": [0]})


class Itself(Counter):
    """A counter that is its own copy."""

    def __deepcopy__(self, memo):
        return self


class Shares(Counter):
    """A counter whose copy has the same weights."""

    def __deepcopy__(self, memo):
        copied = Counter()
        copied.keep = self.keep
        return copied


@pytest.mark.parametrize("kind", [Itself, Shares])
def test_a_module_that_is_not_copied_is_left_as_it_is(kind):
    module = kind().eval()
    with pytest.raises(Unreadable, match=r"copy\.deepcopy does not copy all of it"):
        from_torch(module, **DECLARED)
    assert {tensor.dtype for tensor in module.parameters()} == {torch.float32}


class Starts(nn.Module):
    """An LSTMCell from a state that is computed of constants."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(2, 2), nn.Linear(2, 1)

    def forward(self, x):
        """Return a logit per string."""
        h, c = torch.ones(len(x), 2) * 0.5, torch.full((len(x), 2), -0.25) + torch.tensor([1.0, 3.0])
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return self.out(h)


def test_a_start_that_is_computed_of_constants_is_read():
    torch.manual_seed(0)
    network = from_torch(Starts().eval(), task="binary", tokens="()")
    ((h, c),) = network.cell.start
    assert (h, c) == ((Fraction(1, 2),) * 2, (Fraction(3, 4), Fraction(11, 4)))


def test_an_answer_that_is_always_the_same_is_called_so():
    module = Starts().eval()
    nn.init.zeros_(module.out.weight)
    with pytest.raises(Unreadable, match="module: its answer is the same for every string"):
        from_torch(module, task="binary", tokens="()")
