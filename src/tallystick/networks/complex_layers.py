"""Complex layers in JSON files: by their factors λ, or by the parameters of LRU and S4D (`networks.parametrisations`).

A complex vector or matrix is `{"real": …, "imaginary": …}`, and so are λ, B and the readout's weight C, which gives Re(C·z):

    {"cell": "lru", "input_weight": {"real": [[1, -1]], "imaginary": [[0, 0]]},
     "recurrent_weight": {"real": [0.9], "imaginary": [0.1]},
     "readout": {"kind": "binary", "weight": {"real": [[1]], "imaginary": [[0]]}, "bias": [0]}}

In the place of `recurrent_weight` an LRU layer has `nu_log`, `theta_log` and perhaps `gamma_log`. An S4D layer has H channels,
each a row of `log_A_real`, of `A_imag`, of the complex `C`, and of `B` where that is not 1, and an entry of `log_dt`; of one
channel the rows alone may be given. Channel h reads row h of `input_weight` times x, or entry h of x where there is none. A file
says how it is made discrete, `"discretisation": "zoh"` or `"bilinear"`, and which `"factor"`, 1 or 2, multiplies Re(C·z).

A layer with a `C` shows y = Re(C·z), times that factor, plus `D` times what it reads, and the readout or the next layer reads y.
"""

from fractions import Fraction
from typing import Any, NamedTuple, cast

from tallystick.cells import LruLayer
from tallystick.files import Document
from tallystick.networks.parametrisations import DISCRETISATIONS, lru_factor, lru_scale, s4d_factor
from tallystick.numbers.values import Matrix, Vector, depth_of, read_numbers, write_numbers

MOST_COMPLEX = 128
_PARTS = ("real", "imaginary")
_ZERO = Fraction(0)
_LRU, _S4D = "nu_log", "log_A_real"


class ComplexUnit(NamedTuple):
    """A unit z' = λ·z + B·x + b, and what it adds to each of the numbers that the layer shows, Re(c·z).

    Attributes:
        factor: λ.
        weight: B, one complex number per entry of x.
        bias: b.
        shown: c, one complex number per number that the layer shows; empty where it shows z itself.
    """

    factor: tuple[Fraction, Fraction]
    weight: tuple[tuple[Fraction, Fraction], ...]
    bias: tuple[Fraction, Fraction] = (_ZERO, _ZERO)
    shown: tuple[tuple[Fraction, Fraction], ...] = ()


def layer_of_units(units: list[ComplexUnit]) -> tuple[LruLayer, Matrix]:
    """Return complex units as a layer, and the rows over its state that give what it shows."""
    weight = tuple(tuple(entry[part] for entry in unit.weight) for part in (0, 1) for unit in units)
    factors = tuple(tuple(unit.factor[part] for unit in units) for part in (0, 1))
    layer = LruLayer(weight, factors, tuple(unit.bias[part] for part in (0, 1) for unit in units))
    shown = zip(*(unit.shown for unit in units), strict=True)
    return layer, tuple((*(real for real, _ in row), *(-imaginary for _, imaginary in row)) for row in shown)


def read_complex_layer(
    document: Document, required: tuple[str, ...], optional: tuple[str, ...], inputs: int
) -> tuple[LruLayer, Matrix, dict[str, Document]]:
    """Read a complex layer; return it, the rows that give what it shows (none where it shows its state) and all fields."""
    content = cast("dict[str, object]", document.value)
    if _S4D in content:
        fields = document.fields(
            required=("cell", _S4D, "A_imag", "log_dt", "C", "discretisation", "factor", *required),
            optional=("B", "D", "input_weight", "input_bias", *optional),
        )
        return *layer_of_units(_s4d_units(fields, inputs)), fields
    if _LRU in content:
        fields = document.fields(
            required=("cell", _LRU, "theta_log", "input_weight", *required),
            optional=("gamma_log", "C", "D", *optional),
        )
        return *layer_of_units(_lru_units(fields, inputs)), fields
    fields = document.fields(
        required=("cell", "input_weight", "recurrent_weight", *required), optional=("input_bias", *optional)
    )
    size = _size(_parts(fields["recurrent_weight"])[0])
    factors, weight = _complex(fields["recurrent_weight"], size), _complex(fields["input_weight"], size, inputs)
    bias = _complex(fields["input_bias"], size) if "input_bias" in fields else [(_ZERO, _ZERO)] * size
    return *layer_of_units([ComplexUnit(*unit) for unit in zip(factors, weight, bias, strict=True)]), fields


def complex_layer_to_json(layer: LruLayer) -> dict[str, object]:
    """Return the weights of a complex layer as its file holds them."""
    half = layer.units // 2
    parts: dict[str, tuple[Any, ...]] = {
        "input_weight": (layer.input_weight[:half], layer.input_weight[half:]),
        "recurrent_weight": layer.recurrent_weight,
        "input_bias": (layer.input_bias[:half], layer.input_bias[half:]),
    }
    return {
        name: {part: write_numbers(numbers, f"{name}.{part}") for part, numbers in zip(_PARTS, both, strict=True)}
        for name, both in parts.items()
    }


