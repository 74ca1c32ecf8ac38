"""Numbers of many networks as a GPU computes them: multiply-adds, and short quotients, roots and exponentials.

    x·y + z       float32: one instruction, where the compiler would round the product first
    x·t, x·t + z  for a token's t, which is 0 or 1: a choice, and an addition that is done or left out
    x/y, √x       float32: the device's approximation; float64: the same, refined until it is right to about the last place
    eˣ            float32: a power of two by the device's approximation
    tanh x        float32: 1 − 2/(1 + e²ˣ)

In float32 each is right to about two units in the last place, and tanh to 2·10⁻⁷: a change of its argument, or of what it is
multiplied by, of one unit in the last place is as large. In float64 products are rounded as the compiled scan rounds
them, so that the two stay together. docs/performance.md compares weights that were trained by both.
"""

import operator
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from math import e, log2
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas import triton
from jaxtyping import Array

from tallystick.training.fused.graph import PRODUCT, Value


@dataclass(frozen=True)
class Flag:
    """A number that all networks share and that is 0 or 1, such as whether a token is an opening bracket.

    As a factor it needs no multiplication, and no register has to be read for it: conditions have registers of their own.

    Attributes:
        bit: an integer that is 0 or not.
        dtype: the type of the number.
        is_set_by_bit: whether the flag is 1 where that integer is not 0, rather than where it is.
    """

    bit: Array
    dtype: np.dtype
    is_set_by_bit: bool = True
    ndim = 0

    @property
    def number(self) -> Array:
        """The flag as a number."""
        return self.choose(jnp.ones((), self.dtype), jnp.zeros((), self.dtype))

    @property
    def opposite(self) -> "Flag":
        """The flag that is 1 where this one is 0."""
        return replace(self, is_set_by_bit=not self.is_set_by_bit)

    def choose(self, if_set: Array, otherwise: Array) -> Array:
        """Return one of two arrays."""
        is_bit = jnp.broadcast_to(self.bit, if_set.shape) != 0
        return jnp.where(is_bit, if_set, otherwise) if self.is_set_by_bit else jnp.where(is_bit, otherwise, if_set)


class Arrays:
    """Operations on arrays with one entry per network, and on numbers that all networks share, which are computed once.

    Args:
        native: whether to use the device's own instructions, which only a GPU has.
    """

    def __init__(self, *, native: bool) -> None:
        """Compute with these instructions, or as JAX does."""
        self._native = native
        self._products: dict[int, tuple[Array, Flag, Array]] = {}

    @property
    def operations(self) -> Container[str]:
        """JAX's names of the operations."""
        return OPERATIONS

    def constant(self, value: Any) -> Value:  # noqa: ANN401 -- a number of NumPy's
        """Return a number that all networks share."""
        return np.asarray(value)[()]

    def number(self, value: float, like: Value) -> Value:
        """Return a constant of the type of another value."""
        return np.asarray(value, like.dtype)[()]

    def precision(self, value: Value) -> str:
        """Return NumPy's name of the type of a value."""
        return str(value.dtype)

    def convert(self, value: Value, dtype: Any) -> Value:  # noqa: ANN401 -- whatever names a type for NumPy
        """Return a value in another type, rounded to it."""
        return (value.number if isinstance(value, Flag) else value).astype(dtype)

    def apply(self, name: str, *operands: Value) -> Value:
        """Apply an operation by JAX's name for it."""
        if any(isinstance(operand, Flag) for operand in operands):
            return self._apply_to_flag(name, *operands)
        if name in ("add", "add_any") and any(id(operand) in self._products for operand in operands):
            return self._add_product(*operands)
        last = operands[-1]
        replacement = _REPLACED.get((name, str(last.dtype))) if self._native and np.ndim(last) else None
        return (replacement or OPERATIONS[name])(*operands)

    def multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        """Return x·y + z, rounded once where the device does."""
        if isinstance(x, Flag) or isinstance(y, Flag):
            return self.apply("add", z, self.apply(PRODUCT, x, y))
        z = z.number if isinstance(z, Flag) else z
        if self._native and any(map(np.ndim, (x, y, z))):
            return _plus_product(z, x, y)
        return x * y + z

    def _apply_to_flag(self, name: str, *operands: Value) -> Value:
        """Turn a product with an array into a choice, and remember it for a sum; take the number for all else."""
        if name == PRODUCT:
            x, flag = operands if isinstance(operands[1], Flag) else operands[::-1]
            if not isinstance(x, Flag) and np.ndim(x):
                found = flag.choose(x, jnp.zeros_like(x))
                self._products[id(found)] = found, flag, x  # which keeps the array, so that no other has its id
                return found
        return self.apply(name, *(one.number if isinstance(one, Flag) else one for one in operands))

    def _add_product(self, z: Value, product: Value) -> Value:
        """Return the sum of two numbers of which one, at least, is a product with a flag."""
        if id(product) not in self._products:
            z, product = product, z
        _, flag, x = self._products[id(product)]
        _, other, y = self._products.get(id(z), (z, None, z))
        if other and other.bit is flag.bit and other.is_set_by_bit != flag.is_set_by_bit:
            return flag.choose(x, y)
        if not self._native or not np.ndim(z):
            return flag.choose(z + x, jnp.broadcast_to(z, x.shape))
        return _add_where(flag, z, x)


