"""Kind `dynamo` on the real frontend: what reached the worker is what is recorded, and what can't be proved is not."""
import itertools
import json
import socket
import subprocess
import time

import pytest

from agent import Agent
from dialogue import Dialogue, check_untouched, error_of, user
from dynamo import CLOSE, CONTEXT, TEMPLATE, TOKENIZER, Deployment, DynamoStack, answer, sampled
from programs import BINARY, until
from raw_http import sse
from records import check_logprobs, check_prefix, check_segments, single

numbers = itertools.count()


@pytest.fixture(scope="module")
def shared(workplace):
    # A worker that failed is left alone for 5 s otherwise.
    stack = DynamoStack(workplace / "dynamo", environment={"DYN_RUNTIME_INHIBITED_DURATION_SECS": "0"})
    yield stack
    stack.close()


@pytest.fixture
def stack(shared):
    shared.dynamo.script([])
    return shared


@pytest.fixture
def make_stack(workplace):
    made = []

    def make(**options) -> DynamoStack:
        made.append(DynamoStack(workplace / f"dynamo-{next(numbers)}", **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def call(city: str) -> str:
    return '<tool_call>\n{"name": "get_weather", "arguments": {"city": "' + city + '", "days": 2}}\n</tool_call><|im_end|>'


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("chunk", [1, 5])
def test_each_prompt_extends_exactly_what_was_sampled(stack, stream, chunk):
    texts = [call("Rome"), "Sunny, 24 degrees.<|im_end|>", "<think>\nHm, \u2602?\n</think>\n\n" + call("S\u00e3o Paulo"),
             "Take an umbrella \u2602.<|im_end|>", "Bye \U0001f44b!<|im_end|>"]
    rows = [answer(text, chunk=chunk, cached_tokens=number) for number, text in enumerate(texts)]
    stack.dynamo.script(rows)
    before = len(stack.prompts())
    session = stack.gateway.session()
    agent = Agent(f"{stack.gateway.url}/sessions/{session}/v1", stream=stream, extra={"temperature": 0.5, "seed": 7})
    for question in ("What is the weather in Rome?", "And in S\u00e3o Paulo?", "Thanks \u2014 bye"):
        agent.ask(question)
    agent.close()
    lines = stack.gateway.record(session)
    assert len(agent.turns) == len(lines) == len(rows)
    check_prefix(lines)
    check_logprobs(lines)
    check_segments(lines)
    assert [line["attach"]["kind"] for line in lines] == ["root"] + ["child"] * 4
    assert stack.prompts()[before:] == [line["prompt_token_ids"] for line in lines]
    for number, (line, row, turn) in enumerate(zip(lines, rows, agent.turns)):
        assert line["completion_token_ids"] == row["token_ids"]
        assert line["completion_logprobs"] == row["logprobs"], "not the worker's own doubles"
        assert (line["backend_kind"], line["engine_mode"]) == ("dynamo", "chat")
        assert turn.usage["prompt_tokens"] == len(line["prompt_token_ids"])
        assert turn.usage["prompt_tokens_details"]["cached_tokens"] == number
    assert [bool(turn.calls) for turn in agent.turns] == [True, False, True, False, False]
    got = stack.dynamo.record("request")[-1]["request"]
    assert got["sampling_options"]["temperature"] == 0.5 and got["sampling_options"]["seed"] == 7
    assert CLOSE in got["stop_conditions"]["stop_token_ids"]
    assert got["stop_conditions"]["max_tokens"] == CONTEXT - len(lines[-1]["prompt_token_ids"])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
def test_a_stop_string_is_found_here_and_ends_the_generation_there(stack, stream):
    row = answer("one two STOP three four five six<|im_end|>", delay_ms=20)
    stack.dynamo.script([row, answer("fine<|im_end|>")])
    dialogue = Dialogue(stack.gateway)
    cancelled = len(stack.dynamo.record("cancelled"))
    dialogue.messages.append(user("count"))
    got = dialogue.send(dialogue.body(stop=["STOP", "never"], stream=stream))
    assert got.status_code == 200, got.text
    if stream:
        payloads = [json.loads(text) for text in sse(got.content) if text != "[DONE]"]
        text = "".join(choice["delta"].get("content") or "" for payload in payloads for choice in payload["choices"])
    else:
        text = got.json()["choices"][0]["message"]["content"]
    assert text == "one two "
    line, = dialogue.lines()
    size = len(sampled("one two STOP"))
    assert line["completion_token_ids"] == row["token_ids"][:size]
    # The worker's own doubles come with its last message, which was never sent.
    assert [single(value) for value in line["completion_logprobs"]] == [single(value) for value in row["logprobs"][:size]]
    assert line["finish_reason"] == "stop"
    until(lambda: len(stack.dynamo.record("cancelled")) > cancelled, "the worker saw the cancel")
    assert stack.dynamo.record("request")[-1]["request"]["stop_conditions"]["stop"] is None
    dialogue.messages.append({"role": "assistant", "content": text})
    dialogue.say("go on")
    parent, child = dialogue.lines()
    assert child["parent_turn"] == parent["turn"]
    assert stack.prompts()[-1] == child["prompt_token_ids"]


def test_top_logprobs_name_ids(stack):
    row = answer("ab<|im_end|>")
    row["top"] = [[[token, logprob], [9, -12.5]] for token, logprob in zip(row["token_ids"], row["logprobs"])]
    stack.dynamo.script([row])
    dialogue = Dialogue(stack.gateway)
    got = dialogue.send(dialogue.body(user("x"), logprobs=True, top_logprobs=2)).json()
    content = got["choices"][0]["logprobs"]["content"]
    assert [len(entry["top_logprobs"]) for entry in content] == [2] * len(content)
    assert all(entry["top_logprobs"][1]["logprob"] == -12.5 for entry in content)


# What the worker does, and the status the client gets.
FAILURES = {
    "invalid argument": ({"raise": ["InvalidArgument", "the prompt is odd"]}, 400),
    "unauthorized": ({"http_error": [401, "x"]}, 401),
    "forbidden": ({"http_error": [403, "x"]}, 403),
    "conflict": ({"http_error": [409, "x"]}, 409),
    "too many": ({"http_error": [429, "slow down"]}, 429),
    "internal": ({"http_error": [500, "x"]}, 500),
    "unavailable": ({"http_error": [503, "x"]}, 503),
    "overloaded": ({"http_error": [529, "x"]}, 529),
    "a bug": ({"raise": ["RuntimeError", "x"]}, 500),
    "worker gone": ({"raise": ["WorkerUnavailable", "x"]}, 503),
    "an error as the finish": (answer("half", error="out of memory"), 500),
    "no finish": (answer("half", no_finish=True), 502),
    "cancelled": (answer("half", finish_reason="cancelled"), 502),
    "content filter": (answer("half", finish_reason="content_filter"), 502),
    "nothing sampled": ({"token_ids": []}, 502),
    "no engine data": (answer("all<|im_end|>", no_engine_data=True), 502),
    "not finished": (answer("all<|im_end|>", engine_data={"finished": False}), 502),
    "a logprob short": (answer("all<|im_end|>") | {"logprobs": [-1.0]}, 502),
    "other ids": (answer("all<|im_end|>", engine_data={"completion_token_ids": [1, 2, 3, CLOSE]}), 502),
    "other prompt": (answer("all<|im_end|>", engine_data={"prompt_token_ids": [1, 2, 3]}), 502),
    "other logprobs": (answer("all<|im_end|>", engine_data={"completion_logprobs": [-1, -1, -1, -1]}), 502),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("name", FAILURES)
def test_what_fails_or_does_not_add_up_leaves_nothing(stack, name, stream):
    row, status = FAILURES[name]
    stack.dynamo.script([answer("hello<|im_end|>"), row | {"times": 1}, answer("again<|im_end|>")])
    dialogue = Dialogue(stack.gateway)
    dialogue.say("hi")
    before = dialogue.snapshot()
    got = dialogue.send(dialogue.body(user("go on"), stream=stream))
    begun = stream and "token_ids" in row and got.status_code == 200
    assert begun or got.status_code == status, f"{got.status_code} {got.text}"
    error_of(got)
    check_untouched(dialogue, before)


def test_a_stream_does_not_wait_for_its_acknowledgements(stack):
    """Where they are left to the kernel, each stream on a kept connection but the first few takes 40 ms and more."""
    stack.dynamo.script([answer("sixteen tokens<|im_end|>") | {"times": 100}])
    dialogue = Dialogue(stack.gateway)
    times = []
    for _ in range(40):
        began = time.monotonic()
        assert dialogue.send(dialogue.body(user("x"))).status_code == 200
        times.append(time.monotonic() - began)
    assert min(times[20:]) < 0.03, [round(each * 1000) for each in times]


def test_a_prompt_beyond_the_context_never_reaches_the_worker(stack):
    """The frontend would let it through."""
    before = len(stack.prompts())
    dialogue = Dialogue(stack.gateway)
    got = dialogue.send(dialogue.body(user("x " * CONTEXT)))
    assert got.status_code == 400, got.text
    assert str(CONTEXT) in error_of(got)["message"]
    assert len(stack.prompts()) == before


def test_parameters_dynamo_would_refuse_are_refused_by_name(stack):
    before = len(stack.prompts())
    dialogue = Dialogue(stack.gateway)
    for parameters, field in (({"stop_token_ids": list(range(33))}, "stop_token_ids"), ({"temperature": 2.5}, "temperature")):
        got = dialogue.send(dialogue.body(user("x"), **parameters))
        assert got.status_code == 400, got.text
        assert field in json.dumps(error_of(got))
    assert len(stack.prompts()) == before


def test_a_client_that_hangs_up_cancels_the_worker(stack):
    stack.dynamo.script([answer("hello<|im_end|>"), answer("never said<|im_end|>", hang_after=3), answer("again<|im_end|>")])
    dialogue = Dialogue(stack.gateway)
    dialogue.say("hi")
    before = dialogue.snapshot()
    cancelled = len(stack.dynamo.record("cancelled"))
    body = json.dumps(dialogue.body(user("go on"), stream=True)).encode()
    head = (f"POST /sessions/{dialogue.session}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode()
    with socket.create_connection(stack.gateway.program.host_port, timeout=30) as client:
        client.sendall(head + body)
        seen = b""
        while b'"content"' not in seen:
            piece = client.recv(4096)
            assert piece, seen
            seen += piece
    until(lambda: len(stack.dynamo.record("cancelled")) > cancelled, "the worker saw the cancel")
    check_untouched(dialogue, before)


def test_a_worker_that_dies_in_the_middle_is_an_error_and_the_next_one_goes_on(make_stack):
    stack = make_stack()
    stack.dynamo.script([answer("hello<|im_end|>"), answer("never said<|im_end|>", hang_after=3)])
    dialogue = Dialogue(stack.gateway)
    dialogue.say("hi")
    before = dialogue.snapshot()
    body = dialogue.body(user("go on"), stream=True)
    with stack.gateway.http.stream("POST", f"/sessions/{dialogue.session}/v1/chat/completions", json=body) as got:
        assert got.status_code == 200
        pieces = got.iter_bytes()
        seen = next(pieces)
        stack.dynamo.kill_worker()
        for piece in pieces:
            seen += piece
    payloads = [json.loads(text) for text in sse(seen) if text != "[DONE]"]
    assert "error" in payloads[-1], payloads[-1]
    assert not any(choice.get("finish_reason") for payload in payloads for choice in payload.get("choices", []))
    assert stack.gateway.http.get("/ready").status_code == 503
    stack.dynamo.script([answer("again<|im_end|>")] * 2)
    stack.dynamo.start_worker()
    stack.dynamo.until_ready()
    until(lambda: stack.gateway.http.get("/ready").status_code == 200, "the new worker answers")
    check_untouched(dialogue, before)


def test_a_frontend_without_nvext_is_named_with_its_remedy(make_stack):
    """It takes the request and generates from the placeholder message, without a word."""
    stack = make_stack()
    dialogue = Dialogue(stack.gateway)
    stack.dynamo.kill_frontend()
    stack.dynamo.start_frontend({"DYN_DISABLE_FRONTEND_NVEXT": "1"})
    stack.dynamo.until_ready()
    before = dialogue.snapshot()
    for stream in (False, True):
        stack.dynamo.script([answer("hello<|im_end|>")])
        got = dialogue.send(dialogue.body(user("hi"), stream=stream))
        assert got.status_code == 502, got.text
        assert "DYN_DISABLE_FRONTEND_NVEXT" in error_of(got)["message"]
    assert stack.gateway.http.get("/ready").status_code == 503
    assert dialogue.snapshot() == before


def test_a_gateway_does_not_start_before_a_frontend_without_nvext(workplace):
    dynamo = Deployment(workplace / f"dynamo-{next(numbers)}", environment={"DYN_DISABLE_FRONTEND_NVEXT": "1"})
    try:
        done = subprocess.run([BINARY, "serve", "--engine", dynamo.url, "--tokenizer", TOKENIZER.parent, "--chat-template", TEMPLATE,
                               "--port", "0"], capture_output=True, text=True, timeout=60)
    finally:
        dynamo.close()
    assert done.returncode == 2, done.stderr
    assert "DYN_DISABLE_FRONTEND_NVEXT" in done.stderr


def test_doctor_knows_the_frontend_by_what_it_shows(stack):
    done = subprocess.run([BINARY, "doctor", "--engine", stack.dynamo.url], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "dynamo" in done.stdout and "1.6.1" in done.stdout


# ---------------------------------------------------------------------------------------------- mode generate
# The frontend serves the route where it is told so, for workers that say they can.
SWITCH = {"DYN_VLLM_ENABLE_INFERENCE_V1_GENERATE": "1"}


@pytest.fixture(scope="module")
def by_ids(workplace):
    stack = DynamoStack(workplace / "dynamo-generate", environment=SWITCH | {"DYN_RUNTIME_INHIBITED_DURATION_SECS": "0"}, mode="generate")
    yield stack
    stack.close()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
def test_mode_generate_sends_ids_as_they_are_and_records_what_was_sampled(by_ids, stream):
    texts = [call("Rome"), "Sunny.<|im_end|>", "<think>\nHm, \u2602?\n</think>\n\n" + call("S\u00e3o Paulo"), "Umbrella \u2602.<|im_end|>"]
    rows = [answer(text, chunk=3) for text in texts]
    by_ids.dynamo.script(rows)
    before = len(by_ids.dynamo.record("request"))
    session = by_ids.gateway.session()
    agent = Agent(f"{by_ids.gateway.url}/sessions/{session}/v1", stream=stream, extra={"temperature": 0.5, "seed": 7})
    for question in ("What is the weather in Rome?", "And in S\u00e3o Paulo?"):
        agent.ask(question)
    agent.close()
    lines = by_ids.gateway.record(session)
    assert len(lines) == len(rows)
    check_prefix(lines)
    check_logprobs(lines)
    check_segments(lines)
    got = [line["request"] for line in by_ids.dynamo.record("request")[before:]]
    assert [request["token_ids"] for request in got] == [line["prompt_token_ids"] for line in lines]
    for line, row in zip(lines, rows):
        assert line["completion_token_ids"] == row["token_ids"]
        assert [single(value) for value in line["completion_logprobs"]] == [single(value) for value in row["logprobs"]]
        assert (line["backend_kind"], line["engine_mode"]) == ("dynamo", "generate")
    asked = got[-1]["extra_args"]["vllm_tito"]["sampling_params"]  # as it was written
    assert CLOSE in asked["stop_token_ids"] and (asked["temperature"], asked["seed"]) == (0.5, 7)
    assert asked["max_tokens"] == CONTEXT - len(lines[-1]["prompt_token_ids"])


def test_mode_generate_finds_stop_strings_and_passes_errors_on(by_ids):
    row = answer("one two STOP three<|im_end|>")
    by_ids.dynamo.script([row])
    dialogue = Dialogue(by_ids.gateway)
    got = dialogue.send(dialogue.body(user("count"), stop=["STOP"]))
    assert got.status_code == 200, got.text
    assert got.json()["choices"][0]["message"]["content"] == "one two "
    line, = dialogue.lines()
    assert line["completion_token_ids"] == row["token_ids"][:len(sampled("one two STOP"))]
    before = dialogue.snapshot()
    for bad in ({"no_finish": True}, {"error": "it broke"}, {"logprobs": [-0.5]}):
        by_ids.dynamo.script([answer("hello", **bad)])
        refused = dialogue.send(dialogue.body(user("again")))
        assert refused.status_code == 500, refused.text
        assert dialogue.snapshot() == before


def test_mode_generate_ends_at_the_worker_when_the_client_hangs_up(by_ids):
    by_ids.dynamo.script([answer("slowly " * 20, delay_ms=50)])
    cancelled = len(by_ids.dynamo.record("cancelled"))
    requests = len(by_ids.dynamo.record("request"))
    host, port = by_ids.gateway.url.removeprefix("http://").split(":")
    body = json.dumps({"messages": [user("hi")]}).encode()
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                       + str(len(body)).encode() + b"\r\n\r\n" + body)
        until(lambda: len(by_ids.dynamo.record("request")) > requests, "the worker has the request")
    until(lambda: len(by_ids.dynamo.record("cancelled")) > cancelled, "the worker saw the cancel")


def test_mode_generate_is_refused_with_its_remedy_where_the_frontend_has_it_off(stack):
    done = subprocess.run([BINARY, "doctor", "--engine", stack.dynamo.url, "--engine-mode", "generate", "--engine-kind", "dynamo"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "lacks the route of this mode" in done.stderr and "choose another --engine-mode" in done.stderr
