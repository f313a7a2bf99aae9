"""The vocabulary of gpt-oss, as Dynamo's `harmony` and `gpt_oss` parsers want it: a file of base64 tokens and ranks, made of the tokenizer.json
that scripts/models installs. Without it they would fetch it from the network, and leave the markers of channels in the text."""
from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

VARIABLE = "TIKTOKEN_ENCODINGS_BASE"  # of the frontend: the folder that holds NAME
NAME = "o200k_base.tiktoken"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"  # what the parsers ask for
ENDS = ("<|return|>", "<|call|>", "<|endoftext|>")
PARSERS = ("harmony", "gpt_oss")


def _bytes_of_letters() -> dict[str, int]:
    """Byte-level BPE writes each byte as a letter: printable ones as themselves, the others from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def write_ranks(folder: Path, tokenizer: Path) -> None:
    """`tokenizer` is the tokenizer.json of gpt-oss."""
    described = json.loads(tokenizer.read_text())
    added = {token["id"] for token in described["added_tokens"]}
    letters = _bytes_of_letters()
    ranks = sorted((rank, token) for token, rank in described["model"]["vocab"].items() if rank not in added)
    lines = [b"%s %d\n" % (base64.b64encode(bytes(letters[letter] for letter in token)), rank) for rank, token in ranks]
    made = b"".join(lines)
    if hashlib.sha256(made).hexdigest() != SHA256:
        raise AssertionError(f"{tokenizer} does not hold the vocabulary of gpt-oss: run scripts/models/install.py --dest models gpt-oss")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_bytes(made)
