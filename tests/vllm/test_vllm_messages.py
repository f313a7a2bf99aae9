"""The message path on a real vLLM: whole conversations over its own chat, Responses and Messages. What is recorded is what the server said, what
goes up again is the record, and none of it passes for exact."""
import json
import subprocess

import pytest

from agent import QUESTIONS, TOOLS
from answers import CITIES, THOUGHT, arguments_for, calls, spelled, thinking, words
from dialogue import Dialogue, check_untouched, error_of, user
from model_folder import CLOSE, CONTEXT, PAD
from programs import BINARY
from steps import LONG, begin, doctor, events, hang_up, hold, hold_at_once
from talk import agent_answer, history, parsed, said

pytestmark = pytest.mark.by_messages

# Without a word of the client the Messages protocol asks for as much as the model's whole context.
BOUND = {"max_tokens": 1000}
# A PNG of one pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Talk(Dialogue):
    def body(self, *more: dict, **parameters) -> dict:
        return super().body(*more, **BOUND | parameters)


def told(message: dict) -> tuple:
    """Reasoning, text and calls of a chat message."""
    found = [(call["id"], call["function"]["name"], parsed(call["function"]["arguments"])) for call in message.get("tool_calls") or []]
    return message.get("reasoning_content") or "", message.get("content") or "", found


def check_line(line: dict, exchange, mode: str) -> None:
    """The record is what stood on the wire, marked as not exact."""
    assert (line["backend_kind"], line["engine_mode"], line["token_exact"]) == ("vllm", mode, False)
    assert line["prompt_token_ids"] == line["completion_token_ids"] == line["completion_logprobs"] == line["spans"] == []
    wire = said(exchange)
    assert told(line["assistant_message"]) == (wire.reasoning, wire.text, wire.calls)
    assert line["usage"] == {"prompt_tokens": wire.prompt_tokens, "completion_tokens": wire.completion_tokens}
    assert line["engine_finish_reason"] == wire.word and line["cached_tokens"] == wire.cached_tokens
    assert line["weight_versions"] == []


def messages_of(lines: list[dict]) -> list[dict]:
    """The conversation that the record holds, as chat has it."""
    return [message for line in lines for message in (*line["messages"], line["assistant_message"])]


def check_prompt(stack, lines: list[dict], number: int, exchange) -> None:
    """What went up is, for the server, the conversation that is recorded: both render to the same ids."""
    conversation = [*messages_of(lines[:number]), *lines[number]["messages"]]
    tools = {"tools": lines[0]["tools"]} if lines[0]["tools"] else {}
    expected = stack.vllm.post("/v1/chat/completions/render", json={"model": "qwen3", "messages": conversation, **tools})["token_ids"]
    sent = stack.vllm.post(exchange.path + "/render", json={**exchange.request, "stream": False, "stream_options": None})["token_ids"]
    assert sent == expected
    assert len(sent) == said(exchange).prompt_tokens


def in_order(lines: list[dict], log: list) -> list:
    """The exchange of each line. A history is longer each turn."""
    by_length = sorted(log, key=lambda each: len(each.body))
    assert len(by_length) == len(lines)
    return by_length


@pytest.fixture
def dialogue(stack):
    return Talk(stack.gateway)


def test_the_doctor_names_the_mode_and_that_no_ids_go_up(vllm, mode, report):
    done = doctor(vllm.url, mode)
    assert done.returncode == 0, done.stdout + done.stderr
    told = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert told["mode"].startswith(mode + " ") and told["ids"].startswith("not sent")
    report.add("`verbatim doctor --engine-mode MODE`", **{key: told[key] for key in ("kind", "release", "mode", "ids")})


