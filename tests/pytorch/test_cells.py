"""The contract of every cell against PyTorch: the gradient that training follows is the one that its autograd finds."""

import jax
import numpy as np
import pytest
from every_cell import every_cell, targets_along, weights_in_doubles

from tallystick.cells import CELLS, ReluCell, ScalarCell, SelectiveCell, TanhCell
from tallystick.numbers import positive_part, sigmoid

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

# A cell's step runs on PyTorch's tensors as it stands; these two parts of it have names of their own there.
positive_part.register(torch.Tensor, torch.relu)
sigmoid.register(torch.Tensor, torch.sigmoid)

STRINGS = ["(", "()", "))((", "(()())(", ")))(()(("]


@every_cell
@pytest.mark.parametrize("every_token", [False, True], ids=["last token", "every token"])
def test_the_gradient_is_autograds(example, every_token):
    string = "(()))("
    with jax.enable_x64(True):
        weights = weights_in_doubles(example)
        found = example.gradient(weights, string, every_token=every_token)
    tensors = jax.tree.map(lambda array: torch.tensor(np.array(array), requires_grad=True), weights)
    losses = [
        torch.nn.functional.cross_entropy(
            torch.stack(outputs, dim=1), torch.full((3,), int(np.argmax(right))), reduction="sum"
        )
        for outputs, right in zip(example.outputs(tensors, string), targets_along(string), strict=True)
    ]
    (sum(losses) / len(losses) if every_token else losses[-1]).backward()
    for slope, tensor in zip(jax.tree.leaves(found), jax.tree.leaves(tensors), strict=True):
        expected = np.zeros(tensor.shape) if tensor.grad is None else tensor.grad.numpy()
        np.testing.assert_allclose(slope, expected, rtol=1e-9, atol=1e-12)


def state(kind, cell, string):
    """Run a cell in PyTorch's own operators, without the package's step."""
    a, b, *recurrent = vars(cell).values()
    h = torch.zeros((), dtype=torch.float64)
    for token in string:
        place = int(token == ")")
        h = recurrent[place if kind is SelectiveCell else 0] * h + (a, b)[place]
        h = torch.relu(h) if kind is ReluCell else torch.tanh(h) if kind is TanhCell else h
    return h


@pytest.mark.parametrize("string", STRINGS)
@pytest.mark.parametrize(
    "kind", [kind for kind in CELLS.values() if issubclass(kind, ScalarCell)], ids=lambda kind: kind.name
)
def test_the_states_are_those_of_pytorchs_operators(kind, string):
    generator = torch.Generator().manual_seed(len(string))
    for _ in range(5):
        weights = 3 * torch.rand(2 + len(kind.recurrent_fields()), generator=generator, dtype=torch.float64) - 1.5
        expected = state(kind, kind(*weights), string)
        assert kind(*weights.tolist()).final_state(string) == pytest.approx(expected.item(), rel=1e-12, abs=1e-15)
        assert kind(*weights).final_state(string).item() == pytest.approx(expected.item(), rel=1e-12, abs=1e-15)
