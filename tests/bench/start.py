#!/usr/bin/env python3
"""From the start of the process to its first HTTP answer, with the real Qwen3 vocabulary: without a tokenizer cache, and with one."""
from __future__ import annotations

import argparse
import tempfile
import time

from bench_common import ROOT, Server, get, summary


def milliseconds(tool: str, more: list[str]) -> float:
    before = time.monotonic()
    gateway = Server([tool, "serve", "--port", "0", "--store", "memory", "--engine", "http://127.0.0.1:9", "--tokenizer", str(ROOT / "models" / "qwen3"), *more])
    get(gateway.url + "/health")
    spent = (time.monotonic() - before) * 1e3
    gateway.stop()
    return spent


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--tool", required=True, help="the verbatim binary")
    ap.add_argument("--rounds", type=int, default=7)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-cache-") as cache:
        for name, more in (("without a cache", []), ("with a cache", ["--cache-dir", cache])):
            milliseconds(args.tool, more)
            print(f"  {name:16} {summary([milliseconds(args.tool, more) for _ in range(args.rounds)])} ms of wall clock")


if __name__ == "__main__":
    main()
