"""The training batched in PyTorch: all networks as one tensor of weights, every operation over all of them, one string a step.

On a CPU or a GPU. `train` is what one would write for the binary task without bias: autograd through a loss summed over the
networks, which do not meet, and PyTorch's own Adam, fused. `train_compiled` is the same step with its gradients derived by hand
and Adam written out, compiled as one piece by `torch.compile`; it also trains networks with biases, and three outputs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from benchmarks.baselines import parts_of

LEARNING_RATE, DECAY_MEAN, DECAY_SQUARE, EPSILON = 0.005, 0.9, 0.999, 1e-8


def train(
    start: np.ndarray,
    opening: np.ndarray,
    closing: np.ndarray,
    target: np.ndarray,
    epochs: int = 100,
    device: str = "cpu",
) -> np.ndarray:
    """Train an ensemble in the precision of `start`, by autograd.

    Args:
        start: initial weights, shape (4, models): for `(`, for `)`, recurrent, readout.
        opening: 1 where a string has an opening bracket, shape (strings, tokens); shorter strings are padded on the left.
        closing: the same for closing brackets.
        target: 1 for a positive string, 0 for any other.
        epochs: passes over the strings.
        device: PyTorch's name for where it runs.

    Returns:
        The final weights, of the shape of `start`.
    """
    weights = torch.nn.Parameter(torch.as_tensor(start, device=device).clone())
    adam = torch.optim.Adam([weights], lr=LEARNING_RATE, fused=True)
    answers = [torch.full_like(weights[0], answer, requires_grad=False) for answer in (0.0, 1.0)]
    strings = [
        tuple(np.flatnonzero(token).item() for token in string if token.any()) for string in _pairs(opening, closing)
    ]
    for _ in range(epochs):
        for string, answer in zip(strings, target, strict=True):
            adam.zero_grad()
            outputs = _outputs(weights, string)
            binary_cross_entropy_with_logits(outputs, answers[int(answer)], reduction="sum").backward()
            adam.step()
    return weights.detach().cpu().numpy()


def train_compiled(
    start: np.ndarray,
    opening: np.ndarray,
    closing: np.ndarray,
    target: np.ndarray,
    epochs: int = 100,
    device: str = "cpu",
) -> np.ndarray:
    """Train an ensemble with the compiled step.

    The arguments are those of `train`, but for more rows of weights, as `parts_of` cuts them, and for the target of three
    outputs, which is a row of three for each string's class.
    """
    weights = torch.as_tensor(start, device=device).clone()
    means, squares = torch.zeros_like(weights), torch.zeros_like(weights)
    # Numbers that change from step to step are tensors: a number of Python's would be compiled in.
    lessons = [torch.as_tensor(part.astype(start.dtype), device=device).unbind() for part in (opening, closing, target)]
    step, numbers = _compiled_step(start.shape[0], opening.shape[1]), _corrections(epochs * len(target), weights)
    for _ in range(epochs):
        for opens, closes, answer in zip(*lessons, strict=True):
            weights, means, squares = step(weights, means, squares, opens, closes, answer, *next(numbers))
    return weights.cpu().numpy()


def sees_gpu() -> bool:
    """Say whether PyTorch has a GPU to run on."""
    return torch.cuda.is_available()


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Have PyTorch work on so many threads, and give it back its own number."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _pairs(opening: np.ndarray, closing: np.ndarray) -> np.ndarray:
    return np.stack([opening, closing], axis=-1)


def _outputs(weights: torch.Tensor, string: tuple[int, ...]) -> torch.Tensor:
    a, b, u, v = weights.unbind()
    h = (a, b)[string[0]]
    for token in string[1:]:
        h = torch.addcmul((a, b)[token], u, h)
    return v * h


def _corrections(steps: int, like: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Adam's corrections for every step: the learning rate over 1 − β₁ⁿ, and 1/√(1 − β₂ⁿ)."""
    number = torch.arange(1, steps + 1, dtype=torch.float64)
    sizes, roots = LEARNING_RATE / (1 - DECAY_MEAN**number), 1 / torch.sqrt(1 - DECAY_SQUARE**number)
    return zip(sizes.to(like).unbind(), roots.to(like).unbind(), strict=True)


@cache
def _compiled_step(*_: int) -> Callable[..., tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    torch.compiler.reset()  # of one function PyTorch compiles eight shapes, and runs all others without compiling
    return torch.compile(_step, dynamic=False)


def _step(
    weights: torch.Tensor,
    means: torch.Tensor,
    squares: torch.Tensor,
    opens: torch.Tensor,
    closes: torch.Tensor,
    answer: torch.Tensor,
    size: torch.Tensor,
    root: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    a, b, u, bias, readout, offset = parts_of(weights.unbind(), outputs=answer.numel())
    if bias:
        a, b = a + bias[0], b + bias[0]
    h = by_a = by_b = by_u = torch.zeros_like(a)
    for is_open, is_close in zip(opens.unbind(), closes.unbind(), strict=True):
        by_u = u * by_u + h
        h = u * h + (is_open * a + is_close * b)
        by_a, by_b = u * by_a + is_open, u * by_b + is_close
    found = [v * h + c for v, c in zip(readout, offset, strict=True)] if offset else [v * h for v in readout]
    errors = [torch.sigmoid(found[0]) - answer] if len(found) == 1 else _doubled_errors(found, answer)
    to_h = sum(error * v for error, v in zip(errors, readout, strict=True))
    steps = [to_h * by_a, to_h * by_b]
    slopes = [*steps, to_h * by_u, *([steps[0] + steps[1]] if bias else [])]
    slope = torch.stack((*slopes, *(error * h for error in errors), *(errors if offset else ())))
    means = DECAY_MEAN * means + (1 - DECAY_MEAN) * slope
    squares = DECAY_SQUARE * squares + (1 - DECAY_SQUARE) * slope * slope
    return weights - size * means / (torch.sqrt(squares) * root + EPSILON), means, squares


def _doubled_errors(found: list[torch.Tensor], answer: torch.Tensor) -> list[torch.Tensor]:
    """Return the slopes of the paper's loss, which takes the classes' shares for logits, by each output."""
    shares = torch.softmax(torch.stack(found), 0)
    inner = torch.softmax(shares, 0) - answer[:, None]
    return list((shares * (inner - (shares * inner).sum(0))).unbind())
