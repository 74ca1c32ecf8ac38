"""What a file may hold instead of what it should: broken bytes, broken documents, broken tables, broken tensors."""

import io
import json
from collections.abc import Callable

import polars as pl
from hypothesis import strategies as st

NUMBERS = st.one_of(
    st.sampled_from([0, -1, 1, 2, 2**63, -(2**63), 10**18, 10**30, 0.5, -0.0, 5e-324, 1e308]),
    st.integers(-(2**70), 2**70),
    st.floats(),
)
TEXTS = st.one_of(
    st.sampled_from(
        [
            *("", "1/0", "0/0", "1e999999999", "-1e-999999999", "9" * 5000, "0x1p99999999", "nan", "inf", "-0", "１"),
            *("1/" + "3" * 4000, "\0", "\ud800", "\u2028\n\x1b[2J", "unlimited", "linear", "gru", "x" * 2000, "٣"),
        ]
    ),
    st.text(max_size=6),
)
LEAVES = st.one_of(NUMBERS, TEXTS, st.none(), st.booleans())
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=4
)

PIECES = st.sampled_from(
    [
        *(
            b"",
            b"\0",
            b"\xff\xfe",
            b"\xef\xbb\xbf",
            b"\xed\xa0\x80",
            b"\r",
            b"\n\n",
            b"{",
            b"[[[[",
            b"]",
            b'"',
            b",",
            b":",
        ),
        *(b"NaN", b"-Infinity", b"1e999999999", b"1/0", b"9" * 5000, b"[" * 3000, b'{"a":' * 3000, b"a.b." * 2000),
        *(b"\\ud800", b"\\u0000", b"()" * 500, b"=", b"[x]\n", b"x = 1\n", b"PAR1", b"2026-99-99", b'"""', b"#"),
    ]
)


@st.composite
def damaged_bytes(draw: st.DrawFn, samples: list[bytes]) -> bytes:
    """A file that something was cut out of or put into, or that is something else altogether."""
    content = draw(st.one_of(st.sampled_from(samples), st.binary(max_size=40)))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.one_of(st.just(start), st.integers(start, len(content)), st.just(len(content))))
        content = content[:start] + draw(PIECES | st.binary(max_size=4)) + content[end:]
    return content


@st.composite
def damaged_json(draw: st.DrawFn, samples: list[object]) -> bytes:
    """A document in which some values are others, are missing, or stand where they should not."""
    value = draw(st.one_of(st.sampled_from(samples), VALUES))
    for _ in range(draw(st.integers(1, 3))):
        value = _changed(draw, value)
    text = json.dumps(value)
    repeated = draw(st.booleans()) and text.startswith("{") and len(text) > 2
    return (text[:-1] + "," + text[1:] if repeated else text).encode()


