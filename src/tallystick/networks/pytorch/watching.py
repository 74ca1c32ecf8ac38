"""While a module runs, every function of PyTorch that it calls is handed over, and what goes past that is noticed."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

from tallystick.networks.pytorch.labels import Torch


@contextmanager
def watch(
    torch: Torch, module: Torch, see: Callable[..., Any], enter: Callable[[str], None], unseen: set[str]
) -> Generator[None]:
    """Run what stands in this context under watch; nothing outside is changed.

    Args:
        torch: PyTorch.
        module: what is run.
        see: is called in the place of each function, with the function, its arguments and its keywords.
        enter: is called with the name of the part that runs from now on.
        unseen: gets the names of operations that no such function started, such as those of TorchScript.
    """
    inside, dispatch = False, torch.utils._python_dispatch

    class Interception(torch.overrides.TorchFunctionMode):  # pyright: ignore[reportUntypedBaseClass]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
            nonlocal inside
            del types
            before, inside = inside, True
            # What a function does is seen with it: to watch its operations too would take half as long again.
            is_watched = dispatch._get_current_dispatch_mode() is operations
            try:
                with dispatch._pop_mode_temporarily() if is_watched else nullcontext():
                    return see(func, args, kwargs or {})
            finally:
                inside = before

    class Operations(dispatch.TorchDispatchMode):  # pyright: ignore[reportUntypedBaseClass]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
            del types
            if not inside:
                unseen.add(str(func))
            return func(*args, **(kwargs or {}))

    operations = Operations()

    def enter_part(name: str) -> Callable[..., None]:
        def act(*_: object) -> None:
            enter(name or "module")

        return act

    with ExitStack() as stack:
        for name, inner in module.named_modules():
            stack.callback(inner.register_forward_pre_hook(enter_part(name)).remove)
            stack.callback(inner.register_forward_hook(enter_part(name.rpartition(".")[0])).remove)
        stack.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        for context in (torch.no_grad(), operations, Interception()):
            stack.enter_context(context)
        yield
