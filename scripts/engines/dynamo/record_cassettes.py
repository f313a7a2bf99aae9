#!/usr/bin/env python3
"""Records cassettes from the real Dynamo frontend, whose worker speaks gpt-oss' harmony by a script. See scripts/record-dynamo-cassettes.sh.

  record_cassettes.py OUTPUT --vocabulary FOLDER [--python PYTHON] [--binary VERBATIM]

OUTPUT must not be there: it is made when all were recorded and found valid. FOLDER holds the tokenizer.json and chat_template.jinja of gpt-oss.
"""
from __future__ import annotations

import argparse
import contextlib
import datetime
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tokenizers import Tokenizer

import harmony
from deployment import PYTHON, ROOT, Deployment

MODEL = "openai/gpt-oss-20b"
URL = re.compile(r"http://127\.0\.0\.1:(\d+)")

REMEMBER, WHICH = "Remember the word APPLE. Reply with OK only.", "Which word did I ask you to remember? Reply with the word only."
PRICE = "What does NVDA trade at?"
TOOL = {"type": "function", "name": "get_stock_price", "description": "The price of a stock, in dollars.", "strict": False,
        "parameters": {"type": "object", "properties": {"symbol": {"type": "string"}}, "required": ["symbol"]}}


class Speech:
    """What the worker answers to which prompt ids."""

    def __init__(self, vocabulary: Path):
        self.tokenizer = Tokenizer.from_file(str(vocabulary / "tokenizer.json"))

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def row(self, *holds: str, last: str = "", thought: str, rest: str) -> dict:
        said = f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant{rest}"
        return {"holds": [self.ids(part) for part in holds], "last": self.ids(last + "<|start|>assistant"), "token_ids": self.ids(said)}

    def script(self) -> list[dict]:
        def user(text: str) -> str:
            return f"<|start|>user<|message|>{text}<|end|>"

        def final(text: str) -> str:
            return f"<|channel|>final<|message|>{text}<|return|>"

        answered = "<|start|>assistant<|channel|>final<|message|>OK<|end|>"
        call = '<|channel|>commentary to=functions.get_stock_price <|constrain|>json<|message|>{"symbol":"NVDA"}<|call|>'
        result = "<|start|>functions.get_stock_price to=assistant<|channel|>commentary<|message|>"
        return [
            # The word is known to whom the whole conversation is shown, in its order, and to nobody else.
            self.row(last=user(REMEMBER) + answered + user(WHICH), thought="The word was APPLE.", rest=final("APPLE")),
            self.row(last=user(WHICH), thought="I was told no word.", rest=final("You have not told me a word.")),
            self.row(last=user(REMEMBER), thought="I should keep it in mind.", rest=final("OK")),
            self.row(user(PRICE), result, thought="The tool has answered.", rest=final("NVDA trades at 181.25 dollars.")),
            self.row(" get_stock_price", last=user(PRICE), thought="The tool knows.", rest=call),
            self.row(thought="I am asked something else.", rest=final("Hello.")),
        ]


