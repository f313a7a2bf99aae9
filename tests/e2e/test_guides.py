"""The commands of the guides, run as they stand; only their ports are replaced by free ones. Those of engines: test_upstream_guides.py."""
import json

import pytest

from guides import GUIDES, free_port, prints, run, steps


@pytest.mark.parametrize("guide", [guide for guide in GUIDES if not guide.stem.endswith("-upstream")], ids=lambda path: path.stem)
def test_the_commands_of_a_guide_work(guide, tmp_path):
    done = run([step.command for step in steps(guide)], tmp_path, {"30000": free_port(), "8080": free_port()})
    assert done.returncode == 0, done.stdout + done.stderr
    if guide.stem == "quickstart":
        assert "2 turns proved, 0 failed" in done.stdout, done.stdout
        sample = json.loads((tmp_path / "quick/samples.jsonl").read_text())
        assert sum(sample["mask"]) > 0 and len(sample["turns"]) == 2


def test_what_a_guide_leaves_open_is_within_a_line():
    assert prints('{"id":"x","ok":true}\n200\n', '{…"ok":true}\n200\n')
    assert not prints('{"id":"x"\n,"ok":true}\n200\n', '{…"ok":true}\n200\n')
    assert not prints('{"id":"x","ok":true}\n200\n', '{…"ok":false}\n200\n')
    assert not prints('{"id":"x","ok":true}\n', '{…"ok":true}\n200\n')
