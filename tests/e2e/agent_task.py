"""What the tests of real agents share: the task, a home from which nothing but the gateway is reached, and what must come of ten turns."""
import json
import os
import subprocess
from pathlib import Path

from forwarder import Forwarder, Sent
from records import check_record, check_spliced, check_view

ANSWER = "The sunniest is São Paulo ☀: take a café by the sea.\n\nHave a good journey!"


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
    assert forwarder.strays == [], f"the agent wants more than the gateway: {forwarder.strays}"
    return done.stdout


def calls_of(messages: list[dict]) -> list[dict]:
    return [call for message in messages for call in message.get("tool_calls") or []]


def check_line(stack, session: str, turns: int, others: int = 0) -> list[dict]:
    """So many turns in one line, each the ids of the one before and what is new; nothing else but `others` roots of one turn. Returns the line."""
    recorded = stack.gateway.record(session)
    check_record(recorded, stack.sim.log())
    roots = [line["turn"] for line in recorded if line["attach"]["kind"] == "root"]
    assert len(roots) == 1 + others, [line["attach"] for line in recorded]
    lines = [recorded[-1]]
    while lines[0]["parent_turn"]:
        lines.insert(0, next(line for line in recorded if line["turn"] == lines[0]["parent_turn"]))
    assert (len(lines), len(recorded)) == (turns, turns + others)
    view = stack.gateway.http.get(f"/sessions/{session}").json()
    check_view(view, recorded)
    report = {name: view["report"][name] for name in ("attached", "branched", "restarted", "started")}
    assert report == {"attached": turns - 1, "branched": 0, "restarted": 0, "started": 1 + others}
    for number, (record, line) in enumerate(zip(view["records"], lines)):
        check_spliced(record["request"], line, [each["completion_token_ids"] for each in lines[:number]])
    return lines


def check_turns(stack, session: str, sent: list[Sent], others: int = 0) -> list[dict]:
    """Ten turns in one line behind chat histories that say the same in the agent's spelling. Returns the line."""
    lines = check_line(stack, session, 10, others)
    assert len(sent) == 10
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
