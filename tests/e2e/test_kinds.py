"""Every kind of engine and every mode: one scripted conversation gives the same ids, logprobs, messages and records, whatever the wire."""
import http.server
import json
import subprocess
import threading

import pytest

from agent import QUESTIONS, Agent
from hang_ups import check_hang_ups
from programs import BINARY, MODEL, Simulator
from records import check_record, single

WAYS = [("sglang", "generate"), ("sglang", "chat"), ("vllm", "generate"), ("vllm", "completions"), ("vllm", "derender"), ("dynamo", "chat"),
        ("dynamo", "generate")]
# What a way can't carry, field by field: nothing else may differ.
LEFT_OUT = {
    # vLLM's own parser keeps the newlines that ours trims, and writes arguments anew (engine/vllm/README.md).
    ("vllm", "derender"): {"assistant_message"},
}
# Logprobs are 32-bit floats on this wire.
FLOATS = {("dynamo", "generate")}


def normalised(line: dict) -> tuple:
    """What is left of a message when newlines at its ends and the spelling of arguments are no matter."""
    message = line["assistant_message"]
    calls = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message.get("tool_calls", [])]
    return (message.get("content") or "").strip(), (message.get("reasoning_content") or "").strip(), calls


# Engines whose own parser answers, in one piece.
ANSWERED_WHOLE = (("vllm", "derender"), ("sglang", "chat"), ("dynamo", "generate"))
SAME = ["prompt_token_ids", "completion_token_ids", "completion_logprobs", "finish_reason", "assistant_message", "spans", "prefix_stable"]


def hold(stack, stream: bool) -> tuple[Agent, list[dict]]:
    session = stack.gateway.session()
    agent = Agent(f"{stack.gateway.url}/sessions/{session}/v1", stream=stream)
    for question in QUESTIONS:
        agent.ask(question)
    agent.close()
    return agent, stack.gateway.record(session)


def comparable(line: dict, field: str, floats: bool = False):
    value = line[field]
    if field == "completion_logprobs" and floats:
        return [single(each) for each in value]
    if field == "assistant_message":  # the ids of calls are the gateway's, new each time
        return {**value, "tool_calls": [call["function"] for call in value.get("tool_calls", [])]}
    return value


@pytest.fixture(scope="module")
def reference(workplace):
    """The conversation as the first way holds it, and a script that samples the same again."""
    from conftest import Stack
    stack = Stack(workplace / "kinds-reference")
    agent, lines = hold(stack, stream=False)
    stack.close()
    script = [{"when": {"prompt_ids": line["prompt_token_ids"]}, "output_ids": line["completion_token_ids"],
               "logprobs": line["completion_logprobs"], "finish": "stop", "matched": line["completion_token_ids"][-1]} for line in lines]
    return agent, lines, script


@pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])
@pytest.mark.parametrize("kind,mode", WAYS)
def test_the_same_conversation_is_the_same_over_every_way(make_stack, reference, kind, mode, stream):
    agent, lines, script = reference
    stack = make_stack(script=script, kind=kind, mode=mode)
    again, recorded = hold(stack, stream)
    floats = (kind, mode) in FLOATS
    sampled = {tuple(entry["prompt_ids"]): entry for entry in stack.sim.log()}
    for entry in sampled.values() if floats else ():
        entry["logprobs"] = [single(value) for value in entry["logprobs"]]
    check_record(recorded, [sampled[tuple(line["prompt_token_ids"])] for line in recorded])
    assert len(recorded) == len(lines) == 10
    skipped = LEFT_OUT.get((kind, mode), set())
    for number, (line, expected) in enumerate(zip(recorded, lines)):
        assert (line["backend_kind"], line["engine_mode"]) == (kind, mode)
        for field in SAME:
            if field not in skipped:
                assert comparable(line, field, floats) == comparable(expected, field, floats), f"turn {number}: {field}"
    assert [normalised(line) for line in recorded] == [normalised(line) for line in lines]
    if not skipped:
        assert [turn.content for turn in again.turns] == [turn.content for turn in agent.turns]


