import json
import random
from fractions import Fraction
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tallystick as ts
from tallystick.certificates.progress import listen
from tallystick.certificates.running import exhaustive
from tallystick.certificates.running.executable import BATCH
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.languages.counter_machine import Add
from tallystick.languages.tasks import MembershipClass, Task, ready_task

BRACKETS = {"(": 0, ")": 1}
VECTORS = {"(": [1, 0], ")": [0, 1]}


def first_failure(class_of, task, lengths=Lengths.ALL, upto=8):
    """The horizon and the strings of the next length that fail, one string at a time."""
    for length in lengths.upto(upto):
        strings = map("".join, product(task.alphabet, repeat=length))
        failing = [string for string in strings if class_of(string) != task.right_class(string)]
        if failing:
            return length - lengths.stride, failing
    return upto - upto % lengths.stride, []


def agrees(verdict, expected):
    horizon, failing = expected
    assert (verdict.arithmetic, verdict.method) == ("as executed", "exhaustive run")
    assert verdict.horizon == horizon
    assert (verdict.failure.string in failing) if failing else verdict.outcome is Outcome.BOUNDED


def leaky(x, leak):
    """A hand-written loop over (batch, length) indices."""
    h = np.zeros(len(x))
    for t in range(x.shape[1]):
        h = leak * h + np.where(x[:, t] == 0, 1.0, -1.0)
    return h


@pytest.mark.parametrize("lengths", Lengths)
@pytest.mark.parametrize("leak", [1, 0.95, 0.8, 0.5, 1.2])
def test_a_loop_has_the_horizon_of_the_same_loop_string_by_string(leak, lengths):
    def class_of(string):
        value = leaky(np.array([[BRACKETS[token] for token in string]]), leak)[0]
        return "Pos" if value > 0 else "ZeroNeg"

    verdict = ts.certify(lambda x: leaky(x, leak), lengths, task="binary", tokens=BRACKETS, upto=9)
    agrees(verdict, first_failure(class_of, ready_task("binary"), lengths, 9))


def test_a_loop_agrees_with_the_exact_verdict_on_the_same_cell():
    network = ts.Network(ts.LinearCell(1, -1, 0.8), ts.Readout.binary(1))
    run = ts.certify(lambda x: leaky(x, 0.8), task="binary", tokens=BRACKETS)
    assert run.horizon == ts.certify(network).horizon


def test_a_function_without_tokens_reads_strings():
    def balanced(strings):
        assert isinstance(strings, list)
        return [string.count("(") == string.count(")") for string in strings]

    verdict = ts.certify(balanced, task="dyck1", upto=6)
    assert (verdict.horizon, verdict.failure.string) == (1, ")(")
    assert (verdict.failure.found, verdict.failure.right) == ("accepted", "rejected")
    assert ts.certify(balanced, task="bb", upto=6).outcome is Outcome.BOUNDED


def test_what_a_function_is_called_with():
    seen = []

    def note(x):
        seen.append(x)
        return x.reshape(len(x), -1).sum(axis=1) > 1e9

    tokens = {"<BOS>": 5, "a": 3, "b": 1, "c": 2, "<EOS>": 0, "<PAD>": 9}
    ts.certify(note, task="anbncn", tokens=tokens, upto=3)
    longest = max((x for x in seen if x.shape[1] == 5), key=len)
    assert all(x.dtype == np.int64 for x in seen)
    assert longest.shape == (27, 5)
    assert longest[0].tolist() == [5, 3, 3, 3, 0]
    assert longest[-1].tolist() == [5, 2, 2, 2, 0]
    seen.clear()
    ts.certify(note, task="bb", tokens={"(": [0.25, 1], ")": [1, 2], "<BOS>": [0, 0]}, upto=2)
    longest = max((x for x in seen if x.shape[1] == 3), key=len)
    assert longest.dtype == np.float32
    assert longest[1].tolist() == [[0, 0], [0.25, 1], [1, 2]]


@pytest.mark.parametrize("numbers", [(16777217, 16777216), (1e39, 0), (0.1, -0.1)])
def test_a_function_gets_the_very_numbers_that_are_declared(numbers):
    def count(x):
        assert set(x.ravel().tolist()) <= set(numbers)
        return (x == numbers[0]).sum(axis=(1, 2)) - (x == numbers[1]).sum(axis=(1, 2))

    tokens = {"(": [numbers[0]], ")": [numbers[1]]}
    assert ts.certify(count, task="binary", tokens=tokens, upto=6).outcome is Outcome.BOUNDED


