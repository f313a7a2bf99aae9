#!/usr/bin/env python3
"""Records cassettes from a real vLLM on the CPU, whose answers come from a script. See scripts/record-vllm-cassettes.sh.

  record_cassettes.py FOLDER [--tokenizer FOLDER] [--python PYTHON] [--binary VERBATIM] [--url URL]

The first FOLDER is replaced when all were recorded and found valid. --url names a server that runs already and answers as the script does.
"""
from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import sys
from pathlib import Path

from tokenizers import Tokenizer

import recorder
from recorder import Recorder, replaced
from server import FLAGS, NAME, PYTHON, ROOT, TOKENIZER, Server

SCRIPTED = [*FLAGS[:FLAGS.index("--logits-processors")], "--logits-processors", "scripted_ids:ScriptedIds",
            *FLAGS[FLAGS.index("--logits-processors") + 2:]]
# Each token passes three processes, and the first request compiles.
SECONDS = 600


class Speech:
    """What the model is made to answer to which prompt ids, in the words of Qwen3."""

    def __init__(self, folder: Path):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def row(self, *holds: str, last: str = "", thought: str, rest: str) -> dict:
        said = f"<think>\n{thought}\n</think>\n\n{rest}<|im_end|>"
        return {"holds": [self.ids(part) for part in holds], "last": self.ids(last + "<|im_start|>assistant\n"), "token_ids": self.ids(said)}

    def script(self) -> list[dict]:
        def user(text: str) -> str:
            return f"<|im_start|>user\n{text}<|im_end|>\n"

        name = recorder.TOOL["name"]
        call = f'<tool_call>\n{{"name": "{name}", "arguments": {{"symbol": "{recorder.SYMBOL}"}}}}\n</tool_call>'
        return [
            # The word is known to whom the whole conversation is shown, and to nobody else.
            self.row(user(recorder.REMEMBER), f"{recorder.KEPT}<|im_end|>", last=user(recorder.WHICH), thought=recorder.WORD_THOUGHT, rest=recorder.WORD),
            self.row(last=user(recorder.WHICH), thought=recorder.FORGOTTEN_THOUGHT, rest=recorder.FORGOTTEN),
            self.row(last=user(recorder.REMEMBER), thought=recorder.KEPT_THOUGHT, rest=recorder.KEPT),
            self.row(user(recorder.PRICE), "181.25\n</tool_response>", thought=recorder.RESULT_THOUGHT, rest=recorder.RESULT),
            self.row("_stock_price", last=user(recorder.PRICE), thought=recorder.CALL_THOUGHT, rest=call),
            self.row(thought="I am asked something else.", rest="Hello."),
        ]


@contextlib.contextmanager
def started(work: Path, options: argparse.Namespace):
    """The URL of a server that answers from the script."""
    if options.url:
        yield options.url
        return
    script = work / "script.json"
    script.write_text(json.dumps(Speech(options.tokenizer).script()))
    server = Server(work, python=options.python, tokenizer=options.tokenizer, flags=SCRIPTED,
                    environment={"SCRIPTED_IDS": str(script)}, say=lambda text: print(text, file=sys.stderr))
    try:
        yield server.url
    finally:
        server.close()


def release_of(url: str) -> str:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=SECONDS)
    try:
        connection.request("GET", "/version")
        return json.loads(connection.getresponse().read())["version"]
    finally:
        connection.close()


def record(options: argparse.Namespace) -> None:
    with replaced(options.folder, options.binary) as (made, work), started(work, options) as url:
        provider = {"version": release_of(url), "flags": " ".join(SCRIPTED), "worker": "two layers of random weights; ids by scripts/engines/vllm/scripted_ids.py",
                    "source": "scripts/record-vllm-cassettes.sh"}
        recorder = Recorder("vllm", url, NAME, provider, options.binary, made, seconds=SECONDS)
        recorder.check_that_it_forgets(refusal=404)
        recorder.all()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokenizer", type=Path, default=TOKENIZER)
    parser.add_argument("--python", type=Path, default=PYTHON)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/verbatim")
    parser.add_argument("--url")
    options = parser.parse_args()
    options.folder, options.binary = options.folder.absolute(), options.binary.absolute()
    record(options)


if __name__ == "__main__":
    main()
