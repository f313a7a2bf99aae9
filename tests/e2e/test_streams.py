"""I11: whatever way an answer is cut on its way, the client puts the same message together."""
import json

import pytest

from agent import TOOLS, Turn, fold
from dialogue import GREETING, Dialogue, user
from faults import request_for
from raw_http import Connection, sse

QUESTIONS = {
    "text": (GREETING, None), "reasoning": (request_for("reasoning"), None), "a call": ("What is the weather in Rome?", TOOLS),
    "many bytes to a character": ("Say it again: 👩‍👩‍👧 São Paulo ☂️ 東京 नमस्ते", None),
}


def put_together(payloads: list[str]) -> Turn:
    assert payloads[-1] == "[DONE]"
    turn = Turn({}, None, None, [], "", chunks=[json.loads(payload) for payload in payloads[:-1]])
    fold(turn)
    return turn


def essence(content, reasoning, calls, finish) -> tuple:
    """Ids of calls are drawn for each answer."""
    return content, reasoning, [call["function"] for call in calls or []], finish


def of_message(message: dict, finish: str) -> tuple:
    return essence(message["content"], message.get("reasoning_content"), message.get("tool_calls"), finish)


@pytest.mark.parametrize("engine", ["cumulative", "incremental"])
def test_streamed_whole_and_cut_answers_fold_to_the_same(make_stack, engine):
    stack = make_stack(*(["--incremental", "--ids-per-event", 4] if engine == "incremental" else []))
    gateway = stack.gateway
    for number, (question, tools) in enumerate(QUESTIONS.values()):
        body = {"messages": [user(question)], "seed": 100 + number} | ({"tools": tools} if tools else {})
        seen, recorded = [], []

        def take(dialogue: Dialogue, essence_of_answer: tuple) -> None:
            line, = dialogue.lines()
            seen.append(essence_of_answer)
            recorded.append((line["completion_token_ids"], line["completion_logprobs"]))
            assert of_message(line["assistant_message"], line["finish_reason"]) == essence_of_answer

        dialogue = Dialogue(gateway)
        choice = dialogue.send(body).json()["choices"][0]
        take(dialogue, of_message(choice["message"], choice["finish_reason"]))
        for piece in (65536, 7, 1):
            dialogue = Dialogue(gateway)
            with Connection(gateway.program.host_port, piece) as wire:
                answer = wire.post(f"/sessions/{dialogue.session}/v1/chat/completions", body | {"stream": True})
            turn = put_together(sse(answer.body))
            take(dialogue, essence(turn.content, turn.reasoning, turn.calls, turn.finish))
        assert all(each == seen[0] for each in seen), seen
        assert all(each == recorded[0] for each in recorded), "the same seed gave other ids"


@pytest.mark.parametrize("name", ["call only", "reasoning"])
def test_an_answer_cut_at_any_id_folds_to_the_same(gateway, name):
    for count in range(1, 36):
        body = {"messages": [user(request_for(name))], "tools": TOOLS, "max_tokens": count, "seed": count}
        choice = Dialogue(gateway).send(body).json()["choices"][0]
        turn = put_together(sse(Dialogue(gateway).send(body | {"stream": True}).content))
        assert essence(turn.content, turn.reasoning, turn.calls, turn.finish) == of_message(choice["message"], choice["finish_reason"]), count


def test_characters_are_never_cut_between_events(gateway):
    dialogue = Dialogue(gateway)
    answer = dialogue.send({"messages": [user(QUESTIONS["many bytes to a character"][0])], "stream": True})
    turn = put_together(sse(answer.content))
    assert "\N{REPLACEMENT CHARACTER}" not in turn.content and "👩‍👩‍👧 São Paulo ☂️ 東京 नमस्ते" in turn.content


def test_deltas_arrive_while_the_engine_still_works(stack):
    dialogue = Dialogue(stack.gateway)
    with Connection(stack.gateway.program.host_port) as wire:
        # It takes seconds; nobody waits for its end.
        body = json.dumps({"messages": [user(request_for("slow"))], "stream": True}).encode()
        finished = stack.sim.stats()["finished"]
        wire.send(f"POST /sessions/{dialogue.session}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        wire._until(b"\r\n\r\n")
        assert any(b'"delta":{"content":"' in chunk for chunk in wire.chunks())
        assert stack.sim.stats()["finished"] == finished, "the answer was held back until the engine had finished"
        assert dialogue.lines() == []


def test_a_turn_is_on_record_before_the_client_learns_its_end(stack):
    for _ in range(5):
        dialogue = Dialogue(stack.gateway)
        with Connection(stack.gateway.program.host_port) as wire:
            body = json.dumps({"messages": [user(GREETING)], "stream": True}).encode()
            wire.send(f"POST /sessions/{dialogue.session}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            wire._until(b"\r\n\r\n")
            for chunk in wire.chunks():
                if b'"finish_reason":"' in chunk or b"[DONE]" in chunk:
                    assert len(dialogue.lines()) == 1