@pytest.mark.parametrize("kind,mode", WAYS)
def test_clients_that_hang_up_abort_the_engine_and_leave_no_record(make_stack, kind, mode):
    stack = make_stack("--token-delay-ms", 20, "--behaviour", "fixed-text", "--text", "word " * 400, kind=kind, mode=mode)
    check_hang_ups(stack, "qwen3", whole=(kind, mode) in ANSWERED_WHOLE)


def serve(url: str, *options) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, "serve", "--engine", url, "--tokenizer", MODEL, *options], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def engines(workplace):
    made = {}
    for face in ("sglang", "vllm", "dynamo"):
        folder = workplace / f"faces-{face}"
        folder.mkdir()
        made[face] = Simulator(folder, face=face)
    yield made
    for engine in made.values():
        engine.close()


@pytest.mark.parametrize("declared,found", [("sglang", "vllm"), ("vllm", "sglang"), ("dynamo", "vllm"), ("sglang", "dynamo")])
def test_another_kind_than_the_declared_one_refuses_start_with_the_remedy(engines, declared, found):
    refused = serve(engines[found].url, "--engine-kind", declared)
    assert refused.returncode == 2
    assert f"--engine-kind {found}" in refused.stderr and refused.stdout == ""


def test_an_engine_that_does_not_read_ids_refuses_start(workplace):
    """A Dynamo with nvext switched off drops the ids, renders a placeholder, and answers 200."""
    folder = workplace / "no-extensions"
    folder.mkdir()
    engine = Simulator(folder, "--no-extensions", face="dynamo")
    refused = serve(engine.url)
    told = subprocess.run([BINARY, "doctor", "--engine", engine.url], capture_output=True, text=True, timeout=60)
    engine.close()
    assert refused.returncode == 2 and "does not answer to the ids" in refused.stderr, refused.stderr
    assert told.returncode == 2 and "not shown to be read" in told.stdout


def test_an_unknown_word_is_refused_with_the_list(engines):
    for option, word in (("--engine-kind", "vlm"), ("--engine-mode", "tokens")):
        refused = serve(engines["vllm"].url, option, word)
        assert refused.returncode == 2 and word in refused.stderr
        assert all(known in refused.stderr for known in {"--engine-kind": ("auto", "sglang", "vllm"), "--engine-mode": ("generate",)}[option])
    refused = serve(engines["sglang"].url, "--engine-kind", "sglang", "--engine-mode", "derender")
    assert refused.returncode == 2 and "expected one of generate" in refused.stderr


def test_a_route_that_is_switched_off_refuses_start(workplace):
    folder = workplace / "no-routes"
    folder.mkdir()
    engine = Simulator(folder, "--no-token-routes", face="vllm")
    refused = serve(engine.url)
    engine.close()
    assert refused.returncode == 2 and "lacks the route" in refused.stderr and "--engine-mode" in refused.stderr


@pytest.mark.parametrize("kind,mode", [("sglang", "generate"), ("vllm", "generate"), ("dynamo", "chat")])
def test_doctor_says_what_is_there_and_how_it_would_be_driven(engines, kind, mode):
    told = subprocess.run([BINARY, "doctor", "--engine", engines[kind].url + "/v1"], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr
    lines = dict(line.split(maxsplit=1) for line in told.stdout.splitlines())
    assert lines["kind"].startswith(kind) and lines["mode"].startswith(mode) and lines["ids"] == "read as they are sent"
    assert "context 32768" in lines["model"]


def test_doctor_of_nothing_is_a_failure_with_a_hint(workplace):
    told = subprocess.run([BINARY, "doctor", "--engine", "http://127.0.0.1:9"], capture_output=True, text=True, timeout=60)
    assert told.returncode == 1 and "is the server up" in told.stderr


def doctor(*urls: str) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, "doctor", *(word for url in urls for word in ("--engine", url))], capture_output=True, text=True, timeout=60)


def test_doctor_of_several_tells_of_each_and_exits_with_the_worst(engines):
    vllm, sglang, nobody = engines["vllm"].url, engines["sglang"].url, "http://127.0.0.1:9"
    some = doctor(vllm, nobody)
    assert some.returncode == 1 and "is the server up" in some.stderr
    assert some.stdout.count("engine ") == 2 and "read as they are sent" in some.stdout
    mixed = doctor(vllm, sglang, nobody)
    assert mixed.returncode == 2 and "replicas must be of one kind" in mixed.stderr, mixed.stderr


