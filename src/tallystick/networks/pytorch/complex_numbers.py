"""Complex tensors, as layers such as LRU and S4D have them: each is kept as two real ones, its real and its imaginary part.

What a function does to complex numbers is done once more to these, by functions of real ones, which are read like any other. Sums
and products are computed of both parts side by side along the last axis, so that a complex state is one signal, as any other is.
"""

from collections.abc import Callable, Container
from functools import partial
from typing import Any, cast

from tallystick.networks.pytorch.contractions import Plan, plan_of
from tallystick.networks.pytorch.labels import Labels, Torch

_MATRIX = 2

Pair = tuple[Torch, Torch]
"""The real and the imaginary part, real tensors of one shape; the imaginary part of a real tensor is None."""


class ComplexNumbers:
    """What the functions of PyTorch make of complex tensors, in one run."""

    def __init__(self, labels: Labels, see: Callable[..., Any], moves: Container[str]) -> None:
        """Hand functions of real tensors to `see`, with their arguments and keywords; `moves` only move numbers."""
        self._labels, self._see, self._moves, self._torch = labels, see, moves, labels.torch
        self._known: dict[int, tuple[Torch, Pair]] = {}  # with the tensor itself, so that its id stays its own
        self._by_name: dict[str, Callable[..., Pair]] = {
            **dict.fromkeys(("add", "__add__", "__radd__"), self._add),
            **dict.fromkeys(("sub", "subtract", "__sub__"), partial(self._add, sign=-1.0)),
            **dict.fromkeys(("rsub", "__rsub__"), self._subtract_from),
            **dict.fromkeys(("mul", "multiply", "__mul__", "__rmul__"), self._multiply),
            **dict.fromkeys(("neg", "negative", "__neg__"), partial(self._multiply, -1.0)),
            **dict.fromkeys(("matmul", "__matmul__", "mm", "mv", "bmm"), self._matrix_product),
            **dict.fromkeys(("conj", "conj_physical"), self._conjugate),
            **dict.fromkeys(("to", "type", "cfloat", "cdouble"), self._convert),
            "einsum": self._einsum,
            "sum": self._sum,
            "complex": self._joined,
            "view_as_complex": self._from_real,
        }
        self._to_real: dict[str, Callable[..., Torch]] = {
            "real": self._real,
            "imag": self._imaginary,
            "view_as_real": self._as_real,
        }

    def reads(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Say whether a function takes or gives complex numbers."""
        tensors = list(self._labels.tensors((args, kwargs)))
        kinds = [one for one in (*args, *kwargs.values()) if isinstance(one, self._torch.dtype)]
        return bool(tensors) and (
            any(tensor.is_complex() for tensor in tensors)
            or any(isinstance(one, complex) for one in args)
            or any(kind.is_complex for kind in kinds)
            or name in ("complex", "view_as_complex", "cfloat", "cdouble")
        )

    def act(self, function: Torch, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Do what a function does."""
        if name in self._to_real:
            return self._to_real[name](*args, **kwargs)
        if name in self._by_name:
            return self._keep(self._by_name[name](*args, **kwargs))
        if not self._depends((args, kwargs)):
            return function(*args, **kwargs)  # weights that are computed, as doubles
        if name not in self._moves:
            self._labels.refuse("of complex numbers is not read")
        return self._move(function, args, kwargs)

    def _depends(self, found: object) -> bool:
        """Say whether something holds numbers that depend on the strings."""
        tensors = (self._known.get(id(one), (None, (one,)))[1] for one in self._labels.tensors(found))
        return not all(self._labels.is_constant(part) for parts in tensors for part in parts if part is not None)

    def _do(self, name: str, *args: Any, **kwargs: Any) -> Torch:  # noqa: ANN401
        return self._see(getattr(self._torch, name), args, kwargs)

    def _keep(self, pair: Pair) -> Torch:
        """Return the complex tensor that has these parts."""
        tensor = self._torch.complex(*(part.detach().double() for part in self._filled(pair)))
        self._known[id(tensor)] = tensor, pair
        return tensor

    def _pair(self, value: Any) -> Pair:  # noqa: ANN401 -- a tensor or a number
        if not isinstance(value, self._torch.Tensor):
            number = complex(value)
            real, imaginary = (
                self._torch.tensor(part, dtype=self._torch.float64) for part in (number.real, number.imag)
            )
            return real, imaginary
        if id(value) in self._known:
            return self._known[id(value)][1]
        if value.is_complex():
            value = value.detach().resolve_conj().to(self._torch.complex128)
            return value.real.clone(), value.imag.clone()
        return value, None

    def _joined(self, real: Torch, imag: Torch) -> Pair:
        return real, imag

    def _from_real(self, parts: Torch) -> Pair:
        return self._do("select", parts, -1, 0), self._do("select", parts, -1, 1)

    def _real(self, tensor: Torch) -> Torch:
        return self._parts(tensor)[0]

    def _imaginary(self, tensor: Torch) -> Torch:
        return self._parts(tensor)[1]

    def _as_real(self, tensor: Torch) -> Torch:
        return self._do("stack", list(self._parts(tensor)), dim=-1)

    def _parts(self, value: Torch) -> Pair:
        return self._filled(self._pair(value))

    def _filled(self, pair: Pair) -> Pair:
        """Return a pair with zeros for an imaginary part that is none."""
        real, imaginary = pair
        return real, self._torch.zeros(real.shape, dtype=self._torch.float64) if imaginary is None else imaginary

    # --- Arithmetic -----------------------------------------------------------------------------------------------------------

    def _beside(self, real: Torch, imaginary: Torch) -> Torch:
        """Return two parts side by side along the last axis."""
        return self._do("cat", [real, imaginary], dim=-1)

    def _apart(self, joined: Torch) -> Pair:
        size = joined.shape[-1] // 2
        return self._do("narrow", joined, -1, 0, size), self._do("narrow", joined, -1, size, size)

    def _spread(self, *pairs: Pair) -> list[Pair]:
        """Return pairs whose last axes are of one length; all others are left for the functions of real tensors to broadcast."""
        size = max(pair[0].shape[-1] if pair[0].ndim else 1 for pair in pairs)
        shapes = [(*pair[0].shape[:-1], size) for pair in pairs]
        return [self._each("broadcast_to", pair, shape) for pair, shape in zip(pairs, shapes, strict=True)]

    def _add(self, first: Torch, second: Torch, *, alpha: float = 1, sign: float = 1) -> Pair:
        x, y = map(self._filled, self._spread(self._pair(first), self._pair(second)))
        return self._apart(self._do("add", self._beside(*x), self._beside(*y), alpha=sign * alpha))

    def _subtract_from(self, first: Torch, second: Torch) -> Pair:
        return self._add(second, first, sign=-1.0)

    def _multiply(self, first: Torch, second: Torch) -> Pair:
        return self._apart(self._products(self._pair(first), self._pair(second)))

    def _products(self, first: Pair, second: Pair) -> Torch:
        """Return the parts of x·y: the real part of x times y, and its imaginary part times y turned by a right angle."""
        if first[1] is None or second[1] is None:  # a real number and another
            (a, _), (c, d) = self._spread(*((first, second) if first[1] is None else (second, first)))
            return self._do("mul", self._beside(a, a), self._beside(*self._filled((c, d))))
        (a, b), (c, d) = self._spread(first, second)
        size = a.shape[-1]
        signs = self._torch.tensor([-1.0] * size + [1.0] * size, dtype=self._torch.float64)
        along = self._do("mul", self._beside(a, a), self._beside(c, d))
        across = self._do("mul", self._beside(b, b), self._beside(d, c))
        return self._do("add", along, self._do("mul", across, signs))

    def _matrix_product(self, first: Torch, second: Torch) -> Pair:
        """Return A·B; a vector on the left is a row, and on the right a column."""
        a, b = self._pair(first), self._pair(second)
        row, column = a[0].ndim < _MATRIX, b[0].ndim < _MATRIX
        a = self._each("unsqueeze", a, 0) if row else a
        b = self._each("unsqueeze", b, 1) if column else b
        products = self._products(self._each("unsqueeze", a, -1), self._each("unsqueeze", b, -3))
        total = self._apart(self._do("sum", products, dim=-2))
        for is_vector, axis in ((column, -1), (row, -1 if column else -2)):
            total = self._each("squeeze", total, axis) if is_vector else total
        return total

    def _each(self, name: str, pair: Pair, *args: object) -> Pair:
        real, imaginary = pair
        return self._do(name, real, *args), None if imaginary is None else self._do(name, imaginary, *args)

    def _einsum(self, equation: str, *operands: Torch) -> Pair:
        plan, pair = plan_of(self._labels, equation, operands)
        first, second = (self._aligned(plan, one, letters) for one, letters in zip(pair, plan.letters, strict=True))
        real, imaginary = self._apart(self._products(first, second))
        axes = [-1 - place for place in range(plan.summed)]
        return (self._do("sum", real, dim=axes), self._do("sum", imaginary, dim=axes)) if axes else (real, imaginary)

    def _aligned(self, plan: Plan, tensor: Torch, letters: str) -> Pair:
        pair = self._each("permute", self._pair(tensor), [letters.index(one) for one in plan.order if one in letters])
        for place, letter in enumerate(plan.order):
            pair = pair if letter in letters else self._each("unsqueeze", pair, place)
        return pair

    def _sum(self, tensor: Torch, dim: int | None = None, keepdim: bool = False) -> Pair:
        real, imaginary = self._parts(tensor)
        return self._do("sum", real, dim=dim, keepdim=keepdim), self._do("sum", imaginary, dim=dim, keepdim=keepdim)

    def _conjugate(self, tensor: Torch) -> Pair:
        real, imaginary = self._parts(tensor)
        return real, self._do("mul", imaginary, -1.0)

    def _convert(self, tensor: Torch, *kinds: Any, **options: Any) -> Pair:  # noqa: ANN401 -- whatever PyTorch takes
        given = [one for one in (*kinds, *options.values()) if isinstance(one, self._torch.dtype)]
        if not all(kind.is_complex for kind in given):
            self._labels.refuse("leaves imaginary parts out; say .real")
        return self._pair(tensor)

    def _move(self, function: Torch, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Do what only moves numbers to the real and to the imaginary parts."""

        def part(place: int) -> Any:  # noqa: ANN401 -- a tensor or several
            def act(value: Any) -> Any:  # noqa: ANN401
                is_number = isinstance(value, self._torch.Tensor) and (value.is_complex() or value.is_floating_point())
                return self._parts(value)[place] if is_number else value

            moved, options = self._labels.map((list(args), kwargs), act)
            return self._see(function, tuple(moved), options)

        real, imaginary = part(0), part(1)
        if isinstance(real, list | tuple):
            return tuple(self._keep(both) for both in zip(cast("list[Torch]", real), imaginary, strict=True))
        return self._keep((real, imaginary))