@pytest.mark.parametrize("client", ["streaming", "whole"])
def test_ten_turns_with_tools_are_recorded_as_the_server_said_them(stack, client, report):
    stack.vllm.post("/reset_prefix_cache")
    stack.tap.choose = agent_answer
    session, agent = hold(stack.gateway, QUESTIONS, stream=client == "streaming", extra=BOUND)
    lines, log = stack.gateway.record(session), stack.tap.generations()
    assert len(agent.turns) == len(lines) == len(log) == 10
    for number, (turn, line, exchange) in enumerate(zip(agent.turns, lines, log)):
        check_line(line, exchange, stack.mode)
        check_prompt(stack, lines, number, exchange)
        assert line["attach"]["kind"] == ("child" if number else "root"), line["attach"]
        assert line["finish_reason"] == turn.finish == ("stop" if number % 2 else "tool_calls")
        assert (turn.reasoning, turn.content) == (line["assistant_message"]["reasoning_content"], line["assistant_message"]["content"])
        assert turn.calls == line["assistant_message"].get("tool_calls", []) and turn.reasoning
        if number % 2 == 0:
            assert json.loads(turn.calls[0]["function"]["arguments"]) == json.loads(arguments_for(CITIES[number // 2]))
        assert (turn.usage["prompt_tokens"], turn.usage["completion_tokens"]) == tuple(line["usage"].values())
        assert line["usage"]["completion_tokens"] == len(exchange.forced)
        assert (line["cached_tokens"] > 0) == (number > 0), f"turn {number}: {line['cached_tokens']} tokens came from the cache"
        assert exchange.streamed == (client == "streaming")
    view = stack.gateway.http.get(f"/sessions/{session}").json()
    assert all(node["token_exact"] is False for node in view["metadata"]["tree"]["nodes"]) and len(view["records"]) == 10
    report.add("Ten turns with tools, by messages", mode=stack.mode, client=client, turns=len(lines), **{
        "prompt tokens": sum(line["usage"]["prompt_tokens"] for line in lines), "of them cached": sum(line["cached_tokens"] for line in lines),
        "sampled": sum(line["usage"]["completion_tokens"] for line in lines), "tool calls": sum(len(turn.calls) for turn in agent.turns),
        "token-exact": "no"})


def test_what_the_server_said_goes_back_to_it_as_it_said_it(stack, dialogue):
    """Items and blocks with their ids and signatures, of which the client saw nothing."""
    stack.tap.choose = lambda exchange: words()
    dialogue.say("first")
    dialogue.say("second")
    first, second = stack.tap.generations()
    if stack.mode == "chat-text":
        (sent,) = [entry for entry in history(second) if entry["role"] == "assistant"]
        assert (sent["reasoning"], sent["content"]) == (said(first).reasoning, said(first).text)
        return
    entries = history(second)
    sent = entries[-2]["content"] if stack.mode == "messages" else entries[-len(said(first).parts) - 1:-1]
    # A member that is null is left out.
    assert sent == [{key: value for key, value in part.items() if value is not None} for part in said(first).parts]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
def test_calls_of_one_answer_stay_apart_and_get_their_results(stack, dialogue, stream):
    wanted = CITIES[:3]
    stack.tap.choose = lambda exchange: calls(*wanted, before="Three:\n")
    answer = dialogue.send(dialogue.body(user("all of them"), stream=stream, tools=TOOLS))
    assert answer.status_code == 200, answer.text
    message = dialogue.lines()[0]["assistant_message"]
    assert [json.loads(call["function"]["arguments"])["city"] for call in message["tool_calls"]] == wanted
    assert len({call["id"] for call in message["tool_calls"]}) == 3 and message["content"].strip() == "Three:"
    results = [{"role": "tool", "tool_call_id": call["id"], "content": f"it rains in {city}"}
               for city, call in zip(wanted, message["tool_calls"])]
    stack.tap.choose = lambda exchange: words()
    answer = dialogue.send(dialogue.body(user("all of them"), message, *results, stream=stream, tools=TOOLS))
    assert answer.status_code == 200, answer.text
    lines, log = dialogue.lines(), stack.tap.generations()
    assert [line["attach"]["kind"] for line in lines] == ["root", "child"]
    for number, (line, exchange) in enumerate(zip(lines, log)):
        check_line(line, exchange, stack.mode)
        check_prompt(stack, lines, number, exchange)


def test_conversations_held_at_once_do_not_mix(stack):
    stack.tap.choose = agent_answer
    held = hold_at_once(stack.gateway, extra=BOUND)
    log = stack.tap.generations()
    for session, agent in held:
        lines = stack.gateway.record(session)
        assert [line["attach"]["kind"] for line in lines] == ["root", "child", "child", "child"]
        mine = [each for each in log if agent.messages[1]["content"].encode() in each.body]
        for line, exchange in zip(lines, in_order(lines, mine)):
            check_line(line, exchange, stack.mode)


def test_each_of_several_choices_is_an_answer_of_its_own(stack, dialogue):
    stack.tap.choose = lambda exchange: words()
    answer = dialogue.send(dialogue.body(user("x"), n=2))
    assert answer.status_code == 200, answer.text
    lines, log = dialogue.lines(), stack.tap.generations()
    assert len(lines) == len(log) == 2 and [line["attach"]["kind"] for line in lines] == ["root", "root"]
    assert sorted(told(line["assistant_message"]) for line in lines) == sorted((said(each).reasoning, said(each).text, []) for each in log)
    assert len({told(line["assistant_message"])[0] for line in lines}) == 2, "both say the same: this proves nothing"


# Parameters of the request, what is sampled, how it ends for the client and in each protocol's word, the text.
ENDS = {
    "close token": ({}, spelled("one two<|im_end|>"), "stop", ("stop", "completed", "end_turn"), "one two"),
    "second end token": ({}, [*spelled("one two"), PAD], "stop", ("stop", "completed", "end_turn"), "one two"),
    "stop string": ({"stop": ["never", "STOP"]}, spelled("one STOP two<|im_end|>"), "stop", ("stop", "completed", "stop_sequence"), "one "),
    "length": ({"max_tokens": len(THOUGHT) + 5}, spelled("one two<|im_end|>"), "length", ("length", "max_output_tokens", "max_tokens"), "one t"),
    "length within reasoning": ({"max_tokens": 4}, [], "length", ("length", "max_output_tokens", "max_tokens"), ""),
}
MODES = ("chat-text", "responses", "messages")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("name", ENDS)
def test_an_answer_ends_as_the_server_says(stack, dialogue, name, stream, report):
    parameters, ids, finish, by_mode, text = ENDS[name]
    stack.tap.choose = lambda exchange: [*THOUGHT, *ids]
    got = dialogue.send(dialogue.body(user("count"), stream=stream, **parameters))
    assert got.status_code == 200, got.text
    (line,), (exchange,) = dialogue.lines(), stack.tap.generations()
    check_line(line, exchange, stack.mode)
    assert line["finish_reason"] == finish and line["engine_finish_reason"] == dict(zip(MODES, by_mode))[stack.mode]
    assert line["assistant_message"]["content"] == (text or None)
    # The conversation goes on behind it, whatever the server makes of an answer that was cut.
    dialogue.messages += [user("count"), line["assistant_message"]]
    stack.tap.choose = lambda exchange: [*THOUGHT, *spelled("more<|im_end|>")]
    dialogue.say("go on")
    lines = dialogue.lines()
    assert lines[1]["parent_turn"] == lines[0]["turn"]
    check_prompt(stack, lines, 1, stack.tap.generations()[-1])
    report.add("Ends of answers, by messages", mode=stack.mode, client="streaming" if stream else "whole", **{
        "ended by": name, "finish_reason": finish, "the server's": said(exchange).word, "sampled": line["usage"]["completion_tokens"]})


@pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])
def test_a_client_that_hangs_up_ends_the_generation(stack, dialogue, stream, report):
    stack.tap.choose = lambda exchange: [*THOUGHT, *spelled("hello<|im_end|>")]
    dialogue.say("hi")
    before = dialogue.snapshot()
    stack.tap.choose = lambda exchange: [*thinking(LONG), CLOSE]
    sampled, took = hang_up(stack, dialogue, stream=stream, max_tokens=LONG)
    stack.tap.choose = lambda exchange: [*THOUGHT, *spelled("again<|im_end|>")]
    check_untouched(dialogue, before)
    report.add("A client that hangs up, by messages", mode=stack.mode, client="streaming" if stream else "whole", **{
        f"sampled, of {LONG}": sampled, "seconds until num_requests_running is 0": f"{took:.1f}", "recorded": "nothing"})


REFUSED = {
    "a prompt beyond the context": (400, {"messages": [user("x " * CONTEXT)]}, str(CONTEXT)),
    "a model that is not there": (404, {"model": "other"}, "other"),
    "a temperature beyond 2": (400, {"temperature": 3}, "temperature"),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_the_server_refuses_is_refused_in_its_words(stack, dialogue, name, stream, report):
    status, parameters, word = REFUSED[name]
    stack.tap.choose = lambda exchange: words()
    dialogue.say("hi")
    before = dialogue.snapshot()
    got = dialogue.send({**dialogue.body(user("x"), stream=stream), **parameters})
    exchange = stack.tap.generations()[-1]
    assert got.status_code == status, got.text
    message = error_of(got)["message"]
    assert word in message
    check_untouched(dialogue, before)
    report.add("What the server refuses, by messages", mode=stack.mode, client="streaming" if stream else "whole", **{
        "asked": name, "the server's status": exchange.status, "the client's": got.status_code, "message": message[:160]})


def test_an_image_is_refused_because_the_model_takes_text(stack, dialogue, report):
    stack.tap.choose = lambda exchange: words()
    dialogue.say("hi")
    before, asked = dialogue.snapshot(), len(stack.tap.generations())
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PIXEL}}
    got = dialogue.send(dialogue.body({"role": "user", "content": [{"type": "text", "text": "what is this?"}, image]}))
    assert 400 <= got.status_code < 500, got.text
    message = error_of(got)["message"]
    report.add("An image, by messages", mode=stack.mode, status=got.status_code,
               **{"refused by": "the server" if len(stack.tap.generations()) > asked else "the gateway", "message": message[:160]})
    check_untouched(dialogue, before)


