"""What the explorer says of a run is what stands in its table."""

import json

import httpx
import numpy as np
import polars as pl
import pytest
from serving import served
from units_run import NETWORKS, write_units_run

from tallystick.cells import LinearCell
from tallystick.certificates.verdict import UNLIMITED
from tallystick.errors import BadInput
from tallystick.explore.app import application
from tallystick.explore.run import open_run
from tallystick.files import Document
from tallystick.networks import network_from_json
from tallystick.reports.paper import SETTINGS
from tallystick.reports.reading import read_run
from tallystick.reports.table import table_rows
from tallystick.runs.columns import explored_columns, schema_of

SCHEMA = schema_of(LinearCell)
NAME = "fresh-binary-nobias-8-linear-published-float32"
WINDOW = {"x0": -1.1, "x1": -0.5, "y0": 0.9, "y1": 1.1}


@pytest.fixture(scope="module")
def rows(run_directory):
    return pl.read_parquet(run_directory / "models.parquet")


def get(client, path, **query):
    answer = client.get(f"/api/run{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def of_setting(rows, name=NAME):
    edition, task, bias, length, *_ = name.split("-")
    return rows.filter(edition=edition, task=task, bias=bias == "bias", train_length=int(length))


def test_the_settings_of_a_run(client, rows, run_directory):
    found = get(client, "")
    assert (found["name"], found["models"]) == (run_directory.name, len(rows))
    assert sum(setting["models"] for setting in found["settings"]) == len(rows)
    assert [setting["edition"] for setting in found["settings"]] == ["exact"] * 12 + ["fresh"] * 12 + ["float64"] * 12
    (one,) = [setting for setting in found["settings"] if setting["id"] == NAME]
    assert (one["title"], one["models"], one["in_plane"]) == ("binary without bias, length 8", 60, True)
    assert {setting["in_plane"] for setting in found["settings"] if setting["bias"] or setting["task"] != "binary"} == {
        False
    }
    assert (found["has_paths"], found["has_table"]) == (True, True)
    assert [field["title"] for field in found["fields"]][:4] == ["edition", "task", "bias", "training length"]
    assert {column["name"]: column["condition"] for column in found["columns"]}["ab_ratio"] == -1
    assert [column["title"] for column in found["columns"]][:3] == ["a/b", "U", "accuracy in training"]
    window = found["window"]
    assert window["x0"] < -1 < window["x1"]
    assert window["y0"] < 1 < window["y1"]


@pytest.mark.parametrize("name", [NAME, f"{NAME},fresh-ternary-bias-2-linear-published-float32", ""])
def test_bins_are_counts(client, rows, name):
    found = get(client, "/bins", setting=name, nx=7, ny=5, **WINDOW)
    chosen = pl.concat([of_setting(rows, one) for one in name.split(",")]) if name else rows
    x, y = (chosen[column].to_numpy() for column in ("ab_ratio", "recurrent_weight"))
    ends = [(WINDOW["x0"], WINDOW["x1"]), (WINDOW["y0"], WINDOW["y1"])]
    wanted = np.histogram2d(x, y, bins=(7, 5), range=ends)[0].T
    assert found["counts"] == wanted.tolist()
    assert (found["inside"], found["total"]) == (wanted.sum(), len(chosen))
    assert found["inside"] > 0


def test_points_are_networks_of_the_window(client, rows):
    found = get(client, "/points", setting=NAME, limit=5000, **WINDOW)
    chosen = of_setting(rows).filter(
        pl.col("ab_ratio").is_between(-1.1, -0.5), pl.col("recurrent_weight").is_between(0.9, 1.1)
    )
    assert found["inside"] == len(chosen) == len(found["points"]) > 1
    by_seed = {row["seed"]: row for row in chosen.iter_rows(named=True)}
    for point in found["points"]:
        row = by_seed[point["seed"]]
        assert point["setting"] == NAME
        names = [column.name for column in explored_columns(LinearCell)]
        assert point["values"] == {name: row[name] for name in names}


def test_a_sample_of_points_is_the_same_each_time_and_stays_in_a_smaller_window(client):
    first = get(client, "/points", limit=100, **WINDOW)
    assert first == get(client, "/points", limit=100, **WINDOW)
    assert len(first["points"]) == 100 < first["inside"]
    assert len({point["setting"] for point in first["points"]}) > 3
    smaller = {**WINDOW, "x1": -0.7}
    kept = {(p["setting"], p["seed"]) for p in first["points"] if p["values"]["ab_ratio"] <= smaller["x1"]}
    found = {(p["setting"], p["seed"]) for p in get(client, "/points", limit=100, **smaller)["points"]}
    assert kept <= found


@pytest.mark.parametrize("column", ["ab_ratio", "recurrent_weight", "accuracy_50", "horizon_even"])
def test_histograms_count_every_network(client, rows, column):
    names = [NAME, "float64-ternary-bias-4-linear-published-float64"]
    found = get(client, "/histogram", setting=",".join(names), column=column, bins=9)
    assert found["condition"] == {"ab_ratio": -1, "recurrent_weight": 1}.get(column)
    assert [one["setting"] for one in found["series"]] == names
    for one in found["series"]:
        numbers = of_setting(rows, one["setting"])[column].to_numpy()
        assert one["counts"] == np.histogram(numbers, found["edges"])[0].tolist()
        assert one["total"] == len(numbers) == sum(one["counts"]) + one["below"] + one["above"] + one["missing"]
        assert one["median"] == np.median(numbers)


def test_a_histogram_between_ends(client):
    found = get(client, "/histogram", setting=NAME, column="accuracy_20", bins=4, low=0, high=100)
    assert found["edges"] == [0, 25, 50, 75, 100]


def test_paths_are_those_of_the_file(client, run_directory):
    found = get(client, "/paths", limit=1000)["paths"]
    assert len(found) == 3 * len(SETTINGS)
    (one,) = [path for path in found if (path["setting"], path["seed"]) == (NAME, 1)]
    wanted = pl.read_parquet(run_directory / "paths.parquet").filter(task="binary", bias=False, train_length=8, seed=1)
    assert one["values"] == {name: wanted[name].to_list() for name in ("ab_ratio", "recurrent_weight")}
    assert {path["setting"] for path in get(client, "/paths", limit=12)["paths"]} == {path["setting"] for path in found}
    assert get(client, "/paths", setting="exact-binary-nobias-8-linear-published-float32")["paths"] == []


def test_the_table_is_the_reports(client, run_directory):
    run = read_run(run_directory)
    found = {
        (edition["id"], row["group"], row["train_length"], column): (row["setting"], entry)
        for edition in get(client, "/table")["editions"]
        for row in edition["rows"]
        for column, entry in row["entries"].items()
    }
    assert len(found) == len(table_rows(run))
    for row in table_rows(run):
        setting, entry = found[row.edition, str(row.setting.group), row.setting.train_length, row.column]
        assert setting.startswith(row.edition)
        assert (entry["avg"], entry["min"], entry["max"], entry["mean"]) == (
            row.avg,
            row.min,
            row.max,
            row.ensemble_mean,
        )
        assert entry["band"] == (list(row.band) if row.band else None)
        assert (entry["inside"], entry["note"], entry["paper"]) == (row.inside, row.note, row.printed._asdict())


@pytest.mark.parametrize("name", [NAME, "fresh-ternary-nobias-4-linear-published-float32"])
def test_a_network_of_the_run(client, rows, name):
    found = get(client, "/model", setting=name, seed=7)
    model = network_from_json(Document(found["network"], "network"))
    row = of_setting(rows, name).row(by_predicate=pl.col("seed") == 7, named=True)
    weights = (row["open_step"], row["close_step"], row["recurrent_weight"])
    cell = model.cell
    assert (cell.open_step, cell.close_step, cell.recurrent_weight) == tuple(map(float, np.float32(weights)))
    assert model.readout.kind == row["task"]
    assert found["arithmetic"] == "float32"
    assert client.post("/api/verdict", json=found).status_code == 200


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("bins?x0=nan&x1=1&y0=0&y1=1", 422),
        ("bins?x0=0&x1=inf&y0=0&y1=1", 422),
        ("bins?x0=1&x1=0&y0=0&y1=1", 422),
        ("bins?x0=0&x1=0&y0=0&y1=1", 422),
        ("bins?nx=100000&ny=100000", 422),
        ("bins?nx=0", 422),
        ("bins?setting=nothing", 404),
        ("points?limit=1000000000", 422),
        ("points?limit=-1", 422),
        ("histogram?column=seed", 422),
        ("histogram", 422),
        ("histogram?column=ab_ratio&bins=1000000", 422),
        ("histogram?column=ab_ratio&low=1", 422),
        ("histogram?column=ab_ratio&low=1&high=0", 422),
        (f"model?setting={NAME}&seed=60", 404),
        (f"model?setting={NAME}&seed=-1", 422),
        (f"model?setting={NAME}&seed={2**70}", 422),
        ("model?seed=1", 422),
        ("paths?limit=0", 422),
        ("nothing", 404),
    ],
)
def test_absurd_questions_are_refused_in_one_line(client, query, status):
    answer = client.get(f"/api/run/{query}")
    assert answer.status_code == status
    assert len(answer.json()["error"].splitlines()) == 1


