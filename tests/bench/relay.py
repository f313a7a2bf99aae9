#!/usr/bin/env python3
"""The relay of messages (engine kind openai) beside nginx, both relaying the same server's answers byte for byte over kept connections:
whole answers of 1, 10 and 200 KB (nginx with its buffers), and a stream of 200 events (nginx without). Rounds interleaved; CPU time of the
process per request or event."""
from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench_common import TOY, Nginx, Server, cpu_seconds, free_port, summary, wrk

EVENTS = 200
SIZES = {"1": 1_000, "10": 10_000, "200": 200_000}
CHAT = "/v1/chat/completions"


def chat(**more) -> str:
    """A chat request of about 1 KB."""
    return json.dumps({"model": "sim", "messages": [{"role": "user", "content": "Tell me about the fox and the dog. " * 26}], **more})


class Answers:
    """A server with ready answers: an nginx of its own, with one worker, because nothing here must be slower than what is compared."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix="bench-answers-")
        root = Path(self.dir.name)
        root.chmod(0o755)  # the worker is another user
        for name, size in SIZES.items():
            (root / f"{name}.json").write_text(json.dumps({"object": "chat.completion", "choices": [{"message": {"content": "x" * (size - 72)}}]}))
        (root / "models.json").write_text('{"object":"list","data":[{"id":"sim","object":"model","owned_by":"bench"}]}')
        self.host, self.port = "127.0.0.1", free_port()
        conf = root / "nginx.conf"
        conf.write_text(f"""
worker_processes 1; daemon off; pid {root}/pid; error_log {root}/error crit;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {root}/b; proxy_temp_path {root}/p; fastcgi_temp_path {root}/f; uwsgi_temp_path {root}/u;
  scgi_temp_path {root}/s; keepalive_requests 1000000; default_type application/json; open_file_cache max=16;
  server {{
    listen 127.0.0.1:{self.port}; root {root};
    location = {CHAT} {{ error_page 405 =200 /$arg_size.json; return 405; }}
    location = /v1/models {{ try_files /models.json =404; }}
  }}
}}
""")
        self.process = subprocess.Popen(["nginx", "-c", str(conf), "-e", f"{root}/error"])
        self.url = f"http://{self.host}:{self.port}"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.dir.cleanup()


@dataclass
class Peer:
    name: str
    url: str
    pid: int


def compare(what: str, unit: str, units: int, path: str, body: str, peers: list[Peer], args) -> None:
    cpu: dict[str, list[float]] = {peer.name: [] for peer in peers}
    rate: dict[str, list[float]] = {peer.name: [] for peer in peers}
    seconds = max(1, round(args.seconds))
    for round_ in range(args.rounds + 1):
        for peer in peers:
            before = cpu_seconds(peer.pid)
            done = wrk(peer.url + path, body, seconds, args.connections)
            if round_:  # the first warms up
                cpu[peer.name].append((cpu_seconds(peer.pid) - before) / (done * units) * 1e6)
                rate[peer.name].append(done / seconds)
    print(f"  {what}: CPU µs per {unit}, and requests a second")
    for name in cpu:
        print(f"    {name:10} {summary(cpu[name])}   {statistics.median(rate[name]):8.0f} a second")
    ratios = [a / b for a, b in zip(cpu["verbatim"], cpu["nginx"])]
    faster = [a / b for a, b in zip(rate["verbatim"], rate["nginx"])]
    print(f"    ratio      {summary(ratios)}   {statistics.median(faster):8.2f} x the requests", flush=True)


class Behind:
    """nginx and the relay in front of one server."""

    def __init__(self, tool: str, server, buffering: str):
        self.gateway = Server([tool, "serve", "--port", "0", "--engine", server.url, "--engine-kind", "openai", "--threads", "1"])
        self.nginx = Nginx(server, buffering)
        self.peers = [Peer("nginx", self.nginx.url, self.nginx.worker), Peer("verbatim", self.gateway.url, self.gateway.pid)]

    def __enter__(self) -> list[Peer]:
        return self.peers

    def __exit__(self, *_) -> None:
        self.gateway.stop()
        self.nginx.stop()


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--tool", required=True, help="the verbatim binary")
    ap.add_argument("--seconds", type=float, default=2)
    ap.add_argument("--connections", type=int, default=16)
    ap.add_argument("--rounds", type=int, default=7)
    ap.add_argument("--only", choices=[*SIZES, "stream"], help="one row")
    args = ap.parse_args()
    print(f"{args.connections} connections, {args.rounds} interleaved rounds of {args.seconds} s, medians; request of {len(chat())} bytes")
    answers = Answers()
    try:
        with Behind(args.tool, answers, "on") as peers:
            for name in SIZES:
                if args.only in (None, name):
                    compare(f"answer of {name} KB", "request", 1, f"{CHAT}?size={name}", chat(), peers, args)
    finally:
        answers.stop()
    if args.only not in (None, "stream"):
        return
    text = "the quick brown fox jumps over the lazy dog " * 60
    engine = Server([args.tool, "sim", "--face", "dynamo", "--tokenizer", str(TOY), "--port", "0", "--behaviour", "fixed-text", "--text", text])
    try:
        with Behind(args.tool, engine, "off") as peers:
            compare(f"stream of {EVENTS} events", "event", EVENTS, CHAT, chat(stream=True, max_tokens=EVENTS), peers, args)
    finally:
        engine.stop()


if __name__ == "__main__":
    main()
