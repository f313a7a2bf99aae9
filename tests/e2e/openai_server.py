"""A server of the OpenAI protocol, and nothing more of it: answers each request with the bytes that a test wants, and counts who hangs up."""
from __future__ import annotations

import asyncio
import json
import threading

CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def answer(text: str) -> dict:
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "x_unknown": {"kept": [1.50, "ü"]},
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}


def events(words: list[str]) -> list[bytes]:
    pieces = [{**CHUNK, "choices": [{"index": 0, "delta": {"role": "assistant", "content": word}, "finish_reason": None}]} for word in words]
    pieces.append({**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in pieces] + [b"data: [DONE]\n\n"]


def whole(status: int, body: bytes, *fields: str, kind: str = "application/json") -> bytes:
    head = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nX-Request-Id: up\r\n\r\n"
MODELS = whole(200, b'{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"somebody"}]}')
NOT_FOUND = whole(404, b'{"error":{"message":"no such page","type":"not_found","code":null,"param":null}}')


class OpenAIServer:
    """On a thread of its own. `reply(head, body)` gives the raw pieces of an answer to a POST; None in place of a piece waits until the client is
    gone, "cut" ends the connection."""

    def __init__(self):
        self.reply = lambda head, body: [whole(200, json.dumps(answer("Hello there.")).encode())]
        self.requests: list[tuple[bytes, bytes]] = []
        self.waiting = self.hung_up = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.server = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024), self.loop).result()
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader, writer) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
        body = await reader.readexactly(length)
        self.requests.append((head, body))
        if head.startswith(b"GET "):
            writer.write(MODELS if head.startswith(b"GET /v1/models ") else NOT_FOUND)
            return True
        for piece in self.reply(head, body):
            if piece == "cut":
                return False
            if piece is None:
                self.waiting += 1
                gone = await reader.read(1) == b""
                self.hung_up += gone
                return False
            writer.write(piece)
            await writer.drain()
        return True

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.server.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
