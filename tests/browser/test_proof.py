"""The proof on screen: the solver's and Coq's word, and the theorem's strings played on the current cell."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect


STEP = ".steps li"


def test_strings_are_played_on_the_current_cell(opened, address):
    page = opened(address + "#view=proof&U=0.9")
    expect(page.locator(".current")).to_contain_text("linear cell, a = 1, b = −1, U = 0.9")
    step = page.locator(STEP, has_text="case 3:")
    step.get_by_role("button", name="Play () on the current cell").click()
    expect(step.locator(".played")).to_contain_text("−1/10")
    expect(step.locator(".played")).to_contain_text("rejected: wrong, it should be accepted")
    step.get_by_role("button", name="Look closer").click()
    expect(page.get_by_label("String of brackets")).to_have_value("()")
    expect(page.locator(".said").first).to_contain_text("wrong; it should be accepted.")


def test_an_exact_counter_is_right_on_every_string_of_the_proof(opened, address):
    page = opened(address + "#view=proof&U=1")
    buttons = page.locator(f"{STEP} .string-link")
    expect(buttons).to_have_count(6)
    for place in range(6):
        buttons.nth(place).click()
        expect(page.locator(f"{STEP} .played .good")).to_have_count(place + 1)


def test_solver_and_coq_have_their_say(opened, address):
    page = opened(address + "#view=proof")
    expect(page.locator(STEP, has_text="case 6:")).to_contain_text("PROVED BY Z3")
    expect(page.locator(STEP, has_text="after every string of n opening")).to_contain_text("ARGUED")
    expect(page.locator(".coq").first).to_contain_text("theorem_1 (proofs/Theorem1.v:")
    page.get_by_role("link", name="Theorem 2: selective cells").click()
    expect(page.get_by_role("heading", level=2).first).to_have_text("Theorem 2: selective cells")
    expect(page.locator(".coq").first).to_contain_text("gates_below_one_never_count")