@pytest.mark.parametrize("form", ["each", "steps", "one step", "tuple", "lists"])
def test_outputs_may_have_several_shapes(form):
    def count(x):
        along = (1 - 2 * x).cumsum(axis=1)
        if form == "one step":
            return along
        outputs = np.stack([-along, 0.5 - abs(along), along], axis=2)
        return {
            "each": outputs[:, -1],
            "steps": outputs,
            "tuple": (outputs, "state"),
            "lists": outputs[:, -1].tolist(),
        }[form]

    options = {"task": "binary"} if form == "one step" else {"task": "ternary", "classes": ["Neg", "Zero", "Pos"]}
    verdict = ts.certify(count, tokens=BRACKETS, upto=7, **options)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 7)


def count(strings):
    return np.array([string.count("(") - string.count(")") for string in strings])


@pytest.mark.parametrize(
    "returned",
    [
        lambda logit: (1.0, logit),
        lambda logit: {"loss": np.float32(0), "logits": logit},
        lambda logit: ({"names": ["state"], "state": np.zeros((3, len(logit), 2))}, logit[:, None]),
        lambda logit: (logit, logit.copy()),
        lambda logit: (np.stack([logit] * 4, axis=1), logit),
    ],
)
def test_the_outputs_are_found_among_what_is_returned(returned):
    assert ts.certify(lambda s: returned(count(s) - 0.5), task="binary", upto=6).outcome is Outcome.BOUNDED


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda n: (0.5 - n, n - 0.5), "returns 2 different arrays that could be the answer"),
        (lambda n: {"h": np.stack([n, -n], axis=1), "logit": n}, "returns 2 different arrays that could be the answer"),
        (lambda n: (n[:2], {}), "returns an array of shape (2,)"),
        (lambda n: ("yes", {}), "returns no numbers"),
        (lambda n: n + 1j, "returns complex numbers"),
        (lambda n: 2**53 + n, "returns numbers (int64) that float64 does not hold"),
        (
            lambda n: np.stack([0 * n, 0 * n + (2**63 - 1)], axis=1),
            "returns numbers (int64) that float64 does not hold",
        ),
        (lambda n: np.longdouble(1) + n * np.longdouble("1e-18"), "that float64 does not hold"),
        (lambda n: [Fraction(int(one), 3) for one in n], "returns numbers (object) that float64 does not hold"),
    ],
)
def test_an_answer_that_could_be_read_in_two_ways_is_refused(returned, message):
    with pytest.raises(ts.BadInput) as refused:
        ts.certify(lambda s: returned(count(s)), task="binary", classes=["ZeroNeg", "Pos"], upto=4)
    assert message in str(refused.value)


def test_whole_numbers_and_fractions_that_are_doubles_are_read():
    for returned in (
        lambda n: 2**40 * n,
        lambda n: [Fraction(int(one), 4) for one in n],
        lambda n: np.longdouble(0.1) * 0 + n,
    ):
        assert ts.certify(lambda s, r=returned: r(count(s)), task="binary", upto=5).outcome is Outcome.BOUNDED


def test_an_error_without_a_text_is_told():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    def answer(strings):
        raise Mute

    with pytest.raises(ts.BadInput, match="raises .*Mute on"):
        ts.certify(answer, task="binary", upto=4)


def test_classes_are_in_the_order_of_the_outputs():
    def outputs(x):
        count = (1 - 2 * x).sum(axis=1)
        return np.stack([count, -count, 0.5 - abs(count)], axis=1)

    declared = {"task": "ternary", "tokens": BRACKETS, "upto": 7}
    assert ts.certify(outputs, classes=["Pos", "Neg", "Zero"], **declared).outcome is Outcome.BOUNDED
    assert ts.certify(outputs, classes=["Neg", "Zero", "Pos"], **declared).horizon == 0