_SUFFIX = {"float32": "f32", "float64": "f64"}
_REGISTER = {"float32": "f", "float64": "d"}


def _instruction(name: str, *operands: Array) -> Array:
    """Apply one instruction to every entry of arrays; numbers are broadcast."""
    like = next(operand for operand in operands if getattr(operand, "shape", ()))
    register, dtype = _REGISTER[str(like.dtype)], like.dtype
    places = ", ".join(f"${place}" for place in range(len(operands) + 1))
    (result,) = triton.elementwise_inline_asm(
        f"{name}.{_SUFFIX[str(dtype)]} {places};",
        args=[jnp.broadcast_to(jnp.asarray(operand, dtype), like.shape) for operand in operands],
        constraints=",".join([f"={register}", *(register for _ in operands)]),
        pack=1,
        result_shape_dtypes=[jax.ShapeDtypeStruct(like.shape, dtype)],
    )
    return result


def _add_where(flag: Flag, z: Array, x: Array) -> Array:
    """Return z + x where a flag is set, and z elsewhere, by one addition that is done or left out."""
    kind, register, is_set = _SUFFIX[str(x.dtype)], _REGISTER[str(x.dtype)], "ne" if flag.is_set_by_bit else "eq"
    (result,) = triton.elementwise_inline_asm(
        f"{{ .reg .pred p; setp.{is_set}.s32 p, $3, 0; mov.{kind} $0, $1; @p add.rn.{kind} $0, $0, $2; }}",
        args=[z, x, jnp.broadcast_to(flag.bit, x.shape)],
        # "&": the sum is begun before all operands are read, so it may share a register with none of them.
        constraints=f"=&{register},{register},{register},r",
        pack=1,
        result_shape_dtypes=[jax.ShapeDtypeStruct(x.shape, x.dtype)],
    )
    return result


def _quotient(x: Array, y: Array) -> Array:
    return x * _instruction("rcp.approx.ftz", y)


def _root(x: Array) -> Array:
    return _instruction("sqrt.approx.ftz", x)


def _exponential(x: Array) -> Array:
    return _instruction("ex2.approx.ftz", x * log2(e))


def _sigmoid(x: Array) -> Array:
    return _instruction("rcp.approx.ftz", 1 + _instruction("ex2.approx.ftz", x * -log2(e)))


def _tanh(x: Array) -> Array:
    return _plus_product(1.0, jnp.full_like(x, -2), _sigmoid(x * -2))


def _refined_quotient(x: Array, y: Array) -> Array:
    """Divide: the approximation is right to 20 bits, Newton's step doubles them, and dividing the remainder does so again."""
    reciprocal = _instruction("rcp.approx.ftz", y)
    reciprocal = _plus_product(reciprocal, reciprocal, _plus_product(1.0, -y, reciprocal))
    quotient = x * reciprocal
    return _plus_product(quotient, reciprocal, _plus_product(x, -y, quotient))


def _refined_sigmoid(x: Array) -> Array:
    return _refined_quotient(jnp.ones_like(x), 1 + jnp.exp(-x))


def _refined_root(x: Array) -> Array:
    """Find √x and 1/(2√x) by one of Newton's steps for both and another for √x; the tiny number avoids a division by 0."""
    inverse = _instruction("rsqrt.approx.ftz", x + _TINY)
    root, half = x * inverse, inverse * 0.5
    rest = _plus_product(0.5, -root, half)
    root, half = _plus_product(root, root, rest), _plus_product(half, half, rest)
    return _plus_product(root, half, _plus_product(x, -root, root))


def _plus_product(z: Any, x: Array, y: Array) -> Array:  # noqa: ANN401 -- a number or an array
    return _instruction("fma.rn", x, y, z)


_TINY = 1e-290

_REPLACED: dict[tuple[str, str], Callable[..., Array]] = {
    ("div", "float32"): _quotient,
    ("sqrt", "float32"): _root,
    ("exp", "float32"): _exponential,
    ("logistic", "float32"): _sigmoid,
    ("tanh", "float32"): _tanh,
    ("div", "float64"): _refined_quotient,
    ("sqrt", "float64"): _refined_root,
    ("logistic", "float64"): _refined_sigmoid,
}

OPERATIONS: dict[str, Callable[..., Value]] = {
    # Python's own operators leave what is done with constants alone to NumPy; the GPU's compiler takes no minus sign of one.
    "add": operator.add,
    "add_any": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "and": operator.and_,
    "or": operator.or_,
    "not": operator.invert,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
    "eq": operator.eq,
    "ne": operator.ne,
    "max": jnp.maximum,
    "min": jnp.minimum,
    "exp": jnp.exp,
    "log": jnp.log,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "atan2": jnp.arctan2,
    "logistic": jax.nn.sigmoid,
    "tanh": jnp.tanh,
    "sqrt": jnp.sqrt,
    "abs": jnp.abs,
    "sign": jnp.sign,
    "square": jnp.square,
    "one_minus_square": lambda x: 1 - x * x,
    "select_n": lambda which, *cases: jnp.where(which, cases[1], cases[0]),
    "stop_gradient": lambda x: x,
    "copy": lambda x: x,
}
"""By JAX's names, as `vectors.OPERATIONS` has them for processors."""
