"""Opens a network's file: the one that the command names, or one that the page sends."""

import json
from base64 import b64decode
from binascii import Error as NotBase64
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from typing_extensions import TypedDict  # pydantic cannot read those of typing before Python 3.12

from tallystick.errors import BadInput
from tallystick.explore.choices import NetworkPreset
from tallystick.files import LARGEST_DOCUMENT, parse_document, read_text
from tallystick.networks import network_to_json, read_network
from tallystick.networks.files import split_about

_OPENED = (".json", ".safetensors")


class OpenedFile(TypedDict):
    """A network's file: its name, what it says about itself, and its document in writing, with all digits."""

    title: str
    text: str
    file: str


def read_file(path: Path) -> OpenedFile:
    """Return the network of a file."""
    network, about = read_network(path), dict[str, str]()
    if path.suffix.lower() == ".json":
        written = read_text(path, LARGEST_DOCUMENT)  # as it is, so that no number loses digits on its way
        about = split_about(parse_document(written, str(path)))[1]
    else:
        written = json.dumps(network_to_json(network), indent=1)
    text = ". ".join(about[name] for name in ("claim", "source") if name in about) or "The file that was opened."
    return {"title": path.name, "text": text, "file": written}


def opened_network(path: Path) -> NetworkPreset:
    """Return the network of the file that the command names, to begin with."""
    return {"name": "opened", "network": {}, **read_file(path)}


def opened_file(name: str, content: str) -> OpenedFile:
    """Return the network of a file that is sent in base64; a complaint begins with the file's own name."""
    plain = PurePath(name.replace("\\", "/")).name or "file"
    if PurePath(plain).suffix.lower() not in _OPENED:
        raise BadInput(f"{plain}: a network is opened from a file that ends in {' or '.join(_OPENED)}")
    try:
        whole = b64decode(content, validate=True)
    except NotBase64:
        raise BadInput(f"{plain}: its content did not arrive as base64") from None
    with TemporaryDirectory() as folder:
        # Its own name may be one that no file can have.
        path = Path(folder) / f"network{PurePath(plain).suffix.lower()}"
        path.write_bytes(whole)
        try:
            found = read_file(path)
        except BadInput as error:
            raise BadInput(str(error).replace(str(path), plain)) from None
    return {**found, "title": plain}
