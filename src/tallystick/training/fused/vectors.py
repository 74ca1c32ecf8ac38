"""Numbers of many networks in LLVM's vectors, a lane per network, and functions of them that no instruction computes.

Every operation works lane by lane, so that what a network becomes does not depend on those beside it. A number that all networks
share is a scalar until it meets a vector.

    x·y + z       one instruction, rounded once, where that is asked for
    x/y, √x       as IEEE 754 rounds them
    eˣ, tanh x    polynomials, right to about one unit in the last place for eˣ and to two for tanh
"""

from collections.abc import Callable, Container
from math import e, factorial, log2
from typing import Any

import numpy as np
from llvmlite import ir

INTEGER, BOOLEAN = ir.IntType(32), ir.IntType(1)
FLOATS = {"float32": ir.FloatType(), "float64": ir.DoubleType()}

_SINGLE, _DOUBLE = FLOATS.values()
_BITS = {_SINGLE: ir.IntType(32), _DOUBLE: ir.IntType(64)}
_SUFFIX = {_SINGLE: "f32", _DOUBLE: "f64"}
_NAMES = {**{kind: name for name, kind in FLOATS.items()}, INTEGER: "int32", BOOLEAN: "bool"}

Value = Any
"""A value of LLVM's: a vector, or a scalar that all networks share."""


def element_of(value: Value) -> ir.Type:
    """Return the type of a number, or that of a vector's lanes."""
    return value.type.element if isinstance(value.type, ir.VectorType) else value.type


def type_of(dtype: Any) -> ir.Type:  # noqa: ANN401 -- whatever names a type for NumPy
    """Return LLVM's type for a type of NumPy's."""
    name = str(np.dtype(dtype))
    return FLOATS.get(name) or (BOOLEAN if name == "bool" else INTEGER)


