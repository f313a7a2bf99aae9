"""The message path: whole conversations go up over a public protocol, in sessions, recorded as not token-exact."""
import itertools
import json
import subprocess

import openai
import pytest

from agent import QUESTIONS, Agent
from hang_ups import check_hang_ups
from messages import ASKED, WAYS, MessageGateway, MessageStack
from programs import BINARY, MODEL, Simulator
from raw_http import sse

numbers = itertools.count()
MODEL_NAME = "m"


@pytest.fixture
def make_stack(workplace):
    made = []

    def make(*sim_options, kind: str, mode: str, **more) -> MessageStack:
        made.append(MessageStack(workplace / f"messages-{next(numbers)}", "--model-name", MODEL_NAME, *sim_options, kind=kind, mode=mode, **more))
        return made[-1]

    yield make
    for stack in made:
        stack.kill()


class MessageAgent(Agent):
    """Names the model that is there: by messages it goes up."""

    def whole(self, request):
        return super().whole({**request, "model": MODEL_NAME})

    def streamed(self, request):
        return super().streamed({**request, "model": MODEL_NAME})


def hold(stack: MessageStack, stream: bool, extra: dict | None = None) -> tuple[Agent, list[dict]]:
    session = stack.gateway.session()
    agent = MessageAgent(f"{stack.gateway.url}/sessions/{session}/v1", stream=stream, extra=extra)
    for question in QUESTIONS:
        agent.ask(question)
    agent.close()
    return agent, stack.gateway.record(session)


def said(line: dict) -> tuple:
    message = line["assistant_message"]
    return message["content"], message.get("reasoning_content"), [call["function"] for call in message.get("tool_calls", [])]


def without_blanks(line: dict) -> tuple:
    content, reasoning, calls = said(line)
    return "".join((content or "").split()), "".join((reasoning or "").split()), calls


@pytest.fixture(scope="module")
def references(workplace):
    """Of two kinds, as Dynamo takes the white space around reasoning and text for text, which the others take for layout."""
    held = {}
    for kind, mode in (("openai", "chat"), ("dynamo", "chat-text")):
        stack = MessageStack(workplace / f"messages-reference-{kind}", "--model-name", MODEL_NAME, kind=kind, mode=mode)
        held[kind] = (*hold(stack, stream=False), stack.prompts())
        stack.close()
    ours, theirs = ([without_blanks(line) for line in lines] for _, lines, _ in held.values())
    assert ours == theirs
    return held


@pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])
@pytest.mark.parametrize("kind,mode", WAYS)
def test_the_same_conversation_is_the_same_over_every_way(make_stack, references, kind, mode, stream):
    """The agent drops the reasoning and writes arguments anew: what goes up is the recorded history, the same over every protocol."""
    agent, lines, prompts = references["dynamo" if kind == "dynamo" else "openai"]
    stack = make_stack(kind=kind, mode=mode)
    again, recorded = hold(stack, stream, ASKED.get((kind, mode)))
    assert stack.prompts() == prompts
    assert len(recorded) == len(lines) == 10
    assert [said(line) for line in recorded] == [said(line) for line in lines]
    assert [turn.content for turn in again.turns] == [turn.content for turn in agent.turns]
    for number, line in enumerate(recorded):
        assert (line["backend_kind"], line["engine_mode"], line["token_exact"]) == (kind, mode, False)
        assert line["prompt_token_ids"] == line["completion_token_ids"] == line["completion_logprobs"] == []
        assert line["attach"]["kind"] == ("child" if number else "root")
        assert line["parent_turn"] == (recorded[number - 1]["turn"] if number else None)
        assert line["usage"]["prompt_tokens"] == len(prompts[number]) == again.turns[number].usage["prompt_tokens"]
        assert line["finish_reason"] == ("tool_calls" if line["assistant_message"].get("tool_calls") else "stop")
    assert recorded[0]["tools"] and [message["role"] for message in recorded[0]["messages"]] == ["system", "user"]
    view = stack.gateway.http.get(f"/sessions/{recorded[0]['session_id']}").json()
    assert len(view["records"]) == 10 and all(node["token_exact"] is False for node in view["metadata"]["tree"]["nodes"])


