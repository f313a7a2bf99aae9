"""A thousand clients that stream and hang up, on bare sockets: an SDK's client costs more to make than a turn."""
from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from programs import until
from raw_http import Connection

COUNT = 1000


def check_hang_ups(stack, model: str, whole: bool = False) -> None:
    """Each ends its generation at the engine, and none is recorded. Where the engine answers `whole`, nothing has come when the client goes; elsewhere
    it has read the first event."""
    before, session = stack.sim.stats(), stack.gateway.session()
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "talk"}], "stream": True}).encode()
    head = (f"POST /sessions/{session}/v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode()

    def hang_up(_) -> bytes:
        with Connection(stack.gateway.program.host_port) as client:
            client.send(head + body)
            if whole:
                client.socket.settimeout(2.0)
            try:
                return client.socket.recv(4096)
            except TimeoutError:
                return b""

    with ThreadPoolExecutor(100) as clients:
        heard = set(clients.map(lambda number: hang_up(number)[:12], range(COUNT)))
    assert heard == ({b""} if whole else {b"HTTP/1.1 200"})

    def aborted() -> int:
        stats = stack.sim.stats()
        return sum(stats[name] - before[name] for name in ("aborted_by_close", "aborted_by_id"))

    until(lambda: stack.sim.stats()["running"] == 0 and aborted() >= COUNT, "nothing runs at the engine")
    assert aborted() == COUNT
    assert stack.gateway.record(session) == []
