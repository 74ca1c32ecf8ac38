"""Cells whose states are known between bounds only: they take the ends of a group of strings to those of its image themselves."""

from abc import ABC, abstractmethod

from tallystick.cells import Input
from tallystick.numbers import Number

Bounds = tuple[Number, Number]


class Enclosed(ABC):
    """A cell that runs on bounds, in arrays."""

    @abstractmethod
    def image(self, least: Number, greatest: Number, token: Input) -> Bounds:
        """Return what is known of the least and the greatest next state over all h between two ends."""
