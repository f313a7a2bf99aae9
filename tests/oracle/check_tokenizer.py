#!/usr/bin/env python3
"""Compares the tokenizer with Hugging Face `tokenizers` and with transformers' sanitized chats, id by id.

    check_tokenizer.py --tool build/release/tests/tokenizer_oracle_tool --model models/qwen3 [--seed 1] [--scale 1]

Prints a line per check with counts and seeds, the first differences in full, and "N passed, M failed" at the end. A compared text, code
point or id list counts as one. --scale 0.01 is a quick look. Needs: tokenizers==0.23.3, transformers==5.23.* (no torch).
"""
from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import corpus
import encode_oracle as oracle
from tokenizers import normalizers
from tool import Tool

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "unicode"))
import generate_tables as tables

SHOWN = 5


class Tally:
    def __init__(self) -> None:
        self.passed = self.failed = 0

    def check(self, name: str, bad: list[str], count: int, started: float, note: str = "") -> None:
        self.passed += count - len(bad)
        self.failed += len(bad)
        print(f"{name:34} {count:9} compared, {len(bad)} differ, {time.time() - started:5.1f} s  {note}", flush=True)
        for line in bad[:SHOWN]:
            print("    " + line, flush=True)


def difference(text: str, ours: list[int], theirs: list[int]) -> str:
    k = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    shown = text if len(text) <= 300 else text[:300] + "..."
    return f"token {k}: ours {ours[k:k + 4]}, expected {theirs[k:k + 4]} in {shown!r}"


def batches(items: list, size: int):
    for i in range(0, len(items), size):
        yield items[i:i + size]


def compare_texts(tool: Tool, tok, texts: list[str]) -> list[str]:
    bad = []
    for part in batches(texts, 2000):
        for text, theirs in zip(part, tok.encode_batch(part, add_special_tokens=False)):
            ours = tool.encode(text)
            if ours != theirs.ids:
                bad.append(difference(text, ours, theirs.ids))
    return bad


# --------------------------------------------------------------------------- Unicode
def check_unicode(t: Tally, tool: Tool, seed: int, scale: float) -> None:
    started = time.time()
    classes = tool.bytes("u")
    bad = []
    for bit, members in ((tables.LETTER, tables.regex_class(r"\p{L}")), (tables.NUMBER, tables.regex_class(r"\p{N}")),
                         (tables.SPACE, tables.regex_class(r"\s")), (tables.WORD, tables.word_class())):
        bad += [f"class {bit} of U+{c:04X}" for c in tables.CODE_POINTS if bool(classes[c] & bit) != (c in members)]
    t.check("classes of all code points", bad, 4 * len(tables.CODE_POINTS), started)

    started = time.time()
    nfc = normalizers.NFC()
    singles = [chr(c) for c in tables.CODE_POINTS if c != 10]
    r = random.Random(seed)
    moving = [chr(c) for c in tables.CODE_POINTS if classes[c] & tables.UNSETTLED]
    bases = [chr(c) for c in tables.decompositions()] + list(oracle.BASES) + [chr(c) for c in range(0x1100, 0x1113)] \
        + [chr(r.randrange(0xAC00, 0xD7A4)) for _ in range(200)]
    series = ["".join(r.choice(bases if r.random() < .35 else moving) for _ in range(r.randint(2, 9)))
              for _ in range(int(300_000 * scale))]
    bad = []
    for part in batches(singles + series, 4096):
        theirs = nfc.normalize_str("\n".join(part)).split("\n")
        ours = tool.bytes("n", "\n".join(part).encode()).decode().split("\n")
        bad += [f"NFC of {s!r}: ours {a!r}, expected {b!r}" for s, a, b in zip(part, ours, theirs, strict=True) if a != b]
    t.check("NFC of code points and sequences", bad, len(singles) + len(series), started, f"seed {seed}")


