"""Codex CLI as it is, over POST /v1/responses: `make test-agents`."""
import json
import re
from pathlib import Path

import pytest

from agent_task import ANSWER, check_line, hermes, run_agent, task
from forwarder import Forwarder, Sent
from messages import MessageStack
from programs import ROOT
from records import check_record

if not (ROOT / ".venv-codex/stamp").exists():
    raise pytest.UsageError(".venv-codex is missing: run make test-agents")
CODEX = ROOT / ".venv-codex/node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex"
SETTINGS = re.search(r"config.toml <<'END'\n(.*?)END\n", (ROOT / "docs/guides/codex.md").read_text(), flags=re.S)[1]
# As models write them: members in any order, spaces, escapes.
SHELL_CALLS = [
    ['{"cmd": "echo one > log.txt"}'],
    ['{ "yield_time_ms":5000,  "cmd": "echo caf\\u00e9 >> log.txt" }'],
    ['{"cmd": "printf \'%s\\\\n\' \'a \\"b\\"\' >> log.txt"}'],
    ['{"cmd":"cat log.txt","max_output_tokens":4000}'],
    ['{"cmd": "echo 5"}', '{"cmd": "echo 6"}'],
    ['{"cmd": "echo 🐪 >> log.txt"}'],
    ['{\n  "cmd": "wc -l < log.txt"\n}'],
    ['{"cmd": "false"}'],
    ['{"cmd": "echo \'<again> &amp; again\'"}'],
]
PATCH = "*** Begin Patch\n*** Add File: hello.txt\n+caf\u00e9 \"x\"\n*** End Patch\n"
# What Codex asks of models that it knows, where it asks for more than its defaults.
PLAIN = ["-c", 'model_reasoning_effort="medium"', "-c", 'model_verbosity="medium"']


def run_codex(folder: Path, forwarder: Forwarder, *arguments, model: str = "qwen3") -> list[dict]:
    """The events that it printed."""
    home = folder / "codex"
    home.mkdir(exist_ok=True)
    settings = SETTINGS.replace('"toy"', json.dumps(model)).replace("http://127.0.0.1:8080", forwarder.url)
    assert forwarder.url in settings and model in settings
    (home / "config.toml").write_text(settings)
    # Lists of plugins would be fetched; containers allow no sandbox.
    command = [CODEX, "exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox", "-c", "features.plugins=false", *arguments]
    printed = run_agent(folder, forwarder, command, {"CODEX_HOME": str(home), "VERBATIM_KEY": "none"})
    return [json.loads(line) for line in printed.splitlines()]


def said(events: list[dict]) -> list[str]:
    return [event["item"]["text"] for event in events if event["type"] == "item.completed" and event["item"]["type"] == "agent_message"]


def items(sent: Sent, *kinds: str) -> list[dict]:
    return [item for item in sent.body["input"] if item["type"] in kinds]


def session_of(stack) -> str:
    (session,) = stack.gateway.http.get("/sessions?implicit=true").json()["data"]
    return session["session_id"]


def check_sent(forwarder: Forwarder, turns: int) -> None:
    """Each request has the whole history, and one more answer."""
    assert len(forwarder.sent) == turns
    assert all(each.body["stream"] is True and each.body["store"] is False for each in forwarder.sent)
    assert len({each.headers["session-id"] for each in forwarder.sent}) == 1
    for before, after in zip(forwarder.sent, forwarder.sent[1:]):
        assert after.body["input"][:len(before.body["input"])] == before.body["input"]


def test_codex_finishes_its_task_in_one_line_of_turns(make_stack, forward, tmp_path):
    stack = make_stack(script=task("exec_command", SHELL_CALLS))
    forwarder = forward(stack.gateway)
    assert said(run_codex(tmp_path, forwarder, "Keep a log of nine steps."))[-1] == ANSWER
    assert (tmp_path / "work/log.txt").read_text() == 'one\ncafé\na "b"\n🐪\n', "the calls were run as they were sampled"
    check_sent(forwarder, 10)
    lines = check_line(stack, session_of(stack), 10)
    given = [call["function"]["arguments"] for line in lines for call in line["assistant_message"].get("tool_calls", [])]
    last = forwarder.sent[-1]
    assert [item["arguments"] for item in items(last, "function_call")] == given
    reasoning = items(last, "reasoning")
    assert len(reasoning) == 9 and all(item["encrypted_content"] and item["content"] for item in reasoning)


