r"""Convert a recurrent network that `torch.save` wrote into a network file, without PyTorch and without running the file's code.

    python examples/convert_torch.py MODEL.pth network.json --task dyck1-prefix --cell lstm --front fc1 --readout fc2 \
        --classes valid,incomplete,invalid --pad 10

The file is a zip with a pickle that says which tensors there are, and one file of raw numbers per tensor. Unpickling runs
whatever a file asks for, so `TorchUnpickler` knows a few names, builds plain lists of them, and refuses every other name.
"""

import argparse
import io
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from fractions import Fraction
from math import prod
from pathlib import Path

import tallystick as ts
from tallystick.errors import BadInput
from tallystick.files import write_document

MOST_NUMBERS = 2**20
NUMBERS = {"FloatStorage": "f", "DoubleStorage": "d", "HalfStorage": "e", "LongStorage": "q", "IntStorage": "i"}


class Record:
    """What stands for an object of a class whose code is not run: the class's name and the object's attributes."""

    kind = ""

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)

    def __getitem__(self, name: str) -> object:
        """Return a module's parameter, submodule or attribute by name."""
        for place in ("_parameters", "_modules"):
            if name in vars(self).get(place, {}):
                return vars(self)[place][name]
        return vars(self)[name]


class TorchUnpickler(pickle.Unpickler):
    """Reads tensors as nested lists of floats, `OrderedDict`s, and objects of the classes in `records` as `Record`s."""

    def __init__(self, archive: zipfile.ZipFile, folder: str, records: tuple[str, ...] = ()) -> None:
        super().__init__(io.BytesIO(archive.read(f"{folder}/data.pkl")))
        self._archive, self._folder = archive, folder
        self._known = {
            "collections.OrderedDict": OrderedDict,
            "__builtin__.set": set,
            "torch._utils._rebuild_tensor_v2": _tensor,
            "torch._utils._rebuild_parameter": lambda data, *_: data,
            **{f"torch.{name}": letter for name, letter in NUMBERS.items()},
            **{name: type(name.rpartition(".")[2], (Record,), {"kind": name}) for name in records},
        }

    def find_class(self, module: str, name: str) -> object:
        """Return what a name of the file stands for; nothing is imported."""
        if f"{module}.{name}" not in self._known:
            raise BadInput(f"holds {module}.{name}, which is not read: only tensors and a few known classes are")
        return self._known[f"{module}.{name}"]

    def persistent_load(self, pid: tuple) -> tuple[float, ...]:
        """Return the numbers of a storage, which lie in a file of their own, least byte first."""
        _, letter, key, _, size = pid
        if size > MOST_NUMBERS:
            raise BadInput(f"has a tensor of {size:,} numbers; at most {MOST_NUMBERS:,} are read")
        return struct.unpack(f"<{size}{letter}", self._archive.read(f"{self._folder}/data/{key}"))


def _tensor(storage: tuple, offset: int, size: tuple, stride: tuple, *_: object) -> object:
    """Return a tensor as nested lists, which is a view of its storage."""
    if not size:
        return storage[offset]
    if prod(size) > MOST_NUMBERS:
        raise BadInput(f"has a tensor of {prod(size):,} numbers; at most {MOST_NUMBERS:,} are read")
    return [_tensor(storage, offset + place * stride[0], size[1:], stride[1:]) for place in range(size[0])]


