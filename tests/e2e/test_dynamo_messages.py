"""The message path on the real Dynamo frontend: over its own chat, Responses and Messages the worker gets the whole history."""
import itertools
import json

import pytest

from agent import Agent
from dynamo import CONTEXT, TEMPLATE, VOCABULARY, Deployment, sampled
from messages import MessageGateway
from programs import until

numbers = itertools.count()
MODES = ["chat-text", "responses", "messages"]
QUESTIONS = ["What is the weather in Rome?", "And in Oslo?", "Thanks, bye"]


def call(city: str) -> str:
    return '<tool_call>\n{"name": "get_weather", "arguments": {"city": "' + city + '"}}\n</tool_call><|im_end|>'


# The worker's answers, and what the agent sees of each.
TEXTS = ["<think>\nhm\n</think>\n\n" + call("Rome"), "Sunny in Rome.<|im_end|>", call("Oslo"), "Rain in Oslo.<|im_end|>", "Goodbye.<|im_end|>"]


@pytest.fixture(scope="module")
def dynamo(workplace):
    """The frontend parses arguments before the template sees them."""
    template = workplace / "dynamo-messages.jinja"
    plain = "c.function.arguments"
    template.write_text(TEMPLATE.read_text().replace(plain, f"({plain} if {plain} is string else {plain} | tojson)"))
    deployment = Deployment(workplace / "dynamo-messages", context=CONTEXT, template=template, parsers=("hermes", "qwen3"),
                            environment={"DYN_ENABLE_ANTHROPIC_API": "1", "DYN_RUNTIME_INHIBITED_DURATION_SECS": "0"})
    yield deployment
    deployment.close()


@pytest.fixture(params=MODES)
def gateway(dynamo, workplace, request):
    folder = workplace / f"dynamo-messages-{next(numbers)}"
    folder.mkdir()
    gateway = MessageGateway(folder, dynamo.url, kind="dynamo", mode=request.param)
    gateway.mode = request.param
    yield gateway
    gateway.close()


def prompts(dynamo) -> list[str]:
    return [VOCABULARY.decode(line["request"]["token_ids"], skip_special_tokens=False) for line in dynamo.record("request")]


class ToyAgent(Agent):
    def whole(self, request):
        return super().whole({**request, "model": "toy", "max_tokens": 400})

    def streamed(self, request):
        return super().streamed({**request, "model": "toy", "max_tokens": 400})


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
def test_a_conversation_with_tools_goes_up_whole_each_turn(dynamo, gateway, stream):
    dynamo.script([{"token_ids": sampled(text), "times": 1} for text in TEXTS])
    before = len(dynamo.record("request"))
    session = gateway.session()
    agent = ToyAgent(f"{gateway.url}/sessions/{session}/v1", stream=stream)
    for question in QUESTIONS:
        agent.ask(question)
    agent.close()
    lines = gateway.record(session)
    assert [bool(turn.calls) for turn in agent.turns] == [True, False, True, False, False]
    assert [(turn.content or "").strip() for turn in agent.turns] == ["", "Sunny in Rome.", "", "Rain in Oslo.", "Goodbye."]
    assert [json.loads(turn.calls[0]["function"]["arguments"]) for turn in agent.turns if turn.calls] == [{"city": "Rome"}, {"city": "Oslo"}]
    assert [turn.finish for turn in agent.turns] == ["tool_calls", "stop", "tool_calls", "stop", "stop"]
    assert len(lines) == 5 and all(line["token_exact"] is False and line["engine_mode"] == gateway.mode for line in lines)
    assert [line["attach"]["kind"] for line in lines] == ["root"] + ["child"] * 4
    assert all(line["usage"]["prompt_tokens"] > 0 and line["usage"]["completion_tokens"] > 0 for line in lines)
    last = prompts(dynamo)[before:][-1]
    for part in (*QUESTIONS, '"city":', "Sunny in Rome.", '"sky": "sunny"', "Rain in Oslo.", "travel assistant", "get_weather"):
        assert part in last, f"{part!r} did not reach the worker:\n{last}"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("row", [{"raise": ["RuntimeError", "x"]}, {"http_error": [503, "x"]}, {"token_ids": sampled("half"), "error": "out of memory"},
                                 {"token_ids": sampled("half of it"), "no_finish": True}], ids=["a bug", "unavailable", "an error within", "no finish"])
def test_what_fails_leaves_nothing(dynamo, gateway, row, stream):
    dynamo.script([row | {"times": 1}, {"token_ids": sampled("fine<|im_end|>"), "times": 1}])
    session = gateway.session()
    body = {"model": "toy", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 50}
    got = gateway.chat(session, body | {"stream": stream})
    if got.headers["content-type"].startswith("text/event-stream"):
        assert stream and '"error"' in got.text and '"finish_reason":"' not in got.text, got.text
    else:
        assert got.status_code >= 500 and got.json()["error"]["message"], got.text
    assert gateway.record(session) == []
    again = gateway.chat(session, body)
    assert again.status_code == 200 and again.json()["choices"][0]["message"]["content"].strip() == "fine", again.text


def test_a_client_that_hangs_up_cancels_the_worker(dynamo, gateway):
    dynamo.script([{"token_ids": sampled("word " * 100), "delay_ms": 20}])
    cancelled = len(dynamo.record("cancelled"))
    session = gateway.session()
    body = {"model": "toy", "messages": [{"role": "user", "content": "talk"}], "max_tokens": 2000, "stream": True}
    with gateway.http.stream("POST", f"/sessions/{session}/v1/chat/completions", json=body) as answer:
        next(answer.iter_bytes())
    until(lambda: len(dynamo.record("cancelled")) > cancelled, "the worker saw the cancel")
    assert gateway.record(session) == []
