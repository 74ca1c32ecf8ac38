"""A whole module is read as the network that it is, whatever its parts are called; what is not read is named."""

import copy
import warnings
from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from tallystick import BadInput, from_torch  # noqa: E402
from tallystick.cells import GruCell, LinearCell, LinearLayer, LstmCell, ReluLayer, Stack, TanhCell, TanhLayer, Token  # noqa: E402
from tallystick.networks.pytorch import Unreadable  # noqa: E402

torch.set_num_threads(1)

INDICES = {"(": 0, ")": 1}
VECTORS = {"(": [1, 0], ")": [0, 1]}
BOTH_ENDS = {"<BOS>": 2, "(": 1, ")": 0, "<EOS>": 3}
BINARY, TERNARY = ["ZeroNeg", "Pos"], ["Neg", "Zero", "Pos"]


class Tagger(nn.Module):
    """An embedding, a recurrent module and a linear layer."""

    def __init__(self, kind=nn.LSTM, outputs=2, layers=1, batch_first=True, see="last step", top=None):
        super().__init__()
        self.lookup = nn.Embedding(4, 3)
        self.memory = kind(3, 4, layers, batch_first=batch_first, dropout=0.4 if layers > 1 else 0.0)
        self.forget_some = nn.Dropout(0.3)
        self.verdict = nn.Linear(4, outputs)
        self.see, self.top = see, top

    def forward(self, words):
        """Return logits."""
        steps, state = self.memory(self.forget_some(self.lookup(words)))
        hidden = state[0] if isinstance(state, tuple) else state
        last = steps[:, -1] if self.memory.batch_first else steps[-1]
        seen = {"last step": last, "hidden": hidden[-1]}.get(self.see, steps)
        found = self.verdict(self.forget_some(seen))
        found = self.top(found) if self.top else found
        return (found, state) if self.see == "with state" else found


class CellLoop(nn.Module):
    """A cell in a loop over one-hot tokens."""

    def __init__(self, kind, units=3, learned=False, every_step=False):
        super().__init__()
        self.unit, self.out = kind(2, units), nn.Linear(units, 1)
        self.start = nn.Parameter(torch.randn(1, units)) if learned else None
        self.every_step = every_step

    def forward(self, x):
        """Return one logit per string, or per string and step."""
        h = torch.zeros(x.size(0), self.out.in_features) if self.start is None else self.start.expand(len(x), -1)
        c, found = torch.zeros_like(h), []
        for t in range(x.shape[1]):
            if isinstance(self.unit, nn.LSTMCell):
                h, c = self.unit(x[:, t], (h, c))
            else:
                h = self.unit(x[:, t, :], h)
            found.append(self.out(h))
        return torch.stack(found, dim=1).squeeze(-1) if self.every_step else found[-1].squeeze(1)


class ByHand(nn.Module):
    """The paper's cell: a linear layer over [x, h], or one for x and one for h, with or without a nonlinearity."""

    def __init__(self, units=1, act=None, apart=False):
        super().__init__()
        self.units, self.act, self.apart = units, act, apart
        self.step, self.read, self.keep = nn.Linear(2 + units, units), nn.Linear(2, units), nn.Linear(units, units)
        self.classify = nn.Linear(units, 3)

    def forward(self, x):
        """Return three logits."""
        x = functional.one_hot(x, num_classes=2).float()
        h = x.new_zeros(x.shape[0], self.units)
        for token in x.unbind(1):
            h = self.read(token) + self.keep(h) if self.apart else self.step(torch.cat([token, h], dim=-1))
            h = self.act(h) if self.act else h
        return self.classify(h)


class Diagonal(nn.Module):
    """A linear recurrence with matrices of its own, and no module inside."""

    def __init__(self):
        super().__init__()
        self.decay, self.into, self.weight = (nn.Parameter(torch.randn(*shape) / 2) for shape in ((3,), (2, 3), (3, 3)))

    def forward(self, x):
        """Return three logits."""
        h = torch.zeros(len(x), 3, dtype=x.dtype)
        for t in range(x.shape[1]):
            h = self.decay * h + x[:, t] @ self.into
        return h @ self.weight.t() - 0.25


