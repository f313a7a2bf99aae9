"""Real agents through a ten-turn tool task, over chat and over Responses: whatever they make of their history, each turn goes on behind the one
before. Those that are heavy installations are in test_opencode.py and test_codex.py."""
import json
import sys
from pathlib import Path

import pytest

from agent_task import ANSWER, check_line, check_turns, gives_reasoning, rewrites_arguments, run_agent, task

PROMPT = "Plan a journey: ask for the weather of nine cities, one after the other, then say which is the sunniest."
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


# What each makes of its history: does it write arguments anew, does it give reasoning back?
PYTHON_AGENTS = {"openai_agents": (False, False), "pydantic_ai": (True, True)}


def looked_up() -> list[list]:
    """What the tool was called with, sorted: calls of one turn may run at once, and end in any order."""
    asked = [json.loads(arguments) for turn in CALLS for arguments in turn]
    return sorted([each["city"], each["days"], each.get("note", "")] for each in asked)


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
    assert sorted(printed["looked_up"]) == looked_up()
    lines = check_turns(stack, session, forwarder.sent)
    assert (rewrites_arguments(lines, forwarder.sent), gives_reasoning(forwarder.sent)) == PYTHON_AGENTS[agent]


@pytest.mark.parametrize("memory", ["chained", "history"])
@pytest.mark.parametrize("way", ["stream", "whole"])
def test_openai_agents_on_responses_goes_on_in_one_line_of_turns(make_stack, forward, tmp_path, way, memory):
    """With previous_response_id and new items alone, and with its whole history and nothing stored."""
    stack = make_stack(script=task("look_up", CALLS))
    session = stack.gateway.session()
    forwarder = forward(stack.gateway)
    program = Path(__file__).parent / "real_agents/run_openai_agents_responses.py"
    printed = json.loads(run_agent(tmp_path, forwarder, [sys.executable, program, f"{forwarder.url}/sessions/{session}/v1", way, memory, PROMPT],
                                   {"OPENAI_AGENTS_DISABLE_TRACING": "1"}))
    assert printed["answer"] == ANSWER
    assert sorted(printed["looked_up"]) == looked_up()
    assert [each.body.get("stream", False) for each in forwarder.sent] == [way == "stream"] * 10
    chained = memory == "chained"
    assert [each.body.get("previous_response_id") is not None for each in forwarder.sent] == [False] + [chained] * 9
    reasoning = [item for item in forwarder.sent[-1].body["input"] if item.get("type") == "reasoning"]
    assert len(reasoning) == (0 if chained else 9) and all(item["encrypted_content"] for item in reasoning)
    lines = check_line(stack, session, 10)
    assert all(line["assistant_message"]["reasoning_content"] for line in lines)
