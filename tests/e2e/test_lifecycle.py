"""Ends of clients, sessions, engines and gateways in the middle of a turn."""
import json
import signal
import subprocess
import threading
import time

import httpx
import pytest

from dialogue import GREETING, Dialogue, check_untouched, error_of, user
from faults import request_for
from programs import BINARY, MODEL, until
from raw_http import Connection


def begin(stack, dialogue: Dialogue, text: str, **parameters) -> Connection:
    """Sends a request and leaves its answer unread."""
    body = json.dumps(dialogue.body(user(text), **parameters)).encode()
    wire = Connection(stack.gateway.program.host_port)
    wire.send(f"POST /sessions/{dialogue.session}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    return wire


def running(stack) -> int:
    return stack.sim.stats()["running"]


@pytest.mark.parametrize("text", [request_for("slow"), request_for("stall")], ids=["sampling", "silent"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
def test_a_client_that_hangs_up_stops_the_engine_and_leaves_nothing(stack, stream, text):
    dialogue = Dialogue(stack.gateway)
    dialogue.say()
    before, finished = dialogue.snapshot(), stack.sim.stats()["finished"]
    wire = begin(stack, dialogue, text, stream=stream)
    until(lambda: running(stack) == 1, "the engine samples")
    if stream and "slow" in text:
        wire._until(b'"delta":{"content":"')
    wire.socket.close()
    until(lambda: running(stack) == 0, "the engine was told to stop", seconds=3)
    stats = stack.sim.stats()
    assert stats["finished"] == finished and stats["aborted_by_close"] + stats["aborted_by_id"] > 0
    check_untouched(dialogue, before)


def test_a_deleted_session_is_gone(gateway):
    dialogue = Dialogue(gateway)
    dialogue.say()
    assert gateway.http.delete(f"/sessions/{dialogue.session}").status_code == 204
    assert gateway.http.get(f"/sessions/{dialogue.session}").status_code == 404
    assert gateway.http.delete(f"/sessions/{dialogue.session}").status_code == 404
    assert dialogue.send(dialogue.body(user("more"))).status_code == 404
    turn, end = dialogue.lines()
    assert (end["schema_version"], end["turns"], end["reason"]) == ("tito.session.v1", 1, "deleted")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
def test_deleting_a_session_ends_its_turn(stack, stream):
    dialogue = Dialogue(stack.gateway)
    dialogue.say()
    finished = stack.sim.stats()["finished"]
    answers = []
    body = dialogue.body(user(request_for("slow")), stream=stream)
    thread = threading.Thread(target=lambda: answers.append(stack.gateway.chat(dialogue.session, body)))
    thread.start()
    until(lambda: running(stack) == 1, "the engine samples")
    assert httpx.delete(f"{stack.gateway.url}/sessions/{dialogue.session}").status_code == 204
    thread.join(3)
    assert not thread.is_alive(), "the turn of a deleted session goes on"
    assert answers[0].status_code == 404 or (stream and answers[0].status_code == 200), answers[0].text
    error_of(answers[0])
    until(lambda: running(stack) == 0, "the engine was told to stop", seconds=3)
    assert stack.sim.stats()["finished"] == finished
    assert [line["schema_version"] for line in dialogue.lines()] == ["tito.record.v1", "tito.session.v1"]


def test_without_its_engine_the_gateway_says_so_and_loses_nothing(make_stack):
    stack = make_stack()
    dialogue = Dialogue(stack.gateway)
    dialogue.say("Hello")
    before = dialogue.snapshot()
    stack.sim.program.kill()
    for stream in (False, True):
        answer = dialogue.send(dialogue.body(user("Hello again"), stream=stream))
        assert answer.status_code in (502, 503), answer.text
        error_of(answer)
    ready = stack.gateway.http.get("/ready")
    assert ready.status_code == 503 and error_of(ready)["type"] == "service_unavailable_error"
    assert stack.gateway.http.get("/health").status_code == 200
    assert dialogue.snapshot() == before


def test_an_engine_that_dies_in_the_middle_is_an_error_in_the_stream(make_stack):
    stack = make_stack("--token-delay-ms", 20, "--text", "word " * 200)
    dialogue = Dialogue(stack.gateway)
    before = dialogue.snapshot()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(dialogue.send(dialogue.body(user("Hello"), stream=True))))
    thread.start()
    until(lambda: stack.sim.stats()["completion_tokens"] > 5, "the engine samples")
    stack.sim.program.kill()
    thread.join(10)
    assert answers and answers[0].status_code == 200
    assert error_of(answers[0])["type"] == "upstream_error"
    assert dialogue.snapshot() == before


def test_a_gateway_told_to_end_finishes_its_turns(make_stack):
    stack = make_stack("--token-delay-ms", 15, "--text", "word " * 60)
    dialogue = Dialogue(stack.gateway)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(dialogue.send(dialogue.body(user("Hello")))))
    thread.start()
    until(lambda: running(stack) == 1, "the engine samples")
    stopping = threading.Thread(target=stack.gateway.program.stop)
    stopping.start()

    def refused() -> bool:
        try:
            return httpx.get(stack.gateway.url + "/health", timeout=5).status_code == 503
        except httpx.TransportError:
            return True

    until(refused, "new requests are refused")
    thread.join(15)
    stopping.join(15)
    assert answers and answers[0].status_code == 200, "the running turn was not finished"
    assert stack.gateway.program.process.returncode == 0
    assert len(dialogue.lines()) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
def test_a_gateway_told_twice_ends_at_once_and_its_clients_hear_of_it(make_stack, stream):
    stack = make_stack("--token-delay-ms", 500, "--text", "word " * 600)
    dialogue = Dialogue(stack.gateway)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(dialogue.send(dialogue.body(user("Hello"), stream=stream))))
    thread.start()
    until(lambda: stack.sim.stats()["completion_tokens"] > 1, "the engine samples")
    process = stack.gateway.program.process
    process.send_signal(signal.SIGTERM)
    until(lambda: "another signal ends them now" in stack.gateway.program.errors(), "the first signal was heard")
    told = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert time.monotonic() - told < 10
    thread.join(10)
    assert answers and answers[0].status_code == (200 if stream else 503)
    assert error_of(answers[0])["code"] == "shutting_down"
    assert dialogue.lines() == []


@pytest.mark.parametrize("threads", [1, 2])
def test_a_port_that_another_gateway_serves_is_not_shared(stack, threads):
    port = stack.gateway.program.host_port[1]
    second = subprocess.run([BINARY, "serve", "--engine", stack.sim.url, "--tokenizer", MODEL, "--port", str(port), "--threads", str(threads), "--store", "memory"],
                            capture_output=True, text=True, timeout=60)
    assert second.returncode == 1 and "Address already in use" in second.stderr and "--port" in second.stderr, second.stderr


def test_a_simulator_told_to_end_ends_cleanly(make_stack):
    stack = make_stack()
    assert stack.sim.program.stop() == 0


def test_a_gateway_may_start_before_its_engine(workplace):
    """The port is that of a simulator that has ended; nothing listens there."""
    from conftest import Stack
    from programs import MODEL, Program
    first = Stack(workplace / "early")
    dead = first.sim.url
    first.close()
    gateway = Program(["serve", "--engine", dead, "--tokenizer", MODEL, "--cache-dir", workplace / "cache", "--store", "memory", "--port", 0],
                      workplace / "early.stderr")
    assert httpx.get(gateway.url + "/health").status_code == 200
    assert httpx.get(gateway.url + "/ready", timeout=60).status_code == 503
    assert gateway.stop() == 0
