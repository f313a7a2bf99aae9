"""What starts of real engines share."""
from __future__ import annotations

import socket


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
