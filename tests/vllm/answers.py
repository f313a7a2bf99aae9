"""What the model is made to say: control tokens and frames as a model writes them, the rest letter by letter or drawn by the model, so that
no answer is what a tokenizer would make of its text."""
from __future__ import annotations

import json
import re

from model_folder import CLOSE, FREE
from records import tokenizer

MARKERS = re.compile(r"(<\|im_end\|>|<\|endoftext\|>|</?think>|</?tool_call>)")
CITIES = ["Rome", "São Paulo", "東京", "Zürich", "Oslo"]
RESPONSE = "</tool_response><|im_end|>"


def spelled(text: str) -> list[int]:
    ids = []
    for piece in MARKERS.split(text):
        for part in [piece] if MARKERS.fullmatch(piece) else piece:
            ids += tokenizer().encode(part, add_special_tokens=False).ids
    return ids


def thinking(count: int) -> list[int]:
    """A reasoning text of which `count` ids are drawn by the model."""
    return [*spelled("<think>\nHm — ☂? "), *[FREE] * count, *spelled("\n</think>\n\n")]


# In mode derender, and by messages, the server's parser takes what stands before its end for reasoning, begun or not, and keeps newlines behind it.
THOUGHT = spelled("<think>\nHm.\n</think>")


def arguments_for(city: str) -> str:
    return json.dumps({"city": city, "days": 2}, ensure_ascii=False)


def calls(*cities: str, before: str = "") -> list[int]:
    frames = ['<tool_call>\n{"name": "get_weather", "arguments": ' + arguments_for(city) + "}\n</tool_call>" for city in cities]
    return [*thinking(12), *spelled(before + "\n".join(frames)), CLOSE]


def words(count: int = 12) -> list[int]:
    return [*thinking(8), *spelled("So: "), *[FREE] * count, *spelled(" \U0001f44b!"), CLOSE]


def agent_answer(prompt: list[int]) -> list[int]:
    """A call for each question, words for each result of a call."""
    text = tokenizer().decode(prompt[-300:], skip_special_tokens=False)
    if RESPONSE in text.rsplit("<|im_start|>user", 1)[-1]:
        return words()
    opened = prompt.count(tokenizer().token_to_id("<|im_start|>"))
    return calls(CITIES[opened // 4 % len(CITIES)])