class InPlace(nn.Module):
    """A loop that adds to its state in place and collects its steps in a tensor, from a learned state of two layers."""

    def __init__(self):
        super().__init__()
        self.start = nn.ParameterList([nn.Parameter(torch.randn(2, 1, 3)) for _ in range(2)])
        self.lstm, self.read, self.out = nn.LSTM(2, 3, 2, batch_first=True), nn.Linear(3, 2), nn.Linear(2, 2)

    def forward(self, x):
        """Return the logits of the last step."""
        h, c = (start.expand(-1, len(x), -1).contiguous() for start in self.start)
        steps, (h, c) = self.lstm(2 * x - 1, (h, c))
        found = torch.empty(len(x), x.shape[1], 2)
        for t in range(x.shape[1]):
            now = self.read(steps[:, t])
            now += 1
            now.mul_(0.5)
            found[:, t] = torch.clamp(now, min=0)
        return self.out(nn.ReLU(inplace=True)(found[:, -1] - 0.5))


class ThreeInOneLoop(nn.Module):
    """A linear recurrence that adds up, an LSTMCell and a GRUCell above it, all in one loop."""

    def __init__(self):
        super().__init__()
        self.read, self.first, self.second = nn.Linear(2, 3), nn.LSTMCell(3, 2), nn.GRUCell(2, 3)
        self.start, self.out = nn.Parameter(torch.randn(3)), nn.Linear(3, 3)

    def forward(self, x):
        """Return three logits."""
        total, upper = torch.zeros(len(x), 3), self.start.unsqueeze(0).repeat(len(x), 1)
        lower = (torch.ones(len(x), 2), torch.zeros(len(x), 2))
        for t in range(x.shape[1]):
            total = total + self.read(x[:, t])
            lower = self.first(total, lower)
            upper = self.second(lower[0], upper)
        return self.out(upper)


class StepByStep(nn.Module):
    """An nn.GRU that is called once per token, its state handed on, in a module for a single string."""

    def __init__(self):
        super().__init__()
        self.gru, self.head = nn.GRU(2, 3, num_layers=2), nn.Linear(3, 1)

    def forward(self, x):
        """Return the logits of all steps."""
        hidden, found = None, []
        for token in x:
            out, hidden = self.gru(token.view(1, 1, -1), hidden)
            found.append(self.head(out[0, 0]))
        return torch.cat(found)


class Twice(Tagger):
    """A tagger that runs its recurrence twice on the same, and names all arguments."""

    def forward(self, words):
        """Return logits, the second first."""
        first = self.memory(nn.functional.embedding(input=words, weight=self.lookup.weight))[0]
        second = self.memory(self.lookup(words))[0]
        steps = torch.cat(tensors=[first[..., :2], second[..., 2:]], dim=-1)
        logits = functional.linear(input=steps[:, -1], weight=self.verdict.weight)
        return torch.stack([logits[:, 1], logits[:, 0]], dim=1)


def front_and_head():
    """Nonlinear layers before and after the recurrence."""
    return Wrapped(
        nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 3)),
        nn.RNN(3, 3, 2, nonlinearity="relu"),
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3), nn.Linear(3, 2), nn.LogSoftmax(dim=-1)),
    )


class Wrapped(nn.Module):
    """What comes before, the recurrence, and what comes after."""

    def __init__(self, before, recurrence, after):
        super().__init__()
        self.parts = nn.ModuleList([before, recurrence, after])

    def forward(self, x):
        """Return the answers of all steps."""
        before, recurrence, after = self.parts
        steps, _ = recurrence(before(x))
        return after(steps)


