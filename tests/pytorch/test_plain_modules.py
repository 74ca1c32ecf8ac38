"""A module that does anything beside what its class and its weights say is refused, naming the module and what was done to it."""

import copy
import io
import warnings
from contextlib import contextmanager

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402
from torch.nn.modules import module as modules  # noqa: E402
from torch.nn.utils import parametrizations, parametrize, prune  # noqa: E402

from tallystick import BadInput, certify, from_torch  # noqa: E402

KINDS = {
    "RNN": lambda: nn.RNN(2, 1),
    "RNNCell": lambda: nn.RNNCell(2, 1),
    "Linear": lambda: nn.Linear(3, 1),
    "GRU": lambda: nn.GRU(2, 2),
    "GRUCell": lambda: nn.GRUCell(2, 2),
    "LSTM": lambda: nn.LSTM(2, 2),
    "LSTMCell": lambda: nn.LSTMCell(2, 2),
}
EVERY_KIND = pytest.mark.parametrize("build", KINDS.values(), ids=KINDS)


def doubled(module, inputs, output):
    """A hook that makes another network of a module."""
    return tuple(2 * part for part in output) if isinstance(output, tuple) else 2 * output


def halved(module, inputs):
    return tuple(part / 2 for part in inputs)


class Callable:
    """A hook without a name of its own."""

    def __call__(self, *_):
        """Do nothing."""


class Doubled(nn.Module):
    """A parametrisation."""

    def forward(self, weight):
        """Return what is computed with in place of a weight."""
        return 2 * weight


class Strange(torch.Tensor):
    """A tensor that computes in its own way."""


@contextmanager
def with_global(register):
    handle = register()
    try:
        yield
    finally:
        handle.remove()


def weight_name(module):
    return next(iter(module.state_dict()))


def shadow(module):
    """An attribute that is found before the parameter of its name."""
    name = weight_name(module)
    module.__dict__[name] = torch.zeros_like(getattr(module, name))


