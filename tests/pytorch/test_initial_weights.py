import csv

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from pytorch import renew_initial_weights as script  # noqa: E402


def test_the_shipped_table_is_what_pytorch_gives(tmp_path):
    script.main(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == script.TABLE.read_bytes()


def test_every_setting_has_its_ten_runs_and_its_biases():
    rows = list(csv.DictReader(script.TABLE.read_text().splitlines()))
    assert len(rows) == 40
    assert len({(row["task"], row["bias"], row["seed"]) for row in rows}) == 40
    for row in rows:
        outputs = 3 if row["task"] == "ternary" else 1
        assert len(row["cell_bias"].split()) == (row["bias"] == "true")
        assert len(row["readout_weight"].split()) == outputs
        assert len(row["readout_bias"].split()) == (outputs if row["bias"] == "true" or outputs == 3 else 0)


def test_the_numbers_are_float32_and_within_their_bounds():
    for row in csv.DictReader(script.TABLE.read_text().splitlines()):
        for field, bound in (
            ("open_weight", 3**-0.5),
            ("close_weight", 3**-0.5),
            ("recurrent_weight", 3**-0.5),
            ("cell_bias", 3**-0.5),
            ("readout_weight", 1),
            ("readout_bias", 1),
        ):
            for number in map(float.fromhex, row[field].split()):
                assert torch.tensor(number, dtype=torch.float32).item() == number
                assert abs(number) <= bound