def test_windows_of_any_size_are_counted(client):
    for size in (1e-300, 1e-9, 1e12):
        window = {"x0": -size, "x1": size, "y0": 1 - size, "y1": 1 + size}
        answer = client.get("/api/run/bins", params={**window, "nx": 3, "ny": 3})
        assert answer.status_code in (200, 422)


def test_without_a_run_there_is_nothing_to_ask(run_directory):
    with served(application(), processes=1) as address, httpx.Client(base_url=address) as client:
        assert client.get("/api/run").json() is None
        for path in ("bins", "points", "histogram?column=ab_ratio", "paths", "table", f"model?setting={NAME}&seed=1"):
            answer = client.get(f"/api/run/{path}")
            assert (answer.status_code, answer.json()["error"]) == (
                404,
                "no run is open; tallystick explore RUN opens one",
            )


def written(directory, **columns):
    """Write a run of four networks, as training alone leaves it."""
    plain = {
        "edition": "fresh",
        "cell": "linear",
        "task": "binary",
        "bias": False,
        "train_length": 8,
        "method": "published",
        "precision": "float32",
        "seed": [0, 1, 2, 3],
        "open_step": [1.0, 1.0, 1.0, float("nan")],
        "close_step": [-1.0, 0.0, -2.0, float("nan")],
        "recurrent_weight": [1.0, 1.0, 0.5, float("nan")],
        "close_recurrent_weight": None,
        "further_weights": [[]] * 4,
        "ab_ratio": [-1.0, float("inf"), -0.5, float("nan")],
        "readout_weight": [[1.0]] * 4,
        "readout_bias": [[]] * 4,
        "accuracy_train": 100.0,
        "accuracy_20": 100.0,
        "accuracy_50": 100.0,
        "horizon_all": [UNLIMITED, 0, 2, None],
        "horizon_even": [UNLIMITED, 0, 4, None],
        "horizon_all_exact": [True, True, True, None],
        "horizon_even_exact": [True, True, True, None],
    }
    rows = pl.DataFrame({**plain, **columns}, schema_overrides=SCHEMA)
    directory.mkdir(exist_ok=True)
    rows.select(list(SCHEMA)).write_parquet(directory / "models.parquet")
    (directory / "config.toml").write_text('command = "train"\n')
    return directory


