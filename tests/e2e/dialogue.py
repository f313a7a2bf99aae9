"""A conversation over plain HTTP, for tests that look at statuses."""
from __future__ import annotations

import json

import httpx

from faults import request_for
from programs import Gateway
from raw_http import sse

GREETING = request_for("say hello")


def user(text: str) -> dict:
    return {"role": "user", "content": text}


class Dialogue:
    def __init__(self, gateway: Gateway):
        self.gateway = gateway
        self.session = gateway.session()
        self.messages: list[dict] = [{"role": "system", "content": "You are brief."}]

    def send(self, body) -> httpx.Response:
        return self.gateway.chat(self.session, body)

    def body(self, *more: dict, **parameters) -> dict:
        return {"model": "qwen3", "messages": [*self.messages, *more], **parameters}

    def say(self, text: str = GREETING, **parameters) -> dict:
        """A turn that must succeed; the answer's message is kept."""
        self.messages.append(user(text))
        answer = self.send(self.body(**parameters))
        assert answer.status_code == 200, f"{answer.status_code} {answer.text}"
        message = answer.json()["choices"][0]["message"]
        self.messages.append(message)
        return message

    def lines(self) -> list[dict]:
        return self.gateway.record(self.session)

    def snapshot(self) -> tuple[bytes, bytes]:
        return self.gateway.snapshot(self.session)


def check_untouched(dialogue: Dialogue, before: tuple[bytes, bytes]) -> None:
    """I3: what was refused or failed has left nothing, and the next turn joins where the last good one ended."""
    after = dialogue.snapshot()
    assert after[0] == before[0], f"the record file changed: {after[0][len(before[0]):]!r}"
    assert after[1] == before[1], "GET of the session changed"
    count = len(dialogue.lines())
    dialogue.say()
    lines = dialogue.lines()
    assert len(lines) == count + 1
    if count:
        assert lines[-1]["parent_turn"] == lines[-2]["turn"], "the turn behind it does not continue the last good one"


def error_of(answer: httpx.Response) -> dict:
    """The error of an answer, whole or within a stream that had begun."""
    if answer.headers["content-type"].startswith("text/event-stream"):
        payloads = [json.loads(text) for text in sse(answer.content) if text != "[DONE]"]
        assert not any(choice.get("finish_reason") for payload in payloads for choice in payload.get("choices", [])), \
            "a stream that failed has a finish reason"
        assert "error" in payloads[-1], f"the stream ends without an error: {payloads[-1]}"
        return payloads[-1]["error"]
    error = answer.json()["error"]
    assert isinstance(error["message"], str) and error["message"], error
    return error
