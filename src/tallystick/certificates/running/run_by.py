"""The horizon of a network as a library runs it: built there, and run on every string, length by length.

Where few states are reached, each is followed once, token by token, to any length (`reachability`); else all strings are run
(`exhaustive`). This is the exact horizon of one build of the library on one processor.
It says nothing of another build; a verdict in any order (`certificates.any_order`) does. The reason says which kind it is, and
whether the functions of the library are what verdicts in any order assume.
"""

from dataclasses import replace

from tallystick.certificates.running.exhaustive import certify_by_running
from tallystick.certificates.running.libraries import Build
from tallystick.certificates.running.library_arrays import format_for
from tallystick.certificates.running.library_functions import check_library
from tallystick.certificates.running.probe import executable
from tallystick.certificates.running.reachability import decide_by_reachability
from tallystick.certificates.verdict import LONGEST_STRING, Lengths, Verdict
from tallystick.errors import BadInput, check_whole
from tallystick.networks import Network
from tallystick.networks.declaration import declare
from tallystick.networks.readout import SIGN


def certify_run_by(
    network: Network,
    library: str,
    arithmetic: str | None = None,
    lengths: Lengths = Lengths.ALL,
    upto: int | None = None,
) -> Verdict:
    """Build a network in a library and run it on every string up to a length.

    Args:
        network: what is built; its readout gives a class to every string.
        library: `numpy`, `torch` or `jax`.
        arithmetic: the format, `float16`, `bfloat16`, `float32` or `float64`, or what is kept in another one, such as
            `bfloat16-state-float32`; None is the default of the library: float64 in NumPy, float32 in the others. Nothing
            runs in `real`.
        lengths: which lengths count.
        upto: the longest strings; the default is what about ten seconds are enough for.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.networks import Readout
    >>> verdict = certify_run_by(Network(LinearCell(1, -1, 0.5), Readout.binary(1)), "numpy", "float32")
    >>> verdict.outcome, verdict.horizon, verdict.failure.string
    (<Outcome.REFUTED: 'REFUTED'>, 1, ')(')
    """
    form = format_for(library, arithmetic)
    if any(len(token) > 1 for token in network.alphabet):
        raise BadInput(f"run_by: {library} runs strings whose tokens are single characters; rename those of the task")
    if network.folded:
        raise BadInput(
            "run_by: some sums were put together when this network was read, such as two biases; run the module itself, with "
            "upto=, or write the network as JSON"
        )
    if upto is not None:
        check_whole(upto, "upto", least=lengths.stride, most=LONGEST_STRING)
    task, build = network.task, Build(network, library, form)
    tokens, classes = {token: place for place, token in enumerate(task.alphabet)}, [str(name) for name in task.classes]
    threshold = 0.0 if network.readout.decision == SIGN else None
    program = executable(build, declare(task, tokens, classes), threshold, lengths.stride)
    verdict = decide_by_reachability(program, build, lengths, upto) or certify_by_running(
        build, task=task, tokens=tokens, classes=classes, threshold=threshold, lengths=lengths, upto=upto
    )
    try:
        worst = max(check_library(library, form.name), key=lambda one: one.ulps)
        functions = (
            f"its functions are within {worst.ulps:.1f} units in the last place, as verdicts in any order assume"
        )
    except BadInput as error:
        functions = f"no verdict in any order holds for it ({error})"
    return replace(verdict, reason=f"{verdict.reason}; it holds for this build alone; {functions}")
