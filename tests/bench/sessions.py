#!/usr/bin/env python3
"""Turns of long sessions: CPU time of the gateway per turn at turn 2, 10, 50 and 200, whole, and what of it is reading the agent's body
and sending ids, which grow with the history whoever does it."""
from __future__ import annotations

import argparse
import http.client
import json
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor

from bench_common import TOY, Server, cpu_seconds

AT = (2, 10, 50, 100, 200)
WINDOW = 4


class Session:
    def __init__(self, server: Server):
        self.http = http.client.HTTPConnection(server.host, server.port, timeout=60)
        self.id = self.call("/sessions", {})["session_id"]
        self.messages: list[dict] = [{"role": "system", "content": "You are a helpful agent."}]

    def call(self, path: str, body: dict) -> dict:
        self.http.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = self.http.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{answer.status}: {data[:200]!r}")
        return json.loads(data)

    def turn(self, number: int) -> None:
        self.messages.append({"role": "user", "content": f"Question {number}: " + "what is the weather in Rome and in Paris " * 4})
        got = self.call(f"/sessions/{self.id}/v1/chat/completions", {"model": "toy", "messages": self.messages, "max_tokens": 32})
        self.messages.append(got["choices"][0]["message"])


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--tool", required=True, help="the verbatim binary")
    ap.add_argument("--sessions", type=int, default=32)
    ap.add_argument("--store", default="memory", help="memory, or sqlite: a file of its own")
    ap.add_argument("--record", action="store_true", help="with record files, whose lines hold the whole prompt")
    args = ap.parse_args()
    text = "the quick brown fox jumps over the lazy dog " * 10
    engine = Server([args.tool, "sim", "--tokenizer", str(TOY), "--port", "0", "--incremental", "--behaviour", "fixed-text", "--text", text, "--max-model-len", "1000000",
                     "--ids-per-event", "64"])
    records = tempfile.TemporaryDirectory(prefix="bench-records-")
    gateway = Server([args.tool, "serve", "--port", "0", "--engine", engine.url, "--tokenizer", str(TOY), "--chat-template", str(TOY / "chatml.jinja"), "--threads", "1",
                      "--max-model-len", "1000000", "--store", args.store, *([] if args.store == "memory" else ["--data-dir", records.name + "/data"]),
                      *(["--record-dir", records.name] if args.record else [])])
    try:
        sessions = [Session(gateway) for _ in range(args.sessions)]
        figures: dict[int, list[float]] = {at: [] for at in AT}
        with ThreadPoolExecutor(8) as pool:
            for number in range(1, max(AT) + WINDOW):
                before = cpu_seconds(gateway.pid)
                list(pool.map(lambda s: s.turn(number), sessions))
                spent = (cpu_seconds(gateway.pid) - before) / len(sessions) * 1e6
                for at in AT:
                    if at <= number < at + WINDOW:
                        figures[at].append(spent)
        body = len(json.dumps(sessions[0].messages))
    finally:
        gateway.stop()
        engine.stop()
        records.cleanup()
    print(f"{args.sessions} sessions in step, body of {body // 1000} kB at the end; gateway CPU µs per turn, median of {WINDOW} turns")
    base = statistics.median(figures[10])
    for at in AT:
        value = statistics.median(figures[at])
        print(f"  turn {at:4} {value:8.0f}   {value / base:5.2f} x turn 10")


if __name__ == "__main__":
    main()
