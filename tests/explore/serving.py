"""An application served on the loopback for the time of a test."""

import threading
import time
from contextlib import contextmanager

import uvicorn

from tallystick.explore.server import listening


@contextmanager
def served(app):
    """Serve an application from a thread, at a free port; give its address."""
    with listening("127.0.0.1", 0) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield "http://{}:{}".format(*listener.getsockname())
        finally:
            server.should_exit = True
            thread.join()
