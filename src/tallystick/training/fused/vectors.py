"""Numbers of many networks in LLVM's vectors, a lane per network, and functions of them that no instruction computes.

Every operation works lane by lane, so that what a network becomes does not depend on those beside it. A number that all networks
share is a scalar until it meets a vector.

    x·y + z                               one instruction, rounded once, where that is asked for
    x/y, √x                               as IEEE 754 rounds them
    eˣ, tanh x, log x, sin x, cos x       by a polynomial, right to two units in the last place
    the angle of x + iy                   the same, right to three

A sine or a cosine of an angle of many turns is less precise close to its zeros: in float32 it is right to 10⁻⁷ for up to 10⁶.
"""

from collections.abc import Callable, Container
from decimal import Decimal
from functools import cache
from math import e, factorial, inf, log2, nan, pi, sqrt
from typing import Any

import numpy as np
from llvmlite import binding, ir

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
        return self._call(full, kind, *operands)

    def _call(self, name: str, kind: ir.Type, *operands: Value) -> Value:
        module, takes = self.builder.module, [operand.type for operand in operands]
        function = module.globals.get(name) or ir.Function(module, ir.FunctionType(kind, takes), name)
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
        if isinstance(y, ir.Constant):
            x, y = y, x
        # Where nothing can be compared the second is chosen, as by the one instruction that processors have for this.
        found = self.builder.select(self.compare(sign, x, y), x, y)
        return found if isinstance(x, ir.Constant) else self.builder.select(self._is_nan(x), x, found)

    def _is_nan(self, x: Value) -> Value:
        return self.builder.fcmp_unordered("uno", x, x)

    def sign(self, x: Value) -> Value:
        """Return 1, 0 or −1; the sign of a NaN is that NaN."""
        one = self.call("copysign", self.number(1, x), x)
        is_number = self.builder.or_(self.compare(">", x, self.number(0, x)), self.compare("<", x, self.number(0, x)))
        return self.builder.select(is_number, one, x)

    def choose(self, which: Value, *cases: Value) -> Value:
        """Choose the second of two values where a condition holds."""
        return self.builder.select(which, cases[1], cases[0])

    def reinterpret(self, value: Value, element: ir.Type) -> Value:
        """Return the bits of a value as numbers of another type of the same size."""
        kind = self.vector(element) if isinstance(value.type, ir.VectorType) else element
        return self.builder.bitcast(value, kind)

    # --- Functions ---

    def _powers(self, x: Value, parts: int = 1) -> tuple[Value, Value]:
        """Return 2ⁿ and eʳ − 1 for x = n·ln 2 + r, where n is a multiple of 1/parts; n stays within what an exponent holds."""
        build, element = self.builder, element_of(x)
        (digits, _), (low, high), whole = _FORMAT[element], _RANGE[element], _BITS[element]
        x = self.furthest("<", self.furthest(">", x, self.number(low, x)), self.number(high, x))
        # Adding and taking away so large a number rounds to a multiple of 1/parts.
        split = parts.bit_length() - 1
        magic = self.number(1.5 * 2.0 ** (digits - split), x)
        moved = self.multiply_add(x, self.number(log2(e), x), magic)
        n = build.fsub(moved, magic)
        first, second = _LN2[element]
        r = self.multiply_add(n, self.number(-second, x), self.multiply_add(n, self.number(-first, x), x))
        # The lowest bits of the sum are n·parts; those above them, which the shift drops, are those of the large number.
        bits = self.reinterpret(moved, whole)
        power = self.reinterpret(self._root_of_two(bits, parts, x), whole)
        bits = build.and_(bits, self.number(-parts, bits)) if split else bits
        power = build.add(power, build.shl(bits, self.number(digits - split, bits)))
        square = build.fmul(r, r)
        rest = self.multiply_add(self._polynomial(r, square, _EXPONENTIAL[element, parts]), square, r)
        return self.reinterpret(power, element), rest

    def _root_of_two(self, bits: Value, parts: int, like: Value) -> Value:
        """Return 2^(k/parts) for the number k in the lowest bits: 1, or a lookup that AVX-512 does in one instruction."""
        if parts == 1:
            return self.number(1, like)
        build, element, wide = self.builder, like.type, isinstance(like.type, ir.VectorType)
        roots = [float(Decimal(2) ** (Decimal(k) / parts)) for k in range(parts)]
        if wide and parts == 2 * self.lanes and _has_wide_lookups():
            first, second = (ir.Constant(element, half) for half in (roots[: self.lanes], roots[self.lanes :]))
            return self._call("llvm.x86.avx512.vpermi2var.pd.512", element, first, bits, second)
        table = self._table(f"roots of two, {parts}", ir.Constant(ir.ArrayType(element_of(like), parts), roots))
        places = build.and_(bits, self.number(parts - 1, bits))
        none = ir.Constant(INTEGER, 0)
        if not wide:
            return build.load(build.gep(table, [none, places]))
        found: Value = ir.Constant(element, ir.Undefined)
        for lane in (ir.Constant(INTEGER, number) for number in range(self.lanes)):
            root = build.load(build.gep(table, [none, build.extract_element(places, lane)]))
            found = build.insert_element(found, root, lane)
        return found

    def _table(self, name: str, numbers: ir.Constant) -> Value:
        """Return where the module holds some numbers."""
        module = self.builder.module
        if name not in module.globals:
            table: Any = ir.GlobalVariable(module, numbers.type, name)
            table.global_constant, table.linkage, table.initializer = True, "internal", numbers
        return module.globals[name]

    def _polynomial(self, x: Value, square: Value, coefficients: tuple[float, ...]) -> Value:
        """Horner's scheme in x², on pairs of coefficients: half as long a wait as one by one. The lowest comes first."""
        numbers = [self.number(coefficient, x) for coefficient in coefficients]
        pairs = [
            self.multiply_add(pair[1], x, pair[0]) if len(pair) > 1 else pair[0]
            for pair in (numbers[place : place + 2] for place in range(0, len(numbers), 2))
        ]
        found = pairs[-1]
        for pair in pairs[-2::-1]:
            found = self.multiply_add(found, square, pair)
        return found

    def exponential(self, x: Value) -> Value:
        """Write eˣ as 2ⁿ·eʳ, in float64 with |r| ≤ ln 2 / 32: a root of two from a table spares five multiply-adds."""
        power, rest = self._powers(x, _PARTS[element_of(x)])
        return self.multiply_add(power, rest, power)

    def logistic(self, x: Value) -> Value:
        """Write 1/(1 + e⁻ˣ)."""
        one = self.number(1, x)
        return self.builder.fdiv(one, self.builder.fadd(one, self.exponential(self.builder.fneg(x))))

    def tanh(self, x: Value) -> Value:
        """Write tanh x as y/(y + 2) with y = e²ˣ − 1, which keeps its digits near 0 where n is 0."""
        power, rest = self._powers(self.builder.fadd(x, x))
        y = self.multiply_add(power, rest, self.builder.fsub(power, self.number(1, x)))
        return self.builder.fdiv(y, self.builder.fadd(y, self.number(2, x)))

    def sine(self, x: Value, quarters: int = 0) -> Value:
        """Write sin(x + quarters·π/2) by r, where x = n·π/2 + r with |r| ≤ π/4; n is below 2²² in float32 and 2⁵¹ in float64."""
        build, element = self.builder, element_of(x)
        (digits, _), whole = _FORMAT[element], _BITS[element]
        magic = self.number(1.5 * 2.0**digits, x)
        moved = self.multiply_add(x, self.number(2 / pi, x), magic)
        n = build.fsub(moved, magic)
        high, low = _HALF_PI[element]
        r = self.multiply_add(n, self.number(-low, x), self.multiply_add(n, self.number(-high, x), x))
        square = build.fmul(r, r)
        fourth = build.fmul(square, square)
        sines, cosines = (self._polynomial(square, fourth, series[element]) for series in (_SINE, _COSINE))
        sine = self.multiply_add(build.fmul(sines, square), r, r)
        cosine = self.multiply_add(cosines, square, self.number(1, x))
        # n counts quarter turns: an odd one turns sines into cosines, and every second pair changes the sign.
        bits = self.reinterpret(moved, whole)
        bits = build.add(bits, self.number(quarters, bits))
        is_odd = build.icmp_signed("!=", build.and_(bits, self.number(1, bits)), self.number(0, bits))
        found = self.reinterpret(build.select(is_odd, cosine, sine), whole)
        sign = build.shl(build.and_(bits, self.number(2, bits)), self.number(whole.width - 2, bits))
        return self.reinterpret(build.xor(found, sign), element)

    def logarithm(self, x: Value) -> Value:
        """Write log x as n·ln 2 + 2·artanh s, where x = 2ⁿ·m with √½ ≤ m < √2 and s = (m − 1)/(m + 1)."""
        build, element = self.builder, element_of(x)
        (digits, bias), whole = _FORMAT[element], _BITS[element]
        bits = self.reinterpret(x, whole)
        root = int(sqrt(0.5) * 2 ** (digits + 1)) - 2**digits + ((bias - 1) << digits)  # the bits of √½
        exponent = build.ashr(build.sub(bits, self.number(root, bits)), self.number(digits, bits))
        m = self.reinterpret(build.sub(bits, build.shl(exponent, self.number(digits, bits))), element)
        n = build.sitofp(exponent, x.type)
        one = self.number(1, x)
        s = build.fdiv(build.fsub(m, one), build.fadd(m, one))
        square, double = build.fmul(s, s), build.fadd(s, s)
        series = self._polynomial(square, build.fmul(square, square), _ARTANH[element])
        high, low = (self.number(part, x) for part in _LN2[element])
        rest = self.multiply_add(build.fmul(series, square), double, build.fmul(n, low))
        found = self.multiply_add(n, high, build.fadd(double, rest))
        # Only positive numbers have a logarithm; that of 0 and of the infinity are infinite.
        found = build.select(self.compare("<", x, self.number(inf, x)), found, x)
        none = build.select(self.compare("==", x, self.number(0, x)), self.number(-inf, x), self.number(nan, x))
        return build.select(self.compare(">", x, self.number(0, x)), found, none)

    def angle(self, y: Value, x: Value) -> Value:
        """Write the angle of the finite point (x, y), by the arctangent of at most √2 − 1 after turns of π/4, π/2 and π."""
        build, element, zero, one = self.builder, element_of(x), self.number(0, x), self.number(1, x)
        across, up = self.call("fabs", x), self.call("fabs", y)
        is_steep = self.compare(">", up, across)
        least, most = build.select(is_steep, across, up), build.select(is_steep, up, across)
        most = build.select(self.compare(">", most, zero), most, one)
        is_wide = self.compare(">", least, build.fmul(most, self.number(sqrt(2) - 1, x)))
        tangent = build.fdiv(
            build.select(is_wide, build.fsub(least, most), least), build.select(is_wide, build.fadd(least, most), most)
        )
        square = build.fmul(tangent, tangent)
        series = self._polynomial(square, build.fmul(square, square), _ARCTANGENT[element])
        found = self.multiply_add(build.fmul(series, square), tangent, tangent)
        found = build.fadd(found, build.select(is_wide, self.number(pi / 4, x), zero))
        found = build.select(is_steep, build.fsub(self.number(pi / 2, x), found), found)
        found = build.select(self.compare("<", x, zero), build.fsub(self.number(pi, x), found), found)
        return self.call("copysign", found, y)


