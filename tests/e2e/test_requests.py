"""I3: a request that is refused names what is wrong and leaves session and record as they were."""
import json

import pytest

from agent import TOOLS
from dialogue import Dialogue, check_untouched, error_of, user

HELLO = [user("Hello")]
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}


def with_messages(*messages) -> dict:
    return {"messages": list(messages)}


# name -> (parameters, the field the error names)
REFUSED = {
    "messages missing": ({"messages": None}, "messages"),
    "messages a string": ({"messages": "Hello"}, "messages"),
    "messages a list of integers": ({"messages": [1, 2]}, "messages[0]"),
    "messages empty": ({"messages": []}, "messages"),
    "a message without a role": (with_messages({"content": "Hello"}), "messages[0].role"),
    "a later message without a role": (with_messages(*HELLO, {"content": "again"}), "messages[1].role"),
    "an unknown role": (with_messages({"role": "critic", "content": "no"}), "messages[0].role"),
    "content a number": (with_messages({"role": "user", "content": 7}), "messages[0].content"),
    "a part that is no text": (with_messages({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}), "messages[0].content[0]"),
    "arguments that are no string": (with_messages(*HELLO, {"role": "assistant", "content": None, "tool_calls": [
        {**CALL, "function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "tool_call_id": "call_1", "content": "x"}),
        "messages[1].tool_calls[0].function.arguments"),
    "n 129": ({"n": 129}, "n"), "n a string": ({"n": "1"}, "n"),
    "temperature a string": ({"temperature": "hot"}, "temperature"), "temperature below 0": ({"temperature": -1}, "temperature"),
    "top_p above 1": ({"top_p": 1.5}, "top_p"),
    "max_tokens 0": ({"max_tokens": 0}, "max_tokens"), "max_tokens a fraction": ({"max_tokens": 1.5}, "max_tokens"),
    "max_completion_tokens negative": ({"max_completion_tokens": -4}, "max_completion_tokens"),
    "stream a string": ({"stream": "yes"}, "stream"),
    "stop a number": ({"stop": 3}, "stop"),
    "top_logprobs without logprobs": ({"top_logprobs": 3}, "top_logprobs"),
    "tools an object": ({"tools": {}}, "tools"),
    "a tool without a function": ({"tools": [{"type": "function"}]}, "tools[0].function"),
    "a tool without a name": ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name"),
    "tool_choice required": ({"tools": TOOLS, "tool_choice": "required"}, "tool_choice"),
    "tool_choice by name": ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "convert"}}}, "tool_choice"),
    "response_format": ({"response_format": {"type": "json_object"}}, "response_format"),
    "logit_bias": ({"logit_bias": {"17": 1}}, "logit_bias"),
    "audio": ({"audio": {"voice": "x", "format": "wav"}}, "audio"),
    "functions": ({"functions": []}, "functions"),
    "reasoning_effort": ({"reasoning_effort": "high"}, "reasoning_effort"),
    "an unknown parameter": ({"temprature": 0.5}, "temprature"),
    "chat_template_kwargs a list": ({"chat_template_kwargs": []}, "chat_template_kwargs"),
    "include_usage a string": ({"stream_options": {"include_usage": "yes"}, "stream": True}, "stream_options.include_usage"),
    "the assistant's message last": (with_messages(*HELLO, {"role": "assistant", "content": "Hi"}), "messages"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_request_names_the_field_and_leaves_nothing(stack, name):
    parameters, field = REFUSED[name]
    dialogue = Dialogue(stack.gateway)
    dialogue.say()
    before, calls = dialogue.snapshot(), stack.sim.stats()["requests"]
    answer = dialogue.send({"model": "qwen3", "messages": HELLO, **parameters})
    assert answer.status_code == 400, f"{answer.status_code} {answer.text}"
    error = error_of(answer)
    assert error["type"] == "invalid_request_error"
    assert error["param"] == field and field in error["message"], error
    assert stack.sim.stats()["requests"] == calls, "the engine was asked"
    check_untouched(dialogue, before)


MALFORMED = {
    "empty": b"", "cut": b'{"model": "qwen3", "messages": [{"role": "user"', "not JSON": b"Hello", "text behind": b'{"messages": []} x',
    "bad UTF-8": b'{"messages": [{"role": "user", "content": "\xff"}]}', "a list": b"[]", "null": b"null",
    "a bare control character": b'{"messages": [{"role": "user", "content": "a\nb"}]}',
    "NaN": b'{"messages": [{"role": "user", "content": "a"}], "temperature": NaN}',
    "very deep": b'{"messages": ' + b"[" * 100000 + b"]" * 100000 + b"}",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_json_leaves_nothing(gateway, name):
    dialogue = Dialogue(gateway)
    dialogue.say()
    before = dialogue.snapshot()
    answer = dialogue.send(MALFORMED[name])
    assert answer.status_code == 400, f"{answer.status_code} {answer.text}"
    message = error_of(answer)["message"]
    assert name != "very deep" or "deeper than 512" in message, message
    if name in ("cut", "not JSON", "text behind", "bad UTF-8", "a bare control character", "NaN"):
        assert "line 1" in message and "column" in message, message
    check_untouched(dialogue, before)


def test_an_unknown_session_is_404_and_stays_unknown(stack):
    gateway, before = stack.gateway, stack.sim.stats()
    for answer in (gateway.chat("no-such-session", {"messages": HELLO}), gateway.http.get("/sessions/no-such-session"),
                   gateway.http.delete("/sessions/no-such-session"), gateway.http.post("/sessions/no-such-session/abort_request", json={"rid": ""})):
        assert answer.status_code == 404, answer.text
        error_of(answer)
    assert stack.sim.stats() == before, "the engine was asked"
    assert not (gateway.records / "no-such-session.jsonl").exists()


def test_paths_of_the_engine_are_not_served(stack):
    session = stack.gateway.session()
    aborts = stack.sim.stats()["abort_calls"]
    for path in ("/abort_request", "/generate", "/flush_cache", f"/sessions/{session}/abort_request", f"/sessions/{session}/generate"):
        assert stack.gateway.http.post(path, json={"rid": "", "abort_all": True}).status_code == 404
    assert stack.sim.stats()["abort_calls"] == aborts


def test_a_prompt_over_the_context_is_refused_before_the_engine_is_asked(make_stack):
    stack = make_stack("--max-model-len", 300)
    dialogue = Dialogue(stack.gateway)
    before = dialogue.snapshot()
    answer = dialogue.send(dialogue.body(user("word " * 400)))
    assert answer.status_code == 400
    error = error_of(answer)
    assert error["code"] == "context_length_exceeded" and "300" in error["message"], error
    assert stack.sim.stats()["requests"] == 0
    check_untouched(dialogue, before)


def test_what_the_context_leaves_is_what_the_engine_may_sample(make_stack):
    stack = make_stack("--max-model-len", 300)
    dialogue = Dialogue(stack.gateway)
    dialogue.say("Hello", max_tokens=1000)
    call, = stack.sim.log()
    assert call["max_tokens"] == 300 - len(call["prompt_ids"])


def test_numbers_reach_the_record_as_they_were_written(gateway):
    dialogue = Dialogue(gateway)
    body = json.dumps(dialogue.body(user("please: say hello"))).removesuffix("}") + ', "temperature": 0.3, "top_p": 0.95, "seed": 9007199254740993}'
    assert dialogue.send(body).status_code == 200
    assert '"temperature":0.3' in gateway.snapshot(dialogue.session)[0].decode()
    assert dialogue.lines()[0]["sampling"]["seed"] == 9007199254740993


@pytest.mark.parametrize("model", ["qwen3", "another-name", None])
def test_the_model_may_have_any_name_or_none(gateway, model):
    dialogue = Dialogue(gateway)
    answer = dialogue.send({"messages": HELLO} | ({"model": model} if model else {}))
    assert answer.status_code == 200
