"""Mutation testing: is every small change of the code that verdicts rest on noticed by a test?

    python soak/mutants.py                        # every module of numbers, cells and certificates, and the readout
    python soak/mutants.py numbers/ readout.py    # those whose path holds one of these texts
    python soak/mutants.py 10                     # every tenth mutant

mutmut makes the mutants: an operator, a number, a text, an argument or a condition changed, one at a time. Its own runner would
start pytest for each of some thousand mutants. Here the tests are collected once; every mutant is a forked child in which the
code of one function is exchanged, and which runs the tests that enter this function until one fails, those first that killed
its other mutants, then the quickest and most particular. Nothing is written, and the checkout stays as it is.

A mutant is killed by a test that fails, or that takes many times as long as it should. One that lives through the first of
its tests, to `MOST_SECONDS` in all, has survived. Ends with 1 if less than 95 % are killed.
"""

import ast
import difflib
import gc
import importlib
import json
import math
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import IO, Any

import pytest
from mutmut.mutation.file_mutation import mutate_file_contents
from run import show

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "tallystick"
ROOMS = ("checker", "numbers", "cells", "certificates", "networks/readout.py")
TESTS = (
    "tests/certificates",
    "tests/cells/test_cells.py",
    "tests/cells/test_gates.py",
    "tests/networks",
    *(f"tests/test_{name}.py" for name in ("numbers", "messages", "conversion", "indicators")),
)
WANTED = 0.95

MOST_SECONDS = 2.0
"""Of the tests of one mutant, as long as they take without it."""

MOST_MEMORY = 4 << 30
KILLED, TIMEOUT, SURVIVED, UNTESTED = "killed", "timeout", "survived", "no test"


@dataclass(frozen=True)
class Mutant:
    """A function's code with one change.

    Attributes:
        module: the file, from the package on.
        function: the live function.
        name: mutmut's name for it.
        code: what takes the place of the function's code.
        defaults: the same for the arguments' default values, by position and by name.
        change: the lines that differ.
    """

    module: str
    function: FunctionType
    name: str
    code: CodeType
    defaults: tuple[tuple[object, ...], dict[str, object]]
    change: str

    def put_in_place(self) -> None:
        """Exchange the code of the live function, wherever it is referred to."""
        self.function.__code__ = self.code
        self.function.__defaults__ = self.defaults[0] or None
        self.function.__kwdefaults__ = self.defaults[1] or None


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Go through the mutants of a module."""
    place = path.relative_to(PACKAGE)
    module = importlib.import_module(".".join(("tallystick", *place.with_suffix("").parts)).removesuffix(".__init__"))
    mutated = mutate_file_contents(str(path), _KEEPING.sub("", path.read_text(encoding="utf-8")))
    codes = {code.co_name: code for code in _codes(compile(mutated.code, str(path), "exec"))}
    nodes = {node.name: node for node in ast.walk(ast.parse(mutated.code)) if isinstance(node, ast.FunctionDef)}
    lines = mutated.code.splitlines()

    def written(name: str) -> list[str]:
        span = mutated.line_span_by_function_name[name]
        return [line.strip().replace(name, "") for line in lines[span.start - 1 : span.end]]

    for name in mutated.mutant_names:
        mangled, _, _ = name.rpartition("__mutmut_")
        function = _live_function(module, mangled)
        if _means(nodes[name]) == _means(nodes[f"{mangled}__mutmut_orig"]):
            continue
        if codes[name].co_freevars != function.__code__.co_freevars:  # `super` gone: no code for this function
            continue
        differing = difflib.unified_diff(written(f"{mangled}__mutmut_orig"), written(name), n=0, lineterm="")
        change = "\n".join(list(differing)[3:])
        defaults = _defaults(nodes[name], vars(module))
        yield Mutant(str(place), function, name, codes[name], defaults, change)


# Decorators that keep what they decorate: mutmut would leave the function alone, but its code can be exchanged all the same.
_KEEPING = re.compile(
    r"^ *@(property|cached_property|singledispatch|cache|lru_cache\(.*\)|contextmanager|standard_floats\(\))\n",
    re.MULTILINE,
)


def _means(function: ast.FunctionDef) -> list[str]:
    """Write a function without what cannot matter: types that are cast to, and what is asserted of the package itself."""
    return [ast.dump(_Plain().visit(statement)) for statement in (function.args, *function.body)]


class _Plain(ast.NodeTransformer):
    """Takes away what only the type checker reads, that two lengths agree by construction, and what an assertion would say."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "zip":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "strict"]
        return node.args[1] if name == "cast" and len(node.args) == len(("type", "value")) else node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.msg = None
        return node


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _live_function(module: object, mangled: str) -> FunctionType:
    """Find a function by mutmut's name for it: x_function, or xǁClassǁmethod."""
    if mangled.startswith("x_"):
        return _undecorated(getattr(module, mangled.removeprefix("x_")))
    _, owner, name = mangled.split("ǁ")
    return _undecorated(vars(getattr(module, owner))[name])


