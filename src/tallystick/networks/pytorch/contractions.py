"""Products of numbers that both have labels, and sums of them: matrices of the token times a state, einsum, sum.

Every number that comes of it is a sum of products of two, which `layers` reads where the token alone decides one of the two.
"""

from collections.abc import Callable, Sequence
from typing import cast

from tallystick.networks.pytorch.labels import Labels, Torch
from tallystick.networks.pytorch.signals import PRODUCT, SUM

_MATRIX = 2


class Contractions:
    """Functions that multiply and add.

    Attributes:
        by_name: each takes the arguments of the function and returns the labels of its result.
    """

    def __init__(self, labels: Labels) -> None:
        """Make labels of labels in one run."""
        self._labels = labels
        self.by_name: dict[str, Callable[..., Torch]] = {"bmm": self.matrix_product, "einsum": self.einsum}

    def multiply(self, first: Torch, second: Torch) -> Torch:
        """Return the labels of x·y, number by number."""
        return self._labels.entrywise(
            PRODUCT, (self._labels.of_state(first), 1.0), (self._labels.of_state(second), 1.0)
        )

    def sum(self, tensor: Torch, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Torch:
        """Return the labels of the sum along some axes."""
        if dim is None:
            self._labels.refuse("is not read without a dim")
        labels = self._labels.of_state(tensor)
        axes = sorted(axis % labels.ndim for axis in ([dim] if isinstance(dim, int) else dim))
        total = self._total(labels.movedim(axes, list(range(-len(axes), 0))), len(axes))
        for axis in axes if keepdim else ():
            total = total.unsqueeze(axis)
        return total

    def _total(self, labels: Torch, axes: int) -> Torch:
        """Return the labels of the sum along the last axes."""
        flat = labels.flatten(-axes) if axes else labels[..., None]
        return self._labels.entrywise(SUM, *((part, 1.0) for part in flat.unbind(-1)))

    def matrix_product(self, first: Torch, second: Torch) -> Torch:
        """Return the labels of A·B; a vector on the left is a row, and on the right a column."""
        a, b = self._labels.of_state(first), self._labels.of_state(second)
        row, column = a.ndim < _MATRIX, b.ndim < _MATRIX
        a, b = a[None] if row else a, b[:, None] if column else b
        products = self._labels.entrywise(PRODUCT, (a[..., None], 1.0), (b[..., None, :, :], 1.0))
        total = self._total(products.transpose(-1, -2), 1)
        total = total[..., 0] if column else total
        return total[..., 0, :] if row and not column else total[..., 0] if row else total

    def einsum(self, equation: str, *operands: Torch) -> Torch:
        """Return the labels of an einsum of two tensors."""
        plan, pair = plan_of(self._labels, equation, operands)
        first, second = (
            plan.align(self._labels.of_state(one), letters) for one, letters in zip(pair, plan.letters, strict=True)
        )
        return self._total(self._labels.entrywise(PRODUCT, (first, 1.0), (second, 1.0)), plan.summed)


class Plan:
    """How the axes of two tensors come together in an einsum: those of the result first, then those that are summed over."""

    def __init__(self, letters: tuple[str, str], result: str) -> None:
        """Put the axes in their order."""
        self.letters = letters
        left = sorted(set("".join(letters)) - set(result))
        self.order, self.summed = result + "".join(left), len(left)

    @classmethod
    def of(cls, equation: str) -> "Plan | None":
        """Read an equation; None for one that is not read.

        >>> Plan.of("bij,bj->bi").order, Plan.of("ii->i")
        ('bij', None)
        """
        left, arrow, result = equation.replace(" ", "").partition("->")
        letters = left.split(",")
        named = all(part.isalpha() and len(set(part)) == len(part) for part in letters)
        if not arrow or len(letters) != 2 or not named or not set(result) <= set(left):  # noqa: PLR2004
            return None
        return cls((letters[0], letters[1]), result)

    def align(self, tensor: Torch, letters: str) -> Torch:
        """Return a tensor with an axis for each letter of the order, of length 1 where it has none."""
        there = [letter for letter in self.order if letter in letters]
        moved = tensor.permute([letters.index(letter) for letter in there])
        for place, letter in enumerate(self.order):
            moved = moved if letter in letters else moved.unsqueeze(place)
        return moved


def plan_of(labels: Labels, equation: str, operands: tuple[Torch, ...]) -> tuple[Plan, Sequence[Torch]]:
    """Return how an einsum goes and its two tensors, or refuse it."""
    pair = cast("Sequence[Torch]", operands[0]) if isinstance(operands[0], list | tuple) else operands
    plan = Plan.of(equation)
    if plan is None or len(pair) != len(plan.letters):
        labels.refuse("is read of two tensors, without an ellipsis and with no letter twice in one of them")
    return plan, pair
