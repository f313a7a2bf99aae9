"""A deployment that speaks gpt-oss: its vocabulary, its template, the frontend's parsers for it, and a worker that answers the conversations of
scripts/engines/recorder.py by a script of ids."""
from __future__ import annotations

import functools
from pathlib import Path

from tokenizers import Tokenizer

import harmony
import recorder
from deployment import ROOT, Deployment

MODEL = "openai/gpt-oss-20b"
VOCABULARY = ROOT / "models/gpt-oss"  # scripts/models/install.py --dest models gpt-oss


def deploy(folder: Path, python: Path, ranks: Path, vocabulary: Path = VOCABULARY) -> Deployment:
    """`ranks` is a folder that harmony.write_ranks() filled; it serves several deployments."""
    deployment = Deployment(folder, environment={harmony.VARIABLE: str(ranks)}, python=python, name=MODEL, tokenizer=vocabulary / "tokenizer.json",
                            template=vocabulary / "chat_template.jinja", ends=harmony.ENDS, parsers=harmony.PARSERS, seconds=300)
    deployment.script(Speech(vocabulary).script())
    return deployment


@functools.cache
def tokenizer(vocabulary: Path = VOCABULARY) -> Tokenizer:
    return Tokenizer.from_file(str(vocabulary / "tokenizer.json"))


class Speech:
    """What the worker answers to which prompt ids."""

    def __init__(self, vocabulary: Path):
        self.tokenizer = tokenizer(vocabulary)

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

        told = user(recorder.REMEMBER) + f"<|start|>assistant<|channel|>final<|message|>{recorder.KEPT}<|end|>"
        name = recorder.TOOL["name"]
        call = f'<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{{"symbol":"{recorder.SYMBOL}"}}<|call|>'
        result = f"<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>"
        return [
            # The word is known to whom the whole conversation is shown, in its order, and to nobody else.
            self.row(last=told + user(recorder.WHICH), thought=recorder.WORD_THOUGHT, rest=final(recorder.WORD)),
            self.row(last=user(recorder.WHICH), thought=recorder.FORGOTTEN_THOUGHT, rest=final(recorder.FORGOTTEN)),
            self.row(last=user(recorder.REMEMBER), thought=recorder.KEPT_THOUGHT, rest=final(recorder.KEPT)),
            self.row(user(recorder.PRICE), result, thought=recorder.RESULT_THOUGHT, rest=final(recorder.RESULT)),
            self.row(f" {name}", last=user(recorder.PRICE), thought=recorder.CALL_THOUGHT, rest=call),
            self.row(thought="I am asked something else.", rest=final("Hello.")),
        ]
