#!/usr/bin/env python3
"""Records cassettes from the real Dynamo frontend, whose worker speaks gpt-oss' harmony by a script. See scripts/record-dynamo-cassettes.sh.

  record_cassettes.py FOLDER [--vocabulary FOLDER] [--python PYTHON] [--binary VERBATIM]

The first FOLDER is replaced when all were recorded and found valid. The other holds the tokenizer.json and chat_template.jinja of gpt-oss.
"""
from __future__ import annotations

import argparse
from pathlib import Path

from deployment import PYTHON, ROOT
from gpt_oss import MODEL, VOCABULARY, deploy
from harmony import PARSERS, write_ranks
from recorder import Recorder, replaced

# Without a word on it the frontend keeps reasoning for itself. Reasoning that comes back it writes into the text of the answer, in <think>: the
# conversation that is to be remembered does without.
WITH_CALLS = {"reasoning": {"summary": "auto"}}


def record_from(url: str, release: str, made: Path, binary: Path) -> None:
    provider = {"version": release, "frontend": "python -m dynamo.frontend, file discovery, no etcd, no NATS",
                "worker": f"scripts/engines/dynamo/scripted_worker.py, --tool-parser {PARSERS[0]} --reasoning-parser {PARSERS[1]}",
                "source": "scripts/record-dynamo-cassettes.sh"}
    recorder = Recorder("dynamo", url, MODEL, provider, binary, made, WITH_CALLS)
    recorder.check_that_it_forgets(refusal=501)
    recorder.all()


def record(output: Path, vocabulary: Path, python: Path, binary: Path) -> None:
    with replaced(output, binary) as (made, work):
        write_ranks(work / "ranks", vocabulary / "tokenizer.json")
        dynamo = deploy(work / "dynamo", python, work / "ranks", vocabulary)
        try:
            record_from(dynamo.url, dynamo.release, made, binary)
        finally:
            dynamo.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--vocabulary", type=Path, default=VOCABULARY)
    parser.add_argument("--python", type=Path, default=PYTHON)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/verbatim")
    options = parser.parse_args()
    record(options.folder.absolute(), options.vocabulary.absolute(), options.python.absolute(), options.binary.absolute())


if __name__ == "__main__":
    main()
