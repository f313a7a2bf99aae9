"""The gateway as an HTTP server, seen by a bare socket and by a common client."""
import json

import pytest

from dialogue import GREETING, error_of, user
from faults import request_for
from raw_http import Connection, sse


@pytest.fixture
def wire(gateway):
    with Connection(gateway.program.host_port) as connection:
        yield connection


def chat(text: str = GREETING, **parameters) -> dict:
    return {"model": "qwen3", "messages": [user(text)], **parameters}


def test_every_answer_has_one_server_and_one_date(wire):
    answers = [wire.request("GET", "/health"), wire.request("GET", "/nowhere"), wire.request("DELETE", "/health"), wire.post("/sessions", {}),
               wire.post("/v1/chat/completions", chat()), wire.post("/v1/chat/completions", chat(stream=True)),
               wire.post("/v1/chat/completions", chat(request_for("http_429"))), wire.request("POST", "/v1/chat/completions", b"{")]
    assert [answer.status for answer in answers] == [200, 404, 405, 200, 200, 200, 429, 400]
    for answer in answers:
        assert len(answer.header("server")) == 1 and len(answer.header("date")) == 1, answer.headers


def test_the_connection_stays_usable_behind_every_error(wire, gateway):
    session = gateway.session()
    path = f"/sessions/{session}/v1/chat/completions"
    for request, status in ((("POST", path, b"{"), 400), (("POST", path, b'{"messages": 7}'), 400), (("POST", "/sessions/nope/v1/chat/completions", b'{"messages": []}'), 400),
                            (("GET", "/nowhere"), 404), (("PUT", "/sessions"), 405), (("GET", "/sessions/nope"), 404),
                            (("POST", path, json.dumps(chat(request_for("http_500"))).encode()), 500),
                            (("POST", path, json.dumps(chat(request_for("short_logprobs"))).encode()), 502),
                            (("POST", path, json.dumps(chat(request_for("closed"))).encode()), 502)):
        answer = wire.request(*request)
        assert answer.status == status, (request, answer)
        assert "close" not in answer.header("connection")
        assert wire.request("GET", "/health").status == 200
    assert wire.post(path, chat()).status == 200


def test_unknown_paths_and_methods_have_the_error_shape(gateway):
    missing = gateway.http.get("/v1/nothing")
    assert missing.status_code == 404 and error_of(missing)["type"] == "not_found_error"
    refused = gateway.http.put("/v1/chat/completions", json={})
    assert refused.status_code == 405 and refused.headers["allow"] == "POST"
    assert error_of(refused)["message"]
    session = gateway.http.post(f"/sessions/{gateway.session()}")
    assert session.status_code == 405 and session.headers["allow"] == "GET, DELETE"


def test_head_has_the_head_of_get_and_no_body(wire):
    head = wire.request("HEAD", "/health")
    get = wire.request("GET", "/health")
    assert (head.status, head.header("content-length"), head.body) == (200, get.header("content-length"), b"")
    assert get.json() == {"status": "ok"}


def test_models_name_the_model_and_its_context(gateway):
    answer = gateway.http.get("/v1/models").json()
    model, = answer["data"]
    assert answer["object"] == "list" and model["object"] == "model"
    assert (model["id"], model["max_model_len"]) == ("qwen3", 32768)


def test_ready_while_the_engine_answers(gateway):
    assert gateway.http.get("/ready").status_code == 200


def test_requests_in_one_packet_are_answered_in_order(wire):
    one = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    body = json.dumps(chat()).encode()
    two = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    wire.send(one + two + b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n" + one)
    answers = [wire.answer() for _ in range(4)]
    assert [answer.status for answer in answers] == [200] * 4
    assert answers[1].json()["object"] == "chat.completion" and answers[2].json()["object"] == "list"


def test_a_chunked_body_is_read(wire):
    body = json.dumps(chat()).encode()
    pieces = [body[at:at + 7] for at in range(0, len(body), 7)]
    wire.send(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    wire.send(b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n")
    assert wire.answer().status == 200


def test_expect_100_continue_is_answered(wire):
    body = json.dumps(chat()).encode()
    wire.send(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
    assert wire._until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
    wire.send(body)
    assert wire.answer().status == 200


def test_a_head_that_is_too_large_is_431(wire):
    assert wire.request("GET", "/health", headers={"X-Long": "a" * 80_000}).status == 431


def test_an_http_1_0_client_is_served(gateway):
    with Connection(gateway.program.host_port) as connection:
        connection.send(b"GET /health HTTP/1.0\r\n\r\n")
        answer = connection.answer()
        assert answer.status == 200 and answer.header("connection") == ["close"]


def test_events_leave_as_one_line_of_data_each(wire):
    answer = wire.post("/v1/chat/completions", chat(stream=True))
    payloads = sse(answer.body)
    assert payloads[-1] == "[DONE]"
    assert answer.header("content-type") == ["text/event-stream"]
    assert all(json.loads(payload)["object"] == "chat.completion.chunk" for payload in payloads[:-1])


def test_the_request_id_of_a_client_is_kept(gateway):
    session = gateway.session()
    answer = gateway.http.post(f"/sessions/{session}/v1/chat/completions", json=chat(), headers={"X-Request-Id": "mine-17", "X-Thread-Id": "t-4"})
    assert answer.headers["x-request-id"] == "mine-17"
    line, = gateway.record(session)
    assert (line["request_id"], line["thread_id"]) == ("mine-17", "t-4")
