"""What the recordings of all engines share: the conversations that are held with them, and `verbatim cassette record` in front of them."""
from __future__ import annotations

import contextlib
import datetime
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

URL = re.compile(r"http://127\.0\.0\.1:(\d+)")

REMEMBER, WHICH = "Remember the word APPLE. Reply with OK only.", "Which word did I ask you to remember? Reply with the word only."
PRICE = "What does NVDA trade at?"
TOOL = {"type": "function", "name": "get_stock_price", "description": "The price of a stock, in dollars.", "strict": False,
        "parameters": {"type": "object", "properties": {"symbol": {"type": "string"}}, "required": ["symbol"]}}
# What the worker of each engine answers, whatever its vocabulary.
WORD_THOUGHT, WORD = "The word was APPLE.", "APPLE"
FORGOTTEN_THOUGHT, FORGOTTEN = "I was told no word.", "You have not told me a word."
KEPT_THOUGHT, KEPT = "I should keep it in mind.", "OK"
CALL_THOUGHT, SYMBOL = "The tool knows.", "NVDA"
RESULT_THOUGHT, RESULT = "The tool has answered.", "NVDA trades at 181.25 dollars."


def ask(port: int, body: dict, timeout: float = 60) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
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


def expect(found, expected) -> None:
    if found != expected:
        raise AssertionError(f"found {found!r}, expected {expected!r}")


def user(text: str) -> dict:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def stateful(turn) -> None:
    """A stateless engine can't chain: the second turn is the whole conversation, with the items that the first was answered with."""
    first = turn({"input": [user(REMEMBER)]})
    expect(text_of(first), KEPT)
    expect(text_of(turn({"input": [user(REMEMBER), *first["output"], user(WHICH)]})), WORD)


def tool_call(turn) -> None:
    asked = {"tools": [TOOL], "tool_choice": "auto"}
    first = turn({"input": [user(PRICE)], **asked})
    calls = [item for item in first["output"] if item["type"] == "function_call"]
    expect([(call["name"], json.loads(call["arguments"])) for call in calls], [(TOOL["name"], {"symbol": SYMBOL})])
    result = {"type": "function_call_output", "call_id": calls[0]["call_id"], "output": "181.25"}
    expect(text_of(turn({"input": [user(PRICE), *first["output"], result], **asked})), RESULT)


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


@dataclass(frozen=True)
class Recorder:
    """`kind` is the engine's, and begins the names of the files. `provider` says what else there is to say of who answered; `with_calls` is what the
    conversation with a call asks for beside."""

    kind: str
    url: str
    model: str
    provider: dict[str, str]
    binary: Path
    folder: Path
    with_calls: dict = field(default_factory=dict)
    seconds: float = 60  # that one answer may take

    @property
    def slug(self) -> str:
        return re.sub(r"[/: ]", "-", self.model)

    def all(self) -> None:
        self.start_of_a_gateway()
        for stream in (False, True):
            self.scenario("stateful", stream, stateful, {})
            self.scenario("tool-call-auto", stream, tool_call, self.with_calls)

    @contextlib.contextmanager
    def into(self, name: str, transport: str, *options: str):
        """The port on which what is asked is recorded into the file of this name."""
        said = {"name": self.kind, "model": self.model, "transport": transport,
                "recorded": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), **self.provider}
        provider = [word for key, value in said.items() for word in ("--provider", f"{key}={value}")]
        proxy = Process([self.binary, "cassette", "record", self.folder / f"{name}.yaml", "--engine", self.url, "--port", 0, *provider, *options])
        try:
            yield proxy.port
        finally:
            code = proxy.stop()
        if code != 0:
            raise AssertionError(f"{name}: verbatim cassette record ended with {code}")

    def scenario(self, name: str, stream: bool, turns, asked: dict) -> None:
        kind = "streaming" if stream else "nonstreaming"
        with self.into(f"{self.kind}-{name}-{self.slug}-{kind}", "http-sse" if stream else "http-json") as port:
            def turn(body: dict) -> dict:
                body = {"model": self.model, **body, **asked, **({"stream": True} if stream else {})}
                return response_of(*ask(port, body, self.seconds), stream)

            turns(turn)

    def start_of_a_gateway(self) -> None:
        """What a gateway asks until it is ready, and again whenever it looks whether the engine still is."""
        with self.into(f"gateway-start-{self.slug}", "http-json", "--all-methods", "--once") as port, tempfile.TemporaryDirectory() as home:
            gateway = Process([self.binary, "serve", "--engine", f"http://127.0.0.1:{port}", "--engine-kind", self.kind, "--engine-mode", "responses",
                               "--data-dir", home, "--port", 0], {"XDG_STATE_HOME": home})
            try:
                end = time.monotonic() + self.seconds
                while not self._is_ready(gateway.port):
                    if time.monotonic() > end:
                        raise AssertionError(f"the gateway is not ready after {self.seconds} s")
                    time.sleep(0.05)
            finally:
                gateway.stop()

    def _is_ready(self, port: int) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=self.seconds)
        try:
            connection.request("GET", "/ready")
            return connection.getresponse().status == 200
        finally:
            connection.close()

    def check_that_it_forgets(self, refusal: int) -> None:
        """Else the recordings would prove nothing. `refusal` is the status to a request that names a response of before."""
        port = int(URL.match(self.url)[1])
        alone = {"model": self.model, "input": [user(WHICH)]}
        expect(text_of(response_of(*ask(port, alone, self.seconds), stream=False)), FORGOTTEN)
        expect(ask(port, {**alone, "previous_response_id": "resp_1"}, self.seconds)[0], refusal)


@contextlib.contextmanager
def replaced(folder: Path, binary: Path):
    """An empty folder for recordings, and one to work in. When nothing failed and every recording is valid, the first becomes `folder`."""
    with tempfile.TemporaryDirectory() as place:
        made, work = Path(place) / "made", Path(place) / "work"
        made.mkdir()
        work.mkdir()
        yield made, work
        subprocess.run([binary, "cassette", "validate", made], check=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
    print(f"{folder} is recorded anew")
