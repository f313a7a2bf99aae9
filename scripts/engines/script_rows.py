"""When a row of a script answers a prompt: the worker behind Dynamo's frontend and the logits processor of vLLM read it so."""
from __future__ import annotations


def applies(row: dict, prompt: list[int]) -> bool:
    """`last`: ids the prompt ends with; `holds`: lists of ids, all of which stand somewhere in it. Both may be absent."""
    last = row.get("last", [])
    return prompt[len(prompt) - len(last):] == last and all(_stands_in(part, prompt) for part in row.get("holds", []))


def _stands_in(part: list[int], prompt: list[int]) -> bool:
    return any(prompt[i : i + len(part)] == part for i in range(len(prompt) - len(part) + 1))