def test_four_tokens_with_marks_are_judged_by_their_machine():
    def class_of(string):
        return "accepted" if string.count("a") == string.count("b") == string.count("c") else "rejected"

    def answer(x):
        assert (x[:, 0] == 3).all()
        assert (x[:, -1] == 4).all()
        a, b, c = ((x == token).sum(axis=1) for token in range(3))
        return (a == b) & (b == c)

    verdict = ts.certify(answer, task="anbncn", tokens={"a": 0, "b": 1, "c": 2, "<BOS>": 3, "<EOS>": 4}, upto=6)
    agrees(verdict, first_failure(class_of, ready_task("anbncn"), upto=6))


def test_a_function_of_jax_is_run():
    weight = jnp.array([1.0, -1.0])

    @jax.jit
    def final(x):
        def step(h, token):
            return 0.8 * h + token @ weight, None

        return jax.lax.scan(step, jnp.zeros(len(x)), x.swapaxes(0, 1))[0]

    verdict = ts.certify(final, task="binary", tokens=VECTORS, upto=6)
    assert verdict.horizon == ts.certify(ts.Network(ts.LinearCell(1, -1, 0.8), ts.Readout.binary(1))).horizon
    assert "jax" in verdict.model.versions


@pytest.mark.long  # each length of the search beyond is compiled
def test_a_function_of_jax_reads_indices():
    embedding = jnp.array([1.0, -1.0, 0.0])
    tokens = {**BRACKETS, "<EOS>": 2}
    verdict = ts.certify(lambda x: embedding[x].sum(axis=1), task="binary", tokens=tokens, upto=8)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 8)


class Counter:
    """An object that exposes its state, and counts what it has read."""

    def __init__(self, leak=1.0):
        self.leak, self.read = leak, 0

    def start(self, batch):
        return np.zeros(batch)

    def step(self, state, tokens):
        self.read += len(tokens)
        return self.leak * state + np.where(tokens == 0, 1.0, -1.0)

    def outputs(self, state):
        return state


class InPlace(Counter):
    """One that changes the state that it is handed."""

    def step(self, state, tokens):
        state += 1 - 2 * tokens
        return state


@pytest.mark.parametrize("leak", [1.0, 0.9, 0.8])
def test_an_object_that_exposes_its_state_gets_the_same_verdict(leak):
    upto = 14
    shared = ts.certify(Counter(leak), task="binary", tokens=BRACKETS, upto=upto)
    whole = ts.certify(lambda x: leaky(x, leak), task="binary", tokens=BRACKETS, upto=upto)
    assert (shared.outcome, shared.horizon) == (whole.outcome, whole.horizon)
    assert (shared.failure is None) == (whole.failure is None)


def test_an_object_that_can_be_called_too_is_to_answer_the_same():
    class Called(Counter):
        def __call__(self, x):
            return leaky(x, self.called)

    called = Called()
    called.called = 1.0
    assert ts.certify(called, task="binary", tokens=BRACKETS, upto=9).outcome is Outcome.BOUNDED
    called.called = -1.0
    with pytest.raises(ts.BadInput, match="answers otherwise for '.*' when it is called"):
        ts.certify(called, task="binary", tokens=BRACKETS, upto=9)


def test_prefixes_that_strings_share_are_read_once():
    counter, upto = Counter(), 17
    ts.certify(counter, task="binary", tokens=BRACKETS, upto=upto)
    whole = sum(length * 2**length for length in range(1, upto + 1))
    assert counter.read < whole / 2


def test_marks_are_read_by_an_object_too():
    class Marked(Counter):
        def step(self, state, tokens):
            return state + np.array([1.0, -1.0, 100.0, -100.0])[tokens]

    tokens = {**BRACKETS, "<BOS>": 2, "<EOS>": 3}
    assert ts.certify(Marked(), task="binary", tokens=tokens, upto=14).outcome is Outcome.BOUNDED
    assert ts.certify(Marked(), task="binary", tokens={**BRACKETS, "<BOS>": 2}, threshold=0, upto=14).horizon == 0


def test_a_string_that_fails_in_its_batch_only_is_no_failure():
    def rounded(strings):
        wrong = "(())()" if len(strings) > 10 else None
        return [string.count("(") > string.count(")") or string == wrong for string in strings]

    verdict = ts.certify(rounded, task="binary", upto=7)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 7)
    assert "'(())()'" in verdict.reason
    assert "1 of them only when run alone" in verdict.reason