def _undecorated(found: object) -> FunctionType:
    """Return the function itself: of a class method, a property, a cached property, or a cached function."""
    for name in ("__func__", "fget", "func", "__wrapped__"):
        found = getattr(found, name, found)
    assert isinstance(found, FunctionType)
    return found


def _defaults(node: ast.FunctionDef, names: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
    def value(expression: ast.expr) -> object:
        return eval(compile(ast.Expression(expression), "default", "eval"), names)

    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return tuple(map(value, node.args.defaults)), {name.arg: value(e) for name, e in pairs if e is not None}


@dataclass(frozen=True)
class Watched:
    """A test: how long it takes, and which functions it enters."""

    seconds: float
    entered: frozenset[tuple[str, str]]

    @property
    def cost(self) -> float:
        """What is tried first: tests that are quick, and that are about few functions."""
        return self.seconds * len(self.entered)


class _TooLong(BaseException):
    """A test takes longer than a mutant is worth."""


class Session:
    """The plugin that takes the place of pytest's loop over the tests."""

    def __init__(self, chosen: list[Path], every: int, cores: int) -> None:
        self.chosen, self.every, self.cores = chosen, every, cores
        self.failed = False
        self.results: list[tuple[str, str, str]] = []  # module, fate, name and change

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails."""
        self.failed = self.failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Watch each test once, then try each mutant."""
        self.items = session.items
        gc.freeze()
        began = time.monotonic()
        files = sorted({item.path for item in self.items})
        watched = dict(_in_parallel(lambda job: self._watch(files[job]), len(files), self.cores))
        self.tests = [Watched(seconds, frozenset(map(tuple, names))) for _, (seconds, names) in sorted(watched.items())]
        show(f"{len(self.items)} tests watched in {time.monotonic() - began:.0f} s")
        paths = sorted(self.chosen, key=lambda path: -path.stat().st_size)
        self.results = _in_parallel(lambda job: self._try_mutants(paths[job]), len(paths), self.cores)
        return True

    def _fails(self, place: int, following: int | None) -> bool:
        """Run a test; what it shares with the one that follows is kept."""
        self.failed = False
        after = None if following is None else self.items[following]
        self.items[place].ihook.pytest_runtest_protocol(item=self.items[place], nextitem=after)
        return self.failed

    def _watch(self, file: Path) -> Iterator[object]:
        """Run the tests of a file, noting for each how long it takes and every function of the package that it enters."""
        entered: set[tuple[str, str]] = set()
        own = str(PACKAGE)

        def note(frame: FrameType, _: str, __: object) -> None:
            if frame.f_code.co_filename.startswith(own):
                entered.add((frame.f_code.co_filename, frame.f_code.co_qualname))

        given_up: list[int] = []

        def give_up(*_: object) -> None:
            given_up.append(place)
            raise _TooLong

        signal.signal(signal.SIGPROF, give_up)
        order = [place for place, item in enumerate(self.items) if item.path == file]
        for place, following in pairwise([*order, None]):
            entered.clear()
            began = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
            sys.settrace(note)
            failed = self._fails(place, following)
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_PROF, 0)
            seconds = time.process_time() - began
            # What a test that took too long leaves behind, such as a fixture that was cut off, fails those after it as well.
            if failed and not given_up:
                raise SystemExit(f"{self.items[place].nodeid} fails without any mutant")
            yield place, (math.inf if failed else seconds, sorted(entered))

    def _try_mutants(self, path: Path) -> Iterator[object]:
        """Try every mutant of a module."""
        began, fates = time.monotonic(), Counter[str]()
        killers: dict[FunctionType, Counter[int]] = {}
        for mutant in islice(mutants_of(path), 0, None, self.every):
            fate, killer = self._fate(mutant, killers.setdefault(mutant.function, Counter()))
            killers[mutant.function].update([killer] if killer is not None else [])
            fates[fate] += 1
            yield mutant.module, fate, f"{mutant.name}\n{mutant.change}"
        figures = ", ".join(f"{number} {fate}" for fate, number in sorted(fates.items()))
        show(f"{path.relative_to(PACKAGE)}: {figures} ({time.monotonic() - began:.0f} s)")

    def _fate(self, mutant: Mutant, killers: Counter[int]) -> tuple[str, int | None]:
        code = mutant.function.__code__
        entering = [
            place
            for place, test in enumerate(self.tests)
            if (code.co_filename, code.co_qualname) in test.entered and test.seconds < MOST_SECONDS
        ]
        if not entering:
            return UNTESTED, None
        order = sorted(entering, key=lambda place: (-killers[place], self.tests[place].cost))
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            self._die_trying(mutant, order, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            told = pipe.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return TIMEOUT if os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM) else KILLED, None
        return (KILLED, int(told)) if told else (SURVIVED if os.WEXITSTATUS(status) == 0 else KILLED, None)

    def _die_trying(self, mutant: Mutant, order: list[int], writer: int) -> None:
        """Run the tests with a mutant in place until one fails, or takes too long; does not return."""
        status, spent = 1, 0.0
        try:
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
            mutant.put_in_place()
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            for place, following in pairwise([*order, None]):
                seconds = self.tests[place].seconds
                spent += seconds
                if spent > MOST_SECONDS:
                    break
                signal.setitimer(signal.ITIMER_PROF, 1 + 4 * seconds)  # of the processor's time, whatever else it does
                signal.setitimer(signal.ITIMER_REAL, 30 + 60 * seconds)
                if self._fails(place, following):
                    os.write(writer, str(place).encode())
                    os._exit(1)
            status = 0
        finally:
            os._exit(status)


