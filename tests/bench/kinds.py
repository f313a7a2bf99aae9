#!/usr/bin/env python3
"""Each kind and mode: the gateway's CPU per turn and per streamed token, beside a bare client that sends the engine's own request and reads the bytes
of its answer (wrk). Both talk to the same simulated engine, rounds interleaved. Then the memory of 1,000 streams at once."""
from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from bench_common import TOY, Server, cpu_seconds

SHORT, LONG = 16, 200
TEXT = "the quick brown fox jumps over the lazy dog " * 60
PROMPT = list(range(60, 80))
STOP = 554


def sglang(tokens: int, stream: bool) -> dict:
    return {"rid": "bench", "input_ids": PROMPT, "stream": stream, "return_logprob": True,
            "sampling_params": {"max_new_tokens": tokens, "stop_token_ids": [STOP], "skip_special_tokens": False}}


def sglang_chat(tokens: int, stream: bool) -> dict:
    return {"rid": "bench", "input_ids": PROMPT, "messages": [{"role": "user", "content": "x"}], "max_tokens": tokens, "logprobs": True,
            "return_meta_info": True, "return_prompt_token_ids": True, "stop_token_ids": [STOP]}


def vllm(tokens: int, stream: bool) -> dict:
    return {"token_ids": PROMPT, "stream": stream, "sampling_params": {"max_tokens": tokens, "logprobs": 0, "stop_token_ids": [STOP]}}


def completions(tokens: int, stream: bool) -> dict:
    return {"prompt": PROMPT, "max_tokens": tokens, "logprobs": 0, "return_token_ids": True, "return_tokens_as_token_ids": True,
            "stop_token_ids": [STOP], "stream": stream}


def dynamo_chat(tokens: int, stream: bool) -> dict:
    return {"model": "sim", "messages": [{"role": "user", "content": ""}], "stream": stream, "max_completion_tokens": tokens, "logprobs": True,
            "return_tokens_as_token_ids": True, "stop_token_ids": [STOP],
            "nvext": {"token_data": PROMPT, "extra_fields": ["engine_data", "completion_token_ids"]}}


def dynamo_generate(tokens: int, stream: bool) -> dict:
    return {"model": "sim", "token_ids": PROMPT, "sampling_params": {"max_tokens": tokens, "logprobs": 0, "stop_token_ids": [STOP]}}


# kind, mode, the engine's path, its request, whether it streams
WAYS = [("sglang", "generate", "/generate", sglang, True), ("sglang", "chat", "/v1/chat/completions", sglang_chat, False),
        ("vllm", "generate", "/inference/v1/generate", vllm, True), ("vllm", "completions", "/v1/completions", completions, True),
        ("vllm", "derender", "/inference/v1/generate", vllm, False), ("dynamo", "chat", "/v1/chat/completions", dynamo_chat, True),
        ("dynamo", "generate", "/inference/v1/generate", dynamo_generate, False)]


