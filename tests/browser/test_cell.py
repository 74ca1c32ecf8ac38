"""A cell on screen: weights are moved, verdicts follow, the failing string fails, what is taken away is true."""

import json

import pytest

from tallystick.checker import check_file
from tallystick.networks import read_network

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect

EXACT = "#view=cell&a=1&b=-1&U=1&readout=binary&v=2&c=-1"
ALL, EVEN = '[data-lengths="all"]', '[data-lengths="even"]'


def moved(slider, value):
    """Move a slider as a hand would: its value changes and it says so."""
    slider.evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", str(value)
    )


def test_sliders_change_verdicts(opened, address):
    page = opened(address + EXACT)
    expect(page.locator(ALL)).to_contain_text("PROVED")
    expect(page.locator(ALL)).to_contain_text("unlimited")
    moved(page.get_by_label("U, the factor on h, slider"), 0.9)
    expect(page.locator(ALL)).to_contain_text("REFUTED")
    expect(page.get_by_label("U, the factor on h", exact=True)).to_have_value("0.9")
    expect(page.locator(".condition", has_text="U = 1").first).to_contain_text("off by −1/10")
    expect(page.locator(".summary")).to_contain_text("All lengths: right to ")


def test_a_slider_is_moved_by_keys(opened, address):
    page = opened(address + EXACT)
    page.get_by_label("U, the factor on h, slider").press("ArrowLeft")
    expect(page.get_by_label("U, the factor on h", exact=True)).to_have_value("0.99")
    expect(page.locator(ALL)).to_contain_text("to 14")


def test_an_answer_that_comes_late_is_not_shown(opened, address):
    page = opened(address + EXACT)
    expect(page.locator(ALL)).to_contain_text("unlimited")
    held = []
    page.route("**/api/verdict", lambda route: route.continue_() if held else held.append(route))
    slider = page.get_by_label("U, the factor on h, slider")
    with page.expect_request("**/api/verdict"):
        moved(slider, 0.5)
    for value in (0.7, 1.2, 0.9):
        moved(slider, value)
    expect(page.locator(ALL)).to_contain_text("to 4")
    held[0].continue_()  # what was asked for U = 0.5 is answered at last: right to 2 alone
    page.wait_for_timeout(300)
    expect(page.locator(ALL)).to_contain_text("to 4")


def test_the_failing_string_fails_on_screen(opened, address):
    page = opened(address + "#view=cell&U=0.99")
    button = page.locator(f"{EVEN} .string-link")
    string = button.inner_text()
    button.click()
    expect(page.get_by_label("String of brackets")).to_have_value(string)
    expect(page.locator(".said").first).to_contain_text(f"After all {len(string)} tokens")
    expect(page.locator(".said").first).to_contain_text("wrong")
    expect(page.locator(".token.wrong").last).to_have_class("token wrong here")


def test_a_number_is_taken_exactly_or_refused_in_a_line_beside_it(opened, address):
    opened.refusals = True
    page = opened(address + "#view=cell&readout=zero&U=1")
    field = page.get_by_label("a, what ( adds", exact=True)
    field.fill("1/3")
    page.get_by_label("b, what ) adds", exact=True).fill("-1/3")
    expect(page.locator(ALL)).to_contain_text("PROVED")
    field.fill("one")
    complaint = page.locator(".number", has=field).locator(".complaint")
    expect(complaint).to_contain_text("a: 'one' is not a number")  # the letter on the screen, not the file's field
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("0x1p-2")
    page.get_by_label("b, what ) adds", exact=True).fill("-0.25")
    expect(page.locator(ALL)).to_contain_text("PROVED")
    expect(complaint).to_be_empty()


def test_stepping_through_a_string(opened, address):
    page = opened(address + EXACT + "&string=(())")
    said = page.locator(".said").first
    expect(said).to_contain_text("After all 4 tokens h = 0")
    page.get_by_label("To the beginning").click()
    page.get_by_label("One token on").click()
    page.get_by_label("One token on").click()
    expect(said).to_contain_text("After 2 of 4 tokens h = 2, the count is 2, the class positive: right.")
    page.get_by_label("Tokens read").press("ArrowRight")
    expect(said).to_contain_text("After 3 of 4 tokens h = 1")
    page.get_by_text("As a table").first.click()
    expect(page.locator("details[open] tbody tr")).to_have_count(4)


def test_generated_strings(opened, address):
    page = opened(address + EXACT)
    page.get_by_label("Kind of string").select_option("dyck1")
    page.get_by_label("Length of the string").fill("12")
    page.get_by_role("button", name="Generate").click()
    expect(page.locator(".said").first).to_contain_text("After all 12 tokens h = 0, the count is 0")


def test_presets_bring_their_arithmetic(opened, address):
    page = opened(address + "#view=cell")
    page.get_by_role("button", name="An exact counter that fails in float32").click()
    expect(page.get_by_label("Arithmetic")).to_have_value("float32")
    expect(page.locator(".condition.good")).to_have_count(2)
    expect(page.locator(ALL)).to_contain_text("REFUTED")
    expect(page.locator(".said").first).to_contain_text("wrong; it should be accepted.")
    page.get_by_role("button", name="A selective counter").click()
    expect(page.get_by_label("P, the factor on h at (", exact=True)).to_have_value("2")
    expect(page.locator(ALL)).to_contain_text("PROVED")


def test_exact_accuracy_is_drawn_and_read_out(opened, address):
    page = opened(address + "#view=cell&U=1/2&c=0&v=1&longest=10")
    panel = page.get_by_role("region", name="Exact accuracy", exact=True)
    expect(panel.locator("svg circle")).to_have_count(10)
    panel.get_by_text("As a table").click()
    expect(panel.locator("tbody tr").nth(3)).to_contain_text("68.75 %")  # 11 of 16, as in the library's own example


def test_what_is_taken_away_is_what_is_on_screen(opened, address, tmp_path):
    page = opened(address + "#view=cell&a=1/3&b=-1/3&U=0.9")
    expect(page.locator(ALL)).to_contain_text("REFUTED")

    def taken(button):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=button).click()
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    model = read_network(taken("Cell (JSON)"))
    assert str(model.cell.open_step) == "1/3"
    assert float(model.cell.recurrent_weight) == pytest.approx(0.9)
    for lengths in ("all", "even"):
        certificate = taken(f"Certificate, {lengths} lengths")
        assert json.loads(certificate.read_text())["lengths"] == lengths
        assert check_file(certificate).valid
    drawing = taken("Picture (SVG)").read_text()
    assert drawing.startswith("<svg")
    assert "class=" not in drawing
    assert taken("Picture (PNG)").read_bytes().startswith(b"\x89PNG")
