"""Claims whose check would take long, each with numbers, lengths or strings as large as a certificate may have.

None is refuted at once: their models count, or come so near to it that no short string fails.
"""

from itertools import product

from forged import issued

from tallystick.cells import LinearCell, LstmCell
from tallystick.networks import Network, Readout

LONG = 10**4299 + 1  # the most digits that a number may have
TINY = f"1/{LONG}"
NEIGHBOURS = {"real": None, "float16": 1, "bfloat16": 1, "float32": 4, "float64": 4}
ARITHMETICS = ("real", "float16", "float32", "float64", "float64-fused")
_SCALAR = issued(Network(LinearCell(1, -1, 1), Readout.binary(1, -0.5)), "float32")
_LSTM = issued(
    Network(
        LstmCell(((40, 40), (40, 40), (40, -40), (40, 40)), ((0,),) * 4, (0,) * 4, (0,) * 4),
        Readout(((1,),), (0,)),
    ),
    limit=4,
)


def _lines(kind, digits):
    """A readout whose numbers have so many digits, all of them different."""
    some = [f"{10**digits + n}/{10**digits + 7 * n + 1}" for n in range(1, 4)]
    if kind == "zero":
        return {"kind": "zero"}
    if kind == "binary":
        return {"kind": "binary", "weight": some[:1], "bias": [f"-{10**digits + 3}/{2 * 10**digits + 9}"]}
    return {"kind": "ternary", "weight": ["-" + some[0], f"1/{10**digits + 3}", some[1]], "bias": ["-1/2", 0, "-1/2"]}


def _claim(cell, weights, steps, readout, arithmetic, horizon, method="search", **fields):
    evidence = {"method": method}
    if cell == "tanh":
        evidence = {"method": "enclosures", "tanh_neighbours": NEIGHBOURS[arithmetic.removesuffix("-fused")]}
    model = {
        "cell": cell,
        "open_step": steps[0],
        "close_step": steps[1],
        "recurrent_weight": weights,
        "readout": readout,
    }
    claim = {
        "model": model,
        "readout": readout["kind"],
        "arithmetic": arithmetic,
        "horizon": horizon,
        "evidence": evidence,
    }
    return {**_SCALAR, **claim, "verdict": "BOUNDED", "counterexample": None, "lengths": "even", **fields}


def long_searches():
    """All cells in all arithmetics: short and long numbers, readouts of few and many digits, near and far horizons."""
    for cell, digits, kind in product(
        ("linear", "selective", "relu", "tanh"), (1, 4200), ("zero", "binary", "ternary")
    ):
        near = f"{10**digits}/{10**digits + 1}"
        weights = [near, near] if cell == "selective" else near
        steps = ("1/1000", "-1/1000") if cell == "tanh" else (1, -1)
        for arithmetic, horizon in product(ARITHMETICS, (60, 2000, 10**9, 10**4200)):
            readout = _lines(kind, digits)
            yield (
                f"{cell} {kind} {digits} {arithmetic} {len(str(horizon))}",
                _claim(cell, weights, steps, readout, arithmetic, horizon),
            )


def hard_tanh():
    """Arguments of every size, with thresholds that no precision tells from a state."""
    for weight, step, arithmetic in product((TINY, 1, LONG), (TINY, "1/3", f"{LONG}/1"), ARITHMETICS):
        for horizon in (2, 500, 10**5):
            claim = _claim("tanh", weight, (step, f"-{step}"), {"kind": "zero"}, arithmetic, horizon)
            yield f"tanh {str(weight)[:3]} {str(step)[:3]} {arithmetic} {horizon}", claim


def near_one():
    """Linear cells with U within 10^−4000 of 1, whose horizons have thousands of digits, and coefficients with a double root."""
    for places, sign, kind in product((20, 600, 4000), (1, -1), ("binary", "ternary")):
        U = f"{10**places + sign}/{10**places}"
        for horizon, digits in product((10 ** (places // 2 - 1), 10 ** (places - 1), 10**4000), (1, 4000)):
            claim = _claim("linear", U, (1, -1), _lines(kind, digits), "real", horizon, "sorted strings")
            yield f"U {places} {sign} {kind} {len(str(horizon))} {digits}", claim


def long_strings():
    """Counterexamples that are long, that have many runs, or whose states have many digits."""
    many = [["(" if place % 2 == 0 else ")", 1] for place in range(200_000)]
    for cell, arithmetic, digits in product(("relu", "linear", "tanh"), ARITHMETICS, (1, 4000)):
        near = f"{10**digits}/{10**digits + 1}"
        for runs in ([["(", 10**6], [")", 10**6]], [["(", 3], [")", 10**4000 - 3]], many):
            length = sum(size for _, size in runs)
            example = {"runs": runs, "class": "rejected", "right_class": "accepted", "trace": None}
            fields = {"verdict": "REFUTED", "counterexample": example}
            claim = _claim(cell, near, ("1/3", "-1/3"), {"kind": "zero"}, arithmetic, length - 2, **fields)
            yield f"string {cell} {arithmetic} {digits} {len(runs)} {len(str(length))}", claim


def several_units():
    """Cells of one unit and of many, with short and long numbers, short and long horizons."""
    for units, number, horizon in product((1, 16, 64), (1, TINY, LONG), (8, 60, 3000, 10**9, 10**4200)):
        if units == 64 and number != 1:
            continue  # more than a file may hold
        weights = [["1/3" if number == 1 else number] * units for _ in range(4 * units)]
        readout = {"kind": "binary", "weight": [[TINY] * units], "bias": [f"-1/{3 * LONG + 1}"]}
        rows = {"input_weight": [[row[0], row[1]] for row in _LSTM["model"]["input_weight"] for _ in range(units)]}
        model = {**_LSTM["model"], **rows, "recurrent_weight": weights, "readout": readout}
        biases = {"input_bias": [0] * 4 * units, "recurrent_bias": [0] * 4 * units}
        claim = {"model": {**model, **biases}, "verdict": "BOUNDED", "counterexample": None, "horizon": horizon}
        yield f"lstm {units} {str(number)[:3]} {len(str(horizon))}", {**_LSTM, **claim}


def extreme_claims():
    """Go through all of them: a name and a certificate."""
    for family in (long_searches, hard_tanh, near_one, long_strings, several_units):
        yield from family()
