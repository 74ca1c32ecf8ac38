"""An application served on the loopback for the time of a test."""

import logging
import threading
import time
from contextlib import contextmanager

from tallystick.explore.server import listening_socket
from tallystick.explore.server import server as server_of


@contextmanager
def served(app, processes=None):
    """Serve an application from a thread, at a free port; give its address.

    Each of its processes takes a while to load the library; where so many are enough, no others are started.
    """
    if processes is not None:
        app.state.workers.number, app.state.workers._spare = processes, 0
    with listening_socket("127.0.0.1", 0) as listener:
        server = server_of(app)
        logging.getLogger("uvicorn.error").setLevel("CRITICAL")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield "http://{}:{}".format(*listener.getsockname())
        finally:
            server.should_exit = True
            thread.join()