# --------------------------------------------------------------------------- texts
def check_corpus(t: Tally, tool: Tool, tok, seed: int, scale: float) -> None:
    started = time.time()
    vocabulary = [tok.decode([i], skip_special_tokens=False) for i in range(0, tok.get_vocab_size())]
    size = int(1_800_000 * scale)
    whole = "".join((corpus.english(size), corpus.code(size), corpus.cjk(vocabulary, size // 2, seed),
                     corpus.multilingual(vocabulary, size // 2, seed)))
    r, texts, at = random.Random(seed), [], 0
    while at < len(whole):
        size = r.choice((50, 700, 2000, 20000))
        texts.append(whole[at:at + size])
        at += size
    bad = compare_texts(tool, tok, texts)
    t.check("mixed text", bad, len(texts), started, f"{len(whole.encode()) / 1e6:.1f} MB, seed {seed}")


def check_fuzz(t: Tally, tool: Tool, tok, seed: int, count: int, name: str) -> None:
    started = time.time()
    gens, r = oracle.generators(tok), random.Random(seed)
    texts = [oracle.clean(gens[n % len(gens)](r)) for n in range(count)]
    t.check(name, compare_texts(tool, tok, texts), count, started, f"seed {seed}")


def check_long(t: Tally, tool: Tool, tok) -> None:
    started = time.time()
    units = ["a", " ", "\n", "0", "!", "\u00e9", "\u4e2d", "\u0301", "e\u0301", "\U0001f468\u200d\U0001f469", "ab", "<|", "\r\n", " \n", "'s"]
    texts = [u * n for u in units for n in (127, 128, 129, 1000, 30000)]
    t.check("long runs", compare_texts(tool, tok, texts), len(texts), started)


def check_embedded(t: Tally, tool: Tool, tok) -> None:
    started = time.time()
    around = ["", " ", "  ", "\n", "a", "é", "中", "\u0301", "<", "|>", "0", "\u00a0", "_", "\U0001f600", "\u200d"]
    added = [a.content for a in tok.get_added_tokens_decoder().values()][:64]
    texts = [a + token + b for token in added for a in around for b in around]
    texts += [a + b for a in added for b in added] + [a[:-1] + b for a in added for b in added]
    t.check("every added token in context", compare_texts(tool, tok, texts), len(texts), started)


def check_begins(t: Tally, tool: Tool, tok, seed: int, count: int) -> None:
    """Offsets of HF are characters of the original; ours are bytes, and may point into a character."""
    started = time.time()
    gens, r = oracle.generators(tok), random.Random(seed)
    texts = [oracle.clean(gens[n % len(gens)](r)) for n in range(count)]
    bad = []
    for part in batches(texts, 2000):
        for text, theirs in zip(part, tok.encode_batch(part, add_special_tokens=False)):
            tool.send("b", text.encode())
            ids, begins = tool.read_numbers(), tool.read_numbers()
            char_of, starts, place = [], [], 0
            for c in text:
                starts.append(place)
                place += len(c.encode())
                char_of += [len(starts) - 1] * (place - starts[-1])
            if sorted(begins) != begins or len(begins) != len(ids) or (begins and begins[-1] >= place):
                bad.append(f"begins {begins[:20]} of {text[:200]!r}")
                continue
            if tok.normalizer is not None and unicodedata.normalize("NFC", text) != text:
                continue
            ours, expected = [char_of[b] for b in begins], [first for first, _ in theirs.offsets]
            if ours != expected:
                k = next(i for i, (a, b) in enumerate(zip(ours, expected)) if a != b)
                bad.append(f"begin of token {k}: ours {begins[k]}, expected {starts[expected[k]]} in {text[:200]!r}")
    t.check("begins", bad, count, started, f"seed {seed}")


# --------------------------------------------------------------------------- decoding
def check_decode(t: Tally, tool: Tool, tok, seed: int, count: int) -> None:
    started = time.time()
    r, bad = random.Random(seed), []
    top = tok.get_vocab_size()
    pieces = [i for i in range(0, top, 7) if "\ufffd" in tok.decode([i])] or [0]
    lists = []
    for n in range(count):
        source = (lambda: r.randrange(top)) if n % 3 else (lambda: r.choice(pieces))
        if n % 3 == 2:
            lists.append(tok.encode(oracle.clean("".join(oracle.rand_cp(r) for _ in range(12)))).ids)
        else:
            lists.append([i for i in (source() for _ in range(r.randint(1, 40))) if tok.id_to_token(i) is not None])
    for part in batches(lists, 2000):
        for ids, theirs in zip(part, tok.decode_batch(part, skip_special_tokens=False)):
            whole = tool.bytes("d", numbers=ids).decode()
            chunks = tool.bytes("i", numbers=ids).split(b"\xff")
            try:
                joined = "".join(c.decode() for c in chunks)
            except UnicodeDecodeError:
                joined = "half a character was given out"
            if whole != theirs or joined != theirs:
                bad.append(f"{ids[:30]}: ours {whole[:100]!r}, one by one {joined[:100]!r}, expected {theirs[:100]!r}")
    t.check("decode, at once and one by one", bad, count, started, f"seed {seed}")


# --------------------------------------------------------------------------- callers' text
# None is empty: two strings of callers side by side may spell a token that transformers doesn't see, as it looks at each string alone.
TEMPLATE_PARTS = ["<|im_start|>user\n", "<|im_end|>\n", "<|im_start|>system\n", "<|im_end|>\n<|im_start|>assistant\n", "\n", " ", "x",
                  "<think>\n\n</think>\n\n", "\n<tool_response>\n", "\n</tool_response>", "# Tools\n\n<tools>", "{\"name\": \"", "\"}"]


def caller_string(r: random.Random, gens, added: list[str], control: list[str]) -> str:
    kind = r.random()
    if kind < .25:
        return oracle.clean(r.choice(gens)(r))
    out = []
    for _ in range(r.randint(1, 8)):
        token = r.choice(control) if r.random() < .7 else r.choice(added)
        out.append(r.choice([token, token, token, token[:-1], token[1:], token + token[1:], token[:-1] + token, " ", "\n", "  \n ", "\t", "\r\n",
                             " \n\nx", "a", "hello world", "'s", "12", "!!", "e\u0301", "\u0301", "\u4e2d\u6587", "<", "|>"]))
    return "".join(out)


def clean_markers(text: str) -> str:
    """transformers drops its two markers from what callers send; ours has none, and keeps these characters."""
    return text.replace("\U000f0000", "").replace("\U000f0001", "")


def hf_tokenizer(model: Path):
    from transformers import PreTrainedTokenizerFast
    config = json.loads((model / "tokenizer_config.json").read_text()) if (model / "tokenizer_config.json").exists() else {}
    template = model / "chat_template.jinja"
    return PreTrainedTokenizerFast(tokenizer_file=str(model / "tokenizer.json"), clean_up_tokenization_spaces=False,
                                   chat_template=template.read_text() if template.exists() else config.get("chat_template"))


def check_sanitized(t: Tally, tool: Tool, tok, model: Path, seed: int, count: int) -> None:
    from transformers.utils import chat_template_utils as chat
    started = time.time()
    hf = hf_tokenizer(model)
    control = hf._get_control_tokens(hf.chat_template)
    literals = chat._get_template_literal_text(hf.chat_template)
    ids = tool.numbers("l", literals.encode())
    bad = []
    if sorted(ids) != sorted(hf.convert_tokens_to_ids(list(control))):
        bad.append(f"control tokens: ours {ids}, expected {sorted(hf.convert_tokens_to_ids(list(control)))}")
    t.check("control tokens of the template", bad, 1, started)
    tool.numbers("k", numbers=ids)
    pattern, _ = chat._get_control_token_patterns(control)
    added = list(hf.added_tokens_encoder)

    started, r, bad = time.time(), random.Random(seed), []
    gens = oracle.generators(tok)
    for _ in range(count):
        text, marked, ranges = "", "", []
        for _ in range(r.randint(1, 5)):
            part = r.choice(TEMPLATE_PARTS)
            text, marked = text + part, marked + part
            said = clean_markers(caller_string(r, gens, added, list(control)))
            begin = len(text.encode())
            text, marked = text + said, marked + chat.mark_control_tokens(said, pattern)
            ranges += [begin, len(text.encode())]
        text, marked = text + "<|im_end|>", marked + "<|im_end|>"
        theirs = chat.encode_marked_chat(hf, marked)
        ours = tool.numbers("c", text.encode(), ranges)
        if ours != theirs:
            bad.append(difference(text, ours, theirs) + f" ranges {ranges}")
    t.check("callers' text, by parts", bad, count, started, f"seed {seed}")

    started, r, bad = time.time(), random.Random(seed + 1), []
    changed = 0
    hold = [chr(0xF1000 + i) for i in range(8)]
    for _ in range(count // 4):
        strings = [clean_markers(caller_string(r, gens, added, list(control))) for _ in range(r.randint(1, 4))]
        roles = ["user"] + [r.choice(["user", "assistant", "tool"]) for _ in strings[1:]]
        if len(strings) > 1 and r.random() < .4:
            roles[0] = "system"
            roles[1] = "user"
        # The assistant's text is cut at </think> by templates; keep it plain there.
        strings = [s if role != "assistant" else "sure" for s, role in zip(strings, roles)]
        arguments = {"tokenize": True, "add_generation_prompt": True, "return_dict": False}
        theirs = hf.apply_chat_template([{"role": x, "content": s} for x, s in zip(roles, strings)],
                                        sanitize_control_tokens=True, **arguments)
        rendered = hf.apply_chat_template([{"role": x, "content": h} for x, h in zip(roles, hold)],
                                          tokenize=False, add_generation_prompt=True)
        text, ranges = b"", []
        for c in rendered:
            if c not in hold:
                text += c.encode()
                continue
            begin = len(text)
            text += strings[hold.index(c)].encode()
            ranges += [begin, len(text)]
        plain = hf.apply_chat_template([{"role": x, "content": s} for x, s in zip(roles, strings)],
                                       tokenize=False, add_generation_prompt=True)
        if plain != text.decode():  # this template trims or rewrites what it is given
            changed += 1
            continue
        ours = tool.numbers("c", text, ranges)
        if ours != theirs:
            bad.append(difference(text.decode(), ours, theirs))
    t.check("callers' text, whole chats", bad, count // 4 - changed, started,
            f"seed {seed + 1}, {changed} left out: the template changes the text")


# --------------------------------------------------------------------------- made-up files
def variants(toy: Path):
    """Small tokenizers with every flag of added tokens, normalised tokens, and each pattern."""
    qwen = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
    llama = qwen.replace("\\p{N}|", "\\p{N}{1,3}|", 1)
    base = json.loads(toy.read_text())
    first = len(base["model"]["vocab"])
    strange = ["<a>", "<ab>", "ab", "é", "e\u0301x", "[x", " ", "\n", "<|im_end|>", "中", "_", "\u0301", "aa", "x]", "\u212b", "<a><a>"]
    for name, regex in (("gpt2", None), ("qwen2", qwen), ("llama3", llama)):
        for nfc in (False, True):
            for n in range(3):
                r = random.Random(f"{name}{nfc}{n}")
                made = json.loads(json.dumps(base))
                made["normalizer"] = {"type": "NFC"} if nfc else None
                made["model"]["ignore_merges"] = r.random() < .3
                if regex:
                    made["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
                        {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False},
                        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}]}
                made["added_tokens"] = []
                seen = set()
                for content in strange:
                    # Hugging Face panics where a token with rstrip stands before one that is white space.
                    if n and content.isspace():
                        continue
                    flags = {k: r.random() < .3 for k in ("single_word", "lstrip", "rstrip", "special")}
                    flags["rstrip"] = flags["rstrip"] and n > 0
                    flags["normalized"] = r.random() < .5
                    form = unicodedata.normalize("NFC", content) if nfc and flags["normalized"] else content
                    known = base["model"]["vocab"].get(content)
                    if (flags["normalized"], form) in seen or known is not None and form != content:
                        continue
                    seen.add((flags["normalized"], form))
                    number = known if known is not None else first
                    first += known is None
                    made["added_tokens"].append({"id": number, "content": content, **flags})
                first = len(base["model"]["vocab"])
                yield f"{name}{'+nfc' if nfc else ''}.{n}", made


def check_variants(t: Tally, binary: Path, toy: Path, seed: int, count: int) -> None:
    started, bad, total = time.time(), [], 0
    for name, made in variants(toy):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "tokenizer.json").write_text(json.dumps(made))
            tok = oracle.load(Path(folder))
            with Tool(binary, Path(folder), "--cache", folder) as tool:
                gens, r = oracle.generators(tok), random.Random(seed)
                texts = [oracle.clean(gens[n % len(gens)](r)) for n in range(count)]
                contents = [a["content"] for a in made["added_tokens"]]
                texts += ["".join(r.choice(contents + [" ", "  ", "\n", "\t", "a", "b", "<", "0", "e", "\u0301", "A\u030a", "'S", "'\u017f"])
                                  for _ in range(r.randint(1, 12))) for _ in range(count)]
                bad += [f"{name}: {line}" for line in compare_texts(tool, tok, texts)]
                ids = [r.randrange(tok.get_vocab_size()) for _ in range(2000)]
                ids = [i for i in ids if tok.id_to_token(i) is not None]
                if tool.bytes("d", numbers=ids).decode() != tok.decode(ids, skip_special_tokens=False):
                    bad.append(f"{name}: decode")
                total += len(texts) + 1
    t.check("small tokenizers, all flags", bad, total, started, f"seed {seed}")


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--tool", type=Path, required=True)
    ap.add_argument("--model", type=Path, required=True)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--scale", type=float, default=1)
    ap.add_argument("--toy", type=Path, default=Path(__file__).resolve().parents[1] / "cases" / "toy" / "tokenizer.json")
    a = ap.parse_args()
    t = Tally()
    tok = oracle.load(a.model)
    n = lambda count: max(1, int(count * a.scale))
    with Tool(a.tool, a.model) as tool:
        check_unicode(t, tool, a.seed, a.scale)
        check_corpus(t, tool, tok, a.seed, a.scale)
        check_embedded(t, tool, tok)
        check_long(t, tool, tok)
        check_fuzz(t, tool, tok, a.seed, n(200_000), "random and pathological texts")
        check_begins(t, tool, tok, a.seed + 2, n(5_000))
        check_decode(t, tool, tok, a.seed + 3, n(20_000))
        check_sanitized(t, tool, tok, a.model, a.seed + 4, n(4_000))
    check_variants(t, a.tool, a.toy, a.seed + 6, n(1_000))
    print(f"{t.passed} passed, {t.failed} failed")
    return 1 if t.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
