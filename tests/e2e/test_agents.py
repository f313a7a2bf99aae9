"""Real agents through a ten-turn tool task over chat: whatever they make of their history, each turn goes on behind the one before."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forwarder import Forwarder, Sent
from programs import ROOT
from records import check_record, check_spliced, check_view

PROMPT = "Plan a journey: ask for the weather of nine cities, one after the other, then say which is the sunniest."
ANSWER = "The sunniest is São Paulo ☀: take a café by the sea.\n\nHave a good journey!"
# As models write them: members in any order, spaces, escapes, numbers of either kind.
CALLS = [
    ['{"city": "Rome", "days": 1}'],
    ['{ "days":2.0,  "city": "S\\u00e3o Paulo" }'],
    ['{"days": 3, "city": "Z\\u00FCrich", "note": "caf\\u00e9 \\"Odeon\\"\\/terrace"}'],
    ['{"city":"東京","days":4e0}'],
    ['{"city": "Oslo", "days": 5, "note": ""}', '{"city": "Lima", "days": 5}'],
    ['{"note": "a\\nb\\tc", "city": "Paris", "days": 0.10}'],
    ['{\n  "city": "Reykjavík",\n  "days": 7\n}'],
    ['{"city": "Cairo 🐪", "days": 100000000000000000000}'],
    ['{"city": "  Quito ", "days": -0.0, "note": "<b>&amp;</b>"}'],
]


def hermes(name: str, arguments: list[str]) -> str:
    return "\n".join(f'<tool_call>\n{{"name": "{name}", "arguments": {each}}}\n</tool_call>' for each in arguments)


def task(name: str, calls: list[list[str]]) -> list[dict]:
    """What the model says in ten turns: thinks and calls in nine, some with a word before, then answers."""
    said = [f"<think>\nStep {number}: which city is next?\n</think>\n\n{'Let me see. ' * (number % 3 == 1)}{hermes(name, arguments)}"
            for number, arguments in enumerate(calls)]
    return [{"text": text} for text in [*said, f"<think>\nThat is all.\n</think>\n\n{ANSWER}"]]


def run_agent(folder: Path, forwarder: Forwarder, command: list, environment: dict) -> str:
    """Runs an agent in a home of its own, from which nothing but loopback can be reached; what it printed. Some take seconds of CPU to start,
    minutes on a busy machine."""
    home = folder / "home"
    work = folder / "work"
    for each in (home, work):
        each.mkdir(exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    done = subprocess.run([str(each) for each in command], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240,
                          env=kept | {"HOME": str(home), "TMPDIR": str(work)} | forwarder.environment() | environment)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert forwarder.strays == [], "the agent wants more than the gateway"
    return done.stdout


@pytest.fixture
def forward():
    made = []

    def make(gateway) -> Forwarder:
        made.append(Forwarder(*gateway.program.host_port))
        return made[-1]

    yield make
    for each in made:
        each.close()


def calls_of(messages: list[dict]) -> list[dict]:
    return [call for message in messages for call in message.get("tool_calls") or []]


def check_turns(stack, session: str, sent: list[Sent], others: int = 0) -> list[dict]:
    """Ten turns in one line, exact, behind histories that say the same in the agent's spelling; nothing else but `others` roots of one
    turn. Returns the line."""
    recorded = stack.gateway.record(session)
    check_record(recorded, stack.sim.log())
    roots = [line["turn"] for line in recorded if line["attach"]["kind"] == "root"]
    assert len(roots) == 1 + others, [line["attach"] for line in recorded]
    lines = [recorded[-1]]
    while lines[0]["parent_turn"]:
        lines.insert(0, next(line for line in recorded if line["turn"] == lines[0]["parent_turn"]))
    assert (len(lines), len(recorded), len(sent)) == (10, 10 + others, 10)
    view = stack.gateway.http.get(f"/sessions/{session}").json()
    check_view(view, recorded)
    report = {name: view["report"][name] for name in ("attached", "branched", "restarted", "started")}
    assert report == {"attached": 9, "branched": 0, "restarted": 0, "started": 1 + others}
    for number, (record, line) in enumerate(zip(view["records"], lines)):
        check_spliced(record["request"], line, [each["completion_token_ids"] for each in lines[:number]])
    given = calls_of([line["assistant_message"] for line in lines])
    returned = sent[-1].body["messages"]
    assert [call["id"] for call in calls_of(returned)] == [call["id"] for call in given]
    assert [message["tool_call_id"] for message in returned if message["role"] == "tool"] == [call["id"] for call in given]
    return lines


def rewrites_arguments(lines: list[dict], sent: list[Sent]) -> bool:
    given = [call["function"]["arguments"] for call in calls_of([line["assistant_message"] for line in lines])]
    returned = [call["function"]["arguments"] for call in calls_of(sent[-1].body["messages"])]
    assert [json.loads(each) for each in returned] == [json.loads(each) for each in given]
    return returned != given


def gives_reasoning(sent: list[Sent]) -> bool:
    return any(message.get("reasoning_content") for message in sent[-1].body["messages"])


# What each makes of its history: does it write arguments anew, does it give reasoning back?
PYTHON_AGENTS = {"openai_agents": (False, False), "pydantic_ai": (True, True)}


@pytest.mark.parametrize("way", ["stream", "whole"])
@pytest.mark.parametrize("agent", PYTHON_AGENTS)
def test_a_python_agent_finishes_its_task_in_one_line_of_turns(make_stack, forward, tmp_path, agent, way):
    stack = make_stack(script=task("look_up", CALLS))
    session = stack.gateway.session()
    forwarder = forward(stack.gateway)
    program = Path(__file__).parent / "real_agents" / f"run_{agent}.py"
    printed = json.loads(run_agent(tmp_path, forwarder, [sys.executable, program, f"{forwarder.url}/sessions/{session}/v1", way, PROMPT],
                                   {"OPENAI_AGENTS_DISABLE_TRACING": "1"}))
    assert printed["answer"] == ANSWER
    asked = [json.loads(arguments) for turn in CALLS for arguments in turn]
    assert printed["looked_up"] == [[each["city"], each["days"], each.get("note", "")] for each in asked]
    lines = check_turns(stack, session, forwarder.sent)
    assert (rewrites_arguments(lines, forwarder.sent), gives_reasoning(forwarder.sent)) == PYTHON_AGENTS[agent]


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
