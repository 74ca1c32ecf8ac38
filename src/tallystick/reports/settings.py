"""The paper's grid, and the words by which a report names its parts."""

from typing import NamedTuple

PAPER_RUNS = 10
TASKS = ("binary", "ternary")
TRAIN_LENGTHS = (2, 4, 8)
COLUMNS = ("train", "20", "50")
COLUMN_TITLES = {"train": "Train", "20": "20 tokens", "50": "50 tokens"}

# In the order of the table: what is nearest to the paper first.
EDITIONS = {
    "exact": "the authors' ten seeds and their own strings",
    "fresh": "fresh seeds and generated strings",
    "float32": "fresh seeds and the authors' strings, the single-precision twin of the edition below",
    "float64": "fresh seeds, the authors' strings where they were given and the generated ones where not",
}
_SAMPLING = "95 % band of such an average over seeds and test strings, for this one order of the training strings"
BANDS = {
    "exact": "least to greatest such average when the initial weights are nudged, by 1e-7 unless config.toml says otherwise",
    "fresh": _SAMPLING,
    "float32": _SAMPLING,
    "float64": _SAMPLING,
}
DOUBLED_SOFTMAX = (
    "The published ternary loss applies softmax twice (cross-entropy on probabilities taken for logits), "
    "so it cannot go below 0.5514."
)


class Group(NamedTuple):
    """A task with or without bias: a row of blocks in the paper's table, a pair of panels in its figure."""

    task: str
    bias: bool

    def __str__(self) -> str:
        """Return the words a reader sees.

        >>> str(Group("ternary", bias=True))
        'ternary with bias'
        """
        return f"{self.task} {'with' if self.bias else 'without'} bias"


class Setting(NamedTuple):
    """One row of the paper's table."""

    task: str
    bias: bool
    train_length: int

    @property
    def group(self) -> Group:
        """The setting without its training length."""
        return Group(self.task, self.bias)

    def __str__(self) -> str:
        """Return the words a reader sees.

        >>> str(Setting("binary", bias=False, train_length=8))
        'binary without bias, length 8'
        """
        return f"{self.group}, length {self.train_length}"


# The order of the paper's table: without bias first.
GROUPS = tuple(Group(task, bias) for bias in (False, True) for task in TASKS)
SETTINGS = tuple(Setting(*group, length) for group in GROUPS for length in TRAIN_LENGTHS)
