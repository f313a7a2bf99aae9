#!/usr/bin/env python3
"""Sessions of 50 turns, 32 at once, beside miles' session server (v1): CPU of the process per turn, in front of the same simulated engine, driven by the
same agents, rounds interleaved. miles keeps its sessions in memory; verbatim on SQLite, and in memory.

The peer is installed once: scripts/peers/miles/install.sh .venv-miles"""
from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from bench_common import ROOT, Server
from crowd import MODEL, Crowd, engine, gateway, resident

VENV = ROOT / ".venv-miles"
# Of the Agentix TITO gateway beside miles v1, at 32 x 50 on one machine in one hour (CPU ms a turn, 29 Nov 2026); it is in no package registry.
AGENTIX_BESIDE_MILES = 8.9 / 5.7


@contextmanager
def miles(engine_url: str) -> Iterator[Server]:
    server = Server([str(VENV / "bin/python"), str(ROOT / "scripts/peers/miles/server.py"), "--engine", engine_url, "--model", str(MODEL)])
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def verbatim(tool: str, engine_url: str, store: str) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="bench-store-") as folder, gateway(tool, engine_url, store if store == "memory" else folder) as server:
        yield server


def measure(tool: str, server: Server, sessions: int, turns: int) -> dict[str, float]:
    Crowd(tool, server.url, "--sessions", sessions, "--turns", 2, "--connections", sessions).result()  # warms up
    before = resident(server.pid)
    cpu = {0: 0.0}
    done: dict = {}
    for done in Crowd(tool, server.url, "--sessions", sessions, "--turns", turns, "--connections", sessions, "--in-step", watch=server.pid):
        if "turn" in done:
            cpu[done["turn"]] = done["cpu"]

    def around(turn: int) -> float:
        return (cpu[turn] - cpu[turn - 5]) / (5 * sessions) * 1e6

    return {"us": done["cpu"] / done["answered"] * 1e6, "turn 10": around(10), "turn 25": around(25), f"turn {turns}": around(turns),
            "turns a second": done["answered"] / done["seconds"], "kB a session": (resident(server.pid) - before) / sessions / 1000}


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--tool", required=True, help="the verbatim binary; its agents (tests/load) beside it")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--sessions", type=int, default=32)
    ap.add_argument("--turns", type=int, default=50)
    args = ap.parse_args()
    if not (VENV / "stamp").exists():
        print("  not measured: the peer is not there; scripts/peers/miles/install.sh .venv-miles installs it")
        return
    rows: dict[str, list[dict[str, float]]] = {}
    with engine(args.tool) as upstream:
        ways = {"verbatim, sqlite": lambda: verbatim(args.tool, upstream.url, "sqlite"), "verbatim, memory": lambda: verbatim(args.tool, upstream.url, "memory"),
                "miles v1": lambda: miles(upstream.url)}
        for _ in range(args.rounds):
            for name, start in ways.items():
                with start() as server:
                    rows.setdefault(name, []).append(measure(args.tool, server, args.sessions, args.turns))
    print(f"{args.sessions} sessions of {args.turns} turns in step, {args.rounds} interleaved rounds; CPU µs a turn: median (min, max); medians at turns 10, 25, {args.turns} (five turns each)")
    for name, found in rows.items():
        each = [row["us"] for row in found]
        more = "   ".join(f"{column} {statistics.median(row[column] for row in found):.0f}" for column in found[0] if column != "us")
        print(f"  {name:17} {statistics.median(each):7.0f} ({min(each):.0f}, {max(each):.0f})   {more}")
    for name in ("verbatim, sqlite", "verbatim, memory"):
        ratios = [peer["us"] / ours["us"] for peer, ours in zip(rows["miles v1"], rows[name])]
        print(f"  turns per CPU second, {name} beside miles v1: {statistics.median(ratios):.1f} x ({min(ratios):.1f}, {max(ratios):.1f}); "
              f"beside Agentix, by what it cost beside miles when both were measured: {statistics.median(ratios) * AGENTIX_BESIDE_MILES:.0f} x")


if __name__ == "__main__":
    main()
