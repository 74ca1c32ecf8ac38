"""Modules run on every string, against a plain loop that calls them string by string."""

from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402

import tallystick as ts  # noqa: E402
from tallystick.certificates.verdict import Outcome  # noqa: E402
from tallystick.languages.tasks import ready_task  # noqa: E402

INDICES = {"task": "binary", "tokens": {"(": 0, ")": 1}}
VECTORS = {"(": [1, 0], ")": [0, 1]}
CLASSES = {"binary": ["ZeroNeg", "Pos"], "ternary": ["Neg", "Zero", "Pos"], "dyck1": ["rejected", "accepted"]}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Whole(nn.Module):
    """A recurrent layer and a readout of its last state, as a user would write it."""

    def __init__(self, kind, hidden=4, outputs=1, *, batch_first=True, embeds=None):
        super().__init__()
        self.embed = nn.Embedding(*embeds) if embeds else nn.Identity()
        self.layer = kind(embeds[1] if embeds else 2, hidden, batch_first=batch_first)
        self.readout = nn.Linear(hidden, outputs)

    def forward(self, x):
        """Read the last step."""
        states, _ = self.layer(self.embed(x))
        return self.readout(states[:, -1] if self.layer.batch_first else states[-1])


class Transformer(nn.Module):
    """Two layers, 32 dimensions, learned positions."""

    def __init__(self, tokens, outputs, *, causal=False, longest=32):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(tokens, 32), nn.Embedding(longest, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.readout, self.causal = nn.Linear(32, outputs), causal

    def forward(self, x):
        """Read the last position."""
        length = x.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length) if self.causal else None
        hidden = self.encoder(self.tokens(x) + self.positions(torch.arange(length)), mask=mask)
        return self.readout(hidden[:, -1])


def horizon_string_by_string(module, task, encode, upto, threshold=0.0):
    """Call a module with one string at a time; the horizon, and the failing strings of the next length."""
    for length in range(1, upto + 1):
        failing = []
        for string in map("".join, product(task.alphabet, repeat=length)):
            with torch.no_grad():
                outputs = module(encode(string)).reshape(-1).tolist()
            index = int(outputs[0] > threshold) if len(outputs) == 1 else int(np.argmax(outputs))
            if task.classes[index] != task.right_class(string):
                failing.append(string)
        if failing:
            return length - 1, failing
    return upto, []


def one_hot(string):
    return torch.tensor([[VECTORS[token] for token in string]], dtype=torch.float32)


def check(verdict, expected):
    horizon, failing = expected
    assert (verdict.arithmetic, verdict.horizon) == ("as executed", horizon)
    assert (verdict.failure.string in failing) if failing else verdict.outcome is Outcome.BOUNDED