@pytest.mark.parametrize("kind,mode", WAYS)
def test_clients_that_hang_up_abort_the_engine_and_leave_no_record(make_stack, kind, mode):
    stack = make_stack("--token-delay-ms", 20, "--behaviour", "fixed-text", "--text", "word " * 400, kind=kind, mode=mode)
    check_hang_ups(stack, MODEL_NAME)


FAULTS = {"http_400": 400, "http_429": 429, "http_500": 500, "http_503": 503, "closed": 502, "html_body": 502, "error_body": None, "null_finish": 502,
          "unknown_finish": 502, "cut_stream": 502, "no_done": 502, "error_event": None, "abort": None}


@pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])
@pytest.mark.parametrize("mode", ["chat", "responses", "messages"])
@pytest.mark.parametrize("fault", FAULTS)
def test_what_fails_is_an_error_and_leaves_nothing(make_stack, mode, fault, stream):
    if fault == "no_done" and not stream:
        pytest.skip("a whole answer has no end of a stream")
    script = [{"text": "Fine."}, {"text": "one two three four five six", "fault": fault}, {"text": "Again."}]
    stack = make_stack(kind="openai", mode=mode, script=script)
    session = stack.gateway.session()
    messages = [{"role": "user", "content": "hello"}]
    first = stack.gateway.chat(session, {"model": MODEL_NAME, "messages": messages})
    assert first.status_code == 200, first.text
    messages += [first.json()["choices"][0]["message"], {"role": "user", "content": "go on"}]
    before = stack.gateway.snapshot(session)
    got = stack.gateway.chat(session, {"model": MODEL_NAME, "messages": messages, "stream": stream})
    if got.headers["content-type"].startswith("text/event-stream"):
        assert stream and fault in ("cut_stream", "no_done", "error_event", "abort", "null_finish", "unknown_finish")
        payloads = [json.loads(text) for text in sse(got.content) if text != "[DONE]"]
        assert "error" in payloads[-1]
        assert not any(choice.get("finish_reason") for payload in payloads for choice in payload.get("choices", []))
    else:
        expected = FAULTS[fault]
        assert got.status_code == expected if expected else got.status_code >= 500, got.text
        assert got.json()["error"]["message"]
        if fault == "http_429":
            assert got.headers["retry-after"] == "3"
    assert stack.gateway.snapshot(session) == before
    again = stack.gateway.chat(session, {"model": MODEL_NAME, "messages": messages})
    assert again.status_code == 200, again.text
    assert [line["assistant_message"]["content"] for line in stack.gateway.record(session)] == ["Fine.", "Again."]


def test_parameters_that_only_the_engine_knows_go_up(make_stack):
    stack = make_stack("--behaviour", "fixed-text", "--text", "one two three", kind="openai", mode="chat")
    client = openai.OpenAI(base_url=stack.gateway.url + "/v1", api_key="none", max_retries=0)
    asked = {"model": MODEL_NAME, "messages": [{"role": "user", "content": "x"}]}
    got = client.chat.completions.create(**asked, stop=["two"], reasoning_effort="low", response_format={"type": "json_object"}, extra_body={"x_new": [1]})
    assert got.choices[0].message.content == "one " and got.choices[0].finish_reason == "stop"
    cut = client.chat.completions.create(**asked, max_tokens=1)
    assert cut.choices[0].finish_reason == "length" and cut.usage.completion_tokens == 1
    with pytest.raises(openai.BadRequestError, match="logprobs"):
        client.chat.completions.create(**asked, logprobs=True)
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        client.chat.completions.create(**{**asked, "model": "other"})


