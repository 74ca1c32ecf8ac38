"""PyTorch runs what is proved about saturated gates: no claim is contradicted, and the string that is said to fail fails."""

import numpy as np
import pytest

import tallystick as ts
from tallystick.cells import LstmCell
from tallystick.certificates.any_order.executions import Executions
from tallystick.certificates.any_order.invariant_search import invariant_of
from tallystick.networks import Network, Readout

torch = pytest.importorskip("torch")

LENGTH, LONG = 12, 20_000


def drawn(random: np.random.Generator) -> tuple:
    """Return an LSTM with gates around the point where they saturate; some units count down, and some the length."""
    units = int(random.integers(1, 4))
    way = random.choice([1, -1], units)
    counts = random.random(units) < 0.8
    signs = np.ones((4, units, 2))
    signs[2] = np.stack([way, np.where(counts, -way, way)], 1)
    rows = random.choice([14, 21, 25, 60], (4, units, 1), p=[0.05, 0.35, 0.3, 0.3]) + random.normal(0, 1, (4, units, 2))
    weight = (rows * signs).reshape(-1, 2)
    arrays = (
        weight,
        random.normal(0, random.choice([0, 0.5, 3]), (4 * units, units)),
        *random.normal(0, 0.2, (2, 4 * units)),
    )
    module = torch.nn.LSTM(2, units, batch_first=True)
    readout = (np.where(counts, way, 0.05) * random.uniform(1, 2, units)).astype(np.float32)
    for own, array in zip(module.parameters(), arrays, strict=True):
        own.data = torch.tensor(array, dtype=torch.float32)
    tensors = [own.double().tolist() for own in module.parameters()]
    cell = LstmCell(*(tuple(tuple(row) if isinstance(row, list) else row for row in one) for one in tensors))
    return Network(cell, Readout((tuple(readout.astype(float).tolist()),), (-0.25,), "sign")), module


def answers(network: Network, module: torch.nn.LSTM, closing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each beginning of each string is called positive, and the memory at its end."""
    with torch.inference_mode():
        hidden, (_, memory) = module(torch.tensor(np.stack([~closing, closing], -1).astype(np.float32)))
        outputs = hidden @ torch.tensor(network.readout.weight[0], dtype=torch.float32) - 0.25
    return outputs.numpy() > 0, memory[0].numpy()


def test_no_claim_is_contradicted():
    """All strings of 12 tokens and their beginnings, long random ones, and long runs."""
    torch.set_num_threads(1)
    random, claimed = np.random.default_rng(11), 0
    short = (np.arange(2**LENGTH)[:, None] >> np.arange(LENGTH)) % 2 == 1
    long = random.random((4, LONG)) < np.array([0.5, 0.5, 0.45, 0.55])[:, None]
    half = np.arange(LONG) < LONG // 2
    for _ in range(14):
        network, module = drawn(random)
        found = invariant_of(Executions.of(network, "float32-any-order"), network.task)
        if found is None:
            continue
        claimed += 1
        for closing in (short, np.concatenate([long, [half, ~half]])):
            counts = np.cumsum(np.where(closing, -1, 1), 1)
            positive, memory = answers(network, module, closing)
            assert (positive == (counts > 0)).all()
            slopes = np.array([float(slope or 0) for slope in found.above[len(found.above) // 2 :]])
            counting = slopes != 0
            assert (memory[:, counting] == slopes[counting] * counts[:, -1:]).all()
    assert claimed > 5


@pytest.mark.parametrize(("form", "depth"), [("bfloat16", 256), ("float16", 2048)])
def test_a_counter_stops_where_it_is_said_to(form, depth):
    torch.set_num_threads(1)
    rows = ((60, 60), (60, 60), (60, -60), (60, 60))
    cell = LstmCell(rows, ((1,),) * 4, (0,) * 4, (0,) * 4)
    verdict = ts.certify(Network(cell, Readout.binary(1, -0.5)), arithmetic=f"{form}-any-order")
    kind = getattr(torch, form)
    module = torch.nn.LSTM(2, 1, dtype=kind)
    for own, tensor in zip(module.parameters(), cell.tensors().values(), strict=True):
        own.data = torch.tensor(tensor, dtype=kind)
    assert verdict.failure is not None
    tokens = torch.tensor([")(".index(token) for token in verdict.failure.string])
    with torch.inference_mode():
        hidden, _ = module(torch.stack([tokens, 1 - tokens], 1).to(kind))
    opened = depth + 1
    counts = torch.cumsum(2 * tokens - 1, 0)
    positive = hidden[:, 0] - 0.5 > 0
    assert counts[-1] == 1
    assert not positive[-1]
    assert torch.equal(positive[:-1], counts[:-1] > 0)
    assert int(counts.max()) == opened
