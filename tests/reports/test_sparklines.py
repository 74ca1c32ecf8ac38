"""The small pictures under the entries of the page's table."""

import re

import numpy as np

from tallystick.reports.sparklines import sparkline


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