def real_readout(document: Document, units: int) -> Document:
    """Return the readout of a complex layer with the rows (Re C, −Im C) in the place of a complex C."""
    content = document.value
    if not isinstance(content, dict) or not isinstance(cast("dict[str, object]", content).get("weight"), dict):
        return document
    found = cast("dict[str, object]", content)
    weight = Document(found["weight"], f"{document.where}: weight")
    rows = _complex(weight, len(list(_parts(weight)[0].items())), units // 2)
    real = [[*(entry[0] for entry in row), *(-entry[1] for entry in row)] for row in rows]
    return Document({**found, "weight": real}, document.where)


def _lru_units(fields: dict[str, Document], inputs: int) -> list[ComplexUnit]:
    size = _size(fields[_LRU])
    nu, theta = (read_numbers(fields[name], size) for name in (_LRU, "theta_log"))
    weight = _complex(fields["input_weight"], size, inputs)
    if "gamma_log" in fields:
        gamma = read_numbers(fields["gamma_log"], size)
        weight = [
            tuple((lru_scale(log, real), lru_scale(log, imaginary)) for real, imaginary in row)
            for log, row in zip(gamma, weight, strict=True)
        ]
    shown, rows = [()] * size, 0
    if "C" in fields:
        rows = len(list(_parts(fields["C"])[0].items()))
        shown = list(zip(*_complex(fields["C"], rows, size), strict=True))
    elif "D" in fields:
        fields["D"].refuse("of use without a C: the readout sees the state itself")
    units = [
        ComplexUnit(lru_factor(*logs), row, shown=shows)
        for *logs, row, shows in zip(nu, theta, weight, shown, strict=True)
    ]
    direct = read_numbers(fields["D"], rows, inputs) if "D" in fields else ()
    return units + [_direct_unit(row, _ZERO, place, rows) for place, row in enumerate(direct)]


def _s4d_units(fields: dict[str, Document], inputs: int) -> list[ComplexUnit]:
    """Return the units of all channels, and one more for each channel whose output what it reads is added to."""
    rates = _rows(fields[_S4D])
    channels = len(list(rates.items()))
    size = _size(next(rates.items(), rates), channels)
    real = read_numbers(rates, channels, size)
    turns = read_numbers(_rows(fields["A_imag"]), channels, size)
    steps = read_numbers(_rows(fields["log_dt"], depth=1), channels)
    shows = _complex(fields["C"], channels, size)
    weights = _complex(fields["B"], channels, size) if "B" in fields else [((Fraction(1), _ZERO),) * size] * channels
    discretisation, factor = fields["discretisation"], fields["factor"]
    if discretisation.text() not in DISCRETISATIONS:
        discretisation.refuse(f"one of {', '.join(DISCRETISATIONS)}")
    scale = read_numbers(factor)
    if scale not in (1, 2):
        factor.refuse("1 or 2, by which Re(C·z) is multiplied")
    if "input_weight" in fields:
        reads = read_numbers(fields["input_weight"], channels, inputs)
    elif channels == inputs:
        reads = tuple(tuple(Fraction(row == column) for column in range(inputs)) for row in range(channels))
    else:
        fields[_S4D].refuse(f"a row for each of the {inputs} numbers that the layer reads; add an input_weight")
    biases = read_numbers(fields["input_bias"], channels) if "input_bias" in fields else (_ZERO,) * channels
    units: list[ComplexUnit] = []
    for channel, (row, bias) in enumerate(zip(reads, biases, strict=True)):
        for rate, turn, weight, (c, d) in zip(
            real[channel], turns[channel], weights[channel], shows[channel], strict=True
        ):
            factors, (x, y) = s4d_factor(rate, turn, steps[channel], weight, discretisation.text())
            shown = _only(channel, channels, (scale * c, scale * d))
            units.append(ComplexUnit(factors, tuple((x * w, y * w) for w in row), (x * bias, y * bias), shown))
    direct = read_numbers(_rows(fields["D"], depth=1), channels) if "D" in fields else ()
    return units + [
        _direct_unit(tuple(d * w for w in reads[place]), d * biases[place], place, channels)
        for place, d in enumerate(direct)
    ]


def _direct_unit(weight: Vector, bias: Fraction, place: int, rows: int) -> ComplexUnit:
    """Return the unit that holds what the last token adds to the output directly: with λ = 0 it forgets all else."""
    return ComplexUnit(
        (_ZERO, _ZERO), tuple((w, _ZERO) for w in weight), (bias, _ZERO), _only(place, rows, (Fraction(1), _ZERO))
    )


def _only(place: int, size: int, value: tuple[Fraction, Fraction]) -> tuple[tuple[Fraction, Fraction], ...]:
    return tuple(value if other == place else (_ZERO, _ZERO) for other in range(size))


def _rows(document: Document, depth: int = 2) -> Document:
    """Return a list of so many levels: what is given for one channel alone is the only entry of one."""
    return Document([document.value], document.where) if depth_of(document) == depth - 1 else document


def _complex(document: Document, *shape: int) -> list[Any]:
    """Read complex numbers of a shape as nested tuples of pairs."""
    real, imaginary = (_rows(part, len(shape)) for part in _parts(document))
    return list(_paired(read_numbers(real, *shape), read_numbers(imaginary, *shape)))


def _paired(real: Any, imaginary: Any) -> Any:  # noqa: ANN401 -- nested tuples of numbers
    if isinstance(real, tuple):
        return tuple(_paired(*both) for both in zip(cast("Vector", real), imaginary, strict=True))
    return real, imaginary


def _parts(document: Document) -> tuple[Document, Document]:
    fields = document.fields(required=_PARTS)
    return fields[_PARTS[0]], fields[_PARTS[1]]


def _size(document: Document, times: int = 1) -> int:
    """Return the length of a list with an entry per complex unit."""
    size = len(list(document.items()))
    if not 0 < size * times <= MOST_COMPLEX:
        document.refuse(f"a list for 1 to {MOST_COMPLEX} complex units in all: {size * times} do not go")
    return size
