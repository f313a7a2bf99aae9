"""OpenAI's SDK for Node.js as it is, on the Responses API: `make test-agents`."""
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_task import hermes
from programs import ROOT
from responses_place import EVERY_WAY, TOKENS, Place, place  # noqa: F401  (place is a fixture)

FOLDER = ROOT / ".venv-openai-node"
PROGRAM = Path(__file__).parent / "real_agents/openai_node.mjs"
if not (FOLDER / "stamp").exists():
    raise pytest.UsageError(".venv-openai-node is missing: run make test-agents")
STRUCTURED = ("vllm", "responses")
# Waits for its part of the gateway: take the line out when that is there.
BACKGROUND = pytest.mark.skip(reason="responses in the background are not served yet")


def run(at: Place, case: str):
    """What the case printed."""
    node = shutil.which("node")
    assert node, "node is missing: install Node.js"
    done = subprocess.run([node, PROGRAM, FOLDER, f"{at.url}/v1", at.model, case], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def says(*texts: str) -> list[dict]:
    return [{"text": text} for text in texts]


@EVERY_WAY
def test_create(place, way):
    told = run(place(way, says("one", "two")), "create")
    assert told == {"texts": ["one", "two"], "metadata": {"k": "v"}, "temperature": 0.5, "instructions": None, "previous": True}


@EVERY_WAY
def test_streams(place, way):
    at = place(way, says("<think>\nhm\n</think>\n\nout of one piece", "two"))
    told = run(at, "create_streamed")
    # Dynamo's text begins right behind its reasoning.
    assert told["text"].strip() == "out of one piece" and (told["first"], told["last"]) == ("response.created", "response.completed")
    assert run(at, "stream") == {"text": "two", "final": "two", "status": "completed"}


@EVERY_WAY
@pytest.mark.parametrize("case", ["tools_chained", "tools_whole"])
def test_tools_in_a_loop(place, way, case):
    calls = [f"<think>\nhm\n</think>\n\n{hermes('look_up', [json.dumps({'city': city}, ensure_ascii=False)])}" for city in ("Rome", "São Paulo", "東京")]
    at = place(way, says(*calls, "Rome."))
    assert run(at, case) == {"called": ["Rome", "São Paulo", "東京"], "answer": "Rome."}
    if way == TOKENS:
        calls = at.stack.sim.log()
        for before, after in zip(calls, calls[1:]):
            whole = before["prompt_ids"] + before["output_ids"]
            assert after["prompt_ids"][:len(whole)] == whole


def test_parse(place):
    assert run(place(STRUCTURED, says('{"city": "Rome", "degrees": 21.5}')), "parse") == {"city": "Rome", "degrees": 21.5}
    # A form of the output is nothing that ids can be sampled by.
    assert run(place(TOKENS, []), "parse_refused") == {"status": 400, "code": "unsupported_parameter", "param": "text.format"}


@EVERY_WAY
def test_what_is_kept(place, way):
    told = run(place(way, says("one")), "kept")
    unknown = {"status": 400, "code": "previous_response_not_found", "param": "previous_response_id"}
    assert told["same"] and told["items"] == ["a", "b", "c"] and told["ids"] == 3
    assert told["gone"]["status"] == 404 and told["unknown"] == unknown


@BACKGROUND
@EVERY_WAY
def test_a_response_in_the_background(place, way):
    told = run(place(way, says("one")), "background")
    assert told["begun"] in ("queued", "in_progress")
    assert (told["status"], told["text"], told["events"]) == ("completed", "one", [2, 3])


@BACKGROUND
@EVERY_WAY
def test_a_response_is_cancelled(place, way):
    at = place(way, [{"text": "word " * 400, "token_delay_ms": 50}])
    assert run(at, "cancel") == {"status": "cancelled", "again": "cancelled", "kept": "cancelled"}


@EVERY_WAY
def test_conversations(place, way):
    at = place(way, says("APPLE"))
    assert run(at, "conversations") == {"text": "APPLE", "conversation": True, "items": ["user", "user", "assistant"], "first": "Remember APPLE.",
                                        "left": 2, "metadata": {"k": "w"}, "deleted": True, "gone": 404}
    assert "Remember APPLE." in at.prompts()[0]
