"""Every promise of docs/reliability.md tried at length: the scripts beside this one, one after the other.

    python soak/run.py [NAME ...]

Shows what each script prints, then the last line of every one, which holds its figures. Ends with 1 if a promise is broken.
"""

import subprocess
import sys
import time
from pathlib import Path

SCRIPTS = (
    "verdicts",
    "linear",
    "proven",
    "languages",
    "executions",
    "modes",
    "kills",
    "repeatability",
    "inputs",
    "load",
    "mutants",
)


def show(text: str = "") -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def soak(name: str) -> tuple[bool, str]:
    """Run one script; return whether its promises held, and its figures."""
    script = Path(__file__).with_name(f"{name}.py")
    started, figures = time.perf_counter(), "no figures"
    with subprocess.Popen([sys.executable, "-u", script], stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout or ():
            show(line.rstrip())
            figures = line.strip() or figures
    held = running.returncode == 0
    return held, f"{figures} ({time.perf_counter() - started:.0f} s)" + ("" if held else " BROKEN")


def main(*names: str) -> int:
    """Run the scripts that are named, or all."""
    unknown = set(names) - set(SCRIPTS)
    if unknown:
        show(f"no script is called {', '.join(sorted(unknown))}; there are {', '.join(SCRIPTS)}")
        return 2
    ended = [soak(name) for name in names or SCRIPTS]
    show()
    for _, figures in ended:
        show(figures)
    return 0 if all(held for held, _ in ended) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
