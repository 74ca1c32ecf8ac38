import pytest

from tallystick.reports.paper import MISPRINTS, inside_band, possible_accuracy, printed_digit_matches, printed_table
from tallystick.reports.settings import COLUMNS, SETTINGS

TRAINING_STRINGS = {"binary": {2: 6, 4: 28, 8: 354}, "ternary": {2: 6, 4: 24, 8: 297}}
TEST_STRINGS = {"binary": 150, "ternary": 225}


def test_the_paper_s_table_is_whole():
    assert set(printed_table()) == {(setting, column) for setting in SETTINGS for column in COLUMNS}


def test_the_misprints_are_the_printed_numbers_that_no_accuracy_can_take():
    impossible = {
        (setting, column, which)
        for (setting, column), printed in printed_table().items()
        for which in ("min", "max")
        if not possible_accuracy(
            getattr(printed, which),
            TRAINING_STRINGS[setting.task][setting.train_length] if column == "train" else TEST_STRINGS[setting.task],
        )
    }
    assert impossible == {(setting, column, misprint.which) for (setting, column), misprint in MISPRINTS.items()}


@pytest.mark.parametrize(
    ("computed", "printed", "same"),
    [
        (100.0, "100", True),
        (99.96, "100", True),
        (99.94, "100", False),
        (66.0 + 2 / 3, "66.7", True),
        (72.25, "72.3", True),  # a tie rounds either way
        (72.25, "72.2", True),
        (72.1499, "72.2", False),
        (64.0, "6.04", False),
    ],
)
def test_printed_digits_are_compared_at_one_decimal(computed, printed, same):
    assert printed_digit_matches(computed, printed) is same


def test_the_band_is_widened_by_rounding_and_no_more():
    assert inside_band("92.7", 92.75, 94)
    assert inside_band("92.7", 90, 92.65)
    assert not inside_band("92.7", 92.76, 94)
    assert not inside_band("92.7", 90, 92.64)
