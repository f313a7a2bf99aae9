"""tests/bench/bench_common.py: what a comparison starts is gone when the comparison is."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"
# A server that runs until it is told to stop, and what a comparison does behind its start.
SCRIPT = """
import sys
sys.path.insert(0, {bench!r})
from bench_common import Server
server = Server([sys.executable, "-c", "import signal; print('http://127.0.0.1:9', flush=True); signal.pause()"])
print(server.pid, flush=True)
{rest}
"""


def started(rest: str) -> tuple[subprocess.Popen, int]:
    comparison = subprocess.Popen([sys.executable, "-c", SCRIPT.format(bench=str(BENCH), rest=rest)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return comparison, int(comparison.stdout.readline())


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("rest", ["Server(['false'])", "raise SystemExit('the gateway did not start')", "1 / 0", "pass"])
def test_servers_end_with_a_comparison_that_fails_or_forgets_them(rest: str) -> None:
    comparison, server = started(rest)
    comparison.wait(30)
    assert not runs(server)


def test_servers_end_with_a_comparison_that_is_told_to_stop() -> None:
    comparison, server = started("import signal; signal.pause()")
    comparison.send_signal(signal.SIGTERM)
    assert comparison.wait(30) == 128 + signal.SIGTERM
    assert not runs(server)
