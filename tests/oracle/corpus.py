"""Texts for tests and benchmarks of the tokenizer, from what every machine with Python has: no downloads, the same on each run."""
from __future__ import annotations

import ast
import random
import sysconfig
from pathlib import Path


def _sources() -> list[Path]:
    root = Path(sysconfig.get_paths()["stdlib"])
    return sorted(p for p in root.rglob("*.py") if "site-packages" not in p.parts and "test" not in p.parts)


def code(size: int) -> str:
    """Source files of the Python library."""
    out, have = [], 0
    for path in _sources():
        text = path.read_bytes().decode("utf-8", "replace")
        out.append(text)
        have += len(text)
        if have >= size:
            break
    return "".join(out)[:size]


def english(size: int) -> str:
    """The language reference that ships with Python, then documentation strings."""
    from pydoc_data.topics import topics
    out = [topics[k] for k in sorted(topics)]
    have = sum(map(len, out))
    for path in _sources():
        if have >= size:
            break
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                if doc := ast.get_docstring(node):
                    out.append(doc)
                    have += len(doc)
    return "\n\n".join(out)[:size]


def _script_words(vocabulary: list[str], low: str, high: str) -> list[str]:
    return [w for w in vocabulary if len(w.strip()) > 0 and all(low <= c <= high for c in w.strip())]


def words(vocabulary: list[str], low: str, high: str, size: int, seed: int, gap: str, stops: str) -> str:
    """Sentences of random words of one script out of a vocabulary, frequent ones more often, and some random characters."""
    r = random.Random(seed)
    known = _script_words(vocabulary, low, high) or [low]
    out, have = [], 0
    while have < size:
        sentence = []
        for _ in range(r.randint(4, 14)):
            if r.random() < 0.1:
                sentence.append("".join(chr(r.randint(ord(low), ord(high))) for _ in range(r.randint(1, 3))))
            else:
                sentence.append(known[int(len(known) * r.random() ** 2)].strip())
        text = gap.join(sentence) + r.choice(stops)
        out.append(text)
        have += len(text)
    return "".join(out)


def cjk(vocabulary: list[str], size: int, seed: int = 5) -> str:
    return words(vocabulary, "\u4e00", "\u9fa5", size, seed, "", "，，，。。！？、\n")


def multilingual(vocabulary: list[str], size: int, seed: int = 6) -> str:
    """A part per script: Latin with accents, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai, kana, Hangul, Han."""
    scripts = [("\u00c0", "\u017f", " "), ("\u0391", "\u03c9", " "), ("\u0410", "\u044f", " "), ("\u05d0", "\u05ea", " "),
               ("\u0621", "\u064a", " "), ("\u0905", "\u094d", " "), ("\u0e01", "\u0e4e", ""), ("\u3041", "\u30fa", ""),
               ("\uac00", "\ud7a3", " "), ("\u4e00", "\u9fa5", "")]
    part = size // len(scripts)
    return "".join(words(vocabulary, low, high, part, seed + i, gap, ".,!?;\n\u3002\u3001")
                   for i, (low, high, gap) in enumerate(scripts))
