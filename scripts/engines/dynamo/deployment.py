#!/usr/bin/env python3
"""A Dynamo deployment on loopback: the real frontend and one scripted worker, without etcd, NATS or a GPU.

  deployment.py FOLDER [--python PYTHON]     starts it, prints its URL, ends with standard input

Tests use the class. Each process is ended by the handle of its own start, never by name.
"""
from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PYTHON = ROOT / ".venv-dynamo/bin/python"
TOKENIZER = ROOT / "tests/cases/toy/tokenizer.json"
TEMPLATE = ROOT / "tests/cases/toy/chatml.jinja"

sys.path[:0] = [str(HERE), str(HERE.parent)]
import model_folder  # noqa: E402
from loopback import free_port  # noqa: E402


def installed_release(python: Path) -> str:
    """Of the Dynamo in the environment of this interpreter: "1.6.1"."""
    found = sorted(python.parent.parent.glob("lib/python3*/site-packages/ai_dynamo-*.dist-info"))
    if not found:
        raise AssertionError(f"there is no Dynamo beside {python}: run scripts/engines/dynamo/install.sh")
    return found[0].name.removeprefix("ai_dynamo-").removesuffix(".dist-info")


def _numbers(release: str) -> list[int]:
    return [int(number) for number in release.split(".")]


class Deployment:
    """`environment` is the frontend's, beside what keeps all of it on loopback. The worker starts with an empty script; `parsers` are the names
    under which the frontend knows its grammar of calls and of reasoning. `seconds` is what the start may take: the frontend reads a
    vocabulary several times; without a worker it isn't waited for."""

    def __init__(self, folder: Path, *, environment: dict[str, str] | None = None, python: Path = PYTHON, name: str = "toy",
                 context: int = 4096, tokenizer: Path = TOKENIZER, template: Path = TEMPLATE, ends: tuple[str, ...] = model_folder.CHATML,
                 parsers: tuple[str, str] | None = None, seconds: float = 60.0, with_worker: bool = True):
        # A store that an earlier run left behind would name workers that are gone.
        folder.mkdir(parents=True)
        self.folder, self.python, self.name, self.context = folder, python, name, context
        self.release = installed_release(python)
        self.model = folder / "model"
        self.parsers = ["--tool-parser", parsers[0], "--reasoning-parser", parsers[1]] if parsers else []
        model_folder.write(self.model, tokenizer, template, context, ends)
        self.script_file, self.record_file = folder / "script.json", folder / "worker.jsonl"
        self.script([])
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ, "DYN_FILE_KV": str(folder / "store"), "DYN_DISCOVERY_BACKEND": "file", "DYN_TCP_RPC_HOST": "127.0.0.1",
            # Before 1.6 it is the name of an interface.
            "DYN_TCP_RESPONSE_STREAM_HOST": "127.0.0.1" if _numbers(self.release) >= [1, 6] else "lo",
            "DYN_EVENT_PLANE_HOST": "127.0.0.1", "DYN_SELF_HOST_METADATA": "0",
            "DYN_SDK_DISABLE_ANSI_LOGGING": "1", "DYN_LOG": "error", "HF_HUB_OFFLINE": "1",
            "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        self.frontend = self.worker = None
        try:
            self.start_frontend(environment or {})
            if with_worker:
                self.start_worker()
                self.until_ready(seconds)
        except BaseException:
            self.close()
            raise

    def _start(self, name: str, arguments: list, environment: dict[str, str]) -> subprocess.Popen:
        with open(self.folder / f"{name}.log", "ab") as log:
            return subprocess.Popen([str(self.python), *map(str, arguments)], env=self.environment | environment, cwd=self.folder,
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start_frontend(self, environment: dict[str, str]) -> None:
        self.frontend = self._start("frontend", ["-m", "dynamo.frontend", "--http-host", "127.0.0.1", "--http-port", self.port],
                                    environment)

    def start_worker(self) -> None:
        self.worker = self._start("worker", [HERE / "scripted_worker.py", "--model", self.model, "--name", self.name, "--script",
                                             self.script_file, "--record", self.record_file, "--context", self.context, *self.parsers], {})

    def until_ready(self, seconds: float = 60.0) -> None:
        """Returns when the frontend takes requests for the worker, and for no other: one that was killed is listed for 10 s more."""
        end = time.monotonic() + seconds
        while not self._ready():
            for name, process in (("frontend", self.frontend), ("worker", self.worker)):
                if process.poll() is not None:
                    raise AssertionError(f"Dynamo's {name} ended with {process.returncode}:\n{self.log(name)}")
            if time.monotonic() > end:
                raise AssertionError(f"Dynamo is not ready after {seconds} s:\n{self.log('frontend')}\n{self.log('worker')}")
            time.sleep(0.02)

    def _ready(self) -> bool:
        if _numbers(self.release) < [1, 6]:
            return self._answers()
        ready, _ = self._ask(f"/v1/models/{self.name}/ready")
        if ready != 200:
            return False
        healthy, said = self._ask("/health")
        return healthy == 200 and len(json.loads(said)["instances"]) == 1

    def _answers(self) -> bool:
        """Before 1.6 a model may be ready some time before it can be asked: it is listed, and a token can be had."""
        listed, said = self._ask("/v1/models")
        if listed != 200 or self.name not in (model["id"] for model in json.loads(said)["data"]):
            return False
        asked = {"model": self.name, "messages": [{"role": "user", "content": "x"}], "max_tokens": 1}
        return self._ask("/v1/chat/completions", asked)[0] == 200

    def _ask(self, path: str, asked: dict | None = None) -> tuple[int, bytes]:
        """A POST where something is `asked`. Status 0: nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            if asked is None:
                connection.request("GET", path)
            else:
                connection.request("POST", path, json.dumps(asked), {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError:
            return 0, b""
        finally:
            connection.close()

    def script(self, rows: list[dict]) -> None:
        """What the worker answers from now on; scripted_worker.py says what a row may hold."""
        fresh = self.script_file.with_suffix(".new")
        fresh.write_text(json.dumps(rows))
        fresh.replace(self.script_file)

    def record(self, kind: str) -> list[dict]:
        """What reached the worker so far ("request"), or what it saw cancelled ("cancelled")."""
        lines = self.record_file.read_text().splitlines() if self.record_file.exists() else []
        return [line for line in map(json.loads, lines) if line["kind"] == kind]

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace")[-4000:] if path.exists() else ""

    def kill_worker(self) -> None:
        _kill(self.worker)

    def kill_frontend(self) -> None:
        _kill(self.frontend)

    def close(self) -> None:
        # Both are killed: there is nothing to be saved, and the frontend drains for seconds.
        _kill(self.worker)
        _kill(self.frontend)


def _kill(process: subprocess.Popen | None) -> None:
    if process is not None and process.poll() is None:
        process.kill()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", type=Path, default=PYTHON)
    options = parser.parse_args()
    deployment = Deployment(options.folder.resolve(), python=options.python)
    try:
        print(deployment.url, flush=True)
        sys.stdin.read()
    finally:
        deployment.close()


if __name__ == "__main__":
    main()
