#!/usr/bin/env python3
"""Turns of sessions, whole histories sent again in each, as agents do: CPU of the gateway, memory and disk, in memory and on SQLite.

32 sessions of 50 turns and 1,000 of 10, all at once; then 32 sessions in step, for what turn 2, 10, 50, 100 and 200 cost."""
from __future__ import annotations

import argparse
import statistics

from bench_common import Server
from crowd import Crowd, engine, folder_for, gateway, metric, on_disk, resident

SHAPES = ((32, 50), (1000, 10))
STORES = ("memory", "sqlite")
AT = (2, 10, 50, 100, 200)
WINDOW = 5


def shape(tool: str, upstream: Server, store: str, sessions: int, turns: int, more: list[str]) -> dict[str, float]:
    with folder_for(store) as folder:
        with gateway(tool, upstream.url, folder, *more) as server:
            # What is made once is not counted: buffers, connections, caches of words.
            Crowd(tool, server.url, "--sessions", 64, "--turns", 3, "--connections", 64, "--delete").result()
            before = resident(server.pid)
            done = Crowd(tool, server.url, "--sessions", sessions, "--turns", turns, "--connections", 32, watch=server.pid).result()
            row = {"us": done["cpu"] / done["answered"] * 1e6, "wall": done["answered"] / done["seconds"], "tokens": done["tokens"], "text": done["text_bytes"],
                   "resident": resident(server.pid) - before}
            batches = metric(server.url, "verbatim_store_batch_changes_count")
            row["batch"] = metric(server.url, "verbatim_store_batch_changes_sum") / batches if batches else 0
        row["disk"] = on_disk(folder) if store == "sqlite" else 0
    return row


def print_shapes(tool: str, upstream: Server, rounds: int, more: list[str]) -> None:
    rows: dict[tuple, list[dict[str, float]]] = {}
    for _ in range(rounds):
        for sessions, turns in SHAPES:
            for store in STORES:
                rows.setdefault((sessions, turns, store), []).append(shape(tool, upstream, store, sessions, turns, more))
    print(f"medians of {rounds} interleaved rounds; 32 connections, one thread; bytes on disk less text: of what both sides said")
    print(f"{'sessions':>8} {'turns':>5} {'store':7} {'CPU µs a turn':>13} {'turns a CPU s':>13} {'turns a s':>9} {'in a batch':>10} {'tokens':>8} {'resident/token':>14} "
          f"{'disk/session':>12} {'disk/token':>10} {'less text':>9}")
    for (sessions, turns, store), found in rows.items():
        row = {name: statistics.median(each[name] for each in found) for name in found[0]}
        print(f"{sessions:8} {turns:5} {store:7} {row['us']:13.0f} {1e6 / row['us']:13.0f} {row['wall']:9.0f} {row['batch']:10.1f} {row['tokens']:8.0f} "
              f"{row['resident'] / row['tokens']:14.1f} {row['disk'] / sessions:12.0f} {row['disk'] / row['tokens']:10.1f} "
              f"{max(0, row['disk'] - row['text']) / row['tokens']:9.1f}", flush=True)


def depths(tool: str, upstream: Server, store: str, sessions: int, more: list[str]) -> dict[int, float]:
    """CPU µs of a turn at each depth, the mean of WINDOW turns from there on."""
    spent = {0: 0.0}
    with folder_for(store) as folder, gateway(tool, upstream.url, folder, *more) as server:
        for line in Crowd(tool, server.url, "--sessions", sessions, "--turns", max(AT) + WINDOW - 1, "--connections", sessions, "--in-step", watch=server.pid):
            if "turn" in line:
                spent[line["turn"]] = line["cpu"]
    return {at: (spent[at + WINDOW - 1] - spent[at - 1]) / (WINDOW * sessions) * 1e6 for at in AT}


def print_depths(tool: str, upstream: Server, rounds: int, sessions: int, more: list[str]) -> None:
    print(f"{sessions} sessions in step; CPU µs a turn, medians of {rounds} interleaved rounds (beside turn 10)")
    rows = {store: [] for store in STORES}
    for _ in range(rounds):
        for store in STORES:
            rows[store].append(depths(tool, upstream, store, sessions, more))
    for store, found in rows.items():
        cost = {at: statistics.median(each[at] for each in found) for at in AT}
        print(f"{store:8}" + "".join(f"   turn {at} {cost[at]:5.0f} ({cost[at] / cost[10]:.2f})" for at in AT), flush=True)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--tool", required=True, help="the verbatim binary; its agents (tests/load) beside it")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--sessions", type=int, default=32, help="in step")
    ap.add_argument("--only", default="", choices=["", "shapes", "depths"])
    args, more = ap.parse_known_args()  # what is left is for `verbatim serve`
    with engine(args.tool) as upstream:
        if args.only != "depths":
            print_shapes(args.tool, upstream, args.rounds, more)
        if args.only != "shapes":
            print_depths(args.tool, upstream, args.rounds, args.sessions, more)


if __name__ == "__main__":
    main()