def test_what_is_no_number_lies_nowhere_and_is_counted(tmp_path):
    with (
        served(application(written(tmp_path / "run")), processes=1) as address,
        httpx.Client(base_url=address) as client,
    ):
        whole = {"x0": -1e12, "x1": 1e12, "y0": -1e12, "y1": 1e12}
        assert get(client, "/bins", nx=2, ny=2, **whole)["inside"] == 2
        points = get(client, "/points", **whole)["points"]
        assert {point["seed"]: point["values"]["horizon_all"] for point in points} == {0: "unlimited", 2: 2}
        (ratios,) = get(client, "/histogram", column="ab_ratio")["series"]
        assert ratios["missing"] == 2
        (horizons,) = get(client, "/histogram", column="horizon_all", low=0, high=10, bins=10)["series"]
        assert (horizons["above"], horizons["missing"], horizons["median"]) == (1, 1, 2)
        assert get(client, "")["has_table"] is False
        assert client.get("/api/run/table").status_code == client.get("/api/run/paths").status_code == 404
        diverged = client.get(f"/api/run/model?setting={NAME}&seed=3")
        assert diverged.status_code == 422
        assert "finite" in diverged.json()["error"]


def test_a_folder_that_is_no_run_is_named(tmp_path):
    with pytest.raises(BadInput, match="not a run directory"):
        open_run(tmp_path)
    with pytest.raises(BadInput, match="not a run directory"):
        open_run(tmp_path / "nothing")
    (tmp_path / "config.toml").write_text("seeds = 2\n")
    with pytest.raises(BadInput, match="models.parquet"):
        open_run(tmp_path)
    (tmp_path / "models.parquet").write_bytes(b"damaged")
    with pytest.raises(BadInput, match="models.parquet: damaged"):
        open_run(tmp_path)
    pl.DataFrame(schema=SCHEMA).write_parquet(tmp_path / "models.parquet")
    with pytest.raises(BadInput, match="0 networks"):
        open_run(tmp_path)


