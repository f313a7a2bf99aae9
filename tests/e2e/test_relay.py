"""Engine kind openai: messages relayed byte for byte to a server that speaks nothing but the OpenAI protocol."""
import concurrent.futures
import json
import subprocess

import httpx
import openai
import pytest

from openai_server import STREAM_HEAD, OpenAIServer, answer, chunk, events, whole
from programs import BINARY, MODEL, Program, until

BODY = b'{"model": "m",  "messages":[{"role":"user","content":"h\\u00e4 \xf0\x9f\x98\x80"}], "x_unknown": 1.0e0, "x_unknown": null}'


@pytest.fixture
def engine():
    server = OpenAIServer()
    yield server
    server.close()


@pytest.fixture
def relay(engine, tmp_path):
    program = Program(["serve", "--engine", engine.url + "/v1", "--engine-kind", "openai", "--engine-api-key", "of-the-engine", "--port", 0], tmp_path / "stderr")
    yield program
    assert program.stop() == 0


def client(relay) -> openai.OpenAI:
    return openai.OpenAI(base_url=relay.url + "/v1", api_key="of-the-client", max_retries=0, timeout=30)


def ask(relay, **more):
    return client(relay).chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}], **more)


def test_the_sdk_reads_whole_answers_and_streams(engine, relay):
    got = ask(relay)
    assert got.choices[0].message.content == "Hello there." and got.usage.total_tokens == 5 and got.model_extra["x_unknown"] == {"kept": [1.5, "ü"]}
    engine.reply = lambda head, body: [STREAM_HEAD, *map(chunk, events(["Hel", "lo", " there."])), b"0\r\n\r\n"]
    assert "".join(each.choices[0].delta.content or "" for each in ask(relay, stream=True)) == "Hello there."
    assert [model.id for model in client(relay).models.list()] == ["m"]
    heads = b"".join(head for head, _ in engine.requests)
    assert b"of-the-client" not in heads and b"Authorization: Bearer of-the-engine\r\n" in heads


def test_bodies_and_fields_arrive_as_they_were_sent(engine, relay):
    down = json.dumps(answer("x"), indent=3).encode() + b"\n"
    engine.reply = lambda head, body: [whole(200, down, "X-Request-Id: r1", "X-Ratelimit: 7")]
    got = httpx.post(relay.url + "/v1/chat/completions", content=BODY, headers={"x-request-id": "r1", "traceparent": "00-1-2-01", "content-type": "application/json"})
    assert got.content == down and got.headers["x-request-id"] == "r1" and got.headers["x-ratelimit"] == "7"
    head, body = engine.requests[-1]
    assert body == BODY and b"traceparent: 00-1-2-01\r\n" in head and b"x-request-id: r1\r\n" in head


@pytest.mark.parametrize("status,body,kind", [
    (400, b'{"error":{"message":"bad","type":"BadRequestError","param":null,"code":400}}', "application/json"),
    (401, b'{"error":"Unauthorized"}', "application/json"), (429, b"slow down", "text/plain"), (500, b"<html>broken</html>", "text/html"),
    (503, b"", "application/json")])
def test_errors_of_the_engine_pass_as_they_are(engine, relay, status, body, kind):
    engine.reply = lambda head, _: [whole(status, body, "Retry-After: 7", kind=kind)]
    got = httpx.post(relay.url + "/v1/chat/completions", content=BODY)
    assert (got.status_code, got.content, got.headers["content-type"], got.headers["retry-after"]) == (status, body, kind, "7")
    with pytest.raises(openai.APIStatusError) as caught:
        ask(relay)
    assert caught.value.status_code == status


def test_a_stream_that_is_cut_is_an_error_for_the_sdk(engine, relay):
    words = events(["Hel", "lo", " there."])
    engine.reply = lambda head, body: [STREAM_HEAD, *map(chunk, words[:2]), "cut"]
    seen = []
    with pytest.raises(openai.APIError, match="closed before the end"):
        for each in ask(relay, stream=True):
            seen.append(each.choices[0].delta.content)
    assert seen == ["Hel", "lo"]
    engine.reply = lambda head, body: [STREAM_HEAD, chunk(words[0] + words[1][:20]), "cut"]
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.post(relay.url + "/v1/chat/completions", content=BODY)
    engine.reply = lambda head, body: [whole(200, b"0123456789")[:-3], "cut"]
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.post(relay.url + "/v1/chat/completions", content=BODY)