def _in_parallel(work: Callable[[int], Iterator[object]], jobs: int, cores: int) -> list[Any]:
    """Share jobs, by their numbers, among one forked process a core; return all that they yield, which is kept as JSON."""
    waiting, line = os.pipe()
    os.write(line, bytes(range(jobs)))
    os.close(line)
    found, children = [tempfile.TemporaryFile("w+") for _ in range(cores)], []  # noqa: SIM115 -- until it is read
    for file in found:
        children.append(os.fork())
        if children[-1] == 0:
            status = 1
            try:
                while job := os.read(waiting, 1):
                    file.writelines(json.dumps(thing) + "\n" for thing in work(job[0]))
                file.flush()
                status = 0
            except BaseException:
                traceback.print_exc()
            os._exit(status)
    os.close(waiting)
    if any(os.waitpid(child, 0)[1] for child in children):
        raise SystemExit("a process ended before its work was done")
    return [json.loads(line) for file in found for line in _read_again(file)]


def _read_again(file: IO[str]) -> list[str]:
    with file:
        file.seek(0)
        return file.readlines()


def main(arguments: list[str]) -> int:
    """Try the mutants of the chosen modules and print what became of them."""
    os.chdir(ROOT)
    texts = [text for text in arguments if not text.isdigit()]
    every = next((int(number) for number in arguments if number.isdigit()), 1)
    began = time.monotonic()
    modules = [path for room in ROOMS for path in ([PACKAGE / room] if "." in room else (PACKAGE / room).rglob("*.py"))]
    chosen = [path for path in modules if not texts or any(text in str(path.relative_to(PACKAGE)) for text in texts)]
    doctests = [str(PACKAGE / room) for room in ROOMS]
    session = Session(chosen, every, os.cpu_count() or 1)
    without = [f"-pno:{plugin}" for plugin in ("terminal", "cacheprovider", "xdist", "unraisableexception")]
    pytest.main(["-s", "--tb=native", *without, *TESTS, *doctests], plugins=[session])
    survivors = [(module, fate, text) for module, fate, text in session.results if fate in (SURVIVED, UNTESTED)]
    for module, fate, text in sorted(survivors):
        show(f"\n{module}: {fate}: {text}")
    fates = Counter(fate for _, fate, _ in session.results)
    dead, total = fates[KILLED] + fates[TIMEOUT], len(session.results)
    show(
        f"mutants: {total:,} in {len(chosen)} modules, {dead:,} killed ({fates[TIMEOUT]} by taking too long), "
        f"{fates[SURVIVED]} survived, {fates[UNTESTED]} without a test: {dead / max(total, 1):.1%} "
        f"in {time.monotonic() - began:.0f} s"
    )
    return 0 if total and dead >= WANTED * total else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
