"""A sweep: every combination of some learning rates, initial scales, training lengths, epochs and optimisers, as one run."""

from dataclasses import asdict, dataclass, fields, replace
from itertools import product

from tallystick.cells import ScalarCell
from tallystick.errors import BadInput
from tallystick.experiments.evaluation import horizons_of_run, indicators_of_run
from tallystick.experiments.jobs import VARIED, Generated, Job, fresh_job
from tallystick.experiments.keeping import ALL, Keep
from tallystick.experiments.run_directory import RunDirectory
from tallystick.experiments.training_run import check_run
from tallystick.training.setting import OWN, Setting

MOST_POINTS = 10_000


@dataclass(frozen=True)
class Grid:
    """The values of each axis; a field of `Setting` each."""

    learning_rate: tuple[float, ...] = (0.005,)
    initial_scale: tuple[float, ...] = (1.0,)
    train_length: tuple[int, ...] = (8,)
    epochs: tuple[int, ...] = (100,)
    optimiser: tuple[str, ...] = (OWN,)

    def __post_init__(self) -> None:
        """Refuse axes that are empty or repeat a value, and more points than can be looked at."""
        points = 1
        for name, values in self.axes.items():
            if not values:
                raise BadInput(f"{name}: no value; a sweep needs one at least")
            if len(set(values)) < len(values):
                raise BadInput(f"{name}: a value stands twice in {', '.join(map(str, values))}")
            points *= len(values)
        if points > MOST_POINTS:
            raise BadInput(f"sweep: {points:,} points are more than {MOST_POINTS:,}")

    @property
    def axes(self) -> dict[str, tuple[float | str, ...]]:
        """The values by the axis's name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def settings(self, base: Setting) -> list[Setting]:
        """Return the settings of all points, which are like `base` otherwise."""
        points = (dict(zip(self.axes, point, strict=True)) for point in product(*self.axes.values()))
        return [replace(base, **{name: _of_kind(name, value) for name, value in point.items()}) for point in points]


AXES = tuple(field.name for field in fields(Grid))


def _of_kind(axis: str, value: object) -> object:
    """Make a whole number a float where the axis has floats: a column has one kind."""
    return float(value) if isinstance(value, int) and axis in ("learning_rate", "initial_scale") else value


def sweep_jobs(base: Setting, grid: Grid, seeds: int, seed: int, keep: Keep = ALL) -> list[Job]:
    """Return a job for every point: the same seeds everywhere, and the same strings for the same training length."""
    if not issubclass(base.kind, ScalarCell):
        raise BadInput(f"cell: {base.cell!r} may have several units; a sweep is over cells with one")
    settings = grid.settings(base)
    for length in grid.train_length:
        check_run(replace(base, train_length=length, epochs=max(grid.epochs)), seeds, seed, keep)
    keep.check_seeds(seeds * len(settings))
    of_length = {
        n: fresh_job("fresh", replace(base, train_length=n), seeds, Generated(seed)) for n in grid.train_length
    }
    return [
        replace(of_length[setting.train_length], setting=setting, also=(*of_length[setting.train_length].also, *VARIED))
        for setting in settings
    ]


def sweep_config(base: Setting, grid: Grid, seeds: int, seed: int) -> dict[str, object]:
    """Return what a sweep was asked for."""
    axes = {name: list(values) for name, values in grid.axes.items()}
    return {"command": "sweep", **asdict(base), **axes, "seeds": seeds, "seed": seed}


def points_of(directory: RunDirectory) -> list[dict[str, object]]:
    """Return what became of every point of a finished sweep: who counts, how far the others hold, and where they lie."""
    pairs = zip(indicators_of_run(directory), horizons_of_run(directory), strict=True)
    return [_point(places, horizons) for places, horizons in pairs]


def _point(places: dict[str, object], horizons: dict[str, object]) -> dict[str, object]:
    axes, proved, models = {name: horizons[name] for name in AXES}, horizons["proved"], horizons["models"]
    assert axes == {name: places[name] for name in AXES}
    assert isinstance(proved, int)
    assert isinstance(models, int)
    return {
        **axes,
        "models": models,
        "share_proved": proved / models,
        "share_meeting_conditions": places.get("share_meeting_conditions"),
        **{name: horizons[name] for name in ("horizon_all_median", "horizon_even_median")},
        **{name: places[name] for name in ("ab_ratio_median", "recurrent_weight_median") if name in places},
    }
