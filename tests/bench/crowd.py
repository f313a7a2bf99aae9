"""What the benchmarks of sessions share: an engine, a gateway in front of it, and many agents (tests/load), all with the real Qwen3 vocabulary."""
from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_common import ROOT, Server, get

MODEL = ROOT / "models" / "qwen3"
ANSWER = "It is warmer in Rome than in Paris today, and it stays so for the week: no rain, little wind, and 24 degrees near noon at most. "
MAX_TOKENS = 64


def resident(pid: int) -> int:
    """Bytes."""
    return int(re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M).group(1)) * 1024


def metric(url: str, name: str) -> float:
    """The sum of a metric's samples."""
    found = re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", get(url + "/metrics").decode(), re.M)
    return sum(map(float, found))


def until_ready(url: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url + "/ready", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError):
            pass
        if time.monotonic() > end:
            raise SystemExit(f"{url} did not become ready")
        time.sleep(0.01)


@contextmanager
def engine(tool: str, *more: str) -> Iterator[Server]:
    server = Server([tool, "sim", "--tokenizer", str(MODEL), "--port", "0", "--incremental", "--text", ANSWER, "--max-model-len", "1000000", "--ids-per-event", "64", *more])
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def gateway(tool: str, engine_url: str, store: str, *more: str, threads: int = 1) -> Iterator[Server]:
    """`store`: memory, or a folder's path: SQLite in it."""
    kept = ["--store", "memory"] if store == "memory" else ["--store", "sqlite", "--data-dir", store]
    server = Server([tool, "serve", "--port", "0", "--engine", engine_url, "--engine-kind", "sglang", "--tokenizer", str(MODEL), "--threads", str(threads),
                     "--max-model-len", "1000000", *kept, *more])
    try:
        until_ready(server.url)
        yield server
    finally:
        server.stop()


@contextmanager
def folder_for(store: str) -> Iterator[str]:
    """The word memory as it is; for sqlite a folder that lasts as long as this."""
    if store == "memory":
        yield store
        return
    with tempfile.TemporaryDirectory(prefix="bench-store-") as folder:
        yield folder


def on_disk(folder: str) -> int:
    """Bytes of the store's file and its log."""
    return sum(path.stat().st_size for path in Path(folder).glob("store.db*") if not path.name.endswith(("-reserve", "-shm", ".lock")))


class Crowd:
    """Many agents, a process of its own. Iterating gives its reports as they come; the last is `done`."""

    def __init__(self, tool: str, url: str, *options: str | int, watch: int = 0):
        command = [Path(tool).parent / "tests" / "load", "--url", url, "--max-tokens", MAX_TOKENS, *options, *(["--watch", watch] if watch else [])]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)

    def __iter__(self) -> Iterator[dict]:
        try:
            for line in self.process.stdout:
                yield json.loads(line)
        finally:
            if self.process.poll() is None:
                self.process.terminate()
            code = self.process.wait()
        if code != 0:
            raise SystemExit(f"the agents ended with {code}")

    def result(self) -> dict:
        last: dict = {}
        for last in self:
            pass
        return last
