#!/usr/bin/env python3
"""Writes src/tokenizer/unicode_tables.inc by asking Hugging Face `tokenizers` about every code point.

    python3 scripts/unicode/generate_tables.py > src/tokenizer/unicode_tables.inc

Three parts of that library know three versions of Unicode: its regular expressions (letters, numbers, white space), its
added-token tests (word characters) and its normaliser (much older). No published table says what the mixture is, so the
library itself is the source: each class is read off by matching, and the canonical data is read off by normalising (NFD
gives decompositions, the order of two marks gives combining classes, NFC of a decomposition gives the composing pairs).
Needs: tokenizers==0.23.3
"""
from __future__ import annotations

import sys
import unicodedata

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
LETTER, NUMBER, SPACE, WORD, UNSETTLED = 1, 2, 4, 8, 16
BLOCK = 128


def chunks(items, size):
    for i in range(0, len(items), size):
        yield items[i:i + size]


def regex_class(pattern: str) -> set[int]:
    """Code points that the regular expression engine puts into a class."""
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    found = set()
    for part in chunks(CODE_POINTS, 2048):
        for piece, _ in split.pre_tokenize_str("".join(map(chr, part))):
            found.update(map(ord, piece))
    return found


def word_class() -> set[int]:
    """Code points that keep a single_word token from matching beside them."""
    tok = Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))
    tok.add_tokens([AddedToken("\x01\x02", single_word=True, normalized=False)])
    found = set()
    for part in chunks(CODE_POINTS, 1 << 16):
        for c, e in zip(part, tok.encode_batch(["\x01\x02" + chr(c) for c in part])):
            if "\x01\x02" not in e.tokens:
                found.add(c)
    return found


NFC, NFD = normalizers.NFC(), normalizers.NFD()


def each(form, strings: list[str]) -> list[str]:
    """Normalises many strings. A line feed neither composes nor reorders, so it may part them."""
    out = []
    for part in chunks(strings, 4096):
        got = form.normalize_str("\n".join(part)).split("\n")
        assert len(got) == len(part)
        out += got
    return out


def decompositions() -> dict[int, str]:
    points = [c for c in CODE_POINTS if c != 10]
    got = each(NFD, [chr(c) for c in points])
    return {c: d for c, d in zip(points, got) if d != chr(c) and not 0xAC00 <= c <= 0xD7A3}


def combining_classes() -> dict[int, int]:
    """Orders every code point against one known mark per class."""
    low, high = 0x334, 0x345  # the lowest and the highest class
    assert (unicodedata.combining(chr(low)), unicodedata.combining(chr(high))) == (1, 240)
    marks: dict[int, int] = {1: low, 240: high}
    for c in CODE_POINTS:
        k = unicodedata.combining(chr(c))
        # Marks of newer versions of Unicode are ordinary characters here: they don't move.
        if k and k not in marks and NFD.normalize_str(chr(high) + chr(c)) == chr(c) + chr(high):
            marks[k] = c
    points = [c for c in CODE_POINTS if c != 10 and NFD.normalize_str(chr(c)) == chr(c)]
    before_high = each(NFD, [chr(high) + chr(c) for c in points])
    after_low = each(NFD, [chr(c) + chr(low) for c in points])
    combining = [c for c, x, y in zip(points, before_high, after_low)
                 if x != chr(high) + chr(c) or (y != chr(c) + chr(low))]
    combining = sorted(set(combining) | {low, high})
    order = sorted(marks)
    found = {}
    for c in combining:
        for k in order:
            m = chr(marks[k])
            if NFD.normalize_str(m + chr(c)) == m + chr(c) and NFD.normalize_str(chr(c) + m) == chr(c) + m:
                assert c not in found, hex(c)
                found[c] = k
        assert c in found, hex(c)
    return found


def compositions(decomposed: dict[int, str]) -> dict[tuple[int, int], int]:
    points = [c for c, d in decomposed.items() if len(d) > 1]
    composed = each(NFC, [chr(c) for c in points])
    pairs = {}
    for c, again in zip(points, composed):
        if again != chr(c):
            continue  # excluded from composition
        d = decomposed[c]
        first = NFC.normalize_str(d[:-1])
        assert len(first) == 1, hex(c)
        assert NFC.normalize_str(first + d[-1]) == chr(c), hex(c)
        pairs[ord(first), ord(d[-1])] = c
    return pairs


def numbers(values, width=16) -> str:
    values = list(values)
    return "\n".join(",".join(map(str, line)) + "," for line in chunks(values, width))


def main() -> int:
    decomposed, ccc = decompositions(), combining_classes()
    pairs = compositions(decomposed)
    changed = {c for c, again in zip(decomposed, each(NFC, list(map(chr, decomposed)))) if again != chr(c)}
    unsettled = changed | set(ccc) | {b for _, b in pairs}
    unsettled |= set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    flags = bytearray(0x110000)
    classes = ((LETTER, regex_class(r"\p{L}")), (NUMBER, regex_class(r"\p{N}")), (SPACE, regex_class(r"\s")),
               (WORD, word_class()), (UNSETTLED, unsettled))
    for bit, members in classes:
        print(bit, len(members), file=sys.stderr)
        for c in members:
            flags[c] |= bit
    blocks: dict[bytes, int] = {}
    index = [blocks.setdefault(bytes(flags[i:i + BLOCK]), len(blocks)) for i in range(0, 0x110000, BLOCK)]
    assert len(blocks) < 256
    texts = []  # decompositions, one after another, as code points
    table = []
    for c, d in sorted(decomposed.items()):
        table.append(f"{{0x{c:X},{len(texts)},{len(d)}}}")
        texts += [f"0x{ord(x):X}" for x in d]
    assert len(texts) < 1 << 16
    out = sys.stdout.write
    out("// Written by scripts/unicode/generate_tables.py from Hugging Face `tokenizers` "
        f"{tokenizers.__version__}; do not edit.\n")
    out("// Letters, numbers, white space: its regular expressions. Words: its added-token tests. The rest: its NFC.\n")
    out("// clang-format off\n\n")
    out(f"static_assert(1 << kBlockBits == {BLOCK});\n\n")
    out(f"const std::uint8_t kBlockOf[{len(index)}] = {{\n{numbers(index, 40)}\n}};\n\n")
    flat = [v for b in blocks for v in b]
    out(f"const std::uint8_t kFlags[{len(flat)}] = {{\n{numbers(flat, 40)}\n}};\n\n")
    out(f"constexpr Decomposition kDecompositions[{len(table)}] = {{\n{numbers(table, 6)}\n}};\n\n")
    out(f"constexpr char32_t kDecomposed[{len(texts)}] = {{\n{numbers(texts, 14)}\n}};\n\n")
    entries = [f"{{0x{c:X},{k}}}" for c, k in sorted(ccc.items())]
    out(f"constexpr CombiningClass kCombiningClasses[{len(entries)}] = {{\n{numbers(entries, 10)}\n}};\n\n")
    entries = [f"{{0x{a:X},0x{b:X},0x{c:X}}}" for (a, b), c in sorted(pairs.items())]
    out(f"constexpr Composition kCompositions[{len(entries)}] = {{\n{numbers(entries, 5)}\n}};\n\n")
    out("// clang-format on\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
