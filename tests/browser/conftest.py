"""A real browser and a real server: Playwright's library drives the system's Chromium, which is never downloaded."""

import shutil
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "explore")]

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 20_000  # milliseconds: other tests may be running beside these


def on_the_path(names):
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    found = on_the_path(NAMES)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on the path")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as started:
        # CI's containers have neither the sandbox's rights nor much shared memory.
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def large_run(tmp_path_factory):
    from made_up_run import write_run  # noqa: PLC0415 -- found through the path above

    return write_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def address(browser, large_run):
    """Where the explorer answers, with a run of 100,000 cells."""
    yield from explorer(large_run)


@pytest.fixture(scope="session")
def address_without_run(browser):
    yield from explorer(None)


def explorer(run):
    pytest.importorskip("fastapi", reason="needs the [explore] extra")
    from serving import served  # noqa: PLC0415 -- the server's own tests have it

    from tallystick.explore.app import application  # noqa: PLC0415

    with served(application(run)) as found:
        yield f"{found}/"


REFUSED = "the server responded with a status of 422"
"""What a browser writes of its own when the server refuses a number, which the page then says in a line."""


@pytest.fixture
def opened(browser):
    """Open pages in windows of their own; in the end, none may have written an error to its console.

    `opened.refusals = True` allows for what the server refuses.
    """
    contexts, complaints = [], []

    def open_page(address, width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    open_page.refusals = False
    yield open_page
    for context in contexts:
        context.close()
    assert [text for text in complaints if not (open_page.refusals and REFUSED in text)] == []