@pytest.mark.parametrize("task", ["binary", "ternary"])
@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_random_modules_have_the_horizon_of_a_plain_loop(kind, task):
    for seed in range(12):
        torch.manual_seed(seed)
        module = Whole(kind, 4, 1 if task == "binary" else 3).eval()
        with torch.no_grad():  # a state that adds up the tokens, so that some modules are right on a few lengths
            module.layer.weight_hh_l0 += torch.eye(4).repeat(len(module.layer.weight_hh_l0) // 4, 1) * (seed % 3) / 2
            module.layer.weight_ih_l0[:, 0] += 0.5 * (seed % 4)
            module.layer.weight_ih_l0[:, 1] -= 0.5 * (seed % 4)
            module.readout.weight[-1].abs_()
            module.readout.weight[0] *= 1 if task == "binary" else -1
        threshold = 0 if task == "binary" else None
        verdict = ts.certify(module, task=task, tokens=VECTORS, classes=CLASSES[task], threshold=threshold, upto=8)
        check(verdict, horizon_string_by_string(module, ready_task(task), one_hot, 8))


def counter(**options):
    """An RNN that counts for a while: relu units that add up openings and closings with a leak."""
    module = Whole(nn.RNN, 2, **options)
    module.layer.nonlinearity, module.layer.mode = "relu", "RNN_RELU"
    with torch.no_grad():
        module.layer.weight_ih_l0.copy_(torch.eye(2))
        module.layer.weight_hh_l0.copy_(0.97 * torch.eye(2))
        for bias in (module.layer.bias_ih_l0, module.layer.bias_hh_l0, module.readout.bias):
            bias.zero_()
        module.readout.weight.copy_(torch.tensor([[1.0, -1.0]]))
    return module.eval()


@pytest.mark.parametrize("tokens", ["()", {"(": 0, ")": 1}, VECTORS])
@pytest.mark.parametrize("batch_first", [True, False])
def test_a_module_gets_what_it_reads(batch_first, tokens):
    module = counter(batch_first=batch_first)
    verdict = ts.certify(module, task="binary", tokens=tokens, upto=8)
    check(verdict, horizon_string_by_string(counter(), ready_task("binary"), one_hot, 8))
    assert verdict.model.called_with == f"vectors ({'batch, length' if batch_first else 'length, batch'}, 2)"


def test_a_module_that_answers_after_each_token_with_the_length_first_is_not_misread():
    class Steps(Whole):
        def forward(self, x):
            return self.readout(self.layer(x)[0])

    module = Steps(nn.RNN, 2, batch_first=False)
    module.load_state_dict(counter().state_dict())
    module.layer.nonlinearity, module.layer.mode = "relu", "RNN_RELU"
    verdict = ts.certify(module.eval(), task="binary", tokens=VECTORS, upto=8)
    check(verdict, horizon_string_by_string(counter(), ready_task("binary"), one_hot, 8))


def test_a_module_in_double_precision_gets_doubles():
    module = counter().double()
    verdict = ts.certify(module, task="binary", tokens=VECTORS, upto=8)
    check(verdict, horizon_string_by_string(module, ready_task("binary"), lambda s: one_hot(s).double(), 8))


class Sums(nn.Module):
    """A sum of numbers, in a kind of floats."""

    def __init__(self, dtype):
        super().__init__()
        self.register_buffer("place", torch.tensor([1]))
        self.register_buffer("weight", torch.ones(1, 1, dtype=dtype))

    def forward(self, x):
        """Add from left to right."""
        return torch.cumsum(x, 1)[:, -1] @ self.weight


def test_a_module_in_double_precision_gets_the_very_numbers_that_are_declared():
    def encode(string):
        return torch.tensor([[[0.1] if token == "(" else [-0.1] for token in string]], dtype=torch.float64)

    module = Sums(torch.float64).eval()
    verdict = ts.certify(module, task="binary", tokens={"(": [0.1], ")": [-0.1]}, upto=8)
    check(verdict, horizon_string_by_string(module, ready_task("binary"), encode, 8))
    assert verdict.horizon == 5


@pytest.mark.parametrize(
    ("dtype", "numbers", "message"),
    [
        (torch.float32, (16777217, 16777216), "are both [16777216.0] in float32"),
        (torch.bfloat16, (1.0001, 1), "are both [1.0] in bfloat16"),
        (torch.float32, (1e39, 0), "beyond float32"),
        (torch.float16, (0, 1e5), "beyond float16"),
        (torch.float64, (10**400, 0), "'('[0] is not a double"),
    ],
)
def test_tokens_that_a_module_cannot_tell_apart_are_refused(dtype, numbers, message):
    with pytest.raises(ts.BadInput) as refused:
        ts.certify(Sums(dtype).eval(), task="binary", tokens={"(": [numbers[0]], ")": [numbers[1]]}, upto=4)
    assert message in str(refused.value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_module_in_half_precision_is_run(dtype):
    class Sum(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.tensor([1.0, -1.0], dtype=dtype))

        def forward(self, x):
            assert x.dtype == dtype
            return (x @ self.weight).sum(dim=1)

    assert ts.certify(Sum().eval(), task="binary", tokens=VECTORS, upto=6).outcome is Outcome.BOUNDED


@pytest.mark.parametrize("causal", [True, False])
def test_a_small_transformer_has_a_horizon_as_executed(causal):
    tokens = {"<BOS>": 2, "(": 0, ")": 1, "<EOS>": 3}

    def encode(string):
        return torch.tensor([[2, *(tokens[token] for token in string), 3]])

    for seed in range(3):
        torch.manual_seed(seed)
        module = Transformer(4, 2, causal=causal).eval()
        verdict = ts.certify(module, task="dyck1", tokens=tokens, classes=CLASSES["dyck1"], upto=6)
        check(verdict, horizon_string_by_string(module, ready_task("dyck1"), encode, 6))
        assert verdict.model.called_with == "indices (batch, length)"


def test_a_transformer_that_learned_short_strings_is_right_on_those():
    torch.manual_seed(0)
    tokens, module = {"(": 0, ")": 1}, Transformer(2, 1, longest=6)
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    optimizer = torch.optim.Adam(module.parameters(), lr=5e-3)
    strings = [torch.tensor(list(product((0, 1), repeat=length))) for length in (1, 2, 3)]
    for _ in range(40):
        optimizer.zero_grad()
        for x in strings:
            right = (x.sum(dim=1) * 2 < x.shape[1]).float()
            nn.functional.binary_cross_entropy_with_logits(module(x)[:, 0], right).backward()
        optimizer.step()
    with pytest.raises(ts.BadInput, match=r"call module.eval\(\)"):
        ts.certify(module, task="binary", tokens=tokens)
    verdict = ts.certify(module.eval(), task="binary", tokens=tokens, upto=9)
    assert verdict.horizon >= 3
    assert verdict.failure or "IndexError" in verdict.reason

    def encode(string):
        return torch.tensor([[tokens[token] for token in string]])

    upto = verdict.failure.length if verdict.failure else verdict.horizon
    check(verdict, horizon_string_by_string(module, ready_task("binary"), encode, upto))


def test_four_tokens_with_marks_are_read():
    torch.manual_seed(3)
    tokens = {"a": 0, "b": 1, "c": 2, "<BOS>": 3, "<EOS>": 4}
    module = Whole(nn.GRU, 8, 2, embeds=(5, 3)).eval()
    with torch.no_grad():
        module.readout.bias.copy_(torch.tensor([5.0, 0.0]))  # rejects everything, which is right up to length 2
    verdict = ts.certify(module, task="anbncn", tokens=tokens, classes=["rejected", "accepted"], upto=4)
    assert (verdict.horizon, verdict.failure.string) == (2, "abc")


class States(nn.Module):
    """A module that exposes its state."""

    def __init__(self, whole):
        super().__init__()
        self.whole = whole

    def start(self, batch):
        """Begin with zeros."""
        return torch.zeros(1, batch, 2)

    def step(self, state, tokens):
        """Read one token of each string."""
        return self.whole.layer(tokens[:, None], state)[1]

    def outputs(self, state):
        """Read the state out."""
        return self.whole.readout(state[0])


def test_a_module_that_exposes_its_state_gets_the_same_verdict():
    whole = ts.certify(counter(), task="binary", tokens=VECTORS, upto=14)
    shared = ts.certify(States(counter()).eval(), task="binary", tokens=VECTORS, upto=14)
    assert (shared.outcome, shared.horizon) == (whole.outcome, whole.horizon)


class Both(States):
    """One that has a forward too, which may be another."""

    def forward(self, x):
        """Call the module."""
        return self.whole(x)


def test_the_state_and_the_forward_of_a_module_are_to_agree():
    module = Both(counter()).eval()
    verdict = ts.certify(module, task="binary", tokens=VECTORS, upto=8)
    assert verdict.model.way.by_state
    module.outputs = lambda state: -States.outputs(module, state)
    with pytest.raises(ts.BadInput, match="by start, step and outputs"):
        ts.certify(module, task="binary", tokens=VECTORS, upto=8)
    module.step = lambda tokens: tokens  # something else of that name
    verdict = ts.certify(module, task="binary", tokens=VECTORS, upto=8)
    assert not verdict.model.way.by_state


def test_parts_of_a_module_are_no_methods():
    class Parts(nn.Module):
        def __init__(self):
            super().__init__()
            self.start, self.step, self.outputs = nn.Embedding(2, 2), nn.GRUCell(2, 3), nn.Linear(3, 1)

        def forward(self, x):
            h = torch.zeros(len(x), 3)
            for t in range(x.shape[1]):
                h = self.step(self.start(x[:, t]), h)
            return self.outputs(h)

    module = Parts().eval()
    assert isinstance(ts.certify(module, limit=3, **INDICES).model, ts.Network)
    assert ts.certify(module, upto=3, threshold=0, **INDICES).model.called_with == "indices (batch, length)"


def test_one_hot_vectors_are_as_long_as_the_module_reads():
    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.norm, self.readout = nn.GRU(4, 3, batch_first=True), nn.LayerNorm(3), nn.Linear(3, 1)

        def forward(self, x):
            return {"logits": self.readout(self.norm(self.layer(x)[0][:, -1]))}

    verdict = ts.certify(Normed().eval(), upto=3, threshold=0, **INDICES)
    assert verdict.model.called_with == "vectors (batch, length, 4)"


class Product(nn.Module):
    """A matrix of its own, which does not tell what it reads."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size, 1))

    def forward(self, x):
        """Multiply."""
        return (x @ self.weight).sum(1)


def test_the_message_is_that_of_the_way_that_came_furthest():
    module = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 5), nn.Linear(4, 1)).eval()
    with pytest.raises(ts.BadInput, match="as vectors .batch, length, 2.: mat1 and mat2"):
        ts.certify(module, upto=4, **INDICES)
    with pytest.raises(ts.BadInput, match="as vectors .batch, length, 2.: mat1 and mat2"):
        ts.certify(Product(5).eval(), upto=4, **INDICES)
    with pytest.raises(ts.BadInput, match="as indices .batch, length.: index out of range"):
        ts.certify(nn.Sequential(nn.Embedding(1, 2), Product(2)).eval(), upto=4, **INDICES)
    with pytest.raises(ts.BadInput, match="ModuleList has no forward"):
        ts.certify(nn.ModuleList([module]).eval(), **INDICES)


def test_probabilities_of_a_module_need_a_threshold():
    module = nn.Sequential(counter(), nn.Sigmoid()).eval()
    with pytest.raises(ts.BadInput, match="threshold=0.5"):
        ts.certify(module, task="binary", tokens=VECTORS, upto=6)
    verdict = ts.certify(module, task="binary", tokens=VECTORS, threshold=0.5, upto=8)
    assert verdict.horizon == ts.certify(counter(), task="binary", tokens=VECTORS, upto=8).horizon


def test_a_module_on_all_strings_of_a_batch_is_refused():
    class Centred(nn.Module):
        def forward(self, x):
            count = (x[..., 0] - x[..., 1]).sum(dim=1)
            return count - count.mean()

    with pytest.raises(ts.BadInput, match="alone"):
        ts.certify(Centred().eval(), task="binary", tokens=VECTORS, upto=6)


class Noisy(nn.Module):
    """An exact counter with chance: noise, or a wrong answer now and then."""

    def __init__(self, noise, wrong):
        super().__init__()
        self.noise, self.wrong = noise, wrong

    def forward(self, x):
        """Count."""
        count = (1.0 - 2 * x).sum(1, keepdim=True) - 0.5 + self.noise * torch.randn(len(x), 1)
        return torch.where(torch.rand(len(x), 1) < self.wrong, -count, count)


@pytest.mark.parametrize(("noise", "wrong"), [(0.02, 0), (1e-4, 0), (0, 1e-3)])
def test_a_random_module_is_refused(noise, wrong):
    torch.manual_seed(0)
    with pytest.raises(ts.BadInput, match="when it is run again|alone"):
        ts.certify(Noisy(noise, wrong).eval(), upto=11, **INDICES)


def test_a_run_leaves_the_module_and_the_generator_as_they_are():
    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(2, 2, max_norm=1.0)
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, x):
            self.calls += 1
            torch.rand(1)
            return (self.embed(x) @ torch.tensor([1.0, -1.0])).sum(1) - 0.5

    module = Counted().eval()
    with torch.no_grad():
        module.embed.weight.copy_(torch.tensor([[3.0, -3.0], [-3.0, 3.0]]))
    before, generator = {k: v.clone() for k, v in module.state_dict().items()}, torch.get_rng_state()
    assert ts.certify(module, upto=6, **INDICES).outcome is Outcome.BOUNDED
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert torch.equal(generator, torch.get_rng_state())


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_outputs_of_one_offset_do_not_hide_which_axis_is_the_length(offset):
    class LengthFirst(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = nn.Parameter(torch.tensor([0.01, -0.01]))

        def forward(self, x):
            h = torch.cumsum(self.steps[x], 0)[..., None] - 0.005
            return torch.cat([offset - h, offset + h], -1)

    verdict = ts.certify(LengthFirst().eval(), classes=CLASSES["binary"], upto=8, **INDICES)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 8)
    assert verdict.model.called_with == "indices (length, batch)"


def test_a_module_that_reads_either_axis_first_and_answers_otherwise_is_asked_about():
    class LastToken(nn.Module):
        def forward(self, x):
            return (1.0 - 2 * x)[..., None]

    class Either(LastToken):
        def forward(self, x):
            return super().forward(x) * (-1 if len(x) == 3 else 1)

    assert ts.certify(LastToken().eval(), upto=5, **INDICES).horizon == 1
    with pytest.raises(ts.BadInput, match=r"as well as \(length, batch\)"):
        ts.certify(Either().eval(), upto=5, **INDICES)


def test_a_module_that_can_be_read_is_run_only_when_asked_for():
    read = ts.certify(counter(), task="binary", tokens=VECTORS)
    run = ts.certify(counter(), task="binary", tokens=VECTORS, upto=8)
    assert (read.arithmetic, run.arithmetic) == ("real", "as executed")
    assert isinstance(read.model, ts.Network)
    assert (read.horizon, read.failure.string) == (run.horizon, run.failure.string)


def test_a_module_that_cannot_be_read_is_run_and_the_reason_says_why():
    verdict = ts.certify(Transformer(2, 2).eval(), task="dyck1", tokens="()", classes=CLASSES["dyck1"])
    assert (verdict.arithmetic, verdict.method) == ("as executed", "exhaustive run")
    assert "the module is run because it cannot be read exactly (" in verdict.reason
    assert "upto=N" not in verdict.reason
    module = Whole(nn.GRU, 8, 2, embeds=(3, 3)).eval()
    tokens = {"a": 0, "b": 1, "c": 2}
    verdict = ts.certify(module, task="anbncn", tokens=tokens, classes=["rejected", "accepted"])
    assert "'anbncn'" in verdict.reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "task: missing"),
        ({"task": "dyck1"}, "tokens: missing"),
        ({"task": "dyck1", "tokens": "()"}, "classes: missing"),
        (
            {"task": "dyck1", "tokens": "()", "classes": CLASSES["dyck1"], "arithmetic": "float32"},
            "arithmetic: 'float32'",
        ),
        ({"task": "dyck1", "tokens": "()", "classes": CLASSES["dyck1"], "limit": 9}, "limit: 9"),
        (
            {"task": "dyck1", "tokens": "()", "classes": CLASSES["dyck1"], "threshold": 0.5},
            "threshold: is for one output",
        ),
        (
            {"task": "dyck1", "tokens": "()", "classes": CLASSES["dyck1"], "readout": nn.Linear(2, 1), "upto": 5},
            "readout: ",
        ),
    ],
)
def test_what_is_missing_of_a_module_that_is_run_is_asked_for(options, message):
    with pytest.raises(ts.BadInput) as refused:
        ts.certify(Transformer(2, 2).eval(), **options)
    assert message in str(refused.value)