def _changed(draw: st.DrawFn, value: object) -> object:
    """Change one place of a document, chosen from the top down."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 5)) == 0:
        return draw(VALUES)
    place = draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value))))
    copy = value.copy()
    what = draw(st.sampled_from(["inside", "inside", "inside", "without", "more"]))
    if what == "inside":
        copy[place] = _changed(draw, value[place])
    elif what == "without":
        copy.pop(place)
    elif isinstance(copy, dict):
        copy[draw(TEXTS)] = draw(VALUES)
    else:
        copy.insert(place, draw(VALUES))
    return copy


KINDS = st.sampled_from(
    [pl.String, pl.Int8, pl.UInt64, pl.Float32, pl.Boolean, pl.Binary, pl.Null, pl.Date, pl.List(pl.String), pl.Int64]
)
SCALARS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.booleans(),
    st.sampled_from(["", "binary", "linear", "relu", "exact", "fresh", "ab_ratio", "\0", "float64", "x" * 300]),
)
LISTS = st.none() | st.lists(st.none() | st.floats(), max_size=4)


@st.composite
def damaged_table(draw: st.DrawFn, samples: list[pl.DataFrame]) -> bytes:
    """A Parquet file with other columns, other kinds of values, other values, other rows, or broken bytes."""
    table = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(1, 3))):
        table = draw(st.sampled_from(_CHANGES))(draw, table)
    content = io.BytesIO()
    table.write_parquet(content, compression=draw(st.sampled_from(["zstd", "snappy", "uncompressed"])))
    whole = content.getvalue()
    return draw(st.one_of(st.just(whole), st.just(whole), damaged_bytes([whole])))


def _without_column(draw: st.DrawFn, table: pl.DataFrame) -> pl.DataFrame:
    return table.drop(draw(st.sampled_from(table.columns))) if table.width > 1 else table


def _of_other_kind(draw: st.DrawFn, table: pl.DataFrame) -> pl.DataFrame:
    name, kind = draw(st.sampled_from(table.columns)), draw(KINDS)
    return table.with_columns(pl.lit(None, kind).alias(name))


def _with_values(draw: st.DrawFn, table: pl.DataFrame) -> pl.DataFrame:
    """Put a value into some rows of a column, as far as the column takes it."""
    name = draw(st.sampled_from(table.columns))
    value, every = draw(LISTS if isinstance(table.schema[name], pl.List) else SCALARS), draw(st.integers(1, 3))
    values = [value if place % every == 0 else old for place, old in enumerate(table[name].to_list())]
    try:
        return table.with_columns(pl.Series(name, values, table.schema[name], strict=False))
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):  # the column does not take it
        return table.with_columns(pl.lit(None, table.schema[name]).alias(name))


def _with_rows(draw: st.DrawFn, table: pl.DataFrame) -> pl.DataFrame:
    return draw(
        st.sampled_from([table.clear, lambda: pl.concat([table, table]), lambda: table.head(1), table.reverse])
    )()


def _renamed(draw: st.DrawFn, table: pl.DataFrame) -> pl.DataFrame:
    old, new = draw(st.sampled_from(table.columns)), draw(st.text(max_size=5).filter(lambda text: "\0" not in text))
    return table if new in table.columns else table.rename({old: new})


_CHANGES: list[Callable[[st.DrawFn, pl.DataFrame], pl.DataFrame]] = [
    _without_column,
    _of_other_kind,
    _with_values,
    _with_values,
    _with_values,
    _with_rows,
    _renamed,
]

DTYPES = ["F64", "F32", "F16", "BF16", "I8", "I64", "U64", "BOOL", "F8_E4M3", "C64", "f32", "", 3, None]
SIZES = st.sampled_from([0, 1, 2, 3, 4, 8, 64, 2**31, 2**60, 2**63, 2**64 - 1, 2**64, -1, 0.5, "1", None])
OFFSETS = st.sampled_from([0, 4, 8, 16, 24, 40, 10**6, 2**60, 2**63, 2**64 - 1, -8, 1.5, "0", None])


@st.composite
def damaged_tensors(draw: st.DrawFn, samples: list[bytes]) -> bytes:
    """A safetensors file whose header says something else of its tensors, or of itself."""
    content = draw(st.sampled_from(samples))
    length = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    for _ in range(draw(st.integers(1, 3))):
        header = _changed_header(draw, header)
    text = json.dumps(header).encode()
    claimed = draw(st.sampled_from([len(text)] * 6 + [0, len(text) - 1, len(text) + 8, 10**8, 2**60, 2**64 - 1]))
    data = draw(st.sampled_from([data] * 4 + [b"", data + b"\0", data[:-1], data * 2]))
    return claimed.to_bytes(8, "little") + text + data


def _changed_header(draw: st.DrawFn, header: dict[str, object]) -> dict[str, object]:
    name = draw(
        st.sampled_from([*header, "__metadata__", "x", "weight_hh_l1", "weight_ih_l0_reverse", "\n", "y" * 999])
    )
    entry = header.get(name)
    if not isinstance(entry, dict) or "shape" not in entry:
        return {**header, name: draw(st.one_of(VALUES, st.dictionaries(TEXTS, TEXTS, max_size=2)))}
    entry = dict(entry)
    what = draw(st.sampled_from(["dtype", "shape", "data_offsets", "without", "renamed"]))
    if what == "dtype":
        entry["dtype"] = draw(st.sampled_from(DTYPES))
    elif what == "shape":
        entry["shape"] = draw(st.one_of(st.lists(SIZES, max_size=4), st.just([0] * 70), VALUES))
    elif what == "data_offsets":
        entry["data_offsets"] = draw(st.one_of(st.lists(OFFSETS, min_size=2, max_size=2), VALUES))
    rest = {key: value for key, value in header.items() if key != name}
    if what == "without":
        return rest
    return {**rest, draw(st.sampled_from(["weight", "bias", "a.weight"])) if what == "renamed" else name: entry}