def test_a_failing_string_beyond_the_run_is_known():
    verdict = ts.certify(
        lambda x: np.clip((1 - 2 * x).cumsum(axis=1), -9, 9)[:, -1], task="binary", tokens=BRACKETS, upto=5
    )
    assert verdict.outcome is Outcome.BOUNDED  # a clipped sum is not a clipped count
    clipped = ts.certify(saturated, task="binary", tokens=BRACKETS, upto=5)
    assert (clipped.outcome, clipped.horizon) == (Outcome.BOUNDED, 5)
    known = clipped.known_failure
    assert known.length == 21
    assert known.string == "(" * 11 + ")" * 10


def saturated(x):
    h = np.zeros(len(x), int)
    for t in range(x.shape[1]):
        h = np.minimum(h + 1 - 2 * x[:, t], 10)
    return h


def test_the_search_beyond_finds_strings_that_are_neither_sorted_nor_alternating():
    def drift(strings):
        return [string.count("(") - string.count(")") - 0.1 - 0.2 * string.count("(()") for string in strings]

    verdict = ts.certify(drift, task="binary", upto=7)
    assert verdict.horizon == 7
    assert verdict.known_failure.string.count("(()") == 5
    assert verdict.known_failure.length == 4 * 4 + 3  # no shorter string holds it so often and ends at 1


def test_a_task_of_ones_own_with_a_single_token():
    machine = ts.CounterMachine.from_rules(
        alphabet=("x",),
        states=("even", "odd"),
        update=lambda case: (Add(0),),
        transition=lambda case: "odd" if case.state == "even" else "even",
        accepts=lambda state, check: state == "even",
    )
    task = Task("even", machine, tuple(MembershipClass), lambda machine, last: int(machine.accepts_configuration(last)))
    verdict = ts.certify(lambda strings: [len(string) % 2 == 0 for string in strings], task=task)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, exhaustive.LONGEST)
    verdict = ts.certify(lambda strings: [len(string) in (2, 4, 5) for string in strings], task=task)
    assert (verdict.outcome, verdict.failure.string) == (Outcome.REFUTED, "xxxxx")


@pytest.mark.parametrize("upto", [None, 40])
def test_a_function_that_reads_short_strings_only_is_right_on_those(upto):
    def short(strings):
        if len(strings[0]) > 6:
            raise IndexError("position 7 has no embedding")
        return [string.count("(") > string.count(")") for string in strings]

    verdict = ts.certify(short, task="binary", upto=upto)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 6)
    assert "IndexError" in verdict.reason
    assert "position 7 has no embedding" in verdict.reason


def test_an_interrupted_run_says_what_is_known():
    def interrupted(strings):
        if len(strings[0]) == 8:
            raise KeyboardInterrupt
        return [string.count("(") > string.count(")") for string in strings]

    verdict = ts.certify(interrupted, task="binary", upto=12)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 7)
    assert "interrupted" in verdict.reason


