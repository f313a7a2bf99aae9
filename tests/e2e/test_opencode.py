"""opencode as it is, through its task and on the next day: `make test-agents`."""
import json
import time
from pathlib import Path

import pytest

from agent_task import ANSWER, check_turns, gives_reasoning, rewrites_arguments, run_agent, task
from forwarder import Forwarder
from programs import ROOT

if not (ROOT / ".venv-opencode/stamp").exists():
    raise pytest.UsageError(".venv-opencode is missing: run make test-agents")
OPENCODE = ROOT / ".venv-opencode/node_modules/opencode-linux-x64-baseline/bin/opencode"
# Its documented switches for a run that asks nobody but the model; npm would fetch types for plugins of the home folder.
ALONE = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
         "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", "npm_config_offline": "true"}
SHELL_CALLS = [
    ['{"command": "echo one > log.txt", "description": "Begins a log"}'],
    ['{ "description":"Adds a line",  "command": "echo caf\\u00e9 >> log.txt", "timeout":5000.0 }'],
    ['{"command": "printf \'%s\\\\n\' \'a \\"b\\"\' >> log.txt", "description": "Quotes"}'],
    ['{"command":"cat log.txt","description":"Reads","timeout":4e3}'],
    ['{"command": "echo 5", "description": "First of two"}', '{"command": "echo 6", "description": "Second of two"}'],
    ['{"command": "echo 🐪 >> log.txt", "description": "Emoji"}'],
    ['{\n  "command": "wc -l < log.txt",\n  "description": "Counts"\n}'],
    ['{"command": "false", "description": "Fails"}'],
    ['{"command": "cat log.txt", "description": "Reads <again> &amp; again"}'],
]
TITLE = {"when": {"tail": "Generate a title for this conversation:"}, "text": "<think>\n\n</think>\n\nA log with a camel"}


def run_opencode(folder: Path, forwarder: Forwarder, prompt: str, *options, **environment) -> str:
    """What it said last."""
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{forwarder.url}/v1", "apiKey": "none"},
                "models": {"qwen3": {"tool_call": True, "reasoning": True, "limit": {"context": 40000, "output": 4000}}}}
    settings = {"autoupdate": False, "share": "disabled", "permission": {"*": "allow"}, "model": "gw/qwen3", "provider": {"gw": provider}}
    printed = run_agent(folder, forwarder, [OPENCODE, "run", *options, "--format", "json", prompt],
                        ALONE | {"OPENCODE_CONFIG_CONTENT": json.dumps(settings)} | environment)
    events = [json.loads(line) for line in printed.splitlines()]
    return [event["part"]["text"] for event in events if event["type"] == "text"][-1]


def test_opencode_finishes_its_task_in_one_line_of_turns(make_stack, forward, tmp_path):
    stack = make_stack(script=[TITLE, *task("bash", SHELL_CALLS)])
    forwarder = forward(stack.gateway)
    assert run_opencode(tmp_path, forwarder, "Keep a log of nine steps.") == ANSWER
    log = (tmp_path / "work/log.txt").read_text()
    assert log == 'one\ncafé\na "b"\n🐪\n', "the calls were run as they were sampled"
    (session,) = stack.gateway.http.get("/sessions?implicit=true").json()["data"]
    titled = [each for each in forwarder.sent if "tools" not in each.body]
    assert len(titled) == 1 and {each.headers["x-session-id"] for each in forwarder.sent} == {session["metadata"]["name"]}
    sent = [each for each in forwarder.sent if "tools" in each.body]
    lines = check_turns(stack, session["session_id"], sent, others=len(titled))
    assert rewrites_arguments(lines, sent) and gives_reasoning(sent)


def test_opencode_goes_on_the_next_day_where_it_stopped(make_stack, forward, tmp_path):
    """Another process takes its session up from its own files. It writes the date into the system text: its profile says so."""
    call, answer, last = task("bash", SHELL_CALLS[1:2])[0], {"text": "Noted."}, {"text": "Still here."}
    stack = make_stack(script=[TITLE, call, answer, last])
    forwarder = forward(stack.gateway)
    # At least 25 hours apart, so the dates differ at any time; and no midnight within the first run.
    before = "Etc/GMT+12" if time.gmtime().tm_hour == 10 else "Etc/GMT+11"
    assert run_opencode(tmp_path, forwarder, "Keep a log.", TZ=before) == "Noted."
    assert run_opencode(tmp_path, forwarder, "Are you there?", "--continue", TZ="Etc/GMT-14") == "Still here."
    (session,) = stack.gateway.http.get("/sessions?implicit=true").json()["data"]
    sent = [each.body["messages"][0]["content"] for each in forwarder.sent if "tools" in each.body]
    assert len(sent) == 3 and sent[0] == sent[1] != sent[2]
    tree = stack.gateway.http.get(f"/sessions/{session['session_id']}/tree").json()
    assert sorted(node["attach"] for node in tree["nodes"]) == ["first", "first", "history", "profile"]
    assert (tree["report"]["attached"], tree["report"]["restarted"]) == (2, 0)
