"""How the page writes numbers: the one thing that it works out by itself, so it is held to what is right."""

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")


def worked_out(page, name, *arguments):
    """Call a function of numbers.js in the browser."""
    return page.evaluate(
        "async ([name, given]) => (await import('./numbers.js'))[name](...given)", [name, list(arguments)]
    )


def test_numbers_are_written_as_they_are(opened, address):
    page = opened(address)
    rough = {"1/3": 1 / 3, "-0x1.8p-1": -0.75, "0x1p3": 8, " 0.1 ": 0.1, "−2": -2, "1e-3": 1e-3}
    assert {text: worked_out(page, "roughly", text) for text in rough} == pytest.approx(rough)
    assert [worked_out(page, "roughly", text) for text in ("", "1/", "one", "1/2/3", "1/0", "0x")] == [None] * 6
    assert worked_out(page, "shown", -0.0882149401) == "−0.0882149"
    assert worked_out(page, "shown", 1.5e-9) == "1.50e−9"
    # All and nothing are said of all and nothing alone.
    assert worked_out(page, "finePercent", 100) == "100"
    assert worked_out(page, "finePercent", 99.9999) == "99.9999"
    assert worked_out(page, "finePercent", 1e-7) == "0.0000001"
    assert worked_out(page, "signed", "U = about -0.01, as trained in a single-precision run") == (
        "U = about −0.01, as trained in a single-precision run"
    )
    assert worked_out(page, "grouped", str(2**60)) == "1,152,921,504,606,846,976"
