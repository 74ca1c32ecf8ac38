"""A computation in the GPU's own instructions: multiply-adds, and short quotients, roots and exponentials.

A function is traced, and some of its operations are replaced one by one; the others stay as they were written.

    x·y + z       float32: one instruction, where the compiler would round the product first
    x/y, √x       float32: the device's approximation; float64: the same, refined until it is right to about the last place
    eˣ            float32: a power of two by the device's approximation

In float32 each is right to about two units in the last place. In float64 products are rounded as the compiled scan rounds
them, so that the two stay together. docs/performance.md compares weights that were trained by both.
"""

from collections.abc import Callable
from math import e, log2
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas import triton
from jax.extend import core
from jaxtyping import Array

from tallystick.training.fused.script import LEFT_AS_WRITTEN, products_used_once

Result = TypeVar("Result")


def in_instructions(work: Callable[..., Result]) -> Callable[..., Result]:
    """Return the function with its operations on arrays of floats replaced."""

    def replaced(*arguments: Any) -> Result:  # noqa: ANN401 -- any trees of arrays
        closed, shape = jax.make_jaxpr(work, return_shape=True)(*arguments)
        results = _evaluate(closed.jaxpr, closed.consts, jax.tree.leaves(arguments))
        return jax.tree.unflatten(jax.tree.structure(shape), results)

    return replaced


def _evaluate(
    program: core.Jaxpr, constants: list[Any], arguments: list[Any], *, multiply_adds: bool = True
) -> list[Any]:
    values: dict[core.Var, Any] = dict(
        zip([*program.constvars, *program.invars], [*constants, *arguments], strict=True)
    )
    products = products_used_once(program) if multiply_adds else {}

    def read(atom: core.Var | core.Literal) -> Any:  # noqa: ANN401
        return atom.val if isinstance(atom, core.Literal) else values[atom]

    for equation in program.eqns:
        name = equation.primitive.name
        variables = [atom for atom in equation.invars if isinstance(atom, core.Var)] if name in _SUMS else []
        product = next((atom for atom in variables if atom in products), None)
        if product is not None:
            x, y = (read(atom) for atom in products[product].invars)
            first, second = equation.invars
            other = read(second if product is first else first)
            results = [_multiply_add(name, x, y, other, product_first=product is first)]
        else:
            results = _apply(equation, [read(atom) for atom in equation.invars])
        values.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in program.outvars]


def _apply(equation: core.JaxprEqn, operands: list[Any]) -> list[Any]:
    inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
    if equation.primitive.name in _CALLS and isinstance(inner, core.ClosedJaxpr):
        written = equation.params.get("name") == LEFT_AS_WRITTEN
        return _evaluate(inner.jaxpr, inner.consts, operands, multiply_adds=not written)
    last = equation.invars[-1]
    replacement = _REPLACED.get((equation.primitive.name, _type_name(last))) if _is_floats(last) else None
    if replacement is not None:
        return [replacement(*operands)]
    found = equation.primitive.bind(*operands, **equation.params)
    return list(found) if equation.primitive.multiple_results else [found]


_CALLS = ("jit", "pjit", "custom_jvp_call", "custom_vjp_call")
_SUMS = ("add", "sub")


def _is_floats(operand: Any) -> bool:  # noqa: ANN401 -- a variable or a literal
    """Say whether an operand has one number per network; a number that all networks share is computed once per block."""
    return isinstance(operand, core.Var) and operand.aval.ndim > 0 and _type_name(operand) in _SUFFIX  # pyright: ignore[reportAttributeAccessIssue]


def _type_name(operand: Any) -> str:  # noqa: ANN401
    return str(operand.aval.dtype)


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


def _multiply_add(name: str, x: Array, y: Array, z: Array, *, product_first: bool) -> Array:
    """Return x·y + z, x·y − z or z − x·y."""
    if name == "sub":
        x, z = (x, _negative(z)) if product_first else (_negative(x), z)
    return _plus_product(z, x, y)


def _negative(x: Any) -> Any:  # noqa: ANN401 -- an array, or a constant
    """Return −x; JAX before 0.10 passes on a constant as an object that has no minus sign."""
    return -x if isinstance(x, jax.Array) else -np.asarray(x)


def _quotient(x: Array, y: Array) -> Array:
    return x * _instruction("rcp.approx.ftz", y)


def _root(x: Array) -> Array:
    return _instruction("sqrt.approx.ftz", x)


def _exponential(x: Array) -> Array:
    return _instruction("ex2.approx.ftz", x * log2(e))


def _sigmoid(x: Array) -> Array:
    return _instruction("rcp.approx.ftz", 1 + _instruction("ex2.approx.ftz", x * -log2(e)))


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
    ("div", "float64"): _refined_quotient,
    ("sqrt", "float64"): _refined_root,
    ("logistic", "float64"): _refined_sigmoid,
}
