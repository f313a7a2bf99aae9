"""The real Dynamo frontends of every release that scripts/engines starts, with the vocabulary of gpt-oss: what tests/cassettes was recorded from."""
from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from programs import ROOT

sys.path[:0] = [str(ROOT / "scripts/engines"), str(ROOT / "scripts/engines/dynamo")]
import gpt_oss  # noqa: E402
import harmony  # noqa: E402
import recorder  # noqa: E402, F401 (for tests)
from deployment import Deployment  # noqa: E402

ENVIRONMENTS = {"1.4.1": ROOT / ".venv-dynamo-1.4.1", "1.6.1": ROOT / ".venv-dynamo"}
USER = re.compile(r"<\|start\|>user<\|message\|>(.*?)<\|end\|>")


def python_of(release: str) -> Path:
    return ENVIRONMENTS[release] / "bin/python"


class Frontends:
    """Starts all of them at once, in threads: each reads its vocabulary for seconds."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True)
        self.folder = folder
        self.pool = ThreadPoolExecutor(1 + len(ENVIRONMENTS))
        self.ranks = self.pool.submit(harmony.write_ranks, folder / "ranks", gpt_oss.VOCABULARY / "tokenizer.json")
        self.started = {release: self.pool.submit(self._start, release) for release in ENVIRONMENTS}

    def _start(self, release: str) -> Deployment:
        self.ranks.result()
        return gpt_oss.deploy(self.folder / release, python_of(release), self.folder / "ranks")

    def __call__(self, release: str) -> Deployment:
        return self.started[release].result()

    def close(self) -> None:
        self.pool.shutdown()
        for start in self.started.values():
            if start.exception() is None:
                start.result().close()


def user_texts(prompt: list[int]) -> list[str]:
    """Of the user's messages in a prompt."""
    return USER.findall(gpt_oss.tokenizer().decode(prompt, skip_special_tokens=False))
