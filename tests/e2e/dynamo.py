"""The gateway in front of the real Dynamo frontend, whose worker answers from a script (scripts/engines/dynamo)."""
from __future__ import annotations

import re
import sys
from pathlib import Path

from tokenizers import Tokenizer

from programs import ROOT, Gateway

sys.path.insert(0, str(ROOT / "scripts/engines/dynamo"))
from deployment import TEMPLATE, TOKENIZER, Deployment  # noqa: E402

CONTEXT = 4096
VOCABULARY = Tokenizer.from_file(str(TOKENIZER))
MARKERS = re.compile(r"(<\|im_end\|>|</?think>|</?tool_call>)")
CLOSE = VOCABULARY.token_to_id("<|im_end|>")


def sampled(text: str) -> list[int]:
    """Ids for a text as a model might sample them: letter by letter, not as a tokenizer would cut it."""
    ids = []
    for piece in MARKERS.split(text):
        if MARKERS.fullmatch(piece):
            ids.append(VOCABULARY.token_to_id(piece))
            continue
        for letter in piece:
            ids += VOCABULARY.encode(letter, add_special_tokens=False).ids
    return ids


def answer(text: str, **more) -> dict:
    """A row of the worker's script, used once. Its logprobs need all digits of a double."""
    ids = sampled(text)
    return {"token_ids": ids, "logprobs": [-(token + 1) / 7919 - 1e-9 for token in ids], "times": 1, **more}


class DynamoStack:
    """`environment` is the frontend's."""

    def __init__(self, folder: Path, *, environment: dict[str, str] | None = None, mode: str = "auto"):
        self.dynamo = Deployment(folder / "dynamo", environment=environment, context=CONTEXT)
        try:
            self.gateway = Gateway(folder, self.dynamo.url, "--chat-template", TEMPLATE, "--model-name", "renamed", kind="dynamo", mode=mode,
                                   tokenizer=TOKENIZER.parent)
        except BaseException:
            self.dynamo.close()
            raise

    def prompts(self) -> list[list[int]]:
        """What reached the worker, but for readiness, which is nobody's session."""
        requests = [line["request"] for line in self.dynamo.record("request")]
        return [request["token_ids"] for request in requests if (request.get("agent_context") or {}).get("session_id")]

    def close(self) -> None:
        try:
            self.gateway.close()
        finally:
            self.dynamo.close()
