"""The instructions of the kernel for GPUs: what is written for an operation, and what it computes.

Without a GPU they are emulated, or looked at in the traced program.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.training.fused import instructions
from tallystick.training.fused.instructions import Arrays, Flag
from tallystick.training.fused.numbering import SEEDS, Writer, as_written, numbers


def emulated(name, *operands):
    """Stand for the device: approximations that are right to twenty bits, and a multiply-add."""
    fine = [np.asarray(operand, np.float64) for operand in operands]
    exact = {"rcp": lambda x: 1 / x, "rsqrt": lambda x: 1 / np.sqrt(x), "sqrt": np.sqrt, "ex2": np.exp2}
    short, _, rest = name.partition(".")
    if rest.startswith("approx"):
        return exact[short](fine[0]) * (1 + 2.0**-20 * np.sin(1e6 * fine[0]))
    x, y, z = (operand.astype(np.longdouble) for operand in fine)
    return np.float64(x * y + z)


def test_float64_is_refined_to_the_last_places(monkeypatch):
    monkeypatch.setattr(instructions, "_instruction", emulated)
    generator = np.random.default_rng(3)
    x, y = (10.0 ** generator.uniform(-12, 6, 1000) for _ in range(2))
    found = [instructions._REPLACED[name, "float64"] for name in ("div", "sqrt")]
    np.testing.assert_allclose(found[0](x, y), x / y, rtol=4e-16)
    np.testing.assert_allclose(found[1](x), np.sqrt(x), rtol=4e-16)
    assert found[1](np.zeros(2)).tolist() == [0, 0]


def instructions_in(work, *arguments):
    """The device's instructions in a traced function, and its other operations on arrays."""
    program = jax.make_jaxpr(work)(*arguments)
    writer = Writer(Arrays(native=True), multiply_adds=("float32",))

    def write(*values):
        return [part.values.item() for part in writer.write(program, [numbers([x], x.shape) for x in values])]

    equations = jax.make_jaxpr(write)(*arguments).jaxpr.eqns
    asm = [equation.params["asm"].split()[0] for equation in equations if "asm" in equation.params]
    return sorted(asm), [equation.primitive.name for equation in equations if "asm" not in equation.params]


def test_products_that_are_added_are_one_instruction():
    x = jnp.ones(SEEDS)
    assert instructions_in(lambda x: x * 2 + 1, x)[0] == ["fma.rn.f32"]
    assert instructions_in(lambda x: 1 - x * x, x)[0] == ["fma.rn.f32"]
    assert instructions_in(lambda x: jnp.sqrt(x) / (x + 3), x)[0] == ["rcp.approx.ftz.f32", "sqrt.approx.ftz.f32"]
    twice = lambda x: (product := x * 2, product + 1)  # noqa: E731 -- the product is needed in itself
    assert instructions_in(twice, x)[0] == []
    assert instructions_in(as_written(lambda x: x * 2 + 1), x)[0] == []
    assert instructions_in(lambda n: n * 2 + 1, jnp.float32(3))[0] == []  # one number for all networks


def values_of(native):
    """Products and sums with a flag, its opposite and another flag, as arrays are computed with them."""

    def work(bit, other, x, y):
        arrays, flag, further = Arrays(native=native), Flag(bit, x.dtype), Flag(other, x.dtype)
        products = [arrays.apply("mul", flag, x), arrays.apply("mul", y, flag.opposite)]
        return (
            *products,
            arrays.apply("add", *products),
            arrays.multiply_add(x, flag, y),
            arrays.multiply_add(flag.opposite, x, y),
            arrays.multiply_add(x, further, products[0]),
            arrays.multiply_add(x, flag, np.float32(7)),
            arrays.multiply_add(x, y, flag.opposite),
            arrays.apply("sub", flag.opposite, x),
        )

    return work


@pytest.mark.parametrize("bit", [0, 4])
@pytest.mark.parametrize("other", [0, 2])
def test_flags_are_factors(bit, other):
    x, y = jnp.array([3.0, -5.0]), jnp.array([8.0, 0.5])
    t, u, opposite = float(bit > 0), float(other > 0), float(bit == 0)
    found = values_of(native=False)(jnp.int32(bit), jnp.int32(other), x, y)
    sums = [x * t + y, x * opposite + y, x * u + x * t, x * t + 7, x * y + opposite, opposite - x]
    for one, expected in zip(found, [x * t, y * opposite, x * t + y * opposite, *sums], strict=True):
        assert one.tolist() == expected.tolist()


def test_sums_with_flags_are_additions_that_are_done_or_left_out():
    x = jnp.ones(4)
    equations = jax.make_jaxpr(values_of(native=True))(jnp.int32(4), jnp.int32(2), x, x).jaxpr.eqns
    asm = [equation.params["asm"] for equation in equations if "asm" in equation.params]
    conditions = [next((sign for sign in ("ne", "eq") if f"setp.{sign}" in text), "none") for text in asm]
    assert conditions == ["ne", "eq", "ne", "none"]  # x·y + t is a multiply-add
    added = [equation for equation in equations if "@p add.rn.f32 $0, $0, $2" in equation.params.get("asm", "")]
    assert len(added) == 3
    # The sum is begun before the flag is read, so the compiler must not put both into one register.
    assert all(equation.params["constraints"] == "=&f,f,f,r" for equation in added)
