"""The command of reasons: why training ends where it does."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tallystick.cli.output import Force, Json, make_folder, refuse_existing, show, show_json
from tallystick.errors import BadInput
from tallystick.files import write_whole

PAPERS = (("binary", False, "published"), ("binary", True, "published"), ("ternary", False, "published"))
OTHERS = (("ternary", False, "corrected"), ("count", False, "count"))


def explain(
    task: Annotated[
        str | None, typer.Option(help="binary, ternary or count; without it, the paper's tasks and more.")
    ] = None,
    train_length: Annotated[
        int | None, typer.Option(help="The longest training strings; without it 2, 4 and 8.")
    ] = None,
    bias: Annotated[bool, typer.Option("--bias", help="With --task: train with a bias.")] = False,
    method: Annotated[str, typer.Option(help="With --task: how it is trained.")] = "published",
    seeds: Annotated[int, typer.Option(help="How many networks are trained, to see where they end.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The order of the training strings.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Draw reasons.png, .pdf and .svg there: loss, regions, paths, rounding."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Say what each objective does at the exact counter: its loss and force there, which way training leaves, where seeds end.

    Example: tallystick explain --task binary --train-length 8
    """
    from tallystick.explanations.explanation import explain as explained  # noqa: PLC0415 -- JAX takes a second to load
    from tallystick.explanations.picture import noise_along_training  # noqa: PLC0415
    from tallystick.training.setting import Setting  # noqa: PLC0415

    if task is None and (bias or method != "published"):
        raise BadInput("task: missing; --bias and --method go with --task")
    chosen = ((task, bias, method),) if task is not None else PAPERS + OTHERS
    lengths = (2, 4, 8) if train_length is None else (train_length,)
    settings = [Setting(name, has_bias, length, method=how) for name, has_bias, how in chosen for length in lengths]
    if out is not None and task is not None:
        raise BadInput("out: the figure is of the paper's binary settings; leave --task out to draw it")
    if out is not None:
        make_folder(out)
        for name in ("reasons.png", "reasons.pdf", "reasons.svg"):
            refuse_existing(out / name, force=force)
    found = [explained(setting, seeds, seed) for setting in settings]
    noise = noise_along_training(seed) if task is None else None
    if as_json:
        rounding = None if noise is None else _rounding_json(noise)
        show_json({"seeds": seeds, "explanations": [_as_json(one) for one in found], "rounding": rounding})
    else:
        for one in found:
            show(_as_text(one))
        if noise is not None:
            show(_rounding_text(noise))
    if out is not None:
        _draw(out, [one for one in found if one.setting.task == "binary" and not one.setting.bias], noise, seed)


def _draw(out: Path, explained: list[Any], noise: Any, seed: int) -> None:  # noqa: ANN401 -- a Noise, which loads JAX
    from tallystick.explanations.picture import landscape  # noqa: PLC0415
    from tallystick.reports.drawing import files  # noqa: PLC0415
    from tallystick.reports.figure_reasons import draw_reasons  # noqa: PLC0415

    landscapes = [landscape(one, seed) for one in explained]
    for name, content in files("reasons", lambda: draw_reasons(landscapes, noise)).items():
        write_whole(out / name, lambda temporary, content=content: temporary.write_bytes(content))


def _rounding_text(noise: Any) -> str:  # noqa: ANN401
    found = _rounding_json(noise)
    return (
        "rounding, ternary, no bias, published, training length 8, float32\n"
        f"  half the gradient's size in {100 * found['share']:.1f} % of {found['seeds']} seeds, "
        f"at epoch {found['median_epoch']} in the median\n"
    )


def _rounding_json(noise: Any) -> dict[str, Any]:  # noqa: ANN401
    epochs = sorted(int(epoch) for epoch in noise.taken_over() if epoch >= 0)
    seeds = noise.signal.shape[1]
    return {
        "seeds": seeds,
        "share": len(epochs) / seeds,
        "median_epoch": epochs[len(epochs) // 2] if epochs else None,
    }


def _as_text(one: Any) -> str:  # noqa: ANN401 -- an Explanation, which loads JAX
    setting, there, ends = one.setting, one.at_counter, one.ends
    bias = "with bias" if setting.bias else "no bias"
    lines = [
        f"{setting.task}, {bias}, {setting.method}, training length {setting.train_length}",
        f"  at the exact counter, scale {one.scale:.3g}: loss {there.loss:.3g}, "
        f"balanced strings {100 * one.strings.balanced_share:.1f} %",
        "  force on "
        + ", on ".join(
            f"{name} {0.0 - slope:+.2g}"
            for name, slope in (
                ("a", there.by_open_step),
                ("b", there.by_close_step),
                ("U", there.by_recurrent_weight),
            )
        )
        + ": "
        + _direction(one),
        f"  least loss at that scale: {_least(one)}",
        f"  {ends.seeds:,} seeds end at a/b {ends.ratio:.4f}, U {ends.recurrent_weight:.4f} in the median; "
        f"a/b above −1 in {100 * ends.above:.1f} %, exact in {100 * ends.exact:.1f} %",
    ]
    return "\n".join(lines) + "\n"


def _direction(one: Any) -> str:  # noqa: ANN401
    if one.at_counter.is_minimum:
        return "a minimum, and a place to stay"
    moves = [
        f"{name} {'rises' if move > 0 else 'falls'}"
        for name, move in (("a/b", one.at_counter.ratio_moves), ("U", one.at_counter.recurrent_weight_moves))
        if abs(move) > _NO_MOVE * one.at_counter.force
    ]
    return f"no minimum; training leaves it{', ' if moves else ''}{' and '.join(moves)}"


_NO_MOVE = 1e-6
"""What is smaller than this part of the force comes of sums that cancel."""


def _least(one: Any) -> str:  # noqa: ANN401
    ratio, U = one.least
    return f"a/b {ratio:.3f}, U {U:.3f} (to 0.005)" if one.least_is_inside else "beyond the part of the plane looked at"


def _as_json(one: Any) -> dict[str, object]:  # noqa: ANN401
    setting, there, ends = one.setting, one.at_counter, one.ends
    return {
        "task": setting.task,
        "bias": setting.bias,
        "method": setting.method,
        "train_length": setting.train_length,
        "balanced_share": one.strings.balanced_share,
        "at_counter": {
            "scale": one.scale,
            "loss": there.loss,
            "by_open_step": there.by_open_step,
            "by_close_step": there.by_close_step,
            "by_recurrent_weight": there.by_recurrent_weight,
            "by_weight": there.by_weight.tolist(),
            "by_bias": there.by_bias.tolist(),
            "ratio_moves": there.ratio_moves,
            "recurrent_weight_moves": there.recurrent_weight_moves,
            "minimum": one.at_counter.is_minimum,
        },
        "least_loss": list(one.least) if one.least_is_inside else None,
        "ends": {
            "seeds": ends.seeds,
            "ratio": ends.ratio,
            "recurrent_weight": ends.recurrent_weight,
            "above": ends.above,
            "exact": ends.exact,
        },
    }
