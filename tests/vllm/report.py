"""What a run of the tests found, as a page."""
from __future__ import annotations

import datetime
import os
import platform
from dataclasses import dataclass, field


@dataclass
class Report:
    release: str = ""
    boot_seconds: float = 0.0
    flags: list[str] = field(default_factory=list)
    # A table each: title -> rows of named cells, in the order they were found.
    tables: dict[str, list[dict]] = field(default_factory=dict)

    def add(self, table: str, **row) -> None:
        self.tables.setdefault(table, []).append(row)

    def text(self, modes: list[str]) -> str:
        flags = " ".join(self.flags).replace(" --", "\n    --")
        parts = [f"# vLLM {self.release}, driven by token ids and by messages",
                 "Written by `make test-vllm` (`tests/vllm`) at the end of a run in which every test passed. The engine is real: "
                 "vLLM's own wheel for the CPU,\na Qwen3 of two layers with random weights, the real Qwen3 vocabulary and chat template. "
                 "What it samples is partly forced, partly its own\n(`scripts/engines/vllm/README.md`).",
                 f"Run on {datetime.datetime.now(datetime.UTC).date()}, {os.cpu_count()} cores ({platform.machine()}), one thread for the "
                 f"engine, ready {self.boot_seconds:.0f} s behind its start. Modes: {', '.join(modes)}.",
                 f"Flags of `vllm serve`:\n\n    {flags}"]
        parts += [f"## {title}\n\n{table(rows)}" for title, rows in self.tables.items()]
        return "\n\n".join(parts) + "\n"


def table(rows: list[dict]) -> str:
    lines = [list(rows[0]), ["---"] * len(rows[0]), *[list(map(str, row.values())) for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