def test_a_run_without_a_length_ends(monkeypatch):
    monkeypatch.setattr(exhaustive, "SECONDS", 0.05)
    verdict = ts.certify(lambda x: leaky(x, 1), task="binary", tokens=BRACKETS)
    assert verdict.outcome is Outcome.BOUNDED
    assert 1 <= verdict.horizon < 25


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (lambda s: [1.0] * len(s), {}, "task: missing"),
        (lambda s: [1.0] * len(s), {"task": "count"}, "no classes"),
        (lambda s: [1.0] * len(s), {"task": "ternary"}, "one output tells two classes apart"),
        (lambda s: np.zeros((len(s), 3)), {"task": "ternary"}, "classes: missing"),
        (lambda s: np.zeros((len(s), 2)), {"task": "binary"}, "classes: missing"),
        (lambda s: np.zeros((len(s), 4)), {"task": "ternary"}, "4 outputs are 4 classes"),
        (lambda s: np.zeros((len(s), 3)), {"task": "binary"}, "3 outputs are 3 classes"),
        (lambda s: np.zeros((len(s), len(s[0]))), {"task": "ternary"}, "one output tells two classes apart"),
        (lambda s: np.zeros((len(s), {3: 3}[len(s[0])])), {"task": "ternary"}, "one after each token or one for each class"),
        (lambda s: np.zeros((len(s) + 1, 1)), {"task": "binary"}, "shape (6, 1) for 5 strings"),
        (lambda s: [random.random() for _ in s], {"task": "binary"}, "alone"),
        (lambda s: np.arange(len(s)) * 1.0, {"task": "binary"}, "alone"),
        (lambda s: [float("nan")] * len(s), {"task": "binary"}, "'((('"),
        (lambda s: [1 / len(t) for t in s], {"task": "binary"}, "threshold=0.5"),
        (lambda s: [True] * len(s), {"task": "bb", "threshold": 0.5}, "threshold: is for one output"),
        (lambda s: s[10**9], {"task": "bb"}, "raises IndexError on 5 strings of length 1"),
        (lambda s: ["yes"] * len(s), {"task": "bb"}, "could not convert"),
        (5, {"task": "bb"}, "type int is not a Network, a PyTorch module, a function"),
        (len, {"task": "bb", "tokens": {"(": [Fraction(1, 3)], ")": [0]}}, "'('[0] is not a double"),
        (len, {"task": "bb", "tokens": {"(": [0, 1], ")": [0, 10**400]}}, "')'[1] is not a double"),
        (lambda s: s, {"task": "bb", "upto": 0}, "upto: 0"),
        (lambda s: s, {"task": "bb", "upto": 10**6}, "upto: 1000000"),
        (lambda s: s, {"task": "bb", "arithmetic": "float32"}, "arithmetic: 'float32'"),
        (lambda s: s, {"task": "bb", "limit": 9}, "limit: 9"),
        (lambda s: s, {"task": "bb", "lengths": "odd"}, "lengths: 'odd'"),
        (Counter(), {"task": "bb"}, "tokens: missing"),
        (InPlace(), {"task": "binary", "tokens": BRACKETS}, "InPlace.step changes the state"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_or_may_be_read_in_two_ways_is_refused(function, options, message):
    with pytest.raises(ts.BadInput) as refused:
        ts.certify(function, **{"upto": 4, **options})
    assert message in str(refused.value)


def test_an_output_that_is_not_finite_later_is_shown_with_its_string():
    with pytest.raises(ts.BadInput, match=r"'\)\(\)\)\)', not a finite number"):
        ts.certify(lambda s: [np.inf if t == ")()))" else t.count("(") - t.count(")") for t in s], task="binary")


def test_probabilities_need_a_threshold_and_whole_classes_do_not():
    def probability(strings):
        return [1 / (1 + np.exp(0.5 - string.count("(") + string.count(")"))) for string in strings]

    with pytest.raises(ts.BadInput, match="threshold=0.5 for probabilities or threshold=0 for logits"):
        ts.certify(probability, task="binary", upto=6)
    assert ts.certify(probability, task="binary", threshold=0.5, upto=6).outcome is Outcome.BOUNDED
    assert ts.certify(probability, task="binary", threshold=0, upto=6).horizon == 0
    assert ts.certify(lambda s: [int(2 * t.count("(") > len(t)) for t in s], task="binary", upto=6).horizon == 6


@pytest.mark.parametrize(
    "values",
    [(10, 90), (1, 2), (0.6, 0.7), (-5, -0.1), (0, 20, 80), (-3, 0), (np.log1p(np.exp(-1)), np.log1p(np.exp(1)))],
)
def test_outputs_on_one_side_of_zero_need_a_threshold(values):
    def answer(strings):
        return [values[-1] if 2 * t.count("(") > len(t) else values[len(t) % (len(values) - 1)] for t in strings]

    with pytest.raises(ts.BadInput, match="^threshold: missing") as refused:
        ts.certify(answer, task="binary", upto=6)
    assert ("probabilities" in str(refused.value)) == (0 <= min(values) <= max(values) <= 1)
    middle = (values[-2] + values[-1]) / 2
    assert ts.certify(answer, task="binary", threshold=middle, upto=6).outcome is Outcome.BOUNDED


@pytest.mark.parametrize("values", [(0, 1), (0, 5), (-1, 1), (-2, 0, 3)])
def test_values_that_zero_tells_apart_need_no_threshold(values):
    def answer(strings):
        return [values[-1] if 2 * t.count("(") > len(t) else values[len(t) % (len(values) - 1)] for t in strings]

    assert ts.certify(answer, task="binary", upto=6).outcome is Outcome.BOUNDED


def test_what_is_kept_between_calls_is_found():
    calls = []

    def answer(strings):
        calls.append(len(strings))
        wrong = calls.count(2**6) == 2
        return [(t.count("(") > t.count(")")) != wrong for t in strings]

    with pytest.raises(ts.BadInput, match="when it is run again"):
        ts.certify(answer, task="binary", upto=8)


def test_a_network_takes_none_of_the_declarations():
    network = ts.Network(ts.LinearCell(1, -1, 1), ts.Readout.binary(1))
    for name, value in {"task": "binary", "tokens": "()", "classes": [], "threshold": 0, "upto": 5}.items():
        with pytest.raises(ts.BadInput, match=f"^{name}: "):
            ts.certify(network, **{name: value})


def test_the_verdict_names_what_was_run_and_shows_its_outputs(tmp_path):
    def doubled(strings):
        return [string.count("(") - 2 * string.count(")") for string in strings]

    verdict = ts.certify(doubled, task="binary", upto=6)
    assert verdict.failure.string == "(()"
    assert verdict.trace() == [(1.0,), (2.0,), (0.0,)]
    described = json.loads(json.dumps(verdict.model.to_json()))
    assert described["function"].endswith("doubled")
    assert (described["batch"], described["task"], described["threshold"]) == (BATCH, "binary", 0)
    assert described["versions"]["numpy"] == np.__version__
    for part in ("doubled", f"{BATCH:,} strings", np.__version__):
        assert part in verdict.reason
        assert part in " ".join(str(verdict).split())
    with pytest.raises(ts.BadInput, match="not something others can check"):
        ts.write_certificate(verdict, tmp_path / "certificate.json")
    assert not list(tmp_path.iterdir())


def test_whoever_listens_is_told_how_far_a_run_has_come():
    told = []
    with listen(lambda *news: told.append(news)):
        ts.certify(lambda x: leaky(x, 1), task="binary", tokens=BRACKETS, upto=13)
    assert told[0] == (2, 2, "running all strings of length 1")
    assert told[-2:] == [(done, 2**13, "running all strings of length 13") for done in (2**12, 2**13)]


def sign(x):
    count = (1 - 2 * x).sum(axis=1)
    return np.stack([-count, 0.5 - abs(count), count], axis=1)


SWAPPED = {"tokens": {"(": 1, ")": 0}}
ONE_OUTPUT = {"task": "binary", "classes": None, "threshold": 0}


@pytest.mark.parametrize(
    ("function", "declared", "hint"),
    [
        (sign, SWAPPED, "with the two tokens swapped the horizon would be at least 10"),
        (lambda x: sign(x) * (x.shape[1] < 7), SWAPPED, "with the two tokens swapped the horizon would be 6"),
        (lambda x: sign(x) * (x.shape[1] < 3), SWAPPED, ""),
        (
            sign,
            {"classes": ["Neg", "Pos", "Zero"]},
            "with classes=['Neg', 'Zero', 'Pos'] the horizon would be at least 10",
        ),
        (lambda x: -0.5 - sign(x)[:, 2], ONE_OUTPUT, "with the two tokens swapped the horizon would be at least 10"),
        (lambda x: 0.5 - sign(x)[:, 2], ONE_OUTPUT, "with classes=['Pos', 'ZeroNeg'] the horizon would be at least 10"),
        (lambda x: sign(x)[:, 1], ONE_OUTPUT, "with task='bb' the horizon would be at least 10"),
        (
            lambda x: -sign(x)[:, 1],
            ONE_OUTPUT,
            "with task='bb' and classes=['accepted', 'rejected'] the horizon would be at",
        ),
    ],
)
def test_a_verdict_that_looks_like_a_wrong_encoding_says_so(function, declared, hint):
    usual = {"task": "ternary", "tokens": BRACKETS, "classes": ["Neg", "Zero", "Pos"]}
    verdict = ts.certify(function, **{**usual, **declared})
    assert hint in verdict.reason
    assert ("would be" in verdict.reason) == bool(hint)
