"""A module is run, and every tensor in it is accompanied by labels that say which number is which.

While the module's own `forward` runs on a few strings, every function of PyTorch that it calls is seen. What only moves
numbers (view, transpose, cat, an index) is run on the labels too (`labels`), so that no layout needs to be understood;
what computes something looks up what its labels name, and makes a new signal (`functions`). Anything else is refused
by name. Shapes are those of the run, so loops over the length and conditions on shapes are followed; a look at a number that
depends on the strings is refused.

The weights are those that the functions are handed, not those that modules hold, so nothing that was done to a module is missed.
"""

import copy
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from tallystick.errors import BadInput
from tallystick.networks.pytorch.complex_numbers import ComplexNumbers
from tallystick.networks.pytorch.functions import Functions
from tallystick.networks.pytorch.labels import Ints, Labels, Rows, Torch
from tallystick.networks.pytorch.signals import OF_TOKENS, SUM, Column, Floats, Unreadable
from tallystick.networks.pytorch.watching import watch


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MOVES = _names(
    "view reshape view_as reshape_as transpose permute T mT t swapaxes swapdims movedim moveaxis squeeze unsqueeze flatten "
    "unflatten ravel contiguous clone detach data expand expand_as broadcast_to repeat repeat_interleave tile cat concat "
    "concatenate stack hstack vstack split split_with_sizes chunk tensor_split unbind select narrow index_select gather "
    "__getitem__ flip roll atleast_1d atleast_2d atleast_3d requires_grad_ real"
)
_CONVERSIONS = _names("to type float double half bfloat16 long int type_as cpu cuda")
_FACTS = _names(
    "size shape dim ndim ndimension numel nelement device dtype layout is_cuda is_cpu is_mps is_meta is_sparse is_quantized "
    "is_nested is_floating_point is_complex is_contiguous is_leaf requires_grad grad grad_fn stride storage_offset itemsize "
    "element_size get_device __len__ names is_mkldnn is_inference _is_view"
)
_BY_SHAPE = _names("zeros_like ones_like full_like empty_like new new_zeros new_ones new_full new_empty new_tensor")
_FILLS = _names("__setitem__ zero_ fill_ copy_")
_SHAPE_OF_ANOTHER = _names("view_as reshape_as expand_as type_as")

_LONGEST_MESSAGE = 200


class Failed(Exception):
    """The module's own code raised an error."""


@dataclass(frozen=True)
class Reading:
    """Strings of one length, as a module reads them.

    Attributes:
        tokens: which token each string has at each time.
        numbers: one column per token: its vector, or its index.
        as_index: whether the module reads indices, and not vectors.
        batch_axis: where the strings lie; None where the module reads one string alone.
    """

    tokens: Ints
    numbers: Floats
    as_index: bool
    batch_axis: int | None

    def lay_out(self, tensor: Torch) -> Torch:
        """Return a tensor of strings × times × features as the module reads it."""
        tensor = tensor[..., 0] if self.as_index else tensor
        if self.batch_axis is None:
            return tensor[0]
        return tensor if self.batch_axis == 0 else tensor.transpose(0, 1)


class Answer(NamedTuple):
    """One tensor among what a module returns, as an answer per string.

    Attributes:
        place: which tensor it is, counted as they come.
        columns: what its numbers are after the last token.
        values: those numbers, one row per string.
    """

    place: int
    columns: tuple[Column, ...]
    values: Floats


def double_copy(module: Torch) -> Torch:
    """Return a copy of a module that computes in doubles, in which every weight is what it was."""
    try:
        copied = copy.deepcopy(module)
        shared = {id(part) for part in _parts(module)} & {id(part) for part in _parts(copied)}
        if not shared:
            return copied.cpu().double()
    except Exception as error:  # the module's own code may raise anything
        raise Unreadable(f"module: cannot be copied to float64 ({_message(error)})") from None
    raise Unreadable("module: copy.deepcopy does not copy all of it, so it cannot be read without being changed")


def _parts(module: Torch) -> list[Torch]:
    return [*module.modules(), *module.parameters(), *module.buffers()]