@pytest.mark.parametrize("profile,verified", [("0.32", True), ("0.30", False)])
def test_doctor_says_whether_a_release_was_recorded(workplace, profile, verified):
    folder = workplace / f"recorded-{profile}"
    folder.mkdir()
    engine = Simulator(folder, "--profile", profile, face="vllm")
    told = doctor(engine.url)
    engine.close()
    assert told.returncode == 0 and ("unverified" not in told.stdout) == verified, told.stdout


def test_the_words_of_an_engine_can_not_drive_a_terminal():
    """It names its owner and its model in control characters."""
    page = json.dumps({"data": [{"id": "m\x1b[2J\nverbatim: all is well", "owned_by": "vllm\x9b31m\u202e", "max_model_len": 64}]}).encode()

    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            known = {"/v1/models": page, "/version": b'{"version":"0.32.0\\u001b]0;title\\u0007"}'}.get(self.path)
            self.send_response(200 if known else 404)
            self.send_header("content-length", str(len(known or b"{}")))
            self.end_headers()
            self.wfile.write(known or b"{}")

        def do_POST(self):
            said = b'{"error":{"message":"no\\u001b[31m way","code":400}}'
            self.send_response(400)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        told = doctor(url)
    finally:
        server.shutdown()
        server.server_close()
    for output in (told.stdout, told.stderr):
        assert all(letter == "\n" or letter.isprintable() for letter in output), repr(output)
    assert "\\x1b[2J\\n" in told.stdout and "\\u202e" in told.stdout and "\\x1b[31m" in told.stderr + told.stdout


def discovered(environment: dict, *options) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, "doctor", *options], capture_output=True, text=True, timeout=60, env=environment)


def test_variables_name_the_engine_and_its_kind(engines):
    vllm, sglang = engines["vllm"].url, engines["sglang"].url
    told = discovered({"VLLM_BASE_URL": vllm + "/v1"})
    assert told.returncode == 0 and "vllm (as told)" in told.stdout
    both = discovered({"VLLM_BASE_URL": vllm, "SGLANG_BASE_URL": sglang})
    assert both.returncode == 2 and "SGLANG_BASE_URL and VLLM_BASE_URL" in both.stderr
    chosen = discovered({"VLLM_BASE_URL": vllm, "SGLANG_BASE_URL": sglang}, "--engine-kind", "sglang")
    assert chosen.returncode == 0 and "sglang (as told)" in chosen.stdout
    none = discovered({})
    assert none.returncode == 2 and "VERBATIM_ENGINE" in none.stderr


def test_a_gateway_does_not_take_itself_for_an_engine():
    refused = serve("http://127.0.0.1:8123", "--port", "8123")
    assert refused.returncode == 2 and "own address" in refused.stderr


def test_the_key_of_the_engine_may_stand_in_a_file(engines, tmp_path):
    empty = tmp_path / "key"
    empty.write_text("\n")
    refused = serve(engines["vllm"].url, "--engine-api-key-file", empty)
    assert refused.returncode == 2 and "is empty" in refused.stderr
    empty.write_text("secret\n")
    twice = serve(engines["vllm"].url, "--engine-api-key-file", empty, "--engine-api-key", "other")
    assert twice.returncode == 2 and "one of the two" in twice.stderr


@pytest.mark.parametrize("options,says", [
    (["--engine-api-key", "a\nb"], "--engine-api-key"),
    (["--vocab-size", "-1"], "--vocab-size"), (["--vocab-size", "99999999999"], "--vocab-size"),
    (["--threads", "100000"], "--threads"),
], ids=["a key of two lines", "a negative size", "a size beyond 32 bits", "too many threads"])
def test_options_that_can_not_be_are_refused_at_start(engines, options, says):
    refused = serve(engines["vllm"].url, *options)
    assert refused.returncode == 2 and says in refused.stderr, refused.stderr