def quietly(action, *arguments, **options):
    """PyTorch itself advises against some of these."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return action(*arguments, **options)


CHANGES = {
    "forward hook": (lambda m: m.register_forward_hook(doubled), r"the forward hook .*test_plain_modules\.doubled"),
    "forward hook with keywords": (
        lambda m: m.register_forward_hook(lambda *_: None, with_kwargs=True, always_call=True),
        r"the forward hook .*<lambda>",
    ),
    "object as hook": (lambda m: m.register_forward_hook(Callable()), r"the forward hook .*Callable"),
    "forward pre-hook": (lambda m: m.register_forward_pre_hook(halved), r"the forward pre-hook .*halved"),
    "state dict hook": (
        # Before PyTorch 2.5 the two hooks that have a public name now were private.
        lambda m: getattr(m, "register_state_dict_post_hook", m._register_state_dict_hook)(
            lambda module, state, *_: state[weight_name(m)].mul_(1)
        ),
        "the state dict hook",
    ),
    "state dict pre-hook": (lambda m: m.register_state_dict_pre_hook(Callable()), "the state dict pre-hook .*Callable"),
    "forward": (lambda m: setattr(m, "forward", halved), "its own forward"),
    "state_dict": (lambda m: setattr(m, "state_dict", dict), "its own state_dict"),
    "compiled": (lambda m: m.compile(backend="eager"), "its own _compiled_call_impl"),
    "weight norm of old": (
        lambda m: quietly(nn.utils.weight_norm, m, weight_name(m)),
        r"the forward pre-hook torch\.nn\.utils\.weight_norm\.WeightNorm",
    ),
    "spectral norm of old": (
        lambda m: nn.utils.spectral_norm(m, weight_name(m)),
        r"the forward pre-hook torch\.nn\.utils\.spectral_norm\.SpectralNorm",
    ),
    "pruning": (
        lambda m: prune.l1_unstructured(m, weight_name(m), 1),
        r"the forward pre-hook torch\.nn\.utils\.prune\.L1Unstructured",
    ),
    "weight norm": (
        lambda m: parametrizations.weight_norm(m, weight_name(m)),
        r"weight\w* is parametri[sz]ed by .*WeightNorm",
    ),
    "parametrisation": (
        lambda m: parametrize.register_parametrization(m, weight_name(m), Doubled()),
        r"weight\w* is parametri[sz]ed by .*Doubled",
    ),
    "shadowed weight": (shadow, r"weight\w* is hidden by an attribute"),
    "further module": (lambda m: m.add_module("a", nn.Linear(3, 1)), r"a\.\w+: belongs to a module inside"),
    "strange tensor": (
        lambda m: setattr(m, weight_name(m), nn.Parameter(getattr(m, weight_name(m)).detach().as_subclass(Strange))),
        r"weight\w*: .*Strange is not torch\.Tensor",
    ),
    "sparse": (
        lambda m: setattr(m, weight_name(m), nn.Parameter(getattr(m, weight_name(m)).detach().to_sparse())),
        r"weight\w*: lies in memory as torch\.sparse_coo",
    ),
}


@EVERY_KIND
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_cell_is_refused(build, change):
    act, message = CHANGES[change]
    cell = build()
    if change == "sparse" and isinstance(cell, nn.RNNBase):
        pytest.skip("PyTorch itself refuses it")
    act(cell)
    with pytest.raises(BadInput, match=f"^cell.*{message}") as refusal:
        from_torch(cell, nn.Linear(getattr(cell, "hidden_size", 1), 1))
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_readout_is_refused(change):
    act, message = CHANGES[change]
    readout = nn.Linear(1, 3)
    act(readout)
    with pytest.raises(BadInput, match=f"^readout.*{message}"):
        from_torch(nn.RNN(2, 1), readout)


GLOBAL = {
    "forward hook": (
        lambda: modules.register_module_forward_hook(doubled),
        "the forward hook of all modules .*doubled",
    ),
    "forward pre-hook": (
        lambda: modules.register_module_forward_pre_hook(halved),
        "the forward pre-hook of all modules .*halved",
    ),
}


@pytest.mark.parametrize("hook", GLOBAL)
def test_a_hook_of_all_modules_is_refused(hook):
    register, message = GLOBAL[hook]
    with with_global(register), pytest.raises(BadInput, match=f"cell: .*{message}"):
        from_torch(nn.RNN(2, 1))
    assert from_torch(nn.RNN(2, 1))


@EVERY_KIND
@pytest.mark.parametrize("name", ["forward", "__call__", "state_dict"])
def test_a_class_whose_function_was_replaced_is_refused(build, name, monkeypatch):
    cell = build()
    monkeypatch.setattr(type(cell), name, lambda *_: {}, raising=False)
    with pytest.raises(BadInput, match=rf"cell: the {name} of torch\.nn\.\w+ was replaced"):
        from_torch(cell)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_weights_that_the_module_does_not_compute_with_are_refused(kind):
    cell = KINDS[kind]()
    cell._parameters["weight_hh_l0"] = nn.Parameter(torch.ones_like(cell.weight_hh_l0))
    with pytest.raises(BadInput, match=r"cell\.weight_hh_l0: is not the tensor that the module computes with"):
        from_torch(cell, nn.Linear(2, 1))


def unparametrised(module, name):
    """Put normed weights in place; an nn.RNN goes on computing with the old ones until they are assigned to it."""
    parametrize.remove_parametrizations(parametrizations.weight_norm(module, name), name)
    setattr(module, name, getattr(module, name))


HARMLESS = {
    "backward hook": lambda m: m.register_full_backward_hook(Callable()),
    "backward pre-hook": lambda m: m.register_full_backward_pre_hook(Callable()),
    "hook of loading": lambda m: m._register_load_state_dict_pre_hook(Callable()),
    "hook of a gradient": lambda m: next(m.parameters()).register_hook(Callable()),
    "removed hook": lambda m: m.register_forward_hook(doubled).remove(),
    "removed weight norm": lambda m: unparametrised(m, weight_name(m)),
    "training": lambda m: m.train(),
    "frozen": lambda m: m.requires_grad_(requires_grad=False),
    "dropout between layers that are not there": lambda m: setattr(m, "dropout", 0.5),
    "float64": lambda m: m.double(),
    "bfloat16": lambda m: m.bfloat16(),
    "attribute": lambda m: setattr(m, "note", "mine"),
    "shared memory": lambda m: m.share_memory(),
    "weights put in place": lambda m: m.load_state_dict({k: v.clone() for k, v in m.state_dict().items()}, assign=True),
}


@EVERY_KIND
@pytest.mark.parametrize("change", HARMLESS)
def test_what_changes_nothing_is_allowed(build, change):
    cell = build()
    HARMLESS[change](cell)
    readout = nn.Linear(getattr(cell, "hidden_size", 1), 1)
    assert from_torch(cell, readout) == from_torch(copied(cell), copy.deepcopy(readout))


def copied(module):
    """The module as it comes back from a file."""
    fresh = type(module)(*((3, 1) if isinstance(module, nn.Linear) else (2, module.hidden_size)))
    fresh.to(next(module.parameters()).dtype).load_state_dict(module.state_dict())
    return fresh


def test_a_pickled_and_a_lazy_module_are_allowed():
    file = io.BytesIO()
    torch.save(nn.LSTM(2, 2), file)
    file.seek(0)
    assert from_torch(torch.load(file, weights_only=False), nn.Linear(2, 1))
    lazy = nn.LazyLinear(1)
    lazy(torch.ones(1, 3))
    assert from_torch(copy.deepcopy(lazy))


def test_a_projection_and_a_second_direction_are_refused():
    for cell in (
        nn.LSTM(2, 2, proj_size=1),
        nn.LSTM(2, 1, bidirectional=True),
        torch.compile(nn.RNN(2, 1), backend="eager"),
    ):
        with pytest.raises(BadInput, match="^cell"):
            from_torch(cell, nn.Linear(2, 1))


def test_flushed_subnormal_numbers_give_no_verdict_and_no_model():
    cell = nn.Linear(3, 1, bias=False, dtype=torch.float32)
    with torch.no_grad():
        cell.weight.copy_(torch.tensor([[2.0**-140, -(2.0**-140), 1.0]]))
    model = from_torch(cell)
    if not torch.set_flush_denormal(True):
        pytest.skip("PyTorch cannot flush subnormal numbers here")
    try:
        for ask in (lambda: certify(model, arithmetic="float64"), lambda: from_torch(cell)):
            with pytest.raises(BadInput, match=r"flushes subnormal numbers to zero.*set_flush_denormal\(False\)"):
                ask()
    finally:
        torch.set_flush_denormal(False)
    assert certify(from_torch(cell), arithmetic="float64").horizon == 2**53
