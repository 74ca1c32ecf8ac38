"""Whatever is asked, the server answers as its description says, or refuses in one line: never an error of its own.

TALLYSTICK_FUZZ=N asks N times as often.
"""

import json
import os

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import positive_data_acceptance
from serving import served

from tallystick.explore.app import application

FUZZ = int(os.environ.get("TALLYSTICK_FUZZ", "1"))
SETTINGS = settings(
    max_examples=10 * FUZZ, deadline=None, derandomize=FUZZ == 1, suppress_health_check=list(HealthCheck), database=None
)
# A well-formed question may still be refused: an odd length has no balanced string.
NOT_PROMISED = [positive_data_acceptance]

schema = schemathesis.openapi.from_dict(application().openapi())


@pytest.fixture(scope="module")
def hurried(run_directory):
    """A server that soon gives up, since what it is asked here is rarely worth waiting for."""
    with (
        served(application(run_directory, seconds=0.5)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


@schema.parametrize()
@SETTINGS
def test_every_operation_keeps_to_its_description(case, hurried):
    answer = case.call(base_url=str(hurried.base_url), timeout=60)
    case.validate_response(answer, excluded_checks=NOT_PROMISED)
    assert answer.status_code < 500
    if answer.status_code >= 400:
        assert len(answer.json()["error"].splitlines()) == 1


NUMBERS = st.one_of(
    st.fractions(-3, 3, max_denominator=10**6).map(str),
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-(10**30), 10**30),
    st.sampled_from(["1", "-1", "1e-300", "1e308", "-1e999", "9" * 5000, "0x1p-1074", "1/0", "nan", "", " 1 ", "１"]),
    st.text(max_size=5),
    st.none(),
)
ANY = st.recursive(
    NUMBERS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
READOUTS = st.one_of(
    st.just({"kind": "zero"}),
    st.fixed_dictionaries({"kind": st.just("binary"), "weight": st.lists(NUMBERS, min_size=1, max_size=1)}),
    st.fixed_dictionaries(
        {
            "kind": st.just("ternary"),
            "weight": st.lists(NUMBERS, min_size=3, max_size=3),
            "bias": st.lists(NUMBERS, min_size=3, max_size=3),
        }
    ),
    ANY,
)
NETWORKS = st.one_of(
    ANY,
    st.fixed_dictionaries(
        {
            "cell": st.sampled_from(["linear", "selective", "relu", "tanh", "gru", "lstm", "x"]),
            "open_step": NUMBERS,
            "close_step": NUMBERS,
            "recurrent_weight": NUMBERS | st.lists(NUMBERS, min_size=2, max_size=2),
            "readout": READOUTS,
        }
    ),
)
QUESTIONS = st.fixed_dictionaries(
    {"network": NETWORKS},
    optional={
        "arithmetic": st.sampled_from(["real", "float16", "bfloat16-fused", "float32", "float64"]) | ANY,
        "string": st.text("()", max_size=30) | ANY,
        "longest": st.integers(-1, 12) | NUMBERS,
        "lengths": st.sampled_from(["all", "even", "odd"]),
    },
)


@settings(SETTINGS, max_examples=150 * FUZZ)
@given(
    st.sampled_from(
        "trace verdict linear accuracy certificate model string network judgement reading live open".split()  # noqa: SIM905
    ),
    QUESTIONS | ANY,
)
def test_any_question_is_answered_or_refused_in_one_line(hurried, path, question):
    content = json.dumps(question).encode()
    answer = hurried.post(f"/api/{path}", content=content, headers={"content-type": "application/json"})
    assert 200 <= answer.status_code < 500
    if answer.status_code >= 400:
        assert len(answer.json()["error"].splitlines()) == 1
