"""A linear network on screen: its verdict, words and pictures follow what is typed, opened or chosen."""

import json
import re

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect

DOTS = 'svg[data-name="margins"] circle'


def test_a_preset_is_decided_and_drawn(opened, address_without_run):
    page = opened(address_without_run + "#view=network")
    expect(page.locator('[data-lengths="all"]')).to_contain_text("unlimited")
    expect(page.locator(".reasons")).to_contain_text("sees the eigenvalues 1 (weight 2) and 0.5 (weight −0.4)")
    expect(page.locator('svg[data-name="eigenvalues"] .mode')).to_have_count(2)
    expect(page.locator('svg[data-name="terms"] .term')).to_have_count(24)
    expect(page.locator(DOTS)).to_have_count(48)
    page.get_by_role("button", name="The same with a little more of it").click()
    expect(page.locator('[data-lengths="all"] .answer')).to_have_text(
        "Right on every string up to length 8. "
        "Fails on ))))((((( (9 tokens): says 'not positive', should say 'positive'."
    )
    expect(page.locator('svg[data-name="margins"]')).to_contain_text("fails at 9")
    expect(page).to_have_url(re.compile("model="))
    again = opened(page.url)
    expect(again.locator('[data-lengths="all"]')).to_contain_text("to 8")


def test_a_file_is_opened_and_its_digits_are_kept(opened, address_without_run, tmp_path):
    readout = {"kind": "binary", "weight": [1], "bias": ["-1/2"]}
    text = json.dumps({"cell": "linear", "open_step": 1, "close_step": -1, "recurrent_weight": 0, "readout": readout})
    path = tmp_path / "network.json"
    path.write_text(text.replace('"recurrent_weight": 0', '"recurrent_weight": 1.00000000000000000000001'))
    page = opened(address_without_run + "#view=network")
    page.get_by_label("Open a model file").set_input_files(path)
    expect(page.locator('[data-lengths="all"]')).to_contain_text(re.compile("to [1-9][0-9,]{6,}"))


def test_what_is_wrong_is_said_beside_the_document(opened, address_without_run):
    opened.refusals = True
    page = opened(address_without_run + "#view=network")
    expect(page.locator(DOTS).first).to_be_visible()
    area = page.get_by_label("The network as a model file holds it")
    area.fill('{"cell": ')
    expect(page.locator("#document-complaint")).to_contain_text("network: not JSON")
    area.fill('{"cell": "linear"}')
    expect(page.locator("#document-complaint")).to_contain_text("missing")
    expect(area).to_have_attribute("aria-invalid", "true")


def test_three_classes_have_three_outputs(opened, address_without_run):
    network = {
        "cell": "linear",
        "input_weight": [[1, -1], [1, -1]],
        "recurrent_weight": [[1, 0], [0, "1/2"]],
        "readout": {"kind": "ternary", "weight": [[-1, "1/20"], [0, 0], [1, "-1/20"]], "bias": ["-1/2", 0, "-1/2"]},
    }
    page = opened(address_without_run + "#view=network")
    page.get_by_label("The network as a model file holds it").fill(json.dumps(network))
    expect(page.get_by_role("heading", name=re.compile("^The output y"))).to_have_count(3)
    expect(page.locator(".reasons").nth(1)).to_contain_text("may be at most L = 4")
