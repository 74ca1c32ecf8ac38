"""The page as a whole: every view loads, fits, is accessible, and is restored from its address."""

import re
from urllib.parse import quote

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect

READY = {
    "cell": '[data-lengths="all"] .badge',
    "network": 'svg[data-name="margins"] circle',
    "run": 'canvas[data-drawn="bins"]',
    "table": ".table2 .entry",
    "proof": ".steps li",
}
VIEWS = list(READY)
WIDTHS = {"desktop": 1280, "phone": 360}


def shown(opened, address, view, **options):
    page = opened(f"{address}#view={view}", **options)
    expect(page.locator(READY[view]).first).to_be_visible()
    return page


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_loads_and_fits(opened, address, view):
    for width in WIDTHS.values():
        page = shown(opened, address, view, width=width)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.get_by_role("link", name=re.compile("^A |^The "))).to_have_count(5)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"wider than {width}"
        assert page.evaluate("document.querySelectorAll('[style=\"\"], script:not([src])').length") == 0


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_keeps_people_out(opened, address, view):
    """axe-core has no serious objection, wide and narrow, light and dark."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed").Axe()
    for width, scheme in ((1280, "light"), (360, "dark")):
        page = shown(opened, address, view, width=width, color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        page.wait_for_load_state("networkidle")
        found = axe.run(page).response["violations"]
        serious = [
            f"{each['id']}: {each['nodes'][0]['html']}" for each in found if each["impact"] in ("serious", "critical")
        ]
        assert serious == []


def test_a_network_with_gates_keeps_no_one_out(opened, address):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed").Axe()
    rows = "[[9,9],[9,9],[9,-9],[9,9]]"
    readout = '{"kind":"binary","weight":[[1]],"bias":["-3/8"]}'
    model = f'{{"cell":"lstm","input_weight":{rows},"recurrent_weight":[[0],[0],[0],[0]],"readout":{readout}}}'
    for width, scheme in ((1280, "light"), (360, "dark")):
        page = opened(f"{address}#view=network&model={quote(model)}", width=width, color_scheme=scheme)
        expect(page.locator('svg[data-name="gates"] image').first).to_be_visible()
        expect(page.get_by_role("button", name="Play the failing string")).to_be_visible()
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"wider than {width}"
        found = axe.run(page).response["violations"]
        assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []


def test_the_address_restores_the_view(opened, address):
    page = shown(opened, address, "cell")
    page.get_by_label("U, the factor on h", exact=True).fill("101/100")
    page.get_by_label("Readout", exact=True).select_option("ternary")
    page.get_by_label("v positive, factor of the output positive", exact=True).fill("3")
    page.get_by_label("Arithmetic", exact=True).select_option("float32")
    page.get_by_label("String of brackets").fill("(()())")
    page.get_by_label("One token back").click()
    expect(page.locator(".said").first).to_contain_text("After 5 of 6 tokens")
    expect(page).to_have_url(re.compile("step=5"))
    expect(page.locator('[data-lengths="even"] .answer')).to_contain_text("should say 'zero'")
    page.wait_for_load_state("networkidle")  # the last of the answers that were asked for on the way
    said, verdict = (page.locator(place).first.inner_text() for place in (".said", '[data-lengths="even"]'))

    again = opened(page.url)
    expect(again.locator(".said").first).to_have_text(said)
    expect(again.get_by_label("U, the factor on h", exact=True)).to_have_value("101/100")
    expect(again.get_by_label("v positive, factor of the output positive", exact=True)).to_have_value("3")
    expect(again.get_by_label("Arithmetic", exact=True)).to_have_value("float32")
    expect(again.locator('[data-lengths="even"] .answer')).to_be_visible()
    assert again.locator('[data-lengths="even"]').inner_text() == verdict


def test_the_address_restores_a_window_of_a_run(opened, address):
    page = shown(opened, address, "run")
    page.get_by_label("Task", exact=True).select_option("binary")
    page.get_by_role("button", name="Show the part around the exact counter").click()
    page.get_by_label("Regions").select_option("even")
    expect(page).to_have_url(re.compile("regions=even"))
    counted = page.get_by_text("50,001 cells, ")
    expect(page.locator("canvas")).to_have_attribute("data-drawn", re.compile("bins|points"))
    again = opened(page.url)
    expect(again.get_by_text("50,001 cells, ")).to_have_text(counted.inner_text())
    expect(again.get_by_label("Task", exact=True)).to_have_value("binary")
    expect(again.get_by_label("Regions")).to_have_value("even")


def test_back_leads_to_the_view_before(opened, address):
    page = shown(opened, address, "cell")
    page.get_by_role("link", name="The proof").click()
    expect(page.locator(READY["proof"]).first).to_be_visible()
    page.go_back()
    expect(page.locator(READY["cell"]).first).to_be_visible()
    expect(page.locator(READY["proof"]).first).to_be_hidden()


def test_light_and_dark(opened, address):
    page = shown(opened, address, "cell", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Colours: Auto").click()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    expect(page.get_by_role("button", name="Colours: Light")).to_be_visible()
    assert page.evaluate(ground) == light


def test_the_view_is_reached_by_keys_alone(opened, address):
    page = shown(opened, address, "cell")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the view")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    assert "view=cell" in page.url
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="The exact counter", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator('[data-lengths="all"]')).to_contain_text("PROVED")
