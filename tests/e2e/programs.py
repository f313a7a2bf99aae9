"""Starts and ends the programs under test. Ports are free ones, read from what the programs print; nothing sleeps for a fixed time."""
from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("VERBATIM_BINARY", ROOT / "build/release/verbatim"))
MODEL = Path(os.environ.get("VERBATIM_TEST_MODEL", ROOT / "models/qwen3"))
URL = re.compile(rb"http://[0-9.]+:[0-9]+")


def until(condition, what: str, seconds: float = 15.0, pause: float = 0.01):
    """The first true value of condition(), or a failure that says what was waited for."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(pause)


class Program:
    """One process of the binary that prints its URL on standard output once it listens."""

    def __init__(self, arguments: list, stderr: Path):
        self.arguments = [str(BINARY), *map(str, arguments)]
        self.stderr = stderr
        with open(stderr, "ab") as err:
            # Whoever names no folder for its store has one of the test's own.
            self.process = subprocess.Popen(self.arguments, stdout=subprocess.PIPE, stderr=err, stdin=subprocess.DEVNULL,
                                            env=os.environ | {"XDG_STATE_HOME": str(stderr.parent / "state")})
        try:
            self.url = self._read_url(60.0)
        except BaseException:
            self.kill()
            raise

    def _read_url(self, seconds: float) -> str:
        seen, end = b"", time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while time.monotonic() < end:
                if not selector.select(timeout=0.2):
                    continue
                piece = os.read(self.process.stdout.fileno(), 4096)
                seen += piece
                found = URL.search(seen)
                if found and seen.endswith(b"\n"):
                    return found[0].decode()
                if not piece:
                    break
        raise AssertionError(f"{' '.join(self.arguments)} did not start: printed {seen!r}; stderr:\n{self.errors()}")

    def errors(self) -> str:
        return self.stderr.read_text(errors="replace")[-4000:]

    @property
    def host_port(self) -> tuple[str, int]:
        host, port = self.url.removeprefix("http://").split(":")
        return host, int(port)

    def stop(self) -> int:
        """Asks the process to end, by its id; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{' '.join(self.arguments[:2])} does not end on SIGTERM; stderr:\n{self.errors()}") from None
        self.process.stdout.close()
        return code

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Gateway:
    """`verbatim serve` in front of an engine, with its record files."""

    def __init__(self, folder: Path, engine: str, *options, kind: str = "sglang", mode: str = "auto", tokenizer: Path = MODEL):
        self.records = folder / "records"
        self.program = Program(["serve", "--engine", engine, "--engine-kind", kind, "--engine-mode", mode, "--tokenizer", tokenizer,
                                "--record-dir", self.records, "--cache-dir", folder.parent / "cache", "--data-dir", folder / "data", "--port", 0, *options],
                               folder / "serve.stderr")
        self.url = self.program.url
        self.http = httpx.Client(base_url=self.url, timeout=60)
        until(lambda: self.http.get("/ready").status_code == 200, "the gateway is ready")
        # The context length is learnt from the engine behind the start.
        until(lambda: "max_model_len" in self.http.get("/v1/models").json()["data"][0], "the gateway knows the context length")

    def session(self) -> str:
        answer = self.http.post("/sessions")
        assert answer.status_code == 200, answer.text
        return answer.json()["session_id"]

    def chat(self, session: str | None, body) -> httpx.Response:
        path = f"/sessions/{session}/v1/chat/completions" if session else "/v1/chat/completions"
        if isinstance(body, (bytes, str)):
            return self.http.post(path, content=body, headers={"content-type": "application/json"})
        return self.http.post(path, json=body)

    def record(self, session: str) -> list[dict]:
        path = self.records / f"{session}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def snapshot(self, session: str) -> tuple[bytes, bytes]:
        """All that can be seen of a session: its record file and its view."""
        path = self.records / f"{session}.jsonl"
        answer = self.http.get(f"/sessions/{session}")
        assert answer.status_code == 200, answer.text
        return path.read_bytes() if path.exists() else b"", answer.content

    def close(self) -> None:
        self.http.close()
        code = self.program.stop()
        assert code == 0, f"the gateway ended with {code}; stderr:\n{self.program.errors()}"


class Simulator:
    """`verbatim sim` on the real vocabulary."""

    def __init__(self, folder: Path, *options, script: list[dict] | None = None, face: str = "sglang"):
        self.log_file = folder / "sim.jsonl"
        arguments = ["sim", "--face", face, "--tokenizer", MODEL, "--cache-dir", folder.parent / "cache", "--port", 0, "--log",
                     self.log_file, *options]
        if script is not None:
            (folder / "script.json").write_text(json.dumps({"steps": script}))
            arguments += ["--script", folder / "script.json"]
        self.program = Program(arguments, folder / "sim.stderr")
        self.url = self.program.url

    def stats(self) -> dict:
        return httpx.get(self.url + "/sim/stats", timeout=30).json()

    def log(self) -> list[dict]:
        return [json.loads(line) for line in self.log_file.read_text().splitlines()] if self.log_file.exists() else []

    def close(self) -> None:
        code = self.program.stop()
        assert code == 0, f"the simulator ended with {code}; stderr:\n{self.program.errors()}"
