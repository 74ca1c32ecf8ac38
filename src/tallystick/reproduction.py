"""The whole reproduction in one call: run the experiment, then write its table, figures, claims and page."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from tallystick.errors import BadInput
from tallystick.experiments.cluster import workers_named
from tallystick.experiments.lock import at_work_in
from tallystick.experiments.reproduction import Plan, run_experiment
from tallystick.experiments.run_directory import RunDirectory
from tallystick.experiments.runner import Report
from tallystick.reports.report import write_report
from tallystick.training.ensemble import silent


def reproduce(
    out: Path | str,
    *,
    progress: Report = silent,
    cluster: str | None = None,
    device: str = "auto",
    resume: bool = False,
    force: bool = False,
    **options: Any,  # noqa: ANN401 -- as the fields of Plan are typed
) -> list[Path]:
    """Run the paper's experiment into the folder `out` and return the files of its report.

    Args:
        out: the run directory.
        progress: told the setting and the number of seeds as they are done.
        cluster: where to train: `local:N`, `tcp://HOST:PORT` or a scheduler's file; this machine, unless one is given.
        device: auto, cpu or gpu.
        resume: go on with a run that was interrupted.
        force: overwrite a run that is there.
        options: the fields of `Plan`: runs, seeds, authors_data, precision, seed, perturb, replicates.
    """
    unknown = sorted(set(options) - {field.name for field in fields(Plan)})
    if unknown:
        raise BadInput(
            f"{unknown[0]}: no such option; the options are {', '.join(field.name for field in fields(Plan))}"
        )
    if options.get("authors_data") is not None:
        options["authors_data"] = Path(options["authors_data"])
    plan, directory = Plan(**options), RunDirectory(Path(out))
    with workers_named(cluster) as workers:
        options = {"workers": workers, "device": device, "resume": resume, "force": force}
        run_experiment(plan, directory, progress=progress, **options)
    with at_work_in(directory.path):
        return write_report(directory.path)
