"""The recordings of tests/cassettes, read by a reader of YAML that is not ours, and the gateway in front of one that is replayed."""
from __future__ import annotations

import json
import subprocess
from pathlib import Path

import httpx
import yaml

from messages import MessageGateway
from programs import BINARY, ROOT, Program

CASSETTES = ROOT / "tests/cassettes"
FOLDERS = sorted(folder.name for folder in CASSETTES.iterdir() if folder.is_dir())
# Of Dynamo's, by folder.
RELEASES = {"dynamo": "1.4.1", "dynamo-1.6.1": "1.6.1"}
SCENARIOS = ("stateful", "tool-call-auto")
KINDS = ("streaming", "nonstreaming")


class Recorded:
    """One turn of a cassette."""

    def __init__(self, turn: dict):
        self.request, self.answer = turn["request"], turn["response"]
        self.body = self.request["body"]

    @property
    def response(self) -> dict:
        """The whole response: the body, or what the terminal event holds."""
        if "body" in self.answer:
            return self.answer["body"]
        events = [json.loads(line[6:]) for line in self.answer["sse"] if line.startswith("data: {")]
        assert events[-1]["type"] == "response.completed"
        return events[-1]["response"]


class Cassette:
    def __init__(self, path: Path):
        self.path = path
        loaded = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        self.provider, self.turns = loaded["provider"], [Recorded(turn) for turn in loaded["turns"]]
        self.streams = bool(self.turns[0].body.get("stream"))
        self.model = self.turns[0].body["model"]

    def added(self, number: int) -> list[dict]:
        """What a client of a server that remembers says in this turn: the input without what was there before."""
        if number == 0:
            return self.turns[0].body["input"]
        before = self.turns[number - 1]
        return self.turns[number].body["input"][len(before.body["input"]) + len(before.response["output"]):]


def response_in(text: str, stream: bool) -> dict:
    """The whole response, of a body or of the terminal event of a stream, whose events are numbered without a gap."""
    if not stream:
        return json.loads(text)
    events = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: {")]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "response.completed", events[-1]
    return events[-1]["response"]


def post(server: httpx.Client, body: dict) -> dict:
    answer = server.post("/v1/responses", json=body)
    assert answer.status_code == 200, answer.text
    return response_in(answer.text, bool(body.get("stream")))


def said(response: dict) -> dict:
    """What a client reads of a response, but for the ids."""
    items = response["output"]
    texts = [part["text"] for item in items if item["type"] == "message" for part in item["content"]]
    # Dynamo 1.4.1 shows reasoning as a summary.
    reasoning = [part["text"] for item in items if item["type"] == "reasoning" for part in item.get("content") or item["summary"]]
    calls = [(item["name"], json.loads(item["arguments"]), item["status"]) for item in items if item["type"] == "function_call"]
    return {"status": response["status"], "text": "".join(texts).strip(), "reasoning": reasoning, "calls": calls, "usage": counts(response["usage"])}


def counts(usage: dict) -> dict:
    """What the schema has of a usage: vLLM counts more."""
    return {**{name: usage[name] for name in ("input_tokens", "output_tokens", "total_tokens")},
            "cached_tokens": usage["input_tokens_details"]["cached_tokens"], "reasoning_tokens": usage["output_tokens_details"]["reasoning_tokens"]}


def ids(response: dict) -> list[tuple]:
    return [(item["type"], item["id"], item.get("call_id")) for item in response["output"]]


def structure(items) -> list[dict]:
    """Of items of an input, what makes the conversation."""
    names = ("type", "role", "status", "id", "call_id", "name", "arguments", "output", "summary")
    out = []
    for item in items:
        kept = {name: item[name] for name in names if item.get(name) is not None}
        content = item.get("content")
        if isinstance(content, str):
            content = [{"text": content}]
        out.append({**kept, "texts": [part["text"] for part in content or []]})
    return out


def verbatim(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def recorded(folder: str, scenario: str, kind: str) -> Path:
    """`kind` is one of KINDS; names begin with the engine's kind."""
    found = list((CASSETTES / folder).glob(f"*-{scenario}-*-{kind}.yaml"))
    assert len(found) == 1, found
    return found[0]


class Replay:
    """`verbatim cassette replay`."""

    def __init__(self, folder: Path, *arguments):
        folder.mkdir(parents=True, exist_ok=True)
        self.log_file = folder / "asked.jsonl"
        self.program = Program(["cassette", "replay", *arguments, "--port", 0, "--log", self.log_file], folder / "replay.stderr")
        self.url = self.program.url

    def asked(self) -> list[dict]:
        """The requests that were no standing ones, with their bodies as they came."""
        lines = map(json.loads, self.log_file.read_text().splitlines()) if self.log_file.exists() else []
        return [line for line in lines if not line["standing"]]


class ReplayedStack:
    """A gateway in front of the replay of one cassette; what it asks to be ready is recorded beside it."""

    def __init__(self, folder: Path, cassette: Cassette):
        standing = list(cassette.path.parent.glob("gateway-start-*.yaml"))
        # The gateway says that the engine need not keep anything, which a client of the engine's own leaves to its default.
        self.replay = Replay(folder, cassette.path, "--ignore", "store", *(word for path in standing for word in ("--standing", path)))
        try:
            self.gateway = MessageGateway(folder, self.replay.url, kind=cassette.provider["name"], mode="responses")
        except BaseException:
            self.replay.program.kill()
            raise

    def kill(self) -> None:
        self.gateway.program.kill()
        self.gateway.http.close()
        self.replay.program.kill()