def test_two_hundred_clients_that_hang_up_end_two_hundred_requests(engine, relay):
    first = chunk(events(["Hel"])[0])
    engine.reply = lambda head, body: [STREAM_HEAD, first, None]

    def hang_up(_):
        with httpx.stream("POST", relay.url + "/v1/chat/completions", content=BODY, timeout=30) as got:
            next(got.iter_raw())

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(hang_up, range(200)))
    until(lambda: engine.hung_up == 200, "the engine sees every client go")
    assert engine.waiting == 200


def test_an_engine_that_is_not_there_is_503(tmp_path):
    program = Program(["serve", "--engine", "http://127.0.0.1:9", "--engine-kind", "openai", "--port", 0], tmp_path / "stderr")
    assert httpx.post(program.url + "/v1/chat/completions", content=BODY).status_code == 503
    assert httpx.get(program.url + "/ready").status_code == 503 and httpx.get(program.url + "/health").status_code == 200
    assert program.stop() == 0


def test_sessions_are_refused_with_the_kinds_that_have_them(relay):
    got = httpx.post(relay.url + "/sessions")
    assert got.status_code == 400 and all(word in got.json()["error"]["message"] for word in ("--tokenizer", "sglang", "vllm", "dynamo"))


def serve(*options) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, "serve", "--port", "0", *map(str, options)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("option", [("--tokenizer", MODEL), ("--record-dir", "records"), ("--chat-template", "x"), ("--model-name", "m"), ("--vocab-size", 5),
                                    ("--max-model-len", 5), ("--cache-dir", "x")])
def test_what_a_relay_can_not_keep_is_refused(engine, option):
    refused = serve("--engine", engine.url, "--engine-kind", "openai", *option)
    assert refused.returncode == 2 and option[0] in refused.stderr and "--engine-kind" in refused.stderr and refused.stdout == ""


@pytest.mark.parametrize("variable, option", [("VERBATIM_STORE", "--store"), ("VERBATIM_DATA_DIR", "--data-dir"), ("VERBATIM_TOKENIZER", "--tokenizer"),
                                              ("VERBATIM_RECORD_DIR", "--record-dir"), ("VERBATIM_MODEL_NAME", "--model-name")])
def test_what_the_environment_says_for_all_commands_does_not_stop_a_relay(engine, tmp_path, monkeypatch, variable, option):
    monkeypatch.setenv(variable, "elsewhere")
    program = Program(["serve", "--engine", engine.url, "--engine-kind", "openai", "--port", 0], tmp_path / "stderr")
    assert httpx.post(program.url + "/v1/chat/completions", content=BODY).json() == answer("Hello there.")
    assert program.stop() == 0 and f"{option}: the environment's value is not used" in program.errors()
    refused = serve("--engine", engine.url, "--engine-kind", "openai", option, "here")
    assert refused.returncode == 2 and f"{option}: not for" in refused.stderr, "what is asked of the command is refused as before"


def test_keys_that_a_relay_would_not_ask_for_are_refused_wherever_they_are_named(engine, tmp_path, monkeypatch):
    (tmp_path / "keys").write_text("ann key-0123456789-ann\n")
    monkeypatch.setenv("VERBATIM_API_KEYS", str(tmp_path / "keys"))
    refused = serve("--engine", engine.url, "--engine-kind", "openai")
    assert refused.returncode == 2 and "--api-keys: not for" in refused.stderr


def test_auto_relays_where_nothing_else_speaks_and_says_what_that_costs(engine, tmp_path):
    program = Program(["serve", "--engine", engine.url, "--port", 0], tmp_path / "stderr")
    assert httpx.post(program.url + "/v1/chat/completions", content=BODY).json() == answer("Hello there.")
    assert program.stop() == 0
    assert all(word in program.errors() for word in ("tokens can't be exact", "--tokenizer", "--engine-kind", "sglang, vllm, dynamo"))
    refused = serve("--engine", engine.url, "--tokenizer", MODEL)
    assert refused.returncode == 2 and "leave out --tokenizer" in refused.stderr and "--engine-kind" in refused.stderr
    told = subprocess.run([BINARY, "doctor", "--engine", engine.url], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0 and "openai (as it shows itself)" in told.stdout and "tokens can't be exact" in told.stdout


def test_without_a_tokenizer_only_messages_can_be_relayed(engine):
    refused = serve("--engine", engine.url, "--engine-kind", "vllm")
    assert refused.returncode == 2 and "--tokenizer: missing" in refused.stderr and "--engine-kind openai" in refused.stderr
    absent = serve("--engine", "http://127.0.0.1:9")
    assert absent.returncode == 2 and "does not answer yet" in absent.stderr
    several = serve("--engine", engine.url, "--engine", engine.url + "/b", "--engine-kind", "openai")
    assert several.returncode == 2 and "one URL" in several.stderr
