"""Measurements: each suite returns rows of figures, taken side by side in one run."""

from collections.abc import Callable

from tallystick.bench.certificates import measure_certificates
from tallystick.bench.languages import measure_languages
from tallystick.bench.training import measure_training

SUITES: dict[str, Callable[[], list[dict[str, object]]]] = {
    "languages": measure_languages,
    "training": measure_training,
    "certificates": measure_certificates,
}
