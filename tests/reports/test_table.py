import csv
import io
import re
import shutil
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from synthetic import models, replicates, write_run

from tallystick.certificates.one_unit.ensemble import UNLIMITED
from tallystick.reports.paper import (
    COLUMNS,
    MISPRINTS,
    SETTINGS,
    PaperSetting,
    has_printed_digit,
    is_inside_band,
    printed_table,
)
from tallystick.reports.reading import read_run
from tallystick.reports.report import write_report
from tallystick.reports.table import (
    HORIZON_LEGEND,
    Horizon,
    agreement,
    horizons_of,
    inside_count,
    table_rows,
    verdict,
)
from tallystick.reports.table_formats import as_csv, as_text

HEADER = (
    "edition,classification,bias,train_length,column,avg,min,max,ensemble_mean,band_low,band_high,"
    "paper_avg,paper_min,paper_max,inside,note"
)
BINARY_2 = PaperSetting("binary", bias=False, train_length=2)
BINARY_8 = PaperSetting("binary", bias=False, train_length=8)
TERNARY_BIAS_2 = PaperSetting("ternary", bias=True, train_length=2)
TRAINING_STRINGS = {"binary": {2: 6, 4: 28, 8: 354}, "ternary": {2: 6, 4: 24, 8: 297}}
TEST_STRINGS = {"binary": 150, "ternary": 225}


@pytest.fixture(scope="module")
def rows(run_directory):
    return table_rows(read_run(run_directory))


def find(rows, edition, setting, column):
    return next(row for row in rows if (row.edition, row.setting, row.column) == (edition, setting, column))


def shown(directory):
    text, run = io.StringIO(), read_run(directory)
    Console(file=text, width=80).print(as_text(run, table_rows(run)))
    return text.getvalue()


def test_every_edition_has_the_paper_s_thirty_six_entries(rows):
    assert [sum(row.edition == edition for row in rows) for edition in ("exact", "fresh", "float64")] == [36] * 3


def test_ten_runs_are_seeds_0_to_9_and_the_ensemble_is_all(rows):
    row = find(rows, "fresh", BINARY_8, "20")
    accuracies = models("fresh", 60).filter(**BINARY_8._asdict()).sort("seed")["accuracy_20"].to_numpy()
    assert row.avg == pytest.approx(accuracies[:10].mean())
    assert (row.min, row.max) == (accuracies[:10].min(), accuracies[:10].max())
    assert row.ensemble_mean == pytest.approx(accuracies.mean())


def test_the_exact_edition_has_no_ensemble_and_equals_the_printed_digits(rows):
    exact = [row for row in rows if row.edition == "exact"]
    assert all(row.ensemble_mean is None for row in exact)
    assert all("differ" not in row.note for row in exact)
    assert sum(row.note == "equal to the printed digit" for row in exact) == 34
    assert agreement(rows).endswith("12 of 12 at length 2, 12 of 12 at length 4, 12 of 12 at length 8.")


def test_the_misprints_are_named_in_every_edition(rows):
    for edition in ("exact", "fresh", "float64"):
        low = find(rows, edition, BINARY_2, "20").note
        high = find(rows, edition, TERNARY_BIAS_2, "50").note
        assert "printed min 6.04 is a misprint: no multiple of 1/150" in low
        assert low.endswith("give 64.0")
        assert "printed max 67.5 is a misprint: no multiple of 1/225" in high
        assert high.endswith("152/225, which is 67.6")
    assert find(rows, "exact", BINARY_2, "20").note.startswith("avg and max equal to the printed digit; ")


def test_what_differs_from_the_printed_digits_is_told(tmp_path):
    def change(setting, columns):
        return {"accuracy_50": columns["accuracy_50"] - 1} if setting == BINARY_8 else {}

    found = find(table_rows(read_run(write_run(tmp_path, ("exact",), change=change))), "exact", BINARY_8, "50")
    assert found.note == (
        "avg 91.7 (printed 92.7), min 77.7 (printed 78.7) and max 97.0 (printed 98.0) differ; "
        "length 8 is decided by rounding in float32"
    )


