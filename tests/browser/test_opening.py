"""A network is opened by file, paste and drop; its failing string is played; its address restores all of it."""

import json
import re

import pytest

from tallystick.files import Document
from tallystick.networks import network_from_json, write_network

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect

LSTM = {
    "cell": "lstm",
    "input_weight": [[9, 9], [9, 9], [9, -9], [9, 9]],
    "recurrent_weight": [[0]] * 4,
    "readout": {"kind": "binary", "weight": [[1]], "bias": ["-7/8"]},
}
"""Its memory counts, and its readout asks for more than one open bracket shows: ( alone fails."""

STACK = {
    "layers": [
        {"cell": "gru", "input_weight": [[1, -1]] * 6, "recurrent_weight": [["1/2", 0]] * 6},
        {"cell": "tanh", "input_weight": [[1, 0]], "recurrent_weight": [["1/2"]]},
    ],
    "readout": {"weight": [[1]], "bias": [0]},
    "answer": {"kind": "sign"},
    "task": "binary",
}
ALL = 'section[data-view="network"] [data-lengths="all"]'
GIVE = """([name, text, kind]) => {
  const data = new DataTransfer();
  if (name) data.items.add(new File([text], name));
  else data.setData("text/plain", text);
  const given = { bubbles: true, cancelable: true };
  if (kind === "paste") return document.body.dispatchEvent(new ClipboardEvent("paste", { ...given, clipboardData: data }));
  const where = document.querySelector("main");
  where.dispatchEvent(new DragEvent("dragover", { ...given, dataTransfer: data }));
  const marked = document.querySelector(".dropping") !== null;
  where.dispatchEvent(new DragEvent("drop", { ...given, dataTransfer: data }));
  return marked && document.querySelector(".dropping") === null;
}"""


@pytest.fixture
def page(opened, address_without_run):
    page = opened(address_without_run + "#view=network")
    expect(page.locator(f"{ALL} .badge")).to_be_visible()
    return page


def expect_lstm(page):
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("lstm, 1 unit; task binary")
    expect(page.locator(f"{ALL} .answer")).to_have_text(
        "Fails already on ( (1 token): says 'not positive', should say 'positive'."
    )


def test_by_file(page, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(LSTM))
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open a file…").press("Enter")
    chooser.value.set_files(path)
    expect_lstm(page)
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("mine.json: lstm")


def test_by_a_safetensors_file(page, tmp_path):
    path = tmp_path / "mine.safetensors"
    write_network(network_from_json(Document(LSTM, "network")), path)
    page.get_by_label("Open a model file").set_input_files(path)
    expect_lstm(page)


@pytest.mark.parametrize("name", ["mine.json", None], ids=["a file", "text"])
@pytest.mark.parametrize("kind", ["paste", "drop"])
def test_by_paste_and_drop(page, kind, name):
    page.evaluate(GIVE, [name, json.dumps(LSTM), kind])
    expect_lstm(page)


def test_by_the_button_that_pastes(opened, address_without_run):
    page = opened(address_without_run + "#view=network", permissions=["clipboard-read", "clipboard-write"])
    expect(page.locator(f"{ALL} .badge")).to_be_visible()
    page.evaluate("(text) => navigator.clipboard.writeText(text)", json.dumps(LSTM))
    page.get_by_role("button", name="Paste", exact=True).press("Enter")
    expect_lstm(page)


def test_where_the_clipboard_is_closed_the_field_is_offered(page):
    page.get_by_role("button", name="Paste", exact=True).click()
    expect(page.locator("#document-complaint")).to_contain_text("press Ctrl+V in the field below")
    expect(page.get_by_label("The network as a model file holds it")).to_be_focused()


def test_where_it_can_be_dropped_is_shown(page):
    assert page.evaluate(GIVE, ["mine.json", json.dumps(LSTM), "drop"])


def test_a_paste_into_a_field_stays_there(page):
    field = page.get_by_label("String of tokens")
    field.focus()
    field.evaluate(
        """(field, text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, clipboardData: data }));
    }""",
        json.dumps(LSTM),
    )
    page.wait_for_timeout(400)
    expect(page.get_by_role("region", name="Verdict")).not_to_contain_text("lstm")


def test_what_cannot_be_opened_is_said_in_a_line(page, opened):
    opened.refusals = True
    complaint = page.locator("#document-complaint")
    page.evaluate(GIVE, ["mine.pt", "…", "drop"])
    expect(complaint).to_have_text("mine.pt: a network is opened from a file that ends in .json or .safetensors")
    page.evaluate(GIVE, ["mine.json", json.dumps({**LSTM, "recurrent_weight": [[0]] * 3}), "drop"])
    expect(complaint).to_contain_text("recurrent_weight: ")
    page.evaluate(GIVE, ["mine.json", "x" * 700_001, "drop"])
    expect(complaint).to_contain_text("mine.json: 700,001 bytes; at most 700,000 are opened here")


