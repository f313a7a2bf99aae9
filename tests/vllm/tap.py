"""A tap on the wire between the gateway and vLLM: it writes down what passes, and adds one key to requests that sample: which ids to sample
(scripts/engines/vllm/forced_ids.py). Answers pass byte for byte, and a connection that one side closes is closed on the other."""
from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass, field

# Route of a request -> what stands before the key that is added, and the key.
BY_IDS = {"/inference/v1/generate": (b'"sampling_params":{', b'"extra_args":'), "/v1/completions": (b"{", b'"vllm_xargs":')}
BY_MESSAGES = dict.fromkeys(("/v1/chat/completions", "/v1/responses", "/v1/messages"), (b"{", b'"vllm_xargs":'))
ROUTES = BY_IDS | BY_MESSAGES


@dataclass
class Exchange:
    """One request as the gateway sent it, and the bytes that came back so far."""
    method: str
    path: str
    body: bytes
    forced: list[int] | None = None
    answer: bytearray = field(default_factory=bytearray)

    @property
    def request(self) -> dict:
        return json.loads(self.body)

    @property
    def prompt(self) -> list[int]:
        return self.request.get("token_ids") or self.request["prompt"]

    @property
    def status(self) -> int:
        return int(bytes(self.answer).split(b" ", 2)[1])

    @property
    def streamed(self) -> bool:
        return b"text/event-stream" in bytes(self.answer).partition(b"\r\n\r\n")[0].lower()

    def body_of_answer(self) -> bytes:
        head, _, body = bytes(self.answer).partition(b"\r\n\r\n")
        return _dechunked(body) if b"transfer-encoding: chunked" in head.lower() else body

    def events(self) -> list[dict]:
        """The JSON of each event of a streamed answer, or of the one that is whole."""
        body = self.body_of_answer()
        if not self.streamed:
            return [json.loads(body)] if body else []
        lines = [line for event in body.split(b"\n\n")[:-1] for line in event.split(b"\n")]
        texts = [line.removeprefix(b"data: ") for line in lines if line.startswith(b"data: ")]
        return [json.loads(text) for text in texts if text != b"[DONE]"]

    def choices(self) -> list[dict]:
        return [choice for event in self.events() for choice in event.get("choices", [])]

    def ids(self) -> list[int]:
        return [token for choice in self.choices() for token in choice["token_ids"] or []]

    def logprobs(self) -> list[float]:
        found = [choice["logprobs"] for choice in self.choices() if choice.get("logprobs")]
        return [value for each in found
                for value in (each["token_logprobs"] if "token_logprobs" in each else [token["logprob"] for token in each["content"]])]

    def usage(self) -> dict:
        (usage,) = [event["usage"] for event in self.events() if event.get("usage")]
        return usage

    def finish(self) -> tuple[str, object]:
        ((reason, stop),) = [(choice["finish_reason"], choice["stop_reason"]) for choice in self.choices() if choice["finish_reason"]]
        return reason, stop

    def weights(self) -> list[dict]:
        spans = [choice["weight_versions"] for choice in self.choices() if choice.get("weight_versions")]
        return [{"version": span["version"], "begin": span["start"]} for span in (spans[-1] if spans else [])]


class Tap:
    """`choose` is called with a request that samples and says which ids, or None for those the model likes."""

    def __init__(self, host: str, port: int):
        self.engine = (host, port)
        self.choose = lambda request: None
        self.log: list[Exchange] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.listener.close()

    def generations(self) -> list[Exchange]:
        """Requests that sample, but for those that only ask whether the engine samples at all."""
        return [each for each in list(self.log) if is_turn(each)]

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        engine = socket.create_connection(self.engine)
        for each in (client, engine):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        current: list[Exchange] = []
        threading.Thread(target=self._copy, args=(engine, client, current), daemon=True).start()
        try:
            held = b""
            while data := client.recv(65536):
                held += data
                while (split := _split(held)) is not None:
                    head, body, held = split
                    method, path, _ = head.decode().split(" ", 2)
                    exchange = Exchange(method, path, body)
                    self.log.append(exchange)
                    current[:] = [exchange]
                    engine.sendall(self._forced(exchange, head, body))
        except OSError:
            pass
        finally:
            _end(client, engine)

    def _forced(self, exchange: Exchange, head: bytes, body: bytes) -> bytes:
        if is_turn(exchange):
            exchange.forced = self.choose(exchange)
        if exchange.forced is None:
            return head + b"\r\n\r\n" + body
        before, key = ROUTES[exchange.path]
        added = key + json.dumps({"forced_ids": exchange.forced}).encode() + b","
        assert before in body, body
        changed = body.replace(before, before + added, 1)
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length:")]
        return b"\r\n".join([*lines, b"Content-Length: %d" % len(changed)]) + b"\r\n\r\n" + changed

    @staticmethod
    def _copy(engine: socket.socket, client: socket.socket, current: list[Exchange]) -> None:
        try:
            while data := engine.recv(65536):
                current[0].answer += data
                client.sendall(data)
        except OSError:
            pass
        finally:
            _end(client, engine)


def _dechunked(rest: bytes) -> bytes:
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body += rest[:int(size, 16)]
        rest = rest[int(size, 16) + 2:]
    return body


def is_turn(exchange: Exchange) -> bool:
    """By messages all count: a gateway asks whether the engine samples before a test hears it."""
    if exchange.path in BY_MESSAGES:
        return True
    request = exchange.request if exchange.path in BY_IDS else {}
    return request.get("sampling_params", request).get("max_tokens", 0) > 1


def _split(held: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Head, body and what is behind them; None where they are not whole yet."""
    head, mark, rest = held.partition(b"\r\n\r\n")
    if not mark:
        return None
    sizes = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    size = sizes[0] if sizes else 0
    return (head, rest[:size], rest[size:]) if len(rest) >= size else None


def _end(*sockets: socket.socket) -> None:
    for each in sockets:
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        each.close()