def test_bands_are_rounding_s_extremes_for_exact_and_sampling_s_percentiles_for_the_others(rows):
    exact, fresh = find(rows, "exact", BINARY_8, "20"), find(rows, "fresh", BINARY_8, "20")
    assert exact.band == pytest.approx((95.9, 97.9))
    assert fresh.band == pytest.approx((95.95, 97.85))
    assert inside_count(rows, "fresh") == (36, 36)


def test_a_number_outside_the_band_is_reported_and_one_without_a_band_left_empty(tmp_path):
    directory = write_run(tmp_path, ("exact", "fresh"))
    far = replicates("fresh", "sampling", lambda *_: 10.0, 1.0)
    far.filter(train_length=8).write_parquet(directory / "replicates.parquet")
    rows = table_rows(read_run(directory))
    assert inside_count(rows, "fresh") == (0, 12)
    assert find(rows, "fresh", BINARY_8, "20").inside is False
    assert find(rows, "fresh", BINARY_2, "20").inside is None
    assert verdict(rows, "exact") == "No band was made for this edition."
    line = next(csv.DictReader(as_csv(rows).splitlines()))
    assert line["band_low"] == line["band_high"] == line["inside"] == line["ensemble_mean"] == ""


def test_the_csv_has_the_agreed_columns_and_the_paper_s_numbers_as_printed(report):
    text = (report / "table2.csv").read_text()
    lines = list(csv.DictReader(text.splitlines()))
    assert text.splitlines()[0] == HEADER
    assert len(lines) == 108
    line = next(line for line in lines if line["edition"] == "fresh" and line["paper_min"] == "6.04")
    assert (line["classification"], line["bias"], line["train_length"], line["column"]) == (
        "binary",
        "false",
        "2",
        "20",
    )
    assert line["inside"] == "true"
    assert line["avg"] == f"{float(line['avg']):.4f}"


def test_markdown_and_latex_hold_every_edition_in_the_paper_s_layout(report):
    markdown, latex = (report / "table2.md").read_text(), (report / "table2.tex").read_text()
    for edition in ("exact", "fresh", "float64"):
        assert f"## Edition {edition}" in markdown
        assert rf"\label{{tab:table2-{edition}}}" in latex
    assert markdown.count("| binary without bias | 2 |") == 3
    assert "0.5514" in markdown
    assert "0.5514" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == latex.count(r"\toprule") == 3
    assert all(line.isascii() for line in latex.splitlines())
    columns = {line.count("|") for line in markdown.splitlines() if line.startswith("|")}
    assert columns == {12}


def test_the_terminal_shows_every_entry_in_80_columns_and_says_that_softmax_acts_twice(run_directory):
    text = shown(run_directory)
    assert "Edition exact: the authors' ten seeds and their own strings, float32" in text
    assert "Edition float64: fresh seeds, the authors' strings" in text
    assert text.count("69.2 (6.04/77.3)") == 3
    assert sum(line.split()[:1] == ["20"] for line in text.splitlines()) == 3 * 12
    # Each edition has two blocks of ternary networks, and the sentence under its table.
    assert " ".join(text.split()).count("softmax twice") == 3 * (2 + 1)
    assert "cannot go below 0.5514" in " ".join(text.split())
    assert max(len(line) for line in text.splitlines()) <= 80


def test_other_methods_are_not_said_to_apply_softmax_twice(tmp_path):
    directory = write_run(tmp_path, ("fresh",))
    plain = pl.read_parquet(directory / "models.parquet").with_columns(method=pl.lit("ordinary"))
    plain.write_parquet(directory / "models.parquet")
    assert "softmax twice" not in shown(directory)


