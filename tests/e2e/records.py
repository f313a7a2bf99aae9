"""Checks of record lines: the invariants of docs/design.md 1, as far as a record shows them."""
from __future__ import annotations

import functools
import json
import math
import struct
import sys
from pathlib import Path

from tokenizers import Tokenizer

from programs import MODEL, ROOT

sys.path.insert(0, str(ROOT / "tests/oracle"))
import render_oracle  # noqa: E402

SOURCES = {"prefix", "render", "system", "user", "tool", "assistant", "generation_prompt"}


@functools.cache
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(MODEL / "tokenizer.json"))


@functools.cache
def reference(model: Path = MODEL):
    """The model's template in the reference environment."""
    return render_oracle.load(model)


def difference(got: list, want: list) -> str:
    """Where two lists of ids part, with what stands there."""
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))

    def shown(ids: list) -> str:
        piece = ids[at:at + 6]
        return f"{piece} {tokenizer().decode(piece, skip_special_tokens=False)!r}"

    return f"ids part at {at} (of {len(got)} and {len(want)}): found {shown(got)}, expected {shown(want)}"


def turns(lines: list[dict]) -> list[dict]:
    return [line for line in lines if line["schema_version"] == "tito.record.v1"]


def check_prefix(lines: list[dict]) -> None:
    """I1: a child's prompt begins with its parent's prompt and completion, and its line stands behind its parent's."""
    by_id = {}
    for line in lines:
        by_id[line["turn"]] = line
        if line["parent_turn"] is None:
            continue
        assert line["parent_turn"] in by_id, f"turn {line['turn_index']} stands before its parent"
        parent = by_id[line["parent_turn"]]
        row = parent["prompt_token_ids"] + parent["completion_token_ids"]
        row = row[:len(row) - line["attach"]["trim"]]
        prompt = line["prompt_token_ids"]
        assert prompt[:len(row)] == row, f"turn {line['turn_index']} does not extend turn {parent['turn_index']}: {difference(prompt, row)}"
        assert line["attach"]["trim"] <= 1


def single(value: float) -> float:
    """As a 32-bit float."""
    return struct.unpack("f", struct.pack("f", value))[0]


def check_logprobs(lines: list[dict]) -> None:
    """I6: one finite logprob for each sampled id."""
    for line in lines:
        ids, values = line["completion_token_ids"], line["completion_logprobs"]
        assert len(ids) == len(values), f"turn {line['turn_index']}: {len(ids)} ids, {len(values)} logprobs"
        assert all(math.isfinite(value) and value <= 0 for value in values), f"turn {line['turn_index']}: {values}"


def check_segments(lines: list[dict]) -> None:
    """I7: segments, and the finer spans, tile the prompt."""
    for line in lines:
        at = 0
        for segment in line["prompt_segments"]:
            assert segment["start"] == at and segment["end"] > at, f"turn {line['turn_index']}: {line['prompt_segments']}"
            assert segment["source"] in SOURCES, segment
            at = segment["end"]
        size = len(line["prompt_token_ids"])
        assert at == size, f"turn {line['turn_index']}: segments end at {at} of {size}"
        first = line["prompt_segments"][0]
        assert first["source"] == ("render" if line["parent_turn"] is None else "prefix"), first
        inherited = first["end"] if line["parent_turn"] is not None else 0
        assert sum(span["count"] for span in line["spans"]) == size - inherited, f"turn {line['turn_index']}: spans do not tile"


def check_engine(lines: list[dict], log: list[dict]) -> None:
    """I4: each turn holds what the engine was sent and what it sampled; what came behind a stop is kept apart."""
    for line in lines:
        calls = [call for call in log if call["prompt_ids"] == line["prompt_token_ids"]]
        assert calls, f"turn {line['turn_index']}: the engine never saw this prompt; nearest: " + difference(
            max((call["prompt_ids"] for call in log), key=lambda ids: common(ids, line["prompt_token_ids"]), default=[]),
            line["prompt_token_ids"])
        sampled = line["completion_token_ids"] + line["discarded_token_ids"]
        same = [call for call in calls if call["output_ids"] == sampled]
        assert same, f"turn {line['turn_index']}: {difference(sampled, calls[-1]['output_ids'])}"
        values = line["completion_logprobs"]
        assert any(call["logprobs"][:len(values)] == values for call in same), f"turn {line['turn_index']}: other logprobs than sampled"


def common(a: list, b: list) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def check_record(lines: list[dict], log: list[dict]) -> None:
    lines = turns(lines)
    # Siblings committed at one time may be written in either order; a turn stands behind its parent always.
    assert sorted(line["turn_index"] for line in lines) == list(range(len(lines))), "turn_index has gaps"
    check_prefix(lines)
    check_engine(lines, log)
    check_logprobs(lines)
    check_segments(lines)


def expected_prompt(request: dict, completions: list[list[int]]) -> list[int]:
    """I2, independently: the reference renderer's ids of a request in which each answer, from behind its opener to its close token,
    is replaced by what was sampled."""
    case = {"messages": request["messages"], "tools": request.get("tools"), "add_generation_prompt": True}
    if "chat_template_kwargs" in request:
        case["kwargs"] = request["chat_template_kwargs"]
    answer = reference()(case)
    assert "text" in answer, answer
    opener = "<|im_start|>assistant\n"
    pieces = answer["text"].split(opener)
    assert len(pieces) == len(completions) + 2, f"{len(pieces) - 2} answers rendered, {len(completions)} recorded"
    ids = tokenizer().encode(pieces[0] + opener, add_special_tokens=False).ids
    for piece, completion in zip(pieces[1:-1], completions):
        behind = piece.split("<|im_end|>", 1)[1]
        ids += completion + tokenizer().encode(behind + opener, add_special_tokens=False).ids
    return ids + tokenizer().encode(pieces[-1], add_special_tokens=False).ids


def check_spliced(request: dict, line: dict, completions: list[list[int]]) -> None:
    want = expected_prompt(request, completions)
    assert line["prompt_token_ids"] == want, f"turn {line['turn_index']}: {difference(line['prompt_token_ids'], want)}"


def check_view(view: dict, lines: list[dict]) -> None:
    """GET of a session shows the path to the last turn, and its row."""
    lines = turns(lines)
    last = lines[-1]
    assert view["metadata"]["accumulated_token_ids"] == last["prompt_token_ids"] + last["completion_token_ids"]
    by_id = {line["turn"]: line for line in lines}
    path, at = [], last
    while at is not None:
        path.append(at)
        at = by_id.get(at["parent_turn"])
    assert len(view["records"]) == len(path), f"{len(view['records'])} records shown, {len(path)} turns on the path"
    for shown, line in zip(view["records"], reversed(path)):
        assert shown["request"]["input_ids"] == line["prompt_token_ids"]
        message = shown["response"]["choices"][0]["message"]
        assert message == line["assistant_message"], json.dumps([message, line["assistant_message"]])
    assert {node["id"] for node in view["metadata"]["tree"]["nodes"]} == set(by_id)
