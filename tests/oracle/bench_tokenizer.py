#!/usr/bin/env python3
"""Encoding speed beside Hugging Face `tokenizers`, in the same run and on the same texts: megabytes per CPU second.

    bench_tokenizer.py --tool build/release/tests/tokenizer_oracle_tool --model models/qwen3 [--size 2] [--rounds 7]

First pass: a new process has never seen the text. Second pass: it has. Medians over rounds, the two sides taking turns.
Needs: tokenizers==0.23.*
"""
from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from tokenizers import Tokenizer

import corpus
from tool import Tool


def pieces(text: str, size: int) -> list[str]:
    data = text.encode()
    out = []
    at = 0
    while at < len(data):
        end = min(at + size, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        out.append(data[at:end].decode())
        at = end
    return out


def hf_pass(tok: Tokenizer, parts: list[str]) -> tuple[float, int]:
    before, count = time.process_time(), 0
    for part in parts:
        count += len(tok.encode(part, add_special_tokens=False).ids)
    return time.process_time() - before, count


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--tool", type=Path, required=True)
    ap.add_argument("--model", type=Path, required=True)
    ap.add_argument("--size", type=float, default=2, help="megabytes per text")
    ap.add_argument("--rounds", type=int, default=7)
    ap.add_argument("--no-hf", action="store_true")
    a = ap.parse_args()
    path = str(a.model / "tokenizer.json")
    tok = Tokenizer.from_file(path)
    vocabulary = [tok.decode([i]) for i in range(tok.get_vocab_size())]
    size = int(a.size * 1e6)
    texts = {"english": corpus.english(size), "code": corpus.code(size), "cjk": corpus.cjk(vocabulary, size // 3),
             "multilingual": corpus.multilingual(vocabulary, size // 2)}
    print(f"{'text':14} {'piece':>6} {'MB':>5} {'first':>8} {'second':>8} {'HF first':>9} {'HF second':>9} {'ratio':>6}")
    for name, text in texts.items():
        data = text.encode()
        for piece in (2000, 50000):
            ours, theirs = [], []
            for _ in range(a.rounds):
                with Tool(a.tool, a.model) as tool:
                    *times, count = tool.numbers("t", data, (piece, 2))
                ours.append(times)
                if not a.no_hf:
                    fresh = Tokenizer.from_file(path)
                    parts = pieces(text, piece)
                    passes = [hf_pass(fresh, parts) for _ in range(2)]
                    assert passes[0][1] == count, (passes[0][1], count)
                    theirs.append([seconds for seconds, _ in passes])
            speed = [len(data) / statistics.median(t[i] for t in ours) for i in range(2)]
            hf = [len(data) / 1e6 / statistics.median(t[i] for t in theirs) if theirs else 0 for i in range(2)]
            ratio = speed[0] / hf[0] if theirs else 0
            print(f"{name:14} {piece:6} {len(data) / 1e6:5.2f} {speed[0]:8.1f} {speed[1]:8.1f} {hf[0]:9.2f} {hf[1]:9.2f} {ratio:6.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