def load(url: str, body: dict, seconds: float, connections: int) -> tuple[int, float]:
    """Whole answers, and the CPU that wrk spent on them."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        quoted = json.dumps(body).replace("\\", "\\\\").replace('"', '\\"')
        script.write(f'wrk.method = "POST"\nwrk.body = "{quoted}"\nwrk.headers["Content-Type"] = "application/json"\n')
        script.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "20s", "-s", script.name, url],
                             capture_output=True, text=True, check=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if bad := re.search(r"Non-2xx or 3xx responses: (\d+)", out):
        raise SystemExit(f"{url}: {bad.group(0)}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return int(re.search(r"(\d+) requests in", out).group(1)), spent


class Pair:
    """A simulated engine and the gateway in front of it, on one thread."""

    def __init__(self, tool: str, kind: str, mode: str, *, delay_ms: int = 0):
        self.engine = Server([tool, "sim", "--face", kind, "--tokenizer", str(TOY), "--port", "0", "--behaviour", "fixed-text", "--text", TEXT,
                              "--max-model-len", "32768", *(["--token-delay-ms", str(delay_ms)] if delay_ms else []),
                              *(["--incremental"] if kind == "sglang" else [])])
        self.records = tempfile.TemporaryDirectory(prefix="bench-records-")
        self.gateway = Server([tool, "serve", "--port", "0", "--engine", self.engine.url, "--engine-kind", kind, "--engine-mode", mode,
                               "--tokenizer", str(TOY), "--chat-template", str(TOY / "chatml.jinja"), "--threads", "1",
                               "--store", "memory", "--record-dir", self.records.name])

    def stop(self) -> None:
        self.gateway.stop()
        self.engine.stop()
        self.records.cleanup()


def chat(tokens: int, stream: bool) -> dict:
    return {"model": "sim", "stream": stream, "max_tokens": tokens, "messages": [{"role": "user", "content": "Tell me about the fox."}]}


def measure(tool: str, way: tuple, rounds: int, seconds: float, connections: int) -> dict[str, float]:
    """Medians, in µs of CPU for a turn: of short and long ones, whole and streamed, at the gateway and at a bare client."""
    kind, mode, path, request, streams = way
    pair = Pair(tool, kind, mode)
    rows: dict[str, list[float]] = {}
    try:
        for round_ in range(rounds + 1):
            for size, tokens in (("short", SHORT), ("long", LONG)):
                for shape, stream in (("whole", False), ("stream", True)):
                    before = cpu_seconds(pair.gateway.pid)
                    done, _ = load(pair.gateway.url + "/v1/chat/completions", chat(tokens, stream), seconds, connections)
                    spent = cpu_seconds(pair.gateway.pid) - before
                    # Where the engine does not stream, the gateway asks it for whole answers.
                    asked, bare = load(pair.engine.url + path, request(tokens, stream and streams), seconds, connections)
                    if round_ and done and asked:  # the first warms up
                        rows.setdefault(f"{shape} {size}", []).append(spent / done * 1e6)
                        rows.setdefault(f"bare {shape} {size}", []).append(bare / asked * 1e6)
    finally:
        pair.stop()
    return {name: statistics.median(values) for name, values in rows.items()}


def per_token(row: dict[str, float], prefix: str) -> float:
    return (row[f"{prefix} long"] - row[f"{prefix} short"]) / (LONG - SHORT)


def memory(pid: int, field: str) -> int:
    """In kB."""
    return int(re.search(rf"^{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M).group(1))


async def one_stream(host: str, port: int, body: bytes, begun: asyncio.Semaphore, go_on: asyncio.Event) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                 + str(len(body)).encode() + b"\r\n\r\n" + body)
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head[:16]:
        raise SystemExit(f"no stream: {head[:200]!r}")
    await reader.readuntil(b"data:")
    begun.release()
    reading = asyncio.ensure_future(drain(reader))
    await go_on.wait()
    reading.cancel()
    writer.close()


async def drain(reader: asyncio.StreamReader) -> None:
    while await reader.read(65536):
        pass


async def open_streams(pair: Pair, count: int) -> tuple[int, int]:
    """Resident memory in kB before and while `count` streams run."""
    body = json.dumps(chat(4000, True)).encode()
    before = memory(pair.gateway.pid, "VmRSS")
    begun, go_on = asyncio.Semaphore(0), asyncio.Event()
    tasks = [asyncio.ensure_future(one_stream(pair.gateway.host, pair.gateway.port, body, begun, go_on)) for _ in range(count)]
    for _ in range(count):
        await begun.acquire()
    await asyncio.sleep(2)
    during = memory(pair.gateway.pid, "VmRSS")
    go_on.set()
    await asyncio.gather(*tasks)
    return before, during


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--tool", required=True, help="the verbatim binary")
    ap.add_argument("--seconds", type=float, default=1)
    ap.add_argument("--connections", type=int, default=8)
    ap.add_argument("--rounds", type=int, default=7)
    ap.add_argument("--streams", type=int, default=1000)
    ap.add_argument("--only", default="", help="kinds and modes whose name holds this")
    args = ap.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    print(f"CPU µs, medians of {args.rounds} interleaved rounds of {args.seconds} s, {args.connections} connections; a turn has {SHORT} tokens; "
          f"load {os.getloadavg()[0]:.1f}")
    print(f"{'kind/mode':18} {'whole turn':>11} {'bare':>7} {'streamed':>9} {'bare':>7} {'per token':>10} {'bare':>7}")
    whole = {}
    for way in WAYS:
        name = f"{way[0]}/{way[1]}"
        if args.only not in name:
            continue
        row = measure(args.tool, way, args.rounds, args.seconds, args.connections)
        whole[name] = row["whole short"]
        print(f"{name:18} {row['whole short']:11.0f} {row['bare whole short']:7.0f} {row['stream short']:9.0f} {row['bare stream short']:7.0f} "
              f"{per_token(row, 'stream'):10.2f} {per_token(row, 'bare stream'):7.2f}", flush=True)
    if {"vllm/derender", "vllm/generate"} <= set(whole):
        print(f"mode derender adds {(whole['vllm/derender'] - whole['vllm/generate']) / 1000:.2f} ms to a turn of mode generate; target 0.50")
    for way in WAYS:
        name = f"{way[0]}/{way[1]}"
        if args.only not in name or not way[4]:
            continue
        pair = Pair(args.tool, way[0], way[1], delay_ms=50)
        try:
            before, during = asyncio.run(open_streams(pair, args.streams))
        finally:
            pair.stop()
        print(f"{name:18} {args.streams} streams at once: {before / 1024:.1f} MB before, {during / 1024:.1f} MB while they run, "
              f"{(during - before) / args.streams:.1f} kB each", flush=True)
        time.sleep(0.1)


if __name__ == "__main__":
    main()