def test_an_answer_that_the_engine_gave_up_is_an_error_where_the_protocol_says_so(stack, dialogue, report):
    stack.tap.choose = lambda exchange: [*THOUGHT, *spelled("hello<|im_end|>")]
    dialogue.say("hi")
    before = dialogue.snapshot()
    stack.tap.choose = lambda exchange: [*thinking(400), CLOSE]
    with begin(stack, dialogue, user("go on")) as client:
        stack.vllm.post("/pause", params={"mode": "abort"})
        stack.vllm.post("/resume")
        answer = client.answer()
    stack.tap.choose = lambda exchange: [*THOUGHT, *spelled("again<|im_end|>")]
    exchange = stack.tap.generations()[-1]
    last = [json.loads(text) for text in events(answer.body) if text != "[DONE]"][-1]
    report.add("An answer that the engine gave up, by messages", mode=stack.mode, **{
        "the server's word": said(exchange).word, "for the client": "an error" if "error" in last else "an answer"})
    if stack.mode == "responses":
        # vLLM calls it completed, and nothing in it tells that it was not.
        assert said(exchange).word == "completed" and len(dialogue.lines()) == 2
        return
    assert "error" in last, last
    check_untouched(dialogue, before)


def test_no_turn_by_messages_is_exported(stack, dialogue):
    stack.tap.choose = lambda exchange: words()
    dialogue.say("hi")
    for command in (["export"], ["audit"]):
        done = subprocess.run([BINARY, *command, "--record-dir", stack.gateway.records, "--session", dialogue.session], capture_output=True,
                              text=True, timeout=60)
        assert "1 turn" in done.stderr and "token_ids" not in done.stdout, done.stdout + done.stderr


