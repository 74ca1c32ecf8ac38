import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from synthetic import write_run

from tallystick.cli import main
from tallystick.errors import BadInput
from tallystick.reports import drawing
from tallystick.reports.figure_training import draw_indicators, draw_paths
from tallystick.reports.reading import read_run
from tallystick.reports.report import REPORT_FILES, write_report
from tallystick.reports.table_formats import sparkline

MARKS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


def test_every_file_is_written_and_named(report):
    assert all((report / name).stat().st_size for name in REPORT_FILES)
    assert not list(report.glob("*.partial"))


@pytest.mark.long
def test_the_same_run_gives_the_same_bytes(report, capsys):
    before = {name: (report / name).read_bytes() for name in REPORT_FILES}
    (report / "table2.csv").unlink()
    with pytest.raises(SystemExit) as ended:
        main(["report", str(report), "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["files"] == list(REPORT_FILES)
    assert {name for name in REPORT_FILES if (report / name).read_bytes() != before[name]} == set()


@pytest.mark.parametrize("name", ["figure1", "regions", "paths", "precision"])
def test_figures_come_in_three_formats_of_print_width(report, name):
    for form, mark in MARKS.items():
        assert (report / f"{name}.{form}").read_bytes().startswith(mark)
    width = ET.fromstring((report / f"{name}.svg").read_bytes()).get("width")
    assert float(width.removesuffix("pt")) == pytest.approx(17 / 2.54 * 72, abs=0.1)


def test_a_cut_tail_is_stated_in_its_panel(tmp_path):
    def wild(_, columns):
        ratios = columns["ab_ratio"].copy()
        ratios[0], ratios[1], ratios[2] = -1e6, 1e6, float("inf")
        return {"ab_ratio": ratios}

    figure = draw_indicators(read_run(write_run(tmp_path, ("fresh",), seeds=100, change=wild)))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts.count("◂ 1 %") == 3
    assert texts.count("2 % ▸") == 3
    assert texts.count("undefined 1 %") == 3


def test_a_path_is_not_drawn_across_infinity(run_directory):
    figure = draw_paths(read_run(run_directory))
    assert len(figure.axes) == 12
    assert {len(axes.collections[0].get_segments()) for axes in figure.axes} == {4}


@pytest.mark.long
@pytest.mark.usefixtures("rendered_once")
def test_precision_is_drawn_only_where_both_precisions_are(tmp_path):
    names = {path.name for path in write_report(write_run(tmp_path, ("fresh",), seeds=12)).files}
    assert names == set(REPORT_FILES) - {f"precision.{form}" for form in drawing.FORMATS}


@pytest.mark.long
@pytest.mark.usefixtures("rendered_once")
def test_the_authors_ten_runs_alone_make_a_report(tmp_path):
    directory = write_run(tmp_path, ("exact",))
    pl.read_parquet(directory / "paths.parquet").clear().write_parquet(directory / "paths.parquet")
    assert not any(path.name.startswith("paths") for path in write_report(directory).files)
    assert json.loads((directory / "claims.json").read_text())["claims"][0]["edition"] == "exact"


def test_the_page_loads_nothing_and_escapes_what_it_was_given(report):
    page = (report / "report.html").read_text()
    loads = re.findall(r"""(?:src|href|srcset|action|poster)\s*=\s*["']([^"']{0,40})""", page)
    assert loads
    assert all(target.startswith(("#", "data:image/")) for target in loads)
    assert not re.search(r"@import|url\(|<script|<link|https?://", page)
    assert "x &lt;y&gt; &amp; z" in page
    assert "&lt;b&gt;&amp;" in page
    assert "<b>" not in page
    assert len(page) < 5e6


def test_the_page_has_all_its_parts(report):
    page = (report / "report.html").read_text()
    for part in ("Edition exact", "Edition fresh", "Edition float64", "Figure 1", "Single against double", "jax 0.6"):
        assert part in page
    assert page.count("<img ") == 4
    for tag in ("table", "tr", "td", "details", "figure", "ul", "div"):
        assert len(re.findall(rf"<{tag}\b", page)) == page.count(f"</{tag}>"), tag


@pytest.mark.parametrize(
    "name", ["models.parquet", "replicates.parquet", "paths.parquet", "config.toml", "record.json"]
)
@pytest.mark.parametrize("damage", ["missing", "empty", "garbage", "half"])
def test_a_missing_or_damaged_file_is_named_in_one_line(tmp_path, name, damage):
    directory = write_run(tmp_path / "run", ("fresh",), seeds=12)
    path = directory / name
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "garbage": b"\xff\x00 = [", "half": content[: len(content) // 2]}[damage])
    if (name, damage) == ("config.toml", "empty"):
        return  # an empty TOML file is a whole one
    before = sorted(directory.iterdir())
    with pytest.raises(BadInput, match=re.escape(str(path))) as caught:
        write_report(directory)
    assert "\n" not in str(caught.value)
    assert sorted(directory.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("models", pl.lit("count").alias("task"), "column 'task': 'count' is not one of binary, ternary"),
        ("models", pl.lit(6).alias("train_length"), "column 'train_length': 6 is not one of 2, 4, 8"),
        ("models", pl.lit(120.0).alias("accuracy_20"), "column 'accuracy_20': 120.0 is not a percentage from 0 to 100"),
        ("models", pl.lit(float("nan")).alias("accuracy_20"), "column 'accuracy_20': nan is not a percentage"),
        ("models", pl.lit("high").alias("accuracy_50"), "column 'accuracy_50' holds String, not Float64"),
        ("models", pl.lit(None, pl.Int64).alias("seed"), "column 'seed' has 144 empty values"),
        (
            "models",
            pl.lit(3).alias("seed"),
            "seed 3 of edition fresh, binary without bias, length 2 stands more than once",
        ),
        (
            "models",
            pl.lit(float("inf")).alias("ab_ratio"),
            "column 'ab_ratio' of edition fresh, binary without bias, length 2 holds",
        ),
        ("replicates", pl.lit("luck").alias("kind"), "column 'kind': 'luck' is not one of sampling, rounding"),
        ("paths", pl.col("epoch").alias("step"), "column 'epoch' is missing"),
    ],
)
def test_a_value_that_cannot_be_is_named(tmp_path, name, change, complaint):
    directory = write_run(tmp_path, ("fresh",), seeds=12)
    path = directory / f"{name}.parquet"
    table = pl.read_parquet(path).with_columns(change)
    (table.drop("epoch") if "step" in table.columns else table).write_parquet(path)
    with pytest.raises(BadInput, match=re.escape(f"{path}: {complaint}")):
        write_report(directory)


def test_no_directory_and_no_model_are_told(tmp_path):
    with pytest.raises(BadInput, match="not a run directory"):
        write_report(tmp_path / "nowhere")
    directory = write_run(tmp_path, ("fresh",), seeds=12)
    pl.read_parquet(directory / "models.parquet").clear().write_parquet(directory / "models.parquet")
    with pytest.raises(BadInput, match="holds no model"):
        write_report(directory)


def bars_of(svg):
    (path,) = re.findall(r'class="bars" d="([^"]*)"', svg)
    return [(float(x), int(height)) for x, height in re.findall(r"M([\d.]+) 22v-(\d+)", path)]


def test_bars_stand_where_the_accuracies_are():
    svg = sparkline(np.array([0.0, 50.0, 50.0, 99.9, 100.0, 100.00001]), 50, 66.7, "binary, 20 <tokens>")
    assert bars_of(svg) == [(0, 7), (60, 14), (117, 20)]  # one, two and three models; the last bin holds 100 %
    assert 'class="ours" d="M60 0V22"' in svg
    assert 'class="printed" d="M80 0V22"' in svg
    assert svg.count("binary, 20 &lt;tokens&gt;: 6 models, from 0 to 100 %") == 2


def test_one_model_among_many_is_seen():
    svg = sparkline(np.array([5.0] + [95.0] * 10_000), 95, 95, "")
    assert [height for _, height in bars_of(svg)] == [1, 20]
