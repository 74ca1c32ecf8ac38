"""A network over any alphabet on screen: its verdict, its units along a string, and the failing string played."""

import json
import re

import pytest
from language_documents import SATURATING

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect


@pytest.fixture
def shown(opened, address_without_run):
    page = opened(address_without_run + "#view=network")
    page.get_by_label("The network as a model file holds it").fill(json.dumps(SATURATING))
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("task anbn")
    expect(page.locator('svg[data-name="units"] path')).not_to_have_count(0)
    return page


def test_the_failing_string_is_played_token_by_token(shown):
    expect(shown.locator('[data-lengths="all"]')).to_contain_text("REFUTED")
    expect(shown.locator('[data-lengths="even"]')).to_have_count(0)
    panel = shown.get_by_role("region", name="A string")
    said = panel.locator(".said")
    expect(said).to_contain_text(re.compile(r"After \d+ of \d+ tokens the answer is \w+: wrong; it should be"))
    expect(panel.locator(".token.here")).to_have_count(1)
    panel.get_by_role("button", name="To the beginning").click()
    expect(said).to_contain_text("Before the first token")
    panel.get_by_role("button", name="One token on").click()
    expect(said).to_contain_text("After 1 of")


def test_another_string_is_read_and_a_foreign_token_is_refused(shown, opened):
    opened.refusals = True
    panel = shown.get_by_role("region", name="A string")
    field = panel.get_by_label("String of tokens")
    field.fill("aab")
    expect(panel.locator(".said")).to_contain_text("After 3 of 3 tokens")
    field.fill("aax")
    expect(panel.locator(".complaint")).to_contain_text("x")


def test_live_prefixes_have_a_bar_for_each_length(shown):
    expect(shown.locator('svg[data-name="live"] .bar').first).to_be_visible()
    expect(shown.get_by_role("region", name="Live prefixes")).to_contain_text("that the network has not rejected")
