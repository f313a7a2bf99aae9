"""The official SDK through a ten-turn tool conversation on the real vocabulary, and what the record says of it."""
import json

import pytest

from agent import QUESTIONS, Agent
from records import check_record, check_spliced, check_view, turns


def hold(gateway, *, stream: bool, extra: dict | None = None) -> tuple[str, Agent]:
    session = gateway.session()
    agent = Agent(f"{gateway.url}/sessions/{session}/v1", stream=stream, extra=extra)
    for question in QUESTIONS:
        agent.ask(question)
    agent.close()
    return session, agent


def check_conversation(gateway, session: str, agent: Agent, log: list[dict]) -> None:
    lines = gateway.record(session)
    assert len(agent.turns) == 10 and len(lines) == 10, f"{len(agent.turns)} turns held, {len(lines)} recorded"
    check_record(lines, log)
    for number, (turn, line) in enumerate(zip(agent.turns, lines)):
        assert line["attach"]["kind"] == ("root" if number == 0 else "child"), line["attach"]
        assert line["assistant_message"].get("content") == turn.content
        assert line["finish_reason"] == turn.finish == ("tool_calls" if turn.calls else "stop")
        assert [call["function"] for call in line["assistant_message"].get("tool_calls", [])] == [call["function"] for call in turn.calls]
        assert turn.usage["prompt_tokens"] == len(line["prompt_token_ids"])
        assert turn.usage["completion_tokens"] == len(line["completion_token_ids"])
        assert line["assistant_message"]["reasoning_content"] == turn.reasoning
        check_spliced(turn.request, line, [each["completion_token_ids"] for each in lines[:number]])
    check_view(gateway.http.get(f"/sessions/{session}").json(), lines)


@pytest.mark.parametrize("engine", ["cumulative", "incremental"])
@pytest.mark.parametrize("client", ["streaming", "whole"])
def test_ten_turns_with_tools_are_recorded_as_sampled(make_stack, client, engine):
    options = ["--incremental", "--ids-per-event", 3] if engine == "incremental" else []
    stack = make_stack(*options)
    session, agent = hold(stack.gateway, stream=client == "streaming")
    check_conversation(stack.gateway, session, agent, stack.sim.log())
    stats = stack.sim.stats()
    assert (stats["requests"], stats["refused"], stats["aborted_by_close"], stats["abort_calls"]) == (10, 0, 0, 0)


def test_sampled_ids_are_not_the_canonical_ones(make_stack):
    """Without this the other tests would prove little."""
    from records import tokenizer
    stack = make_stack()
    session, _ = hold(stack.gateway, stream=True)
    lines = stack.gateway.record(session)
    again = [tokenizer().encode(tokenizer().decode(line["completion_token_ids"], skip_special_tokens=False), add_special_tokens=False).ids
             for line in lines]
    assert all(ids != line["completion_token_ids"] for ids, line in zip(again, lines))


@pytest.mark.parametrize("stream", [True, False])
def test_thinking_switched_off_is_recorded_as_sampled(make_stack, stream):
    stack = make_stack()
    extra = {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}
    session, agent = hold(stack.gateway, stream=stream, extra=extra)
    lines = stack.gateway.record(session)
    check_record(lines, stack.sim.log())
    assert len(lines) == 10
    assert all("reasoning_content" not in line["assistant_message"] for line in lines)
    for parent, line in zip(lines, lines[1:]):
        assert line["parent_turn"] == parent["turn"]


def test_the_same_schedule_gives_the_same_ids(make_stack):
    records = []
    for _ in range(2):
        stack = make_stack("--seed", 5, serve_options=["--threads", 1])
        session, _ = hold(stack.gateway, stream=True)
        records.append([(line["prompt_token_ids"], line["completion_token_ids"], line["completion_logprobs"])
                        for line in turns(stack.gateway.record(session))])
    assert records[0] == records[1]


def test_reading_a_session_changes_nothing(gateway):
    session, _ = hold(gateway, stream=True)
    before = gateway.snapshot(session)
    assert gateway.snapshot(session) == before
    assert gateway.http.head(f"/sessions/{session}").status_code == 200
    assert gateway.snapshot(session) == before


def test_stateless_chat_finds_the_turns_it_continues(gateway):
    """Without a session the history alone says where a request belongs."""
    agent = Agent(f"{gateway.url}/v1", stream=True)
    agent.messages[0]["content"] = "Stateless: " + agent.messages[0]["content"]
    for question in QUESTIONS[:2]:
        agent.ask(question)
    agent.close()
    prompts = [turn.usage["prompt_tokens"] for turn in agent.turns]
    records = ([json.loads(line) for line in path.read_text().splitlines()] for path in gateway.records.glob("*.jsonl"))
    lines = next(lines for lines in records if [len(line["prompt_token_ids"]) for line in turns(lines)] == prompts)
    assert [line["attach"]["kind"] for line in lines] == ["root", "child", "child", "child"]


def test_logprobs_reach_the_client_as_they_were_sampled(gateway):
    session = gateway.session()
    agent = Agent(f"{gateway.url}/sessions/{session}/v1", stream=False, extra={"logprobs": True, "top_logprobs": 2})
    agent.messages.append({"role": "user", "content": "please: say hello"})
    agent.turn()
    answer = gateway.chat(gateway.session(), {**agent.turns[0].request}).json()
    content = answer["choices"][0]["logprobs"]["content"]
    assert all(len(token["top_logprobs"]) == 2 for token in content)
    line = gateway.record(session)[0]
    assert len(line["completion_logprobs"]) == len(line["completion_token_ids"])
    agent.stream = True
    agent.messages.append({"role": "user", "content": "please: say hello"})
    turn = agent.turn()
    streamed = [token["logprob"] for chunk in turn.chunks for choice in chunk["choices"]
                for token in ((choice.get("logprobs") or {}).get("content") or [])]
    assert streamed == gateway.record(session)[1]["completion_logprobs"]
    agent.close()