FORMS = {
    "embedding, LSTM, two logits": (Tagger, INDICES, BINARY, LstmCell),
    "time first": (lambda: Tagger(batch_first=False), INDICES, BINARY, LstmCell),
    "reversed tokens and classes": (Tagger, {"(": 3, ")": 1}, ["Pos", "ZeroNeg"], LstmCell),
    "two layers and h_n": (lambda: Tagger(layers=2, see="hidden"), INDICES, BINARY, Stack),
    "GRU, all steps": (lambda: Tagger(nn.GRU, 3, see="steps"), INDICES, TERNARY, GruCell),
    "GRU, all steps, time first": (lambda: Tagger(nn.GRU, 3, 2, False, "steps"), INDICES, TERNARY, Stack),
    "RNN, with its state": (lambda: Tagger(nn.RNN, see="with state"), INDICES, BINARY, TanhLayer),
    "LSTM, with its state": (lambda: Tagger(see="with state"), INDICES, BINARY, LstmCell),
    "softmax": (lambda: Tagger(top=nn.Softmax(dim=1)), INDICES, BINARY, LstmCell),
    "sigmoid": (lambda: Tagger(outputs=1, top=torch.sigmoid), INDICES, None, LstmCell),
    "BOS and EOS": (Tagger, BOTH_ENDS, BINARY, Stack),
    "LSTMCell": (lambda: CellLoop(nn.LSTMCell), VECTORS, None, LstmCell),
    "GRUCell from a learned state": (lambda: CellLoop(nn.GRUCell, learned=True), VECTORS, None, Stack),
    "RNNCell, every step": (lambda: CellLoop(nn.RNNCell, every_step=True), "()", None, TanhLayer),
    "RNNCell of one unit": (lambda: CellLoop(nn.RNNCell, units=1), ")(", None, TanhCell),
    "the paper's cell": (ByHand, INDICES, TERNARY, LinearCell),
    "linear over [x, h]": (lambda: ByHand(4), INDICES, TERNARY, LinearLayer),
    "tanh over [x, h]": (lambda: ByHand(3, torch.tanh), INDICES, TERNARY, TanhLayer),
    "relu of W·x + U·h": (lambda: ByHand(3, functional.relu, apart=True), INDICES, TERNARY, ReluLayer),
    "linear W·x + U·h": (lambda: ByHand(2, apart=True), INDICES, TERNARY, LinearLayer),
    "own matrices": (Diagonal, VECTORS, TERNARY, LinearLayer),
    "in place, from a learned state": (InPlace, VECTORS, BINARY, Stack),
    "a string at a time": (StepByStep, VECTORS, None, Stack),
    "three in one loop": (ThreeInOneLoop, VECTORS, TERNARY, Stack),
    "twice": (Twice, INDICES, BINARY, LstmCell),
    "front and head": (front_and_head, {"(": [1, 0.5], ")": [0.25, -2]}, BINARY, Stack),
}


def read(build, tokens, classes, seed=0):
    torch.manual_seed(seed)
    module = build().eval()
    task = "ternary" if classes == TERNARY else "binary"
    return module, from_torch(module, tokens=tokens, task=task, classes=classes)


def encoded(string, tokens, axis):
    """Return all strings as the module reads them: indices or one-hot vectors, with the ends that are declared."""
    if isinstance(tokens, str):
        tokens = {token: [float(token == other) for other in tokens] for token in tokens}
    ends = [[tokens[name]] if name in tokens else [] for name in ("<BOS>", "<EOS>")]
    rows = [[*ends[0], *(tokens[token] for token in one), *ends[1]] for one in string]
    found = torch.tensor(rows) if isinstance(rows[0][0], int) else torch.tensor(rows, dtype=torch.float64)
    return found.transpose(0, 1) if axis else found


