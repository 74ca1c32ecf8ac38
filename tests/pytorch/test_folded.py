"""Networks whose reading put sums together: right in real numbers, and no verdict about the sums of a library."""

import pytest

torch = pytest.importorskip("torch")

import tallystick as ts  # noqa: E402
from tallystick.errors import BadInput  # noqa: E402


def relu_network(first, second):
    """Return a ReLU layer of one unit with these two biases, and a readout."""
    cell, readout = torch.nn.RNN(2, 1, nonlinearity="relu", batch_first=True), torch.nn.Linear(1, 1)
    values = ((1.0, -1.0),), ((1.0,),), (first,), (second,)
    with torch.no_grad():
        for weight, value in zip(cell.parameters(), values, strict=True):
            weight.copy_(torch.tensor(value))
        readout.weight.fill_(1)
        readout.bias.fill_(-0.5)
    return ts.from_torch(cell, readout)


def test_a_network_with_two_biases_gets_no_verdict_about_every_order():
    network = relu_network(3.3, -3.3)  # which float32 does not add up to 0 after x is added to one of them
    assert network.folded
    assert ts.certify(network, limit=10).horizon == relu_verdict()
    with pytest.raises(BadInput, match="some were put together when the network was read, such as two biases"):
        ts.certify(network, arithmetic="float32-any-order")
    with pytest.raises(BadInput, match="run_by: some sums were put together when this network was read"):
        ts.certify(network, run_by="torch")


def relu_verdict():
    return ts.certify(ts.Network(ts.ReluCell(1, -1, 1), ts.Readout.binary(1, -0.5)), limit=10).horizon


def test_a_network_whose_weights_stand_for_themselves_is_not_folded():
    assert not relu_network(0.0, 0.0).folded

    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.memory, self.answer = torch.nn.LSTM(2, 3, batch_first=True), torch.nn.Linear(3, 1)

        def forward(self, x):
            return self.answer(self.memory(x)[0][:, -1])

    network = ts.from_torch(Counter().eval(), task="binary", tokens={"(": [1, 0], ")": [0, 1]})
    assert not network.folded
    assert ts.certify(network, arithmetic="float32-any-order", limit=4).horizon is not None


def test_an_embedding_in_front_is_folded():
    class Embedded(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(2, 3)
            self.memory, self.answer = torch.nn.GRU(3, 2, batch_first=True), torch.nn.Linear(2, 1)

        def forward(self, x):
            return self.answer(self.memory(self.embedding(x))[0][:, -1])

    assert ts.from_torch(Embedded().eval(), task="binary", tokens={"(": 0, ")": 1}).folded
