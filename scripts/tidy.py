#!/usr/bin/env python3
"""Runs clang-tidy-19 over the sources, in parallel, and only where something changed since it was last clean.

    scripts/tidy.py [--build build/release] [--jobs N] [--seconds S] [FILE ...]

A file is clean when a stamp under build/tidy carries the hash of its preprocessed text (comments kept: NOLINT stands in them),
its flags, .clang-tidy and the version of clang-tidy. With --seconds no new file is begun after that time: files are taken in the
order of their last commit, newest first, and how many were not reached is printed. Files given by name are all checked.
Needs compile_commands.json (written by `cmake --preset release`). Standard library only.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-19"


def commands(build: Path) -> dict[str, list[str]]:
    """Source file (relative to the root, below src/) -> the flags that decide what its text means."""
    out: dict[str, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        if not path.startswith("src/") or not path.endswith(".cc"):
            continue
        flags, words = [], iter(shlex.split(entry["command"]))
        for word in words:
            if word in ("-o", "-c"):
                next(words)
            elif word.startswith(("-I", "-D", "-std=", "-isystem")):
                flags += [word, next(words)] if word in ("-I", "-D", "-isystem") else [word]
        out.setdefault(path, flags)
    return out


def newest_first(paths: list[str]) -> list[str]:
    """By last commit; what is not committed comes first, without history by name."""
    log = subprocess.run(["git", "-C", str(ROOT), "log", "--format=", "--name-only", "-n", "500", "--", "src"], check=False,
                         stdout=subprocess.PIPE, text=True).stdout.split("\n")
    changed = subprocess.run(["git", "-C", str(ROOT), "status", "--porcelain", "--no-renames", "-uall", "--", "src"], check=False,
                             stdout=subprocess.PIPE, text=True).stdout.split("\n")
    rank: dict[str, int] = {}
    for path in [line[3:] for line in changed] + log:
        rank.setdefault(path, len(rank))
    return sorted(paths, key=lambda p: (rank.get(p, len(rank)), p))


class Tidy:
    def __init__(self, build: Path, seconds: float | None):
        self.flags = commands(build)
        self.stamps = ROOT / "build" / "tidy"
        self.stamps.mkdir(parents=True, exist_ok=True)
        version = subprocess.run([TIDY, "--version"], check=True, stdout=subprocess.PIPE).stdout
        self.salt = version + (ROOT / ".clang-tidy").read_bytes()
        self.until = None if seconds is None else time.monotonic() + seconds
        self.lock = threading.Lock()

    def key(self, path: str) -> str | None:
        """Hash of all that decides the result; None when the preprocessor fails (clang-tidy then says why)."""
        cpp = subprocess.run(["g++", "-E", "-C", "-w", *self.flags[path], path], cwd=ROOT, check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        if cpp.returncode:
            return None
        return hashlib.sha256(b"\0".join([self.salt, " ".join(self.flags[path]).encode(), cpp.stdout])).hexdigest()

    def run(self, path: str) -> str:
        """"clean", "cached", "late" or "failed" (and prints the findings)."""
        if self.until is not None and time.monotonic() > self.until:
            return "late"
        stamp = self.stamps / path.replace("/", "+")
        key = self.key(path)
        if key and stamp.exists() and stamp.read_text() == key:
            return "cached"
        tidy = subprocess.run([TIDY, "--quiet", f"--header-filter={ROOT}/src/", path, "--", *self.flags[path]], cwd=ROOT, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if tidy.returncode:
            with self.lock:
                print((tidy.stdout + ("" if tidy.stdout.strip() else tidy.stderr)).replace(f"{ROOT}/", ""), flush=True)
            return "failed"
        if key:
            stamp.write_text(key)
        return "clean"


def main() -> int:
    ap = argparse.ArgumentParser(description="clang-tidy over what changed since it was last clean")
    ap.add_argument("files", nargs="*")
    ap.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    ap.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    ap.add_argument("--seconds", type=float, help="begin no new file after this time (default: no limit)")
    a = ap.parse_args()
    if not (a.build / "compile_commands.json").exists():
        ap.error(f"{a.build}/compile_commands.json is missing: run `cmake --preset release`")
    began = time.monotonic()
    tidy = Tidy(a.build, a.seconds)
    named = [os.path.relpath(Path(f).resolve(), ROOT) for f in a.files]
    if unknown := [f for f in named if f not in tidy.flags]:
        ap.error("not part of the build: " + " ".join(unknown))
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        states = list(pool.map(tidy.run, named or newest_first(list(tidy.flags))))
    count = {s: states.count(s) for s in ("clean", "cached", "failed", "late")}
    print(f"tidy: {count['clean']} files clean, {count['cached']} unchanged, {count['failed']} with findings, "
          f"{count['late']} not reached, {time.monotonic() - began:.0f} s")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
