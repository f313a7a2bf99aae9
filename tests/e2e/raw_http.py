"""HTTP on a bare socket: requests cut as a test likes, answers exactly as they stand on the wire."""
from __future__ import annotations

import json
import socket
from dataclasses import dataclass


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def json(self):
        return json.loads(self.body)


class Connection:
    """A kept connection. `piece` is how many bytes are sent and received at a time."""

    def __init__(self, address: tuple[str, int], piece: int = 65536):
        self.piece = piece
        self.socket = socket.create_connection(address, timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.held = b""

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        for at in range(0, len(data), self.piece):
            self.socket.sendall(data[at:at + self.piece])

    def request(self, method: str, path: str, body: bytes | None = None, headers: dict | None = None) -> Answer:
        fields = {"Host": "gateway", **({"Content-Type": "application/json", "Content-Length": len(body)} if body is not None else {}), **(headers or {})}
        head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
        self.send(head.encode() + (body or b""))
        return self.answer(method)

    def post(self, path: str, value) -> Answer:
        return self.request("POST", path, json.dumps(value).encode())

    def answer(self, method: str = "GET") -> Answer:
        lines = self._until(b"\r\n\r\n").decode().split("\r\n")
        status = int(lines[0].split()[1])
        headers = [tuple(line.split(": ", 1)) for line in lines[1:] if line]
        answer = Answer(status, headers, b"")
        if method == "HEAD" or status in (204, 304):
            return answer
        if answer.header("transfer-encoding"):
            answer.body = b"".join(self.chunks())
        else:
            answer.body = self._exactly(int(answer.header("content-length")[0]))
        return answer

    def chunks(self):
        while True:
            size = int(self._until(b"\r\n").strip(), 16)
            data = self._exactly(size)
            assert self._exactly(2) == b"\r\n"
            if size == 0:
                return
            yield data

    def _more(self) -> None:
        data = self.socket.recv(self.piece)
        assert data, f"the connection ended; held back: {self.held[-200:]!r}"
        self.held += data

    def _until(self, mark: bytes) -> bytes:
        while mark not in self.held:
            self._more()
        found, self.held = self.held.split(mark, 1)
        return found + (b"" if mark == b"\r\n\r\n" else mark)

    def _exactly(self, count: int) -> bytes:
        while len(self.held) < count:
            self._more()
        found, self.held = self.held[:count], self.held[count:]
        return found


def named_events(body: bytes) -> list[dict]:
    """The events of a Responses stream, which end with [DONE]. Each has the name that its data says; every byte must belong to one."""
    *frames, done, rest = body.split(b"\n\n")
    assert (done, rest) == (b"data: [DONE]", b""), f"the stream ends with {body[-200:]!r}"
    events = []
    for frame in frames:
        name, data = frame.split(b"\n")
        assert name.startswith(b"event: ") and data.startswith(b"data: "), frame
        events.append(json.loads(data[6:]))
        assert events[-1]["type"] == name[7:].decode()
    return events


def sse(body: bytes) -> list[str]:
    """The data of each event. Every byte must belong to one."""
    events = body.split(b"\n\n")
    assert events[-1] == b"", f"bytes behind the last event: {events[-1]!r}"
    assert all(event.startswith(b"data: ") and b"\n" not in event for event in events[:-1]), events
    return [event[6:].decode() for event in events[:-1]]