class Vectors:
    """Writes operations on vectors of one width, and on scalars.

    Args:
        builder: where to write.
        lanes: how many networks a vector holds.
    """

    def __init__(self, builder: ir.IRBuilder, lanes: int) -> None:
        """Write at the end of what the builder has written."""
        self.builder, self.lanes = builder, lanes

    @property
    def operations(self) -> Container[str]:
        """JAX's names of the operations that have vector code."""
        return OPERATIONS

    def vector(self, element: ir.Type) -> ir.VectorType:
        """Return the type of a vector."""
        return ir.VectorType(element, self.lanes)

    def constant(self, value: Any) -> Value:  # noqa: ANN401 -- a number of NumPy's
        """Return a number as a scalar."""
        kind = type_of(np.asarray(value).dtype)
        return ir.Constant(kind, float(value) if kind in _BITS else int(value))

    def number(self, value: float, like: Value) -> Value:
        """Return a constant of the type of another value."""
        if isinstance(like.type, ir.VectorType):
            return ir.Constant(like.type, [value] * self.lanes)
        return ir.Constant(like.type, value)

    def precision(self, value: Value) -> str:
        """Return NumPy's name of the type of a value."""
        return _NAMES[element_of(value)]

    def spread(self, value: Value) -> Value:
        """Return a value with a lane per network."""
        if isinstance(value.type, ir.VectorType):
            return value
        kind = self.vector(value.type)
        if isinstance(value, ir.Constant):
            return ir.Constant(kind, [value.constant] * self.lanes)
        nothing = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(nothing, value, ir.Constant(INTEGER, 0))
        return self.builder.shuffle_vector(first, nothing, ir.Constant(self.vector(INTEGER), [0] * self.lanes))

    def apply(self, name: str, *operands: Value) -> Value:
        """Apply an operation by JAX's name for it; scalars are spread where another operand is a vector."""
        if any(isinstance(operand.type, ir.VectorType) for operand in operands):
            operands = tuple(map(self.spread, operands))
        return OPERATIONS[name](self, *operands)

    def convert(self, value: Value, dtype: Any) -> Value:  # noqa: ANN401
        """Return a value in another type, rounded to it."""
        element, target = element_of(value), type_of(dtype)
        if element == target:
            return value
        kind = self.vector(target) if isinstance(value.type, ir.VectorType) else target
        if target in _BITS and element in _BITS:
            return (self.builder.fpext if target == _DOUBLE else self.builder.fptrunc)(value, kind)
        if target in _BITS:
            return (self.builder.uitofp if element == BOOLEAN else self.builder.sitofp)(value, kind)
        if element == BOOLEAN:
            return self.builder.zext(value, kind)
        return self.builder.fptosi(value, kind)

    def call(self, name: str, *operands: Value) -> Value:
        """Call one of LLVM's own functions, such as `sqrt`."""
        kind, suffix = operands[0].type, _SUFFIX[element_of(operands[0])]
        full = f"llvm.{name}.{f'v{self.lanes}' if isinstance(kind, ir.VectorType) else ''}{suffix}"
        module = self.builder.module
        function = module.globals.get(full) or ir.Function(module, ir.FunctionType(kind, [kind] * len(operands)), full)
        return self.builder.call(function, operands)

    def multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        """Return x·y + z, rounded once."""
        if any(isinstance(operand.type, ir.VectorType) for operand in (x, y, z)):
            x, y, z = map(self.spread, (x, y, z))
        return self.call("fma", x, y, z)

    def compare(self, sign: str, x: Value, y: Value) -> Value:
        """Compare two numbers; a NaN is not above, below or equal to anything."""
        if element_of(x) not in _BITS:
            return self.builder.icmp_signed(sign, x, y)
        return (self.builder.fcmp_unordered if sign == "!=" else self.builder.fcmp_ordered)(sign, x, y)

    def calculate(self, name: str, x: Value, y: Value) -> Value:
        """Add, subtract or multiply floats or integers."""
        return getattr(self.builder, f"f{name}" if element_of(x) in _BITS else name)(x, y)

    def furthest(self, sign: str, x: Value, y: Value) -> Value:
        """Return the larger or the smaller of two numbers, or a NaN where one is."""
        found = self.builder.select(self.compare(sign, x, y), x, y)
        return self.builder.select(self.builder.fcmp_unordered("uno", x, x), x, found)

    def sign(self, x: Value) -> Value:
        """Return 1, 0 or −1; the sign of a NaN is that NaN."""
        one = self.call("copysign", self.number(1, x), x)
        is_number = self.builder.or_(self.compare(">", x, self.number(0, x)), self.compare("<", x, self.number(0, x)))
        return self.builder.select(is_number, one, x)

    def choose(self, which: Value, *cases: Value) -> Value:
        """Choose the second of two values where a condition holds."""
        return self.builder.select(which, cases[1], cases[0])

    # --- Functions ---

    def _polynomial(self, x: Value, *coefficients: float) -> Value:
        """Horner's scheme; the highest coefficient comes first."""
        found = self.number(coefficients[0], x)
        for coefficient in coefficients[1:]:
            found = self.multiply_add(found, x, self.number(coefficient, x))
        return found

    def exponential(self, x: Value) -> Value:
        """Write eˣ as 2ⁿ·eʳ with |r| ≤ ln 2 / 2; n stays within what an exponent holds."""
        build, element = self.builder, element_of(x)
        (digits, bias), (low, high) = _FORMAT[element], _RANGE[element]
        x = self.furthest("<", self.furthest(">", x, self.number(low, x)), self.number(high, x))
        # Adding and taking away 1.5·2^digits rounds to a whole number.
        magic = self.number(1.5 * 2.0**digits, x)
        moved = self.multiply_add(x, self.number(log2(e), x), magic)
        n = build.fsub(moved, magic)
        first, second = _LN2[element]
        r = self.multiply_add(n, self.number(-second, x), self.multiply_add(n, self.number(-first, x), x))
        # The lowest bits of the sum are n; those above them, which the shift drops, are those of 1.5·2^digits.
        bits = build.bitcast(
            moved, self.vector(_BITS[element]) if isinstance(x.type, ir.VectorType) else _BITS[element]
        )
        exponent = build.shl(build.add(bits, self.number(bias, bits)), self.number(digits, bits))
        return build.fmul(self._polynomial(r, *_EXPONENTIAL[element]), build.bitcast(exponent, x.type))

    def logistic(self, x: Value) -> Value:
        """Write 1/(1 + e⁻ˣ)."""
        one = self.number(1, x)
        return self.builder.fdiv(one, self.builder.fadd(one, self.exponential(self.builder.fneg(x))))

    def tanh(self, x: Value) -> Value:
        """Write tanh x as an odd rational function near 0, and as 1 − 2/(e²ˣ + 1) elsewhere."""
        build, size, one, two = self.builder, self.call("fabs", x), self.number(1, x), self.number(2, x)
        square = build.fmul(x, x)
        numerator, denominator = (self._polynomial(square, *part) for part in _TANH)
        near = self.multiply_add(build.fmul(x, square), build.fdiv(numerator, denominator), x)
        power = build.fadd(self.exponential(build.fmul(two, size)), one)
        far = self.call("copysign", build.fsub(one, build.fdiv(two, power)), x)
        return build.select(self.compare("<", size, self.number(_NEAR, x)), near, far)


