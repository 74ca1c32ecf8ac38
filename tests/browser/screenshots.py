"""Pictures of every view, to be looked at: wide and narrow, light and dark.

python tests/browser/screenshots.py FOLDER [RUN]   (without RUN, one is made up)
python tests/browser/screenshots.py --docs         (those of docs/explore.md that need no run, into docs/assets)
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "explore")]

# What is looked at: the address, what must be there, and what is pointed at or pressed before the picture is taken.
VIEWS = {
    "cell": ("#view=cell", '[data-lengths="all"] .badge', None),
    "cell-fails": ("#view=cell&U=0.9", '[data-lengths="even"] .string-link', '[data-lengths="even"] .string-link'),
    "cell-ternary": ("#view=cell&readout=ternary&U=1&string=(()())((&step=4", '[data-lengths="all"] .badge', None),
    "cell-selective": ("#view=cell&cell=selective&readout=zero&P=2&Q=1/2&b=-1/2", ".condition", None),
    "network": ("#view=network", 'svg[data-name="margins"] circle', None),
    "network-fails": ("#view=network", 'svg[data-name="margins"] circle', ".chip >> nth=1"),
    "network-lstm": ("#view=network", 'svg[data-name="margins"] circle', "text=An LSTM that forgets"),
    "network-language": ("#view=network", 'svg[data-name="margins"] circle', "text=A tanh unit on"),
    "run": ("#view=run", "canvas[data-drawn=bins]", None),
    "run-near": ("#view=run&task=binary&bias=false&length=8&x0=-1.01&x1=-0.9&y0=0.97&y1=1.03", "canvas", None),
    "run-paths": ("#view=run&task=binary&bias=false&length=8&paths=yes&x0=-2&x1=0.5&y0=-0.6&y1=1.8", "canvas", None),
    "table": ("#view=table", ".entry", None),
    "table-entry": ("#view=table", ".entry", ".entry >> nth=7"),
    "proof": ("#view=proof", ".steps li", None),
    "proof-played": ("#view=proof&U=0.9", ".steps li", ".steps .string-link >> nth=4"),
}
DOCS = {
    "cell-fails": ("explore-cell", 1120),
    "network-fails": ("explore-network", 2040),
    "network-lstm": ("explore-gates", 1690),
}
"""Which of them the documentation shows: the name and the height of each."""

SIZES = {"wide": {"width": 1280, "height": 900}, "narrow": {"width": 390, "height": 844}}


def main(folder, run):
    from conftest import NAMES, on_the_path  # noqa: PLC0415 -- found through the path above
    from playwright.sync_api import sync_playwright  # noqa: PLC0415
    from serving import served  # noqa: PLC0415

    from tallystick.explore.app import application  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    with served(application(run)) as address, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=on_the_path(NAMES), args=["--no-sandbox"])
        for name, view in VIEWS.items():
            for size, viewport in SIZES.items():
                for scheme in ("light", "dark"):
                    context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
                    _picture(context.new_page(), address, view, folder / f"{name}-{size}-{scheme}.png")
                    context.close()
        browser.close()


def docs(folder):
    from conftest import NAMES, on_the_path  # noqa: PLC0415 -- found through the path above
    from playwright.sync_api import sync_playwright  # noqa: PLC0415
    from serving import served  # noqa: PLC0415

    from tallystick.explore.app import application  # noqa: PLC0415

    with served(application()) as address, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=on_the_path(NAMES), args=["--no-sandbox"])
        for view, (name, height) in DOCS.items():
            page = browser.new_page(viewport={"width": 1200, "height": height}, reduced_motion="reduce")
            _picture(page, address, VIEWS[view], folder / f"{name}.png")
            page.close()
        browser.close()


def _picture(page, address, view, path):
    where, ready, pressed = view
    page.goto(f"{address}/{where}")
    page.locator(ready).first.wait_for()
    if pressed:
        page.locator(pressed).first.click()
    page.wait_for_timeout(800)  # until what was pressed has been asked about
    page.wait_for_function("!document.querySelector('main section:not([hidden]) [aria-busy]')")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    page.screenshot(path=path, full_page=not pressed)


if __name__ == "__main__":
    if sys.argv[1] == "--docs":
        docs(HERE.parent.parent / "docs" / "assets")
    elif len(sys.argv) > 2:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        from made_up_run import write_run

        with tempfile.TemporaryDirectory() as scratch:
            main(Path(sys.argv[1]), write_run(Path(scratch)))
