"""The suites by name."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tallystick.bench.certificates import measure_certificates
from tallystick.bench.languages import measure_languages
from tallystick.bench.limits import count_limits
from tallystick.bench.rows import Row
from tallystick.bench.scaling import measure_scaling
from tallystick.bench.settings import measure_settings
from tallystick.bench.training import compared, measure_training


@dataclass(frozen=True)
class Suite:
    """What is measured.

    Attributes:
        measure: gives the rows one by one, for a choice of device.
        finish: fills in what compares rows with each other, when all are there.
        has_device: whether a device can be chosen.
    """

    measure: Callable[[str], Iterable[Row]]
    finish: Callable[[list[Row]], list[Row]] = list
    has_device: bool = True


SUITES: dict[str, Suite] = {
    "languages": Suite(lambda _: measure_languages(), has_device=False),
    "training": Suite(measure_training, compared),
    "certificates": Suite(lambda _: measure_certificates(), has_device=False),
    "settings": Suite(measure_settings),
    "scaling": Suite(measure_scaling),
    "limits": Suite(lambda _: count_limits(), has_device=False),
}