def test_a_format_is_asked_for_in_the_protocols_words(stack, dialogue):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
    wanted = {"type": "json_schema", "json_schema": {"name": "place", "schema": schema}}
    stack.tap.choose = lambda exchange: [*THOUGHT, *spelled('{"city": "Rome"}<|im_end|>')]
    got = dialogue.send(dialogue.body(user("where?"), response_format=wanted))
    if stack.mode == "messages":
        assert got.status_code == 400 and "response_format" in error_of(got)["message"] and not stack.tap.generations()
        return
    assert got.status_code == 200 and json.loads(got.json()["choices"][0]["message"]["content"]) == {"city": "Rome"}


@pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])
def test_the_conversation_goes_on_behind_a_call_that_was_cut(stack, dialogue, stream):
    """Whole, vLLM leaves such a call in the text; streaming, it has begun it as a call."""
    sampled = calls("Rome")
    stack.tap.choose = lambda exchange: sampled
    got = dialogue.send(dialogue.body(user("Rome?"), stream=stream, tools=TOOLS, max_tokens=len(sampled) - 15))
    assert got.status_code == 200, got.text
    (line,), (exchange,) = dialogue.lines(), stack.tap.generations()
    check_line(line, exchange, stack.mode)
    message = line["assistant_message"]
    assert line["finish_reason"] == "length" and ("tool_calls" in message) == stream
    dialogue.messages += [user("Rome?"), message]
    stack.tap.choose = lambda exchange: words()
    if stack.mode == "messages" and stream:
        # There the arguments are an object, which half of one is not.
        refused = dialogue.send(dialogue.body(user("go on"), tools=TOOLS))
        assert refused.status_code == 400 and "tool_calls[0].function.arguments" in error_of(refused)["message"]
        del message["tool_calls"]
        dialogue.say("go on", tools=TOOLS)
        return
    dialogue.say("go on", tools=TOOLS)
    lines = dialogue.lines()
    assert lines[1]["parent_turn"] == lines[0]["turn"]
    check_prompt(stack, lines, 1, stack.tap.generations()[-1])
