"""Table 2 on screen, and the distribution behind each of its entries."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect


def test_the_table_stands_beside_the_paper(opened, address):
    page = opened(address + "#view=table")
    expect(page.locator(".table2 tbody tr")).to_have_count(12)
    expect(page.locator(".entry")).to_have_count(36)
    entry = page.locator(".table2 tbody tr").nth(2).locator(".entry").nth(2)
    expect(entry).to_contain_text("paper 92.7 (78.7/98.0)")
    expect(entry).to_contain_text("outside 85.8–91.4")


def test_the_distribution_shows_on_hover_and_on_focus(opened, address):
    page = opened(address + "#view=table")
    card = page.locator(".behind")
    page.locator(".entry").nth(1).hover()
    expect(card).to_contain_text("binary without bias, length 2: accuracy at 20 tokens")
    expect(card).to_contain_text("8,334 networks: median")
    expect(card.locator("rect.bar").first).to_be_visible()
    page.mouse.move(5, 5)
    expect(card).to_be_hidden()
    page.locator(".entry").nth(2).focus()
    expect(card).to_contain_text("accuracy at 50 tokens")
    page.keyboard.press("Tab")
    expect(card).to_contain_text("length 4: accuracy in training")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