def test_fewer_than_ten_runs_are_named(tmp_path):
    directory = write_run(tmp_path, ("fresh",), seeds=4)
    rows = table_rows(read_run(directory))
    assert rows[0].note == "over 4 runs, not 10"
    assert np.isclose(rows[0].avg, 100)


def test_median_and_greatest_are_those_of_the_models(run_directory):
    run = read_run(run_directory)
    for setting, trained in run.of_edition("fresh").items():
        found = horizons_of(run, "fresh", setting)
        assert found["even"] == Horizon(trained["horizon_even"].median(), trained["horizon_even"].max())
        assert found["all"].greatest == trained["horizon_all"].max()
        assert f"{found['even']}" in shown(run_directory)


def test_the_legend_stands_only_where_horizons_are_shown(report):
    assert HORIZON_LEGEND in (report / "report.html").read_text()
    assert "Horizon" not in (report / "table2.md").read_text()


@pytest.fixture
def copied(run_directory, tmp_path):
    """A run directory that a test may change."""
    return shutil.copytree(run_directory, tmp_path / "run")


def test_a_network_that_counts_is_unlimited(copied):
    path = copied / "models.parquet"
    pl.read_parquet(path).with_columns(horizon_even=pl.lit(UNLIMITED), horizon_all=pl.lit(UNLIMITED)).write_parquet(
        path
    )
    assert "unlimited, at most" in shown(copied)


@pytest.mark.long
@pytest.mark.usefixtures("rendered_once")
def test_a_run_without_horizons_is_reported_without_them_and_without_regions(copied):
    path = copied / "models.parquet"
    pl.read_parquet(path).drop("horizon_all", "horizon_even").write_parquet(path)
    assert not any(written.name.startswith("regions") for written in write_report(copied).files)
    page = (copied / "report.html").read_text()
    assert "Horizon" not in shown(copied)
    assert "Horizon" not in page
    assert "regions" not in re.sub(r'"data:[^"]*"', "", page)


def test_the_paper_s_table_is_whole():
    assert set(printed_table()) == {(setting, column) for setting in SETTINGS for column in COLUMNS}


def is_possible(printed, strings):
    """Whether some number of right answers on so many strings rounds to the printed percentage."""
    value = Decimal(printed)
    half_a_unit = Decimal(1).scaleb(int(value.as_tuple().exponent)) / 2
    nearest = round(value * strings / 100)
    return any(abs(Decimal(100 * right) / strings - value) <= half_a_unit for right in range(nearest - 1, nearest + 2))


def test_the_misprints_are_the_printed_numbers_that_no_accuracy_can_take():
    assert is_possible("66.7", 150)
    impossible = {
        (setting, column, which)
        for (setting, column), printed in printed_table().items()
        for which in ("min", "max")
        if not is_possible(
            getattr(printed, which),
            TRAINING_STRINGS[setting.task][setting.train_length] if column == "train" else TEST_STRINGS[setting.task],
        )
    }
    assert impossible == {(setting, column, misprint.which) for (setting, column), misprint in MISPRINTS.items()}


@pytest.mark.parametrize(
    ("computed", "printed", "same"),
    [
        (100.0, "100", True),
        (99.96, "100", True),
        (99.94, "100", False),
        (66.0 + 2 / 3, "66.7", True),
        (72.25, "72.3", True),  # a tie rounds either way
        (72.25, "72.2", True),
        (72.1499, "72.2", False),
        (64.0, "6.04", False),
    ],
)
def test_printed_digits_are_compared_at_one_decimal(computed, printed, same):
    assert has_printed_digit(computed, printed) is same


def test_the_band_is_widened_by_rounding_and_no_more():
    assert is_inside_band("92.7", 92.75, 94)
    assert is_inside_band("92.7", 90, 92.65)
    assert not is_inside_band("92.7", 92.76, 94)
    assert not is_inside_band("92.7", 90, 92.64)