def own_outputs(module, strings, tokens):
    """Return the module's own answers, computed in doubles, one row per string."""
    time_first = any(isinstance(m, nn.RNNBase) and not m.batch_first for m in module.modules())
    with torch.no_grad():
        if isinstance(module, StepByStep):
            return np.array([[module(encoded([one], tokens, 0)[0])[-1]] for one in strings])
        found = module(encoded(strings, tokens, time_first))
    found = found[0] if isinstance(found, tuple) else found
    if found.ndim == 3 or (found.ndim == 2 and getattr(module, "every_step", False)):
        found = found[-1] if time_first else found[:, -1]
    return found.reshape(len(strings), -1).numpy()


def read_outputs(network, strings):
    """Return what was read, computed in doubles."""
    cell = network.in_arithmetic("float64").cell
    state = cell.initial_state
    for token in np.array([list(string) for string in strings]).T:
        state = cell.step(state, Token(1.0 * (token == "("), 1.0 * (token == ")")))
    outputs = network.in_arithmetic("float64").readout.outputs(cell.hidden(state))
    return np.stack([np.broadcast_to(one, len(strings)) for one in outputs], axis=1)


def decided(outputs, on_top):
    """Do what stands on top of the outputs that are read."""
    return {
        nn.LogSoftmax: lambda x: functional.log_softmax(x, -1),
        nn.Softmax: lambda x: functional.softmax(x, -1),
    }.get(type(on_top), on_top or (lambda x: x))(torch.tensor(outputs)).numpy()


@pytest.mark.parametrize(("build", "tokens", "classes", "kind"), FORMS.values(), ids=FORMS)
def test_what_is_read_computes_what_the_module_does_on_every_string(build, tokens, classes, kind, monkeypatch):
    module, network = read(build, tokens, classes)
    assert isinstance(network.cell, kind)
    assert [str(name) for name in network.task.classes] == (classes or BINARY)
    doubles = copy.deepcopy(module).double()
    monkeypatch.setattr(torch, "float32", torch.float64)
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    on_top = module.parts[2][-1] if isinstance(module, Wrapped) else getattr(module, "top", None)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        for length in (1, 2, 3, 8):
            strings = ["".join(tokens) for tokens in product("()", repeat=length)]
            found = decided(read_outputs(network, strings), on_top)
            np.testing.assert_allclose(found, own_outputs(doubles, strings, tokens), rtol=1e-9, atol=1e-11)
    finally:
        torch.set_default_dtype(default)


def test_a_module_is_left_as_it_was():
    torch.manual_seed(3)
    module = Tagger(layers=2).eval()
    before = copy.deepcopy(module.state_dict())
    modes = [part.training for part in module.modules()]
    drawn = torch.get_rng_state()
    from_torch(module, tokens=INDICES, task="binary", classes=BINARY)
    assert modes == [part.training for part in module.modules()]
    assert torch.equal(drawn, torch.get_rng_state())
    assert torch.get_default_dtype() == torch.float32
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())


def test_the_weights_are_exact():
    module, network = read(lambda: CellLoop(nn.LSTMCell), VECTORS, None)
    assert network.cell == from_torch(module.unit, module.out).cell
    assert network.readout == from_torch(module.unit, module.out).readout


class Changed(Tagger):
    """A tagger that does something else at the end or the beginning."""

    def __init__(self, change):
        super().__init__()
        self.change, self.calls = change, 0

    def forward(self, words):
        """Return logits."""
        return self.change(self, words, super().forward)


def in_turns(module, words, forward):
    module.calls += 1
    return forward(words) * (1 if module.calls % 2 else -1)


def by_length(module, words, forward):
    return forward(words) * (1 if words.shape[1] < 7 else 2)


def window(module, words, forward):
    """Read no more than the last ninety tokens, which changes the numbers in their last digits alone."""
    return forward(words[:, -90:])


def noisy(module, words, forward):
    """Start from a random state, the same for every string of a batch."""
    state = tuple(torch.randn(1, 1, 4).expand(-1, len(words), -1).contiguous() for _ in range(2))
    return module.verdict(module.memory(module.lookup(words), state)[0][:, -1])