def test_units_memory_and_gates_are_drawn(page):
    page.evaluate(GIVE, [None, json.dumps(LSTM), "paste"])
    expect_lstm(page)
    for name in ("units", "memory"):
        expect(page.locator(f'svg[data-name="{name}"] .unit-line')).to_have_count(1)
    expect(page.locator('svg[data-name="gates"] image')).to_have_count(4)
    expect(page.locator('svg[data-name="gates"]')).to_contain_text("forget")


WATCH = """() => {
  window.seen = [];
  const said = document.querySelector('section[data-view="network"] .said');
  new MutationObserver(() => seen.push(said.textContent.match(/first token|After \\d+/)[0])).observe(said, { childList: true });
}"""


def test_a_failing_string_is_played_by_keyboard(address_without_run, browser):
    context = browser.new_context(reduced_motion="no-preference")
    page = context.new_page()
    page.goto(address_without_run + "#view=network")
    page.get_by_role("button", name="The same with a little more of it").click()
    expect(page.locator(ALL)).to_contain_text("to 8")
    panel = page.get_by_role("region", name="A string")
    expect(panel.locator(".said")).to_contain_text("After 9 of 9 tokens")
    page.evaluate(WATCH)
    page.get_by_role("button", name="Play the failing string").press("Enter")
    expect(panel.locator(".said")).to_have_text(
        "After 9 of 9 tokens the answer is not positive: wrong; it should be positive."
    )
    expect(panel.get_by_role("button", name="Play", exact=True)).to_be_visible()
    assert list(dict.fromkeys(page.evaluate("seen"))) == ["first token", *(f"After {step}" for step in range(1, 10))]

    play = panel.get_by_role("button", name="Play", exact=True)
    play.evaluate("(button) => { button.click(); button.click(); }")  # play from the beginning, and pause
    expect(panel.locator(".said")).to_contain_text("Before the first token")
    expect(play).to_be_visible()
    panel.get_by_role("button", name="One token on").press("Enter")
    expect(panel.locator(".said")).to_contain_text("After 1 of 9 tokens")
    context.close()


def test_who_wants_little_motion_sees_the_end_at_once(page):
    page.get_by_role("button", name="The same with a little more of it").click()
    page.get_by_role("button", name="Play the failing string").click()
    panel = page.get_by_role("region", name="A string")
    expect(panel.locator(".said")).to_contain_text("After 9 of 9 tokens")
    expect(panel.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_the_address_restores_everything(page, opened):
    page.evaluate(GIVE, ["two layers.json", json.dumps(STACK), "drop"])
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("two layers.json: 2 layers")
    panel = page.get_by_role("region", name="A string")
    panel.get_by_label("String of tokens").fill("(()())")
    expect(panel.locator(".said")).to_contain_text("of 6 tokens")
    panel.get_by_label("Layer").select_option("1")
    expect(page.locator('svg[data-name="gates"] image')).to_have_count(3)
    panel.get_by_role("button", name="One token back").click()
    expect(panel.locator(".said")).to_contain_text("After 5 of 6 tokens")
    expect(page).to_have_url(re.compile("at=5"))
    said = panel.locator(".units").inner_text()

    again = opened(page.url)
    panel = again.get_by_role("region", name="A string")
    expect(panel.locator(".said")).to_contain_text("After 5 of 6 tokens")
    expect(panel.get_by_label("Layer")).to_have_value("1")
    expect(panel.locator(".units")).to_have_text(said)
    expect(again.get_by_role("region", name="Verdict")).to_contain_text("two layers.json: 2 layers")


def test_a_network_too_large_for_an_address_is_said_to_be(page, opened, browser):
    opened.refusals = True
    large = {**LSTM, "about": {"source": "x" * 40_000}}
    page.evaluate(GIVE, ["large.json", json.dumps(large), "drop"])
    expect_lstm(page)
    expect(page).to_have_url(re.compile("model=~"))
    assert len(page.url) < 2000
    page.get_by_role("button", name="Copy address").click()
    expect(page.locator("#said")).to_contain_text(re.compile("does not hold the network|does not let the page copy"))
    page.get_by_role("link", name="A cell").click()
    page.get_by_role("link", name="A network").click()
    expect_lstm(page)
    page.reload()  # the window itself keeps it
    expect_lstm(page)
    elsewhere = opened(page.url)
    expect(elsewhere.locator("#document-complaint")).to_have_text(
        "The address does not hold large.json, which is too large for one; open its file."
    )
