"""LSTMs and linear layers as one would first train many of them: one network's loss, its gradient, mapped over the networks.

`train_jax` is `jax.grad`, `optax.adam`, two scans and `jax.vmap`; `train_pytorch` is `torch.func.grad` and `torch.func.vmap` with
Adam over all networks, its step compiled by `torch.compile`. Both train the binary task, with biases or without, one string a
step. A network is a dictionary of arrays; many networks are the same dictionary with a first axis more.
"""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

LEARNING_RATE, DECAY_MEAN, DECAY_SQUARE, EPSILON = 0.005, 0.9, 0.999, 1e-8

Tensor: TypeAlias = Any
"""An array of JAX's or PyTorch's."""

Network: TypeAlias = dict[str, Tensor]
"""`inputs`, `recurrent`, `biases` and `readout`, and `offset` for a readout with a bias."""


def loss(network: Network, string: Tensor, target: Tensor, *, cell: str, functions: Any) -> Tensor:  # noqa: ANN401 -- of JAX's or PyTorch's
    """Return one network's cross-entropy on one string, whose tokens are pairs of 0 and 1; padding is a pair of zeros."""
    h = c = 0 * network["readout"][0]
    for token in string:
        rows = network["inputs"] @ token + network["recurrent"] @ h
        if "biases" in network:
            rows = rows + token.sum() * network["biases"].sum(0)
        if cell == "lstm":
            i, f, g, o = rows.reshape(4, -1)
            c = functions.sigmoid(f) * c + functions.sigmoid(i) * functions.tanh(g)
            h = functions.sigmoid(o) * functions.tanh(c)
        else:
            h = rows
    output = (network["readout"] @ h)[0] + (network["offset"][0] if "offset" in network else 0)
    return functions.softplus(output) - target * output


def train_jax(networks: Network, strings: np.ndarray, targets: np.ndarray, *, cell: str, epochs: int) -> Network:
    """Train networks with JAX, on whichever device it takes."""
    import jax  # noqa: PLC0415 -- either library is enough for its own half

    # Told nothing, a GPU would round the weights to ten bits.
    with jax.default_matmul_precision("highest"):
        return jax.tree.map(np.asarray, _jax_program(cell, epochs)(networks, strings, targets))


def _jax_program(cell: str, epochs: int) -> Callable[..., Network]:
    import jax  # noqa: PLC0415
    import optax  # noqa: PLC0415

    adam = optax.adam(LEARNING_RATE)
    slope = jax.grad(partial(loss, cell=cell, functions=jax.nn))

    def train_one(network: Network, strings: jax.Array, targets: jax.Array) -> Network:
        def step(state: tuple, lesson: tuple) -> tuple[tuple, None]:
            network, moments = state
            updates, moments = adam.update(slope(network, *lesson), moments)
            return (optax.apply_updates(network, updates), moments), None

        def epoch(state: tuple, _: None) -> tuple[tuple, None]:
            return jax.lax.scan(step, state, (strings, targets))

        (network, _), _ = jax.lax.scan(epoch, (network, adam.init(network)), length=epochs)
        return network

    return jax.jit(jax.vmap(train_one, in_axes=(0, None, None)))


def train_pytorch(
    networks: Network, strings: np.ndarray, targets: np.ndarray, *, cell: str, epochs: int, device: str = "cpu"
) -> Network:
    """Train networks with PyTorch; the step is compiled once for their shapes."""
    import torch  # noqa: PLC0415

    weights = {name: torch.as_tensor(array, device=device) for name, array in networks.items()}
    means, squares = ({name: torch.zeros_like(array) for name, array in weights.items()} for _ in range(2))
    like = next(iter(weights.values()))
    lessons = [torch.as_tensor(part).to(like).unbind() for part in (strings, targets)]
    number = torch.arange(1, epochs * len(targets) + 1, dtype=torch.float64)
    sizes, roots = LEARNING_RATE / (1 - DECAY_MEAN**number), 1 / torch.sqrt(1 - DECAY_SQUARE**number)
    numbers = zip(sizes.to(like).unbind(), roots.to(like).unbind(), strict=True)
    step = _pytorch_step(cell)
    for _ in range(epochs):
        for string, target in zip(*lessons, strict=True):
            weights, means, squares = step(weights, means, squares, string, target, *next(numbers))
    return {name: array.cpu().numpy() for name, array in weights.items()}


_steps: dict[str, Callable[..., tuple[Network, Network, Network]]] = {}


def _pytorch_step(cell: str) -> Callable[..., tuple[Network, Network, Network]]:
    import torch  # noqa: PLC0415
    from torch.nn.functional import softplus  # noqa: PLC0415

    functions = SimpleNamespace(sigmoid=torch.sigmoid, tanh=torch.tanh, softplus=softplus)
    slopes = torch.func.vmap(torch.func.grad(partial(loss, cell=cell, functions=functions)), in_dims=(0, None, None))

    def step(
        weights: Network,
        means: Network,
        squares: Network,
        string: Tensor,
        target: Tensor,
        size: Tensor,
        root: Tensor,
    ) -> tuple[Network, Network, Network]:
        slope = slopes(weights, string, target)
        means = {name: DECAY_MEAN * means[name] + (1 - DECAY_MEAN) * part for name, part in slope.items()}
        squares = {
            name: DECAY_SQUARE * squares[name] + (1 - DECAY_SQUARE) * part * part for name, part in slope.items()
        }
        moved = {
            name: weights[name] - size * means[name] / (torch.sqrt(squares[name]) * root + EPSILON) for name in weights
        }
        return moved, means, squares

    return _steps.setdefault(cell, torch.compile(step, dynamic=False))