def stateful(module, words, forward):
    """Go on from the state of the call before, where it fits."""
    before = getattr(module, "state", None)
    fits = before is not None and before[0].shape[1] == len(words)
    steps, module.state = module.memory(module.lookup(words), before if fits else None)
    return module.verdict(steps[:, -1])


class OneShort(Tagger):
    """A tagger that fails on strings of one token, where squeeze takes an axis too many."""

    def forward(self, words):
        """Return logits."""
        steps, _ = self.memory(self.lookup(words))
        return self.verdict(steps.squeeze()[:, -1, :])


class Lengths(nn.Module):
    """A module that wants to know how long each string is."""

    def __init__(self):
        super().__init__()
        self.inner = Tagger()

    def forward(self, words, lengths):
        """Return logits."""
        return self.inner(words) + 0 * lengths.sum()


class Packed(Tagger):
    """A tagger that packs its strings."""

    def forward(self, words):
        """Return logits."""
        lengths = torch.full((len(words),), words.shape[1])
        packed = nn.utils.rnn.pack_padded_sequence(self.lookup(words), lengths, batch_first=True)
        _, (hidden, _) = self.memory(packed)
        return self.verdict(hidden[-1])


class Attention(nn.Module):
    """A recurrence under a layer that looks at all steps."""

    def __init__(self):
        super().__init__()
        self.inner, self.look = Tagger(see="steps", outputs=4), nn.MultiheadAttention(4, 1, batch_first=True)
        self.out = nn.Linear(4, 2)

    def forward(self, words):
        """Return logits."""
        steps = self.inner(words)
        return self.out(self.look(steps, steps, steps)[0][:, -1])


UNREADABLE = {
    "attention": (
        Attention,
        r"look: torch.nn.functional.multi_head_attention_forward is not read; ts\.certify\(module",
    ),
    "backwards": (
        lambda: Changed(lambda m, x, f: f(x.flip(1))),
        "memory: its state is not what it was one token before",
    ),
    "both directions": (lambda: with_memory(nn.LSTM(3, 2, batch_first=True, bidirectional=True)), "in both directions"),
    "projection": (
        lambda: with_memory(nn.LSTM(3, 6, batch_first=True, proj_size=4)),
        r"projects its state \(proj_size\)",
    ),
    "packed": (Packed, "_pack_padded_sequence is not read"),
    "a look at a number": (
        lambda: Changed(lambda m, x, f: f(x) if f(x).sum() > 0 else -f(x)),
        r"Tensor.sum is not read",
    ),
    "the mean of all steps": (lambda: Tagger(see="steps", top=lambda steps: steps.mean(1)), "Tensor.mean is not read"),
    "a product": (lambda: Changed(lambda m, x, f: f(x) * f(x)), "multiplies two numbers that depend on the string"),
    "layer norm": (lambda: Tagger(top=nn.LayerNorm(2)), "top: torch.nn.functional.layer_norm is not read"),
    "computed weights": (
        lambda: Changed(lambda m, x, f: f(x) @ m.verdict.weight[:, :2].cumsum(0)),
        "computes weights from others",
    ),
    "a middle sigmoid": (
        lambda: Tagger(top=nn.Sequential(nn.Sigmoid(), nn.Linear(2, 2))),
        "sigmoid is read at the very end",
    ),
    "the memory c": (lambda: Changed(lambda m, x, f: m.verdict(m.memory(m.lookup(x))[1][1][-1])), "reads the memory c"),
    "a skip connection": (
        lambda: Changed(lambda m, x, f: m.verdict(torch.cat([m.lookup(x)[:, -1], f(x)], 1)[:, :4])),
        "verdict: reads both the torch.lstm of memory and the token",
    ),
    "no recurrence": (
        lambda: nn.Sequential(nn.Embedding(2, 3), nn.Linear(3, 2)),
        "nothing in it goes from token to token",
    ),
    "many units": (lambda: with_memory(nn.GRU(3, 65, batch_first=True)), "more than 64 units"),
}


