"""The commands of the guides, run as they stand; only their ports are replaced by free ones."""
import json
import os
import re
import socket
import subprocess

import pytest

from programs import BINARY, ROOT

GUIDES = sorted((ROOT / "docs/guides").glob("*.md"))


def free_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def run_guide(path, folder) -> subprocess.CompletedProcess:
    blocks = re.findall(r"```sh\n(.*?)```", path.read_text(), flags=re.S)
    assert blocks, f"{path} has no commands"
    script = "set -eo pipefail\ntrap 'kill $(jobs -p)' EXIT\n" + "\n".join(blocks)
    ports = {"30000": free_port(), "8080": free_port()}
    script = re.sub("|".join(ports), lambda found: ports[found[0]], script)
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=90,
                          env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PATH": f"{BINARY.parent}:{os.environ['PATH']}"})


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_commands_of_a_guide_work(guide, tmp_path):
    done = run_guide(guide, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    if guide.stem == "quickstart":
        assert "2 turns proved, 0 failed" in done.stdout, done.stdout
        sample = json.loads((tmp_path / "quick/samples.jsonl").read_text())
        assert sum(sample["mask"]) > 0 and len(sample["turns"]) == 2