class Trace:
    """One run of a module, and what was seen.

    Attributes:
        labels: what is known of the tensors.
        seen: how many steps were understood.
        answers: the tensors that the module returned, as far as they are an answer for each string.
    """

    def __init__(self, reading: Reading) -> None:
        """Get ready to run on these strings."""
        batch, length = reading.tokens.shape
        self.labels = Labels(batch, length, reading.numbers.shape[1])
        self.seen = 0
        self.answers: list[Answer] = []
        self._functions = Functions(self.labels)
        self._complex = ComplexNumbers(self.labels, self._see, _MOVES)
        self._reading = reading

    def run(self, module: Torch) -> "Trace":
        """Run the module.

        Raises:
            Unreadable: the module does what is not read.
            Failed: the module itself raises an error.
        """
        given, result, unseen = self._given(), None, set[str]()
        try:
            with watch(self.labels.torch, module, self._see, self._enter, unseen):
                result = module(given)
        except BadInput:
            raise
        except Exception as error:  # the module's own code may raise anything
            if not unseen:
                raise Failed(_message(error)) from None
        if unseen:
            raise Unreadable(f"module: does {min(unseen)} where it is not seen, as compiled functions do")
        returned = enumerate(self.labels.tensors(result))
        self.answers = [answer for place, tensor in returned if (answer := self._answer(place, tensor))]
        return self

    def answer(self, place: int) -> Answer:
        """Return the tensor at that place among those that the module returned."""
        found = next((answer for answer in self.answers if answer.place == place), None)
        if found is None:
            raise Unreadable("module: what it returns is not an answer for each string")
        return found

    def _given(self) -> Torch:
        """Return the tensor that the module reads, with its labels."""
        labels, numbers, tokens = self.labels, self._reading.numbers, self._reading.tokens
        strings, times = (one.ravel() for one in np.indices(tokens.shape))
        columns = labels.signals.token_columns()
        made = labels.new(SUM, numbers, np.zeros((len(numbers), 0)), Rows(columns, strings, times))
        named = labels.torch.as_tensor(made.reshape(*tokens.shape, -1))
        given = self._reading.lay_out(labels.torch.as_tensor(numbers.T[tokens]))
        return labels.attach(given.long() if self._reading.as_index else given, self._reading.lay_out(named))

    def _enter(self, place: str) -> None:
        self.labels.place = place

    # --- Functions that are seen ----------------------------------------------------------------------------------------------

    def _see(self, function: Torch, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Do what a function of PyTorch does, and give labels to what comes of it."""
        labels = self.labels
        key = next((key for key in ("input", "tensors") if not args and key in kwargs), None)
        if key:
            args, kwargs = (kwargs[key],), {name: value for name, value in kwargs.items() if name != key}
        full = labels.torch.overrides.resolve_name(function) or getattr(function, "__name__", str(function))
        name = full.removesuffix(".__get__").rpartition(".")[2]
        if name in _FACTS or (name in _BY_SHAPE and not labels.has((args[1:], kwargs))):
            return function(*args, **kwargs)
        labels.doing = full.removesuffix(".__get__")
        if name != "__setitem__" and self._complex.reads(name, args, kwargs):
            self.seen += 1
            return self._complex.act(function, name, args, kwargs)
        if not labels.has((args, kwargs)) and not self._stays_exact(name, args):
            return self._do_to_constants(function, name, args, kwargs)
        self.seen += 1
        if name == "__setitem__":
            return self._fill(*args)
        args, kwargs = labels.map((args, kwargs), self._in_double)
        if name in OF_TOKENS and all(map(labels.is_constant, labels.tensors((args, kwargs)))):
            return function(*args, **kwargs)
        act = self._reader(function, name, args)
        result = function(*args, **kwargs)
        if args and result is args[0] and result._is_view() and name.endswith("_") and name not in _MOVES:
            labels.refuse("changes part of another tensor in place")
        try:
            return labels.attach(result, act(*args, **kwargs))
        except BadInput:
            raise
        except Exception:  # the arguments may have forms that nobody has thought of
            labels.refuse("is called in a way that is not read")

    def _reader(self, function: Torch, name: str, args: tuple[Any, ...]) -> Any:  # noqa: ANN401 -- a function of its arguments
        """Return what gives labels to the result of a function, or refuse it."""
        if name in ("__getitem__", "index_select") and not self.labels.has(args[0]) and self.labels.has(args[-1]):
            return self._look_up
        if name in _MOVES or name in _CONVERSIONS:
            return partial(self._move, function, name)
        act = self._functions.by_name.get(name) or self._functions.by_name.get(name.removesuffix("_"))
        if act is None:
            self.labels.refuse("is not read")
        return act

    def _stays_exact(self, name: str, args: tuple[Any, ...]) -> bool:
        """Say whether what is made of constants, such as the state before the first token, is read like anything else."""
        floats = any(tensor.is_floating_point() for tensor in self.labels.tensors(args))
        return floats and name in self._functions.of_constants

    def _do_to_constants(self, function: Torch, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Do what is done to constants alone; what would round them is refused, since they are to be read exactly."""
        labels, result = self.labels, function(*args, **kwargs)
        exact = any(name in names for names in (_MOVES, _CONVERSIONS, _BY_SHAPE, _FILLS))
        exact = exact or name in OF_TOKENS or name in ("tanh", "relu")  # computed as doubles, whatever their kind
        takes, gives = (
            any(tensor.is_floating_point() for tensor in labels.tensors(one)) for one in ((args, kwargs), result)
        )
        if takes and gives and not exact:
            labels.refuse("computes weights from others, which is not read; compute them once and store them")
        return result

    def _in_double(self, value: Any) -> Any:  # noqa: ANN401
        """Return a tensor of floats as one of doubles, with its labels, and a kind of floats as doubles."""
        torch = self.labels.torch
        if isinstance(value, torch.dtype):
            return torch.float64 if value.is_floating_point else value
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.dtype == torch.float64:
            return value
        double = value.double()
        return self.labels.attach(double, self.labels.of(value)) if self.labels.has(value) else double

    def _move(self, function: Torch, name: str, *args: Any, **kwargs: Any) -> Torch:  # noqa: ANN401
        """Do to the labels what is done to the numbers; what says where they go must not depend on the strings."""
        labels = self.labels
        first, *others = args
        if labels.has((others, kwargs)) and name not in _SHAPE_OF_ANOTHER:
            labels.refuse("goes by numbers that depend on the string")
        if name in _CONVERSIONS:
            if first.is_floating_point() and not function(*args, **kwargs).is_floating_point():
                labels.refuse("rounds numbers that depend on the string")
            return labels.of(first)
        return function(labels.map(first, labels.of), *others, **kwargs)

    def _look_up(self, table: Torch, *where: Any) -> Torch:  # noqa: ANN401 -- an index, or an axis and an index
        """Return the labels of the rows of a table that the token chooses."""
        if not isinstance(where[-1], self.labels.torch.Tensor) or where[:-1] not in ((), (0,)):
            self.labels.refuse("goes by numbers that depend on the string along another axis than the first")
        return self._functions.look_up(table, where[-1])

    def _fill(self, target: Torch, index: Any, value: Any) -> None:  # noqa: ANN401
        """Do x[index] = y."""
        labels = self.labels
        if labels.has(index) or (not labels.has(target) and target._is_view()):
            labels.refuse("changes part of another tensor in place; collect the steps in a list and stack them")
        named = labels.of(target)
        target[index] = value
        named[index] = labels.of(value)
        labels.attach(target, named)

    # --- What comes out -------------------------------------------------------------------------------------------------------

    def _answer(self, place: int, tensor: Torch) -> Answer | None:
        """Return a tensor as the answer after the last token, if it holds that alone or the same for every time."""
        labels = self.labels
        if not labels.has(tensor) or not tensor.is_floating_point():
            return None
        which, strings, times, features = labels.decode(labels.of(tensor).numpy().ravel())
        last = [np.flatnonzero((strings == string) & (times == labels.length - 1)) for string in range(labels.batch)]
        named = [np.stack([which[one], 0 * which[one], features[one]], axis=-1) for one in last]
        size = len(last[0])
        if not size or any(one.shape != named[0].shape or (one != named[0]).any() for one in named):
            return None
        if len(which) not in (labels.batch * size, labels.batch * labels.length * size):
            return None
        columns = labels.columns(named[0])
        if any(signal.is_constant for signal, _, _ in columns):
            return None
        self._check_order(strings, times, size)
        return Answer(place, columns, tensor.detach().numpy().ravel()[np.stack(last)])

    def _check_order(self, strings: Ints, times: Ints, size: int) -> None:
        """Refuse what has strings or times in another order than they are read in: who uses it goes by the place alone."""
        axes = [(self.labels.batch, strings), (size, None)]
        if len(times) > self.labels.batch * size:
            axes.append((self.labels.length, times))
        for order in permutations(axes):
            places = np.indices([extent for extent, _ in order]).reshape(len(order), -1)
            if all(found is None or (found == place).all() for place, (_, found) in zip(places, order, strict=True)):
                return
        raise Unreadable(
            "module: returns its answers in another order than that of the strings and tokens that it reads"
        )


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:_LONGEST_MESSAGE]