@pytest.mark.parametrize(("cell", "gates"), [("gru", 3), ("lstm", 4)])
def test_a_run_of_cells_with_several_units_is_shown_by_how_well_they_count(tmp_path, cell, gates):
    directory = write_units_run(tmp_path, cell, gates)
    with served(application(directory), processes=1) as address, httpx.Client(base_url=address, timeout=60) as client:
        found = get(client, "")
        assert [column["name"] for column in found["plane"]] == ["counting_r_squared", "accuracy_1000"]
        assert (found["counter"], found["has_units"], found["models"]) == (None, True, NETWORKS)
        ((name,), titles) = zip(*[(setting["id"], setting["title"]) for setting in found["settings"]], strict=True)
        assert titles == (f"binary without bias, length 4, {cell}, units 2",)
        assert not found["settings"][0]["in_plane"]
        window = {"x0": 0.5, "x1": 1, "y0": 0, "y1": 100}
        (point, *_) = points = get(client, "/points", **window)["points"]
        rows = pl.read_parquet(directory / "models.parquet")
        assert len(points) == len(rows.filter(pl.col("counting_r_squared") >= 0.5))
        (row,) = rows.filter(pl.col("seed") == point["seed"]).to_dicts()
        assert point["values"]["accuracy_1000"] == row["accuracy_1000"]
        assert sum(map(sum, get(client, "/bins", **window, nx=8, ny=8)["counts"])) == len(points)
        (series,) = get(client, "/histogram", column="first_failure")["series"]
        assert (series["missing"], series["total"]) == (1, NETWORKS)
        refused = client.get("/api/run/histogram", params={"column": "ab_ratio"})
        assert (refused.status_code, refused.json()["error"]) == (404, "column: ab_ratio is not in this run")
        model = get(client, "/model", setting=name, seed=point["seed"])
        read = network_from_json(Document(model["network"], "network")).cell
        tensors = (read.input_weight, read.recurrent_weight)
        assert [float(weight) for tensor in tensors for line in tensor for weight in line] == row["tensors"]


def test_the_api_is_described(client):
    found = client.get("/openapi.json").json()
    assert len(found["paths"]) == 24
    for path, methods in found["paths"].items():
        for operation in methods.values():
            ended = set() if path.startswith("/api/run") else {"503"}  # a worker ended
            assert set(operation["responses"]) == {"200", "4XX", *ended}, path
            answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
            assert answer, path
    assert "anyOf" in json.dumps(found["components"])
