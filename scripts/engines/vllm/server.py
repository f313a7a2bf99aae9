#!/usr/bin/env python3
"""A real vLLM on loopback and on the CPU, with a tiny Qwen3 of random weights.

  server.py FOLDER [--python PYTHON] [--tokenizer FOLDER] [-- FLAGS]     starts it, prints its URL, ends with standard input

Tests use the class. The process is ended by its own id, and the processes it started end with it.
"""
from __future__ import annotations

import argparse
import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PYTHON = ROOT / ".venv-vllm/bin/python"
TOKENIZER = ROOT / "models/qwen3"
NAME = "qwen3"

sys.path[:0] = [str(HERE), str(HERE.parent)]
import model_folder  # noqa: E402
from loopback import free_port  # noqa: E402

# Without compilation, blocks that short prompts fill: the README says which of these a real deployment needs.
FLAGS = ["--seed", "0", "--enforce-eager", "--dtype", "float32", "--block-size", "32",
         "--max-num-seqs", "8", "--max-num-batched-tokens", "2048", "--max-model-len", str(model_folder.CONTEXT),
         "--logits-processors", "forced_ids:ForcedIds",
         "--enable-scale-out", "--enable-prompt-tokens-details",
         "--enable-auto-tool-choice", "--tool-call-parser", "qwen3_json", "--reasoning-parser", "qwen3"]
ENVIRONMENT = {
    # One thread, 1 GiB of cache; the first request for logprobs would compile for most of a minute.
    "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1", "TORCH_COMPILE_DISABLE": "1",
    # Pause, resume and weight versions.
    "VLLM_SERVER_DEV_MODE": "1",
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "PYTHONPATH": f"{HERE}:{HERE.parent}"}


class Server:
    def __init__(self, folder: Path, *, python: Path = PYTHON, tokenizer: Path = TOKENIZER, flags: list[str] = FLAGS,
                 environment: dict[str, str] | None = None, say=None):
        """`environment` is the server's, beside what keeps it small. `say` is told now and then that the server is not ready yet: it takes minutes."""
        self.folder, self.flags = folder, flags
        self.model, self.log_file = folder / NAME, folder / "vllm.log"
        model_folder.write(self.model, tokenizer)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        began = time.monotonic()
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [str(python), str(Path(python).parent / "vllm"), "serve", str(self.model), "--served-model-name", NAME, "--host", "127.0.0.1",
                 "--port", str(self.port), *flags], env=os.environ | ENVIRONMENT | (environment or {}), cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.until_ready(1800, say)
        except BaseException:
            self.close()
            raise
        self.boot_seconds = time.monotonic() - began

    def until_ready(self, seconds: float, say=None) -> None:
        began = said = time.monotonic()
        while self._get("/health") != 200:
            if self.process.poll() is not None:
                raise AssertionError(f"vLLM ended with {self.process.returncode}:\n{self.log()}")
            now = time.monotonic()
            if now - began > seconds:
                raise AssertionError(f"vLLM is not ready after {seconds} s:\n{self.log()}")
            if say and now - said >= 15:
                said = now
                say(f"vLLM boots, {now - began:.0f} s so far")
            time.sleep(0.2)

    def _get(self, path: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def log(self) -> str:
        return self.log_file.read_text(errors="replace")[-4000:]

    def close(self) -> None:
        """SIGTERM lets the front end, the engine and its worker end in a few seconds."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", type=Path, default=PYTHON)
    parser.add_argument("--tokenizer", type=Path, default=TOKENIZER)
    parser.add_argument("flags", nargs="*", help="more flags of vllm serve, behind --")
    options = parser.parse_args()
    server = Server(options.folder.resolve(), python=options.python, tokenizer=options.tokenizer, flags=[*FLAGS, *options.flags],
                    say=lambda text: print(text, file=sys.stderr))
    try:
        print(server.url, flush=True)
        sys.stdin.read()
    finally:
        server.close()


if __name__ == "__main__":
    main()