def read_pickle(path: Path, records: tuple[str, ...] = ()) -> object:
    """Read a file that `torch.save` of PyTorch 1.6 or later wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
            if len(pickles) != 1:
                raise BadInput("is a zip, but not one of torch.save: it has no single data.pkl")
            return TorchUnpickler(archive, pickles[0].removesuffix("/data.pkl"), records).load()
    except BadInput:
        raise
    except (OSError, zipfile.BadZipFile) as error:
        raise BadInput(f"cannot be read as a zip of torch.save: {error}") from None
    except (
        pickle.UnpicklingError,
        AttributeError,
        KeyError,
        struct.error,
        TypeError,
        ValueError,
        IndexError,
        EOFError,
    ) as error:
        raise BadInput(f"is damaged: {error!r}") from None


def state_dict_network(
    tensors: Mapping[str, list], cell: str, recurrent: str, front: str | None, readout: str
) -> dict[str, object]:
    """Return the layers, tokens and readout of a network file; an `nn.Linear` in front is folded into the tokens' vectors."""
    names = {
        "input_weight": "weight_ih",
        "recurrent_weight": "weight_hh",
        "input_bias": "bias_ih",
        "recurrent_bias": "bias_hh",
    }
    layer = {
        field: tensors[f"{recurrent}.{name}_l0"] for field, name in names.items() if f"{recurrent}.{name}_l0" in tensors
    }
    if "input_weight" not in layer:
        raise BadInput(f"has no tensor {recurrent}.weight_ih_l0; its tensors are {', '.join(tensors)}")
    inputs = len(layer["input_weight"][0])
    blank = [Fraction(0)] * inputs
    columns = [[Fraction(int(row == column)) for row in range(inputs)] for column in range(inputs)]
    if front:
        blank = [Fraction(value) for value in tensors[f"{front}.bias"]]
        weight = zip(*tensors[f"{front}.weight"], strict=True)
        columns = [[Fraction(value) + add for value, add in zip(column, blank, strict=True)] for column in weight]
    return {
        "vectors": columns,
        "blank": blank,
        "layers": [{"cell": cell, **layer}],
        "readout": {"weight": tensors[f"{readout}.weight"], "bias": tensors[f"{readout}.bias"]},
    }


def exact(value: object) -> object:
    """Return nested lists and objects with every number written exactly: a float as a C hex float, a rational as p/q."""
    if isinstance(value, Mapping):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [exact(part) for part in value]
    if isinstance(value, Fraction):
        return str(value)
    return value.hex() if isinstance(value, float) else value


def write_file(network: dict[str, object], path: Path) -> None:
    """Write a network file, and read it back to see that the tool takes it."""
    write_document(exact(network), path)
    found = ts.read_network(path)
    print(f"{path}: {found.cell.name}, {found.cell.units} units, task {found.task.name}")


def main() -> None:
    """Convert one file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--task", required=True, help="a ready task, such as dyck1-prefix")
    parser.add_argument(
        "--classes", required=True, help="its classes in the order of the outputs: valid,incomplete,invalid"
    )
    parser.add_argument("--cell", required=True, help="lstm, gru, tanh or relu")
    parser.add_argument("--recurrent", default="lstm", help="the name of the recurrent module among the tensors")
    parser.add_argument("--front", help="the name of an nn.Linear in front of it")
    parser.add_argument("--readout", default="fc2", help="the name of the nn.Linear that reads it")
    parser.add_argument("--tokens", default="()", help="the tokens in the order of the one-hot inputs")
    parser.add_argument("--pad", type=int, help="fill strings up on the left to this many tokens with zeros")
    given = parser.parse_args()
    try:
        tensors = read_pickle(given.source)
        if not isinstance(tensors, Mapping):
            raise BadInput("holds no state dict, that is, tensors by name")
        parts = state_dict_network(tensors, given.cell, given.recurrent, given.front, given.readout)
        blank = parts.pop("blank")
        network = {
            "about": {"source": given.source.name},
            "tokens": dict(zip(given.tokens, parts.pop("vectors"), strict=True)),
            **parts,
            "answer": {"kind": "class", "classes": given.classes.split(",")},
            "task": given.task,
            **({"padding": {"left": blank, "to": given.pad}} if given.pad else {}),
        }
        write_file(network, given.out)
    except KeyError as error:
        sys.exit(f"{given.source}: has no tensor {error}")
    except (BadInput, ValueError) as error:
        sys.exit(f"{given.source}: {error}")


if __name__ == "__main__":
    main()
