#!/usr/bin/env python3
"""A restart with many sessions on SQLite: time until the gateway is ready, and its memory, behind a clean end and behind kill -9."""
from __future__ import annotations

import argparse
import time

from bench_common import Server, cpu_seconds
from crowd import MODEL, Crowd, engine, folder_for, gateway, metric, on_disk, resident, until_ready


def start(tool: str, engine_url: str, folder: str) -> tuple[float, float, int]:
    """Seconds until ready, CPU seconds, resident bytes then."""
    began = time.monotonic()
    server = Server([tool, "serve", "--port", "0", "--engine", engine_url, "--engine-kind", "sglang", "--tokenizer", str(MODEL), "--cache-dir", folder + "/cache",
                     "--data-dir", folder, "--max-model-len", "1000000", "--threads", "1"])
    try:
        until_ready(server.url)
        found = time.monotonic() - began, cpu_seconds(server.pid), resident(server.pid)
    finally:
        server.stop()
    return found


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--tool", required=True, help="the verbatim binary; its agents (tests/load) beside it")
    ap.add_argument("--sessions", type=int, default=100_000)
    ap.add_argument("--turns", type=int, default=1, help="of each session")
    args = ap.parse_args()
    with engine(args.tool) as upstream, folder_for("sqlite") as folder:
        start(args.tool, upstream.url, folder)  # makes the tokenizer's cache
        seconds, cpu, bytes_ = start(args.tool, upstream.url, folder)
        print(f"  without sessions          ready after {seconds * 1e3:5.0f} ms, {cpu * 1e3:5.0f} ms of CPU, {bytes_ / 1e6:6.1f} MB resident", flush=True)
        with gateway(args.tool, upstream.url, folder) as server:
            done = Crowd(args.tool, server.url, "--sessions", args.sessions, "--turns", args.turns, "--open", 64, "--connections", 64, watch=server.pid).result()
            batch = metric(server.url, "verbatim_store_batch_changes_sum") / metric(server.url, "verbatim_store_batch_changes_count")
            print(f"  {done['ended']} sessions, {args.turns} turns each: {done['answered'] / done['seconds']:.0f} turns a second, {done['cpu'] / done['answered'] * 1e6:.0f} µs of CPU "
                  f"a turn, {batch:.1f} in a batch, {resident(server.pid) / 1e6:.1f} MB resident in the end", flush=True)
            server.process.kill()
            server.process.wait()
        print(f"  on disk {on_disk(folder) / 1e6:.0f} MB, {on_disk(folder) / done['ended']:.0f} bytes a session")
        for name in ("behind kill -9", "behind a clean end"):
            seconds, cpu, bytes_ = start(args.tool, upstream.url, folder)
            print(f"  {name:25} ready after {seconds * 1e3:5.0f} ms, {cpu * 1e3:5.0f} ms of CPU, {bytes_ / 1e6:6.1f} MB resident", flush=True)


if __name__ == "__main__":
    main()