def ask(port: int, body: dict) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", "/v1/responses", json.dumps(body), {"content-type": "application/json", "user-agent": "record_cassettes"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def response_of(status: int, text: str, stream: bool) -> dict:
    """The whole response, of a body or of the last event of a stream."""
    if status != 200:
        raise AssertionError(f"status {status}: {text}")
    if not stream:
        return json.loads(text)
    events = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: {")]
    if events[-1]["type"] != "response.completed":
        raise AssertionError(f"the stream ends with {events[-1]['type']}")
    return events[-1]["response"]


def text_of(response: dict) -> str:
    parts = [part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"]]
    return "".join(parts).strip()


class Process:
    """A server of the binary; `port` is what it says that it listens on."""

    def __init__(self, arguments: list, environment: dict | None = None):
        self.process = subprocess.Popen([str(argument) for argument in arguments], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                        env=os.environ | (environment or {}))
        found = URL.search(self.process.stdout.readline())
        if not found:
            self.process.kill()
            raise AssertionError(f"{arguments[1:3]} did not start")
        self.port = int(found[1])

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


class Recorder:
    def __init__(self, dynamo: Deployment, binary: Path, folder: Path):
        self.dynamo, self.binary, self.folder = dynamo, binary, folder

    @contextlib.contextmanager
    def into(self, name: str, transport: str, *options: str):
        """The port on which what is asked is recorded into the file of this name."""
        said = {"name": "dynamo", "version": self.dynamo.release, "model": MODEL, "transport": transport,
                "recorded": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
                "frontend": "python -m dynamo.frontend, file discovery, no etcd, no NATS",
                "worker": f"scripts/engines/dynamo/scripted_worker.py, --tool-parser {harmony.PARSERS[0]} --reasoning-parser {harmony.PARSERS[1]}",
                "source": "scripts/record-dynamo-cassettes.sh"}
        provider = [word for key, value in said.items() for word in ("--provider", f"{key}={value}")]
        proxy = Process([self.binary, "cassette", "record", self.folder / f"{name}.yaml", "--engine", self.dynamo.url, "--port", 0, *provider, *options])
        try:
            yield proxy.port
        finally:
            code = proxy.stop()
        if code != 0:
            raise AssertionError(f"{name}: verbatim cassette record ended with {code}")

    def scenario(self, name: str, stream: bool, turns) -> None:
        kind = "streaming" if stream else "nonstreaming"
        slug = re.sub(r"[/: ]", "-", MODEL)
        with self.into(f"dynamo-{name}-{slug}-{kind}", "http-sse" if stream else "http-json") as port:
            def turn(body: dict) -> dict:
                body = {"model": MODEL, **body, **({"stream": True} if stream else {})}
                return response_of(*ask(port, body), stream)

            turns(turn)

    def start_of_a_gateway(self) -> None:
        """What a gateway asks until it is ready, and again whenever it looks whether the engine still is."""
        slug = re.sub(r"[/: ]", "-", MODEL)
        with self.into(f"gateway-start-{slug}", "http-json", "--all-methods", "--once") as port, tempfile.TemporaryDirectory() as home:
            gateway = Process([self.binary, "serve", "--engine", f"http://127.0.0.1:{port}", "--engine-kind", "dynamo", "--engine-mode", "responses",
                               "--data-dir", home, "--port", 0], {"XDG_STATE_HOME": home})
            try:
                end = time.monotonic() + 60
                while not self._is_ready(gateway.port):
                    if time.monotonic() > end:
                        raise AssertionError("the gateway is not ready after 60 s")
                    time.sleep(0.05)
            finally:
                gateway.stop()

    @staticmethod
    def _is_ready(port: int) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/ready")
            return connection.getresponse().status == 200
        finally:
            connection.close()


def user(text: str) -> dict:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def stateful(turn) -> None:
    """A stateless engine can't chain: the second turn is the whole conversation, with the message that the first was answered."""
    first = turn({"input": [user(REMEMBER)]})
    expect(text_of(first), "OK")
    expect(text_of(turn({"input": [user(REMEMBER), *first["output"], user(WHICH)]})), "APPLE")


def tool_call(turn) -> None:
    asked = {"tools": [TOOL], "tool_choice": "auto"}
    first = turn({"input": [user(PRICE)], **asked})
    calls = [item for item in first["output"] if item["type"] == "function_call"]
    expect([(call["name"], json.loads(call["arguments"])) for call in calls], [("get_stock_price", {"symbol": "NVDA"})])
    result = {"type": "function_call_output", "call_id": calls[0]["call_id"], "output": "181.25"}
    expect(text_of(turn({"input": [user(PRICE), *first["output"], result], **asked})), "NVDA trades at 181.25 dollars.")


def expect(found, expected) -> None:
    if found != expected:
        raise AssertionError(f"found {found!r}, expected {expected!r}")


def check_that_it_is_stateless(dynamo: Deployment) -> None:
    """Else the recordings would prove nothing."""
    alone = {"model": MODEL, "input": [user(WHICH)]}
    expect("APPLE" in text_of(response_of(*ask(dynamo.port, alone), stream=False)), False)
    status, said = ask(dynamo.port, {**alone, "previous_response_id": "resp_1"})
    expect((status, "previous_response_id" in said), (501, True))


def record(output: Path, vocabulary: Path, python: Path, binary: Path) -> None:
    with tempfile.TemporaryDirectory(dir=output.parent) as place:
        folder = Path(place)
        harmony.write_ranks(folder / "ranks", vocabulary / "tokenizer.json")
        dynamo = Deployment(folder / "dynamo", environment={harmony.VARIABLE: str(folder / "ranks")}, python=python, name=MODEL,
                            tokenizer=vocabulary / "tokenizer.json", template=vocabulary / "chat_template.jinja", ends=harmony.ENDS,
                            parsers=harmony.PARSERS, seconds=300)
        try:
            dynamo.script(Speech(vocabulary).script())
            check_that_it_is_stateless(dynamo)
            (folder / "cassettes").mkdir()
            recorder = Recorder(dynamo, binary, folder / "cassettes")
            recorder.start_of_a_gateway()
            for stream in (False, True):
                recorder.scenario("stateful", stream, stateful)
                recorder.scenario("tool-call-auto", stream, tool_call)
        finally:
            dynamo.close()
        subprocess.run([binary, "cassette", "validate", folder / "cassettes"], check=True)
        (folder / "cassettes").rename(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--python", type=Path, default=PYTHON)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/verbatim")
    options = parser.parse_args()
    if options.output.exists():
        sys.exit(f"{options.output} is there: recordings are never overwritten")
    record(options.output.absolute(), options.vocabulary.absolute(), options.python.absolute(), options.binary.absolute())


if __name__ == "__main__":
    main()