def test_a_freeform_patch_is_applied(make_stack, forward, tmp_path):
    call = hermes("apply_patch", [json.dumps({"input": PATCH})])
    search = hermes("tool_search", ['{"query": "calendar"}'])
    stack = make_stack(script=[{"text": f"<think>\nA patch.\n</think>\n\n{call}"}, {"text": search}, {"text": "Done."}], serve_options=("--model-name", "gpt-5.5"))
    forwarder = forward(stack.gateway)
    assert said(run_codex(tmp_path, forwarder, *PLAIN, "Write hello.txt.", model="gpt-5.5")) == ["Done."]
    assert (tmp_path / "work/hello.txt").read_text() == 'café "x"\n'
    check_sent(forwarder, 3)
    assert {"custom", "tool_search"} <= {tool["type"] for tool in forwarder.sent[0].body["tools"]}
    assert [item["input"] for item in items(forwarder.sent[-1], "custom_tool_call")] == [PATCH]
    assert [item["arguments"] for item in items(forwarder.sent[-1], "tool_search_call")] == [{"query": "calendar"}]
    assert len(items(forwarder.sent[-1], "tool_search_output")) == 1
    check_line(stack, session_of(stack), 3)


def test_tools_of_an_item_are_called_in_their_namespaces(make_stack, forward, tmp_path):
    script = "text(await tools.exec_command({cmd: 'echo hi > hello.txt'}))"
    calls = [hermes("functions__exec", [json.dumps({"input": script})]), hermes("collaboration__list_agents", ["{}"])]
    stack = make_stack(script=[*({"text": call} for call in calls), {"text": "Done."}], serve_options=("--model-name", "gpt-5.6-sol"))
    forwarder = forward(stack.gateway)
    assert said(run_codex(tmp_path, forwarder, *PLAIN, "Write hello.txt.", model="gpt-5.6-sol")) == ["Done."]
    assert (tmp_path / "work/hello.txt").read_text() == "hi\n"
    check_sent(forwarder, 3)
    assert "tools" not in forwarder.sent[0].body and len(items(forwarder.sent[0], "additional_tools")) == 1
    called = items(forwarder.sent[-1], "custom_tool_call", "function_call")
    assert [(item["namespace"], item["name"]) for item in called] == [("functions", "exec"), ("collaboration", "list_agents")]
    assert "agent_status" in items(forwarder.sent[-1], "function_call_output")[0]["output"]
    check_line(stack, session_of(stack), 3)


def test_a_thread_is_resumed_where_it_stopped(make_stack, forward, tmp_path):
    """By another process, out of Codex' own files."""
    stack = make_stack(script=[*task("exec_command", SHELL_CALLS[:1])[:1], {"text": "Noted."}, {"text": "Still here."}])
    forwarder = forward(stack.gateway)
    events = run_codex(tmp_path, forwarder, "Keep a log.")
    assert said(events) == ["Noted."]
    assert said(run_codex(tmp_path, forwarder, "resume", events[0]["thread_id"], "Are you there?")) == ["Still here."]
    check_sent(forwarder, 3)
    check_line(stack, session_of(stack), 3)


def test_a_history_that_codex_sums_up_begins_anew(make_stack, forward, tmp_path):
    """It asks for the summary without tools, and goes on with that in place of the history."""
    calls = task("exec_command", SHELL_CALLS[:1])[:1]
    stack = make_stack(script=[*calls, {"text": "One line is written."}, {"text": "Done."}])
    forwarder = forward(stack.gateway)
    assert said(run_codex(tmp_path, forwarder, "-c", "model_auto_compact_token_limit=1000", "Keep a log."))[-1] == "Done."
    assert [len(each.body["tools"]) > 0 for each in forwarder.sent] == [True, False, True]
    assert "One line is written." in json.dumps(forwarder.sent[-1].body["input"])
    lines = stack.gateway.record(session_of(stack))
    check_record(lines, stack.sim.log())
    assert [line["attach"]["kind"] for line in lines] == ["root"] * 3


@pytest.mark.parametrize("way", [("vllm", "responses"), ("vllm", "chat-text"), ("dynamo", "responses"), ("vllm", "messages")], ids="-".join)
def test_codex_works_by_messages(workplace, forward, tmp_path, way):
    calls = [{"text": f"<think>\nNow.\n</think>\n\n{hermes('exec_command', each)}"} for each in SHELL_CALLS[:3]]
    stack = MessageStack(workplace / f"codex-{'-'.join(way)}", "--model-name", "m", kind=way[0], mode=way[1],
                         script=[{"text": "ready"}, *calls, {"text": "<think>\nThat is all.\n</think>\n\nDone."}])
    try:
        forwarder = forward(stack.gateway)
        assert said(run_codex(tmp_path, forwarder, "Keep a log.", model="m"))[-1].strip() == "Done."
        assert (tmp_path / "work/log.txt").read_text() == 'one\ncafé\na "b"\n'
        check_sent(forwarder, 4)
        session = session_of(stack)
        assert [line["attach"]["kind"] for line in stack.gateway.record(session)] == ["root", "child", "child", "child"]
        report = stack.gateway.http.get(f"/sessions/{session}").json()["report"]
        assert (report["attached"], report["branched"], report["restarted"]) == (3, 0, 0)
    finally:
        stack.kill()
