"""An engine that answers POST /generate with whatever bytes a test wants: for answers no simulator would give."""
from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from records import tokenizer

HELLO = [*tokenizer().encode("Hello there.", add_special_tokens=False).ids, tokenizer().token_to_id("<|im_end|>")]


def good(request: dict, ids: list[int] | None = None) -> dict:
    """A whole answer as SGLang gives it."""
    ids = HELLO if ids is None else ids
    return {"text": "Hello there.", "output_ids": list(ids), "meta_info": {
        "id": request["rid"], "finish_reason": {"type": "stop", "matched": ids[-1] if ids else None}, "prompt_tokens": len(request["input_ids"]),
        "completion_tokens": len(ids), "cached_tokens": 0, "weight_version": "w1",
        "output_token_logprobs": [[-0.5 - i / 8, token, None] for i, token in enumerate(ids)]}}


def whole(body: bytes | str | dict) -> tuple[int, str, bytes]:
    data = json.dumps(body) if isinstance(body, dict) else body
    return 200, "application/json", data if isinstance(data, bytes) else data.encode()


def events(*bodies, done: bool = True) -> tuple[int, str, bytes]:
    texts = [json.dumps(body) if isinstance(body, dict) else body for body in bodies] + (["[DONE]"] if done else [])
    return 200, "text/event-stream", "".join(f"data: {text}\n\n" for text in texts).encode()


class FakeEngine:
    def __init__(self):
        self.reply = lambda request: events(good(request))
        self.calls: list[dict] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                info = {"/v1/models": {"object": "list", "data": [{"id": "fake", "object": "model", "max_model_len": 32768}]},
                        "/server_info": {"version": "0.5.16"}, "/model_info": {"weight_version": "w1"}}
                known = self.path in info or self.path.startswith("/health")
                self.answer(200 if known else 404, "application/json", json.dumps(info.get(self.path, {})).encode())

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path != "/generate":
                    return self.answer(200, "text/plain", b"")
                outer.calls.append(request)
                self.answer(*outer.reply(request))

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
