#!/usr/bin/env python3
"""A stream of 200 events: read, parsed, translated to Chat Completions and recorded by the gateway, beside nginx relaying the engine's
bytes as they are. Both in front of the same simulated engine, rounds interleaved, CPU time of the process per event."""
from __future__ import annotations

import argparse
import json
import tempfile

from bench_common import TOY, Nginx, Server, cpu_seconds, summary, wrk

EVENTS = 200
ROUNDS = 7


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--tool", required=True, help="the verbatim binary")
    ap.add_argument("--seconds", type=float, default=3)
    ap.add_argument("--connections", type=int, default=16)
    ap.add_argument("--rounds", type=int, default=ROUNDS)
    args = ap.parse_args()
    text = "the quick brown fox jumps over the lazy dog " * 60
    engine = Server([args.tool, "sim", "--tokenizer", str(TOY), "--port", "0", "--incremental", "--behaviour", "fixed-text", "--text", text])
    records = tempfile.TemporaryDirectory(prefix="bench-records-")
    gateway = Server([args.tool, "serve", "--port", "0", "--store", "memory", "--engine", engine.url, "--tokenizer", str(TOY), "--chat-template", str(TOY / "chatml.jinja"), "--threads", "1",
                      "--record-dir", records.name, "--max-model-len", "32768"])
    nginx = Nginx(engine)
    chat = json.dumps({"model": "toy", "stream": True, "max_tokens": EVENTS, "messages": [{"role": "user", "content": "Tell me about the fox."}]})
    raw = json.dumps({"input_ids": list(range(60, 80)), "stream": True, "return_logprob": True, "rid": "bench",
                      "sampling_params": {"max_new_tokens": EVENTS, "stop_token_ids": [554], "skip_special_tokens": False, "no_stop_trim": True}})
    rows: dict[str, list[float]] = {"nginx": [], "verbatim": []}
    try:
        for round_ in range(args.rounds + 1):
            for name, pid, url, body in (("nginx", nginx.worker, nginx.url + "/generate", raw), ("verbatim", gateway.pid, gateway.url + "/v1/chat/completions", chat)):
                before = cpu_seconds(pid)
                done = wrk(url, body, args.seconds, args.connections)
                if round_:  # the first warms up
                    rows[name].append((cpu_seconds(pid) - before) / (done * EVENTS) * 1e6)
    finally:
        gateway.stop()
        nginx.stop()
        engine.stop()
        records.cleanup()
    print(f"{EVENTS} events a stream, {args.connections} connections, {args.rounds} interleaved rounds of {args.seconds} s; CPU µs per event, median")
    for name, values in rows.items():
        print(f"  {name:10} {summary(values)}")
    ratios = [a / b for a, b in zip(rows["verbatim"], rows["nginx"])]
    print(f"  ratio      {summary(ratios)}   verbatim parses, translates, checks and records; nginx relays")


if __name__ == "__main__":
    main()
