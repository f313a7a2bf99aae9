"""Guides as programs: their `sh` blocks in order, in one shell, and the `text` blocks behind them, which say what is printed.

In a text block … stands for anything within a line. A block `text 1.4.1` is what that release prints, in place of one without a release.
"""
from __future__ import annotations

import os
import re
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from programs import BINARY, ROOT

GUIDES = sorted((ROOT / "docs/guides").glob("*.md"))
FENCE = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.M | re.S)
BETWEEN = "\036"


@dataclass
class Step:
    command: str
    prints: dict[str, str] = field(default_factory=dict)  # by release; "": of all others

    def expected(self, release: str) -> str | None:
        return self.prints.get(release, self.prints.get(""))


def steps(guide: Path) -> list[Step]:
    found: list[Step] = []
    for language, release, text in FENCE.findall(guide.read_text()):
        if language == "sh":
            found.append(Step(text))
        elif language == "text" and found:
            found[-1].prints[release] = text
    assert found, f"{guide} has no commands"
    return found


def free_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def run(commands: list[str], folder: Path, ports: dict[str, str]) -> subprocess.CompletedProcess:
    """`ports` replaces the ports of the guide; BETWEEN stands between what the commands print."""
    script = "set -eo pipefail\ntrap 'kill $(jobs -p)' EXIT\n" + f"\nprintf '{BETWEEN}'\n".join(commands)
    script = re.sub("|".join(ports), lambda found: ports[found[0]], script)
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=90,
                          env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PATH": f"{BINARY.parent}:{os.environ['PATH']}"})


def prints(printed: str, expected: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, expected.strip().split("…"))), printed.strip()) is not None