def _instruction(name: str) -> Callable[..., Value]:
    return lambda vectors, *operands: getattr(vectors.builder, name)(*operands)


def _comparison(sign: str) -> Callable[..., Value]:
    return lambda vectors, x, y: vectors.compare(sign, x, y)


def _calculation(name: str) -> Callable[..., Value]:
    return lambda vectors, x, y: vectors.calculate(name, x, y)


@cache
def _has_wide_lookups() -> bool:
    """Say whether this processor permutes vectors of 512 bits."""
    return bool(binding.get_host_cpu_features().get("avx512f"))


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
    "sin": Vectors.sine,
    "cos": lambda vectors, x: vectors.sine(x, quarters=1),
    "log": Vectors.logarithm,
    "atan2": Vectors.angle,
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

_PARTS = {_SINGLE: 1, _DOUBLE: 16}
"""Into how many parts an exponential cuts a power of two."""

_EXPONENTIAL = {
    (_SINGLE, 1): (
        4.9999993432137446e-1,
        1.6666520399191034e-1,
        4.166839077878615e-2,
        8.368745098531173e-3,
        1.381454053509544e-3,
    ),
    (_DOUBLE, 16): (
        4.9999999999999606e-1,
        1.666666666444180e-1,
        4.166666669324991e-2,
        8.333471920757025e-3,
        1.388859406641505e-3,
    ),
    (_DOUBLE, 1): (
        5.000000000000011e-1,
        1.666666666666641e-1,
        4.1666666666529725e-2,
        8.333333333494975e-3,
        1.388888894376006e-3,
        1.9841269505775131e-4,
        2.480149294954246e-5,
        2.7557586805701035e-6,
        2.7630306279495355e-7,
        2.5000017526759984e-8,
    ),
}
"""(eʳ − 1 − r)/r² for |r| ≤ ln 2 / (2·parts), by type and parts, the lowest power first: of all polynomials with so many
coefficients these give eʳ with the least relative error at the worst r (by Remez's exchange): 3.1·10⁻⁹, 1.2·10⁻¹⁷ and
3.7·10⁻¹⁸."""

_HALF_PI = {
    _SINGLE: (float(np.float32(pi / 2)), pi / 2 - float(np.float32(pi / 2))),
    _DOUBLE: (pi / 2, 6.123233995736766e-17),
}
"""π/2 in two parts, of which the first is the nearest number of the type."""


def _series(single: int, double: int, term: Callable[[int], float]) -> dict[ir.Type, tuple[float, ...]]:
    """Return as many terms of a series as are not lost in rounding, from the second one on."""
    numbers = {_SINGLE: single, _DOUBLE: double}
    return {element: tuple(term(power) for power in range(1, number + 1)) for element, number in numbers.items()}


# Each is the rest of a series after its first term, as a polynomial in x²: (sin x − x)/x³, (cos x − 1)/x² and so on.
_SINE = _series(4, 8, lambda power: (-1) ** power / factorial(2 * power + 1))
_COSINE = _series(5, 9, lambda power: (-1) ** power / factorial(2 * power))
_ARTANH = _series(6, 11, lambda power: 1 / (2 * power + 1))
_ARCTANGENT = _series(9, 20, lambda power: (-1) ** power / (2 * power + 1))
