#!/usr/bin/env python3
"""Sequential streams of 16 tokens from the real Dynamo frontend on one kept connection: the time of each, median and 90 %.

    .venv/bin/python tests/bench/dynamo_streams.py --tool build/release/verbatim [--streams 300]

A bare socket that leaves acknowledgements to the kernel, one that sends them at once (TCP_QUICKACK), and `verbatim serve`, which does
that for engines of kind dynamo. Each stream is a prompt of 8 ids; the gateway's are whole turns of one message.
"""
from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/engines/dynamo"))
sys.path.insert(0, str(ROOT / "tests/e2e"))
from deployment import TEMPLATE, TOKENIZER, Deployment  # noqa: E402

CLOSE = 554
ROW = {"token_ids": [*range(70, 85), CLOSE]}
BODY = {"model": "toy", "messages": [{"role": "user", "content": ""}], "stream": True, "max_completion_tokens": 64,
        "logprobs": True, "stop_token_ids": [CLOSE], "nvext": {"token_data": [553, 82, 85, 68, 81, 198, 70, 554],
                                                               "extra_fields": ["engine_data", "completion_token_ids"]}}
CHAT = {"model": "toy", "messages": [{"role": "user", "content": "x"}], "stream": True}


class Client:
    """A kept connection; reads until the end of a chunked body."""

    def __init__(self, address: tuple[str, int], acks_at_once: bool):
        self.socket = socket.create_connection(address, timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.acks_at_once = acks_at_once

    def post(self, body: dict) -> bytes:
        data = json.dumps(body).encode()
        self.socket.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                            b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        seen = b""
        while not seen.endswith(b"\r\n0\r\n\r\n"):
            piece = self.socket.recv(65536)
            if not piece:
                raise SystemExit(f"the connection ended behind {seen[-200:]!r}")
            seen += piece
            if self.acks_at_once:
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        if b" 200 " not in seen[:16] or b"[DONE]" not in seen:
            raise SystemExit(f"no good stream: {seen[-400:]!r}")
        return seen


def measure(client: Client, body: dict, streams: int) -> list[float]:
    times = []
    for _ in range(streams):
        began = time.perf_counter()
        client.post(body)
        times.append((time.perf_counter() - began) * 1000)
    return times


def shown(name: str, times: list[float]) -> None:
    print(f"  {name:<44} {statistics.median(times):6.2f} ms  {sorted(times)[len(times) * 9 // 10]:6.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=300)
    parser.add_argument("--tool", required=True, help="the verbatim binary")
    options = parser.parse_args()
    os.environ["VERBATIM_BINARY"] = options.tool
    from programs import Gateway
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        deployment = Deployment(folder / "dynamo")
        try:
            deployment.script([ROW])
            gateway = Gateway(folder, deployment.url, "--chat-template", TEMPLATE, "--model-name", "toy", "--threads", 1, kind="dynamo",
                              tokenizer=TOKENIZER.parent)
            print(f"{options.streams} streams of 16 tokens, one after the other        median     90 %")
            here = ("127.0.0.1", deployment.port)
            for acks_at_once, words in ((False, "bare socket"), (True, "bare socket, acknowledged at once")):
                shown(words, measure(Client(here, acks_at_once), BODY, options.streams))
            shown("verbatim serve", measure(Client(gateway.program.host_port, False), CHAT, options.streams))
            gateway.close()
        finally:
            deployment.close()


if __name__ == "__main__":
    main()