@pytest.mark.parametrize("mode", ["chat", "responses", "messages"])
def test_a_conversation_goes_on_behind_a_restart(make_stack, mode):
    """What the engine said for itself alone is kept too, and what the client sent that is no text."""
    stack = make_stack("--behaviour", "fixed-text", "--text", "<think>\nhm\n</think>\n\nFine.", kind="openai", mode=mode)
    session = stack.gateway.session()
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 10_000}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "hello"}, image]}]
    assert stack.gateway.chat(session, {"model": MODEL_NAME, "messages": messages}).status_code == 200
    stack.gateway.close()
    stack.gateway = MessageGateway(stack.gateway.records.parent, stack.sim.url, kind="openai", mode=mode)
    messages += [{"role": "assistant", "content": "Fine."}, {"role": "user", "content": "go on"}]
    assert stack.gateway.chat(session, {"model": MODEL_NAME, "messages": messages}).status_code == 200
    first, second = stack.gateway.record(session)
    assert second["parent_turn"] == first["turn"]
    assert first["messages"] == messages[:1]
    prompts = stack.prompts()
    assert len(prompts[1]) > len(prompts[0]) + 10, "the reasoning did not go back up"


def test_turns_by_messages_are_no_samples(make_stack):
    stack = make_stack(kind="openai", mode="responses")
    session = stack.gateway.session()
    assert stack.gateway.chat(session, {"model": MODEL_NAME, "messages": [{"role": "user", "content": "hi"}]}).status_code == 200
    for command in ("export", "audit"):
        done = subprocess.run([BINARY, command, "--record-dir", stack.gateway.records], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "1 turns are not token-exact" in done.stderr, done.stderr
        assert session not in done.stdout if command == "export" else "0 turns proved" in done.stdout


@pytest.fixture(scope="module")
def engine(workplace):
    folder = workplace / "messages-engine"
    folder.mkdir()
    engine = Simulator(folder, "--model-name", MODEL_NAME, face="vllm")
    yield engine
    engine.close()


def run(command: str, *options) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, command, *map(str, options)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("options,says", [
    (["--engine-kind", "vllm", "--engine-mode", "chat"], ["generate", "chat-text", "responses", "messages"]),
    (["--engine-kind", "sglang", "--engine-mode", "responses"], ["generate", "chat-text"]),
    (["--engine-kind", "vllm", "--engine-mode", "chat-text", "--tokenizer", MODEL], ["--tokenizer", "chat-text"]),
    (["--engine-mode", "chat-text", "--tokenizer", MODEL], ["--tokenizer", "chat-text"]),
    (["--engine-kind", "vllm", "--engine-mode", "chat-text", "--vocab-size", 5], ["--vocab-size"]),
    (["--engine-kind", "vllm"], ["--tokenizer", "chat-text, responses, messages"]),
    (["--engine-kind", "vllm", "--engine-mode", "generate"], ["--tokenizer", "chat-text, responses, messages"]),
], ids=str)
def test_a_combination_that_can_not_be_is_refused_with_the_list(engine, options, says):
    refused = run("serve", "--engine", engine.url, "--port", 0, *options)
    assert refused.returncode == 2 and all(word in refused.stderr for word in says), refused.stderr


@pytest.mark.parametrize("kind,mode,remedy", [("vllm", "responses", "choose another --engine-mode"), ("dynamo", "messages", "--enable-anthropic-api"),
                                              ("openai", "responses", "choose another --engine-mode")])
def test_a_route_that_is_not_there_refuses_start_with_the_remedy(workplace, kind, mode, remedy):
    folder = workplace / f"no-route-{kind}"
    folder.mkdir()
    engine = Simulator(folder, "--no-message-routes", face=kind)
    options = ["--engine", engine.url, "--engine-kind", kind, "--engine-mode", mode]
    refused = run("serve", *options, "--port", 0, "--store", "memory")
    told = run("doctor", *options)
    engine.close()
    assert refused.returncode == 2 and remedy in refused.stderr and "lacks the route" in refused.stderr, refused.stderr
    assert told.returncode == 2 and "not shown to be there" in told.stdout and remedy in told.stderr, told.stdout


def test_doctor_names_the_ways(engine):
    told = run("doctor", "--engine", engine.url, "--engine-mode", "responses")
    assert told.returncode == 0, told.stderr
    assert "route      there" in told.stdout
    assert "responses (as told): POST /v1/responses" in told.stdout and "tokens can't be exact" in told.stdout
    assert "by ids: generate, completions, derender" in told.stdout and "by messages: chat-text, responses, messages" in told.stdout