def with_memory(memory):
    module = Tagger()
    module.memory, module.verdict = memory, nn.LazyLinear(2)
    module(torch.zeros(1, 1, dtype=torch.int64))
    return module


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize(("build", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_not_read_is_named(build, message):
    with pytest.raises(Unreadable, match=message) as refusal:
        read(build, INDICES, BINARY)
    assert "upto=N" in str(refusal.value)
    assert refusal.value.reason in str(refusal.value)


@pytest.mark.parametrize("change", [in_turns, by_length, noisy], ids=lambda change: change.__name__)
def test_a_module_that_answers_otherwise_is_refused_with_a_string(change):
    with pytest.raises(BadInput, match=r"module: its forward gives .* for '[()]+', but what was read from it gives"):
        read(lambda: Changed(change), INDICES, BINARY)


def test_a_module_that_reads_the_end_of_long_strings_alone_is_refused():
    with pytest.raises(Unreadable, match=r"module: on strings of 100 tokens it does something else"):
        read(lambda: Changed(window), INDICES, BINARY)


def test_rounding_that_grows_is_no_difference():
    """A chaotic network: after a hundred tokens two orders of adding up agree in no digit."""
    torch.manual_seed(0)
    module = CellLoop(nn.RNNCell, units=8).eval()
    with torch.no_grad():
        module.unit.weight_hh.mul_(9)
    assert isinstance(from_torch(module, tokens=VECTORS, task="binary").cell, TanhLayer)


def test_a_module_that_keeps_its_state_is_refused_with_a_string():
    with pytest.raises(BadInput, match=r"module: on '[()]+' it does something else than on other strings") as refusal:
        read(lambda: Changed(stateful), INDICES, BINARY)
    assert not isinstance(refusal.value, Unreadable)


def test_a_module_that_fails_on_a_string_is_refused_with_it():
    with pytest.raises(BadInput, match=r"module: its forward fails on '[()]': IndexError"):
        read(OneShort, INDICES, BINARY)


@pytest.mark.long
def test_a_wrapped_module_is_refused_at_once():
    with pytest.raises(BadInput, match="module: torch.compile has wrapped it"):
        read(lambda: torch.compile(Tagger(), backend="eager"), INDICES, BINARY)


def test_a_compiled_module_is_refused_at_once():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(Tagger().eval(), torch.zeros(2, 3, dtype=torch.int64), check_trace=False)
    with pytest.raises(Unreadable, match="module: TorchScript has compiled it"):
        from_torch(traced, tokens=INDICES, task="binary", classes=BINARY)


def test_weights_of_zero_are_weights():
    module = Tagger(nn.GRU).eval()
    with torch.no_grad():
        module.memory.weight_hh_l0.zero_()
    network = from_torch(module, tokens=INDICES, task="binary", classes=BINARY)
    assert isinstance(network.cell, GruCell)


def test_semi_dyck_1_is_read_for_cells_of_one_unit():
    declared = {"tokens": VECTORS, "task": "semidyck1"}
    assert isinstance(from_torch(CellLoop(nn.RNNCell, units=1).eval(), **declared).cell, TanhCell)
    with pytest.raises(Unreadable, match="task: 'semidyck1' is decided for cells of one unit"):
        from_torch(CellLoop(nn.RNNCell).eval(), **declared)


def test_other_tokens_and_other_questions_are_not_read():
    module = Tagger().eval()
    for task, tokens in (("anbncn", {"a": 0, "b": 1, "c": 2}), ("dyck1", INDICES)):
        with pytest.raises(Unreadable, match=f"task: '{task}' is not decided by the count"):
            from_torch(module, tokens=tokens, task=task, classes=["rejected", "accepted"])


QUESTIONS = {
    "nothing": ({}, "task: missing"),
    "no tokens": ({"task": "binary"}, "tokens: missing"),
    "no classes": ({"task": "binary", "tokens": INDICES}, "classes: missing; say which output is which"),
    "too few outputs": (
        {"task": "ternary", "tokens": INDICES, "classes": TERNARY},
        "'ternary' has 3 classes.*return one output per",
    ),
    "vectors for an embedding": (
        {"task": "binary", "tokens": VECTORS, "classes": BINARY},
        "module: forward fails on vectors of 2 numbers, strings × tokens: RuntimeError.*; say tokens= as it reads them",
    ),
    "an index too high": (
        {"task": "binary", "tokens": {"(": 0, ")": 9}, "classes": BINARY},
        "module: forward fails on indices, strings × tokens: IndexError",
    ),
}


@pytest.mark.parametrize(("declared", "message"), QUESTIONS.values(), ids=QUESTIONS)
def test_what_is_not_declared_is_asked_for(declared, message):
    with pytest.raises(BadInput, match=message) as question:
        from_torch(Tagger().eval(), **declared)
    assert not isinstance(question.value, Unreadable)
    assert "\n" not in str(question.value)


REFUSED = {
    "dropout": (
        lambda: Tagger(top=lambda logits: functional.dropout(logits, 0.1)).eval(),
        "module: dropout is switched on.*call module.eval",
    ),
    "a part in training mode": (
        lambda: (m := Tagger(layers=2).eval(), m.memory.train())[0],
        "module: is in training mode.*call module.eval",
    ),
    "hook": (lambda: hooked(Tagger().eval()), r"module\.verdict: the forward hook .* remove it first"),
    "weight norm": (lambda: normed(Tagger().eval()), r"module\.verdict: its weight is parametrised"),
    "arguments": (
        lambda: Lengths().eval(),
        r"module: the forward of Lengths cannot be called with the tokens alone \(missing a required argument: 'lengths'\); hand",
    ),
    "no forward": (
        lambda: nn.ModuleList([Tagger()]).eval(),
        "module: ModuleList has no forward; hand in a module whose",
    ),
    "two answers": (
        lambda: Changed(lambda m, x, f: (f(x), -f(x))).eval(),
        "module: returns 2 different tensors of 2 outputs that could be the answer",
    ),
    "softmax of one": (lambda: Tagger(outputs=1, top=nn.Softmax(dim=1)).eval(), "softmax of one output is always 1"),
}


def hooked(module):
    module.verdict.register_forward_hook(lambda *_: None)
    return module


def normed(module):
    nn.utils.parametrizations.weight_norm(module.verdict)
    return module


@pytest.mark.parametrize(("build", "message"), REFUSED.values(), ids=REFUSED)
def test_what_leaves_a_doubt_is_refused(build, message):
    module = build()
    classes = None if message.startswith("softmax") else BINARY
    with pytest.raises(BadInput, match=message) as refusal:
        from_torch(module, tokens=INDICES, task="binary", classes=classes)
    assert not isinstance(refusal.value, Unreadable)


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("layers", [1, 2])
def test_a_cell_and_a_readout_are_read_as_the_module_that_runs_them(kind, layers):
    torch.manual_seed(5)
    cell, readout = kind(2, 3, layers), nn.Linear(3, 3)
    network = from_torch(cell, readout)
    strings = ["".join(tokens) for tokens in product("()", repeat=6)]
    with torch.no_grad():
        steps, _ = copy.deepcopy(cell).double()(encoded(strings, {"(": [1.0, 0.0], ")": [0.0, 1.0]}, axis=1))
        expected = copy.deepcopy(readout).double()(steps[-1]).numpy()
    np.testing.assert_allclose(read_outputs(network, strings), expected, rtol=1e-9, atol=1e-11)
    reversed_network = from_torch(cell, readout, tokens=")(", task="ternary", classes=TERNARY[::-1])
    swapped = [string.translate(str.maketrans("()", ")(")) for string in strings]
    np.testing.assert_allclose(read_outputs(reversed_network, swapped), expected, rtol=1e-9, atol=1e-11)
    assert [str(name) for name in reversed_network.task.classes] == TERNARY[::-1]
