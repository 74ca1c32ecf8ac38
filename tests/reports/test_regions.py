"""The regions with the networks over them: what is drawn, what is counted, what the page says of it."""

import itertools

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from synthetic import write_run

from tallystick.cells import LinearCell
from tallystick.certificates.one_unit.ensemble import horizons
from tallystick.certificates.verdict import Lengths
from tallystick.networks import Network, Readout
from tallystick.reports.reading import read_run
from tallystick.reports.regions import COUNTED, GROUP, NEAR, WIDE, draw_regions, members, networks, result


@pytest.fixture(scope="module")
def run(run_directory):
    return read_run(run_directory)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def regions_of(axes):
    """The shaded areas as paths, from the widest to the smallest."""
    return [area.get_paths()[0] for area in axes.collections]


def test_each_panel_has_its_regions_one_in_another_with_the_exact_counter_in_all(run):
    figure = draw_regions(run)
    assert len(figure.axes) == 4
    for axes in figure.axes:
        drawn = regions_of(axes)
        assert len(drawn) == 5
        for wide, small in itertools.pairwise(drawn):
            middle = small.vertices + 1e-6 * (small.vertices.mean(axis=0) - small.vertices)
            assert wide.contains_points(middle).all()
        for area in drawn:
            assert np.abs(area.vertices - [-1, 1]).max(axis=1).min() < 1e-12


def test_the_shaded_areas_hold_just_the_networks_with_that_horizon(run):
    """A drawn area and the exact horizon agree wherever a network is not on the line itself."""
    generator = np.random.default_rng(2)
    ratios, weights = generator.uniform(-1.1, -0.2, 400), np.exp(0.1 * generator.standard_normal(400))
    found = horizons(Network(LinearCell(-ratios, -np.ones(400), weights), Readout.binary(np.ones(400), np.zeros(400))))
    figure = draw_regions(run)
    for axes, reached in zip(figure.axes[:2], (found.all, found.even), strict=True):
        for area, longest in zip(regions_of(axes), (2, 4, 8, 16, 32), strict=True):
            inside = area.contains_points(np.column_stack([ratios, weights]))
            assert (inside == (reached >= longest)).mean() > 0.99


def test_no_name_lies_on_another_or_outside_its_panel(run):
    figure = draw_regions(run)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for axes in figure.axes:
        boxes = [text.get_window_extent(canvas.get_renderer()) for text in axes.texts]
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
        frame = axes.get_window_extent(canvas.get_renderer())
        assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 for box in boxes)
        assert all(box.y1 <= frame.y1 for box in boxes)


def test_networks_in_view_and_outside_are_counted(run, tmp_path):
    def wild(setting, columns):
        ratios = columns["ab_ratio"].copy()
        ratios[:3] = -40.0, float("inf"), float("nan")
        return {"ab_ratio": ratios} if setting.group == GROUP else {}

    figure = draw_regions(read_run(write_run(tmp_path, ("fresh",), seeds=50, change=wild)))
    assert "141 networks in view, 9 outside" in texts(figure.axes[0])
    assert len(figure.axes[0].lines[1].get_xdata()) == 50
    assert WIDE.shows(np.array([[-1.0, 1.0], [-40.0, 1.0], [np.nan, 1.0]])).tolist() == [True, False, False]
    assert not NEAR.shows(np.array([[-0.4, 1.3]])).any()


def test_a_network_that_reads_its_state_the_wrong_way_round_is_left_out_and_told(tmp_path):
    def turned(setting, columns):
        reached = columns["horizon_all"].copy()
        reached[:7] = 0
        return {"horizon_all": reached} if setting.group == GROUP and setting.train_length == 4 else {}

    figure = draw_regions(read_run(write_run(tmp_path, ("fresh",), seeds=50, change=turned)))
    note = figure._supxlabel.get_text()
    assert "50 of length 2, 43 of length 4, 50 of length 8; 7 more have v·a ≤ 0 and are in no region" in note
    assert "v·a" not in draw_regions(read_run(write_run(tmp_path / "all", ("fresh",), seeds=50)))._supxlabel.get_text()


def test_members_are_those_whose_horizon_reaches_the_length(run):
    for one in members(run, COUNTED):
        models = run.models.filter(edition="fresh", task="binary", bias=False, train_length=one.train_length)
        assert one.networks == len(models) == 60
        assert one.sampled_accuracy == pytest.approx(models["accuracy_50"].mean())
        for lengths, inside in one.inside.items():
            assert inside == {n: sum(h >= n for h in models[f"horizon_{lengths}"]) for n in COUNTED}


def test_the_sentence_has_the_numbers_of_the_run(run):
    last = members(run, COUNTED)[-1]
    even = last.inside[Lengths.EVEN]
    said = result(last)
    assert f"score {last.sampled_accuracy:.1f} % in the mean" in said
    assert f"of 60 networks, {even[8]} up to length 8, {even[16]} up to length 16 and none up to length 50" in said
    everywhere = last._replace(inside={Lengths.EVEN: dict.fromkeys(COUNTED, 1234)})
    assert "1,234 up to length 50" in result(everywhere)


def test_the_page_shows_the_section(report):
    page = (report / "report.html").read_text()
    assert 'href="#regions"' in page
    assert '<h2 id="regions">' in page
    assert "<i>R</i><sub>50</sub>" in page


def test_a_run_with_some_training_lengths_is_drawn_with_those(tmp_path):
    directory = write_run(tmp_path, ("exact",))
    path = directory / "models.parquet"
    some = pl.read_parquet(path)
    some.filter((pl.col("task") == "ternary") | (pl.col("train_length") == 4)).write_parquet(path)
    run = read_run(directory)
    assert list(networks(run)) == [4]
    assert "10 of length 4." in draw_regions(run)._supxlabel.get_text()
    assert "trained at length 4" in result(members(run, COUNTED)[-1])


def test_the_vector_files_stay_small(report):
    for form in ("png", "pdf", "svg"):
        assert (report / f"regions.{form}").stat().st_size < 1.5e6
