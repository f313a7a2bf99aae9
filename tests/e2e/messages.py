"""The message path: a gateway without a tokenizer, whose engine gets whole conversations."""
from __future__ import annotations

import json
from pathlib import Path

import httpx

from programs import Program, Simulator, until

# Every kind and mode by messages; each kind is a face of the simulator.
WAYS = [("openai", "chat"), ("openai", "responses"), ("openai", "messages"), ("vllm", "chat-text"), ("vllm", "responses"), ("vllm", "messages"),
        ("dynamo", "chat-text"), ("dynamo", "responses"), ("dynamo", "messages"), ("sglang", "chat-text")]
# What a client has to ask for to be told what the others tell: Dynamo keeps reasoning for itself in its responses.
ASKED = {("dynamo", "responses"): {"extra_body": {"reasoning": {"summary": "auto"}}}}


class MessageGateway:
    """`verbatim serve` in a mode of the message path, with its record files."""

    def __init__(self, folder: Path, engine: str, *options, kind: str, mode: str):
        self.records = folder / "records"
        self.program = Program(["serve", "--engine", engine, "--engine-kind", kind, "--engine-mode", mode, "--record-dir", self.records,
                                "--data-dir", folder / "data", "--port", 0, *options], folder / "serve.stderr")
        self.url = self.program.url
        self.http = httpx.Client(base_url=self.url, timeout=60)
        until(lambda: self.http.get("/ready").status_code == 200, "the gateway is ready")

    def session(self) -> str:
        answer = self.http.post("/sessions")
        assert answer.status_code == 200, answer.text
        return answer.json()["session_id"]

    def chat(self, session: str | None, body: dict) -> httpx.Response:
        return self.http.post(f"/sessions/{session}/v1/chat/completions" if session else "/v1/chat/completions", json=body)

    def record(self, session: str) -> list[dict]:
        path = self.records / f"{session}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def snapshot(self, session: str) -> tuple[bytes, bytes]:
        path = self.records / f"{session}.jsonl"
        return path.read_bytes() if path.exists() else b"", self.http.get(f"/sessions/{session}").content

    def close(self) -> None:
        self.http.close()
        code = self.program.stop()
        assert code == 0, f"the gateway ended with {code}; stderr:\n{self.program.errors()}"


class MessageStack:
    def __init__(self, folder: Path, *sim_options, kind: str, mode: str, script: list[dict] | None = None):
        folder.mkdir(parents=True)
        self.sim = Simulator(folder, *sim_options, script=script, face=kind)
        try:
            self.gateway = MessageGateway(folder, self.sim.url, kind=kind, mode=mode)
        except BaseException:
            self.sim.program.kill()
            raise
        self.asked_to_be_ready = len(self.sim.log())

    def prompts(self) -> list[list[int]]:
        """Of the turns, as the engine rendered them."""
        return [entry["prompt_ids"] for entry in self.sim.log()][self.asked_to_be_ready:]

    def close(self) -> None:
        self.gateway.close()
        self.sim.close()

    def kill(self) -> None:
        for program in (self.gateway.program, self.sim.program):
            program.kill()
        self.gateway.http.close()