def _instruction(name: str) -> Callable[..., Value]:
    return lambda vectors, *operands: getattr(vectors.builder, name)(*operands)


def _comparison(sign: str) -> Callable[..., Value]:
    return lambda vectors, x, y: vectors.compare(sign, x, y)


def _calculation(name: str) -> Callable[..., Value]:
    return lambda vectors, x, y: vectors.calculate(name, x, y)


OPERATIONS: dict[str, Callable[..., Value]] = {
    "add": _calculation("add"),
    "add_any": _calculation("add"),
    "sub": _calculation("sub"),
    "mul": _calculation("mul"),
    "div": _instruction("fdiv"),
    "neg": _instruction("fneg"),
    "and": _instruction("and_"),
    "or": _instruction("or_"),
    "not": _instruction("not_"),
    "gt": _comparison(">"),
    "ge": _comparison(">="),
    "lt": _comparison("<"),
    "le": _comparison("<="),
    "eq": _comparison("=="),
    "ne": _comparison("!="),
    "max": lambda vectors, x, y: vectors.furthest(">", x, y),
    "min": lambda vectors, x, y: vectors.furthest("<", x, y),
    "exp": Vectors.exponential,
    "logistic": Vectors.logistic,
    "tanh": Vectors.tanh,
    "sqrt": lambda vectors, x: vectors.call("sqrt", x),
    "abs": lambda vectors, x: vectors.call("fabs", x),
    "sign": Vectors.sign,
    "square": lambda vectors, x: vectors.builder.fmul(x, x),
    "one_minus_square": lambda vectors, x: vectors.builder.fsub(vectors.number(1, x), vectors.builder.fmul(x, x)),
    "select_n": Vectors.choose,
    "stop_gradient": lambda _, x: x,
    "copy": lambda _, x: x,
}
"""By JAX's names, on operands that are all scalars or all vectors."""

_FORMAT = {_SINGLE: (23, 127), _DOUBLE: (52, 1023)}
"""The digits after the point, and what is added to an exponent."""

_RANGE = {_SINGLE: (-87.0, 88.0), _DOUBLE: (-708.0, 709.0)}

_LN2 = {_SINGLE: (0.693359375, -2.12194440e-4), _DOUBLE: (0.693145751953125, 1.42860682030941723212e-6)}
"""ln 2 in two parts, the first short enough for n times it to be exact."""

_EXPONENTIAL = {
    _SINGLE: (
        1.9875691500e-4,
        1.3981999507e-3,
        8.3334519073e-3,
        4.1665795894e-2,
        1.6666665459e-1,
        5.0000001201e-1,
        1.0,
        1.0,
    ),
    _DOUBLE: tuple(1 / factorial(n) for n in range(13, -1, -1)),
}
"""eʳ for |r| ≤ ln 2 / 2, the highest power first: Cephes' polynomial, and Taylor's."""

_NEAR = 0.625
_TANH = (
    (-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3),
    (1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3),
)
"""Cephes: (tanh x − x)/x³ for |x| below 0.625 as a quotient of polynomials in x²."""
