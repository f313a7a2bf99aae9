"""What goes over the wire by messages, read a second time: an answer of each protocol, put together from its events alone, and the conversation
of a request."""
from __future__ import annotations

import json
from dataclasses import dataclass, field

from answers import CITIES, calls, words
from tap import Exchange

# Where a history stands in a request.
HISTORY = {"/v1/chat/completions": "messages", "/v1/responses": "input", "/v1/messages": "messages"}


@dataclass
class Said:
    reasoning: str = ""
    text: str = ""
    calls: list[tuple] = field(default_factory=list)  # id, name, value of the arguments
    word: str | None = None  # how it ended, in the protocol's word
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None
    parts: list[dict] = field(default_factory=list)  # items or blocks, as the server said them


def parsed(arguments: str):
    """Of arguments: Messages have them as objects. Those of a call that was cut are what there is of their text."""
    try:
        return json.loads(arguments)
    except json.JSONDecodeError:
        return arguments


def said(exchange: Exchange) -> Said:
    read = {"/v1/chat/completions": _chat, "/v1/responses": _response, "/v1/messages": _message}[exchange.path]
    return read(exchange.events(), exchange.streamed)


def _chat(events: list[dict], streamed: bool) -> Said:
    got, calls = Said(), {}
    for event in events:
        if event.get("usage"):
            _openai_usage(got, event["usage"], "prompt_tokens", "completion_tokens")
        for choice in event["choices"]:
            part = choice["delta" if streamed else "message"]
            got.reasoning += part.get("reasoning") or ""
            got.text += part.get("content") or ""
            for number, each in enumerate(part.get("tool_calls") or []):
                one = calls.setdefault(each.get("index", number), ["", "", ""])
                one[0] += each.get("id") or ""
                one[1] += each["function"].get("name") or ""
                one[2] += each["function"].get("arguments") or ""
            got.word = choice["finish_reason"] or got.word
    got.calls = [(*calls[number][:2], parsed(calls[number][2])) for number in sorted(calls)]
    return got


def _openai_usage(got: Said, usage: dict, prompt: str, completion: str) -> None:
    got.prompt_tokens, got.completion_tokens = usage[prompt], usage[completion]
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    got.cached_tokens = details.get("cached_tokens")


def _response(events: list[dict], streamed: bool) -> Said:
    response = events[-1]["response"] if streamed else events[0]
    why = response["incomplete_details"]
    got = Said(word=why["reason"] if why else response["status"], parts=response["output"])
    _openai_usage(got, response["usage"], "input_tokens", "output_tokens")
    for item in response["output"]:
        if item["type"] == "reasoning":
            got.reasoning += "".join(part["text"] for part in item["content"])
        elif item["type"] == "message":
            got.text += "".join(part["text"] for part in item["content"])
        else:
            got.calls.append((item["call_id"], item["name"], parsed(item["arguments"])))
    if streamed:
        _check_deltas(events, response["output"])
    return got


def _check_deltas(events: list[dict], output: list[dict]) -> None:
    """What the deltas of an item add up to is what the last event says of it."""
    whole = {number: item["arguments"] if item["type"] == "function_call" else "".join(part["text"] for part in item["content"])
             for number, item in enumerate(output)}
    pieces = dict.fromkeys(whole, "")
    for event in events:
        if event["type"].endswith(".delta"):
            pieces[event["output_index"]] += event["delta"]
    assert pieces == whole
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


def _message(events: list[dict], streamed: bool) -> Said:
    if not streamed:
        return _of_blocks(events[0]["content"], events[0]["stop_reason"], events[0]["usage"])
    blocks, usage, word = [], {}, None
    for event in events:
        if event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        elif event["type"] == "content_block_delta":
            kind, value = event["delta"]["type"].removesuffix("_delta"), dict(event["delta"])
            (name,) = value.keys() - {"type"}
            assert event["index"] == len(blocks) - 1 and kind in ("text", "thinking", "signature", "input_json")
            blocks[-1][name] = blocks[-1].get(name, "") + value[name]
        elif event["type"] == "message_delta":
            usage, word = event["usage"], event["delta"]["stop_reason"]
    for block in blocks:
        if block["type"] == "tool_use":
            block["input"] = parsed(block.pop("partial_json", "{}"))
    return _of_blocks(blocks, word, usage)


def _of_blocks(blocks: list[dict], word: str | None, usage: dict) -> Said:
    got = Said(word=word, parts=blocks)
    got.reasoning = "".join(block["thinking"] for block in blocks if block["type"] == "thinking")
    got.text = "".join(block["text"] for block in blocks if block["type"] == "text")
    got.calls = [(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
    cached, made = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    got.prompt_tokens = usage["input_tokens"] + (cached or 0) + (made or 0)
    got.completion_tokens, got.cached_tokens = usage["output_tokens"], cached
    return got


def history(exchange: Exchange) -> list[dict]:
    return exchange.request[HISTORY[exchange.path]]


def _is_result(entry: dict) -> bool:
    blocks = entry.get("content")
    return entry.get("role") == "tool" or entry.get("type") == "function_call_output" or (
        entry.get("role") == "user" and isinstance(blocks, list) and blocks[0]["type"] == "tool_result")


def agent_answer(exchange: Exchange) -> list[int]:
    """A call for each question, words for each result of a call."""
    entries = history(exchange)
    if _is_result(entries[-1]):
        return words()
    questions = [entry for entry in entries if entry.get("role") == "user" and not _is_result(entry)]
    return calls(CITIES[(len(questions) - 1) % len(CITIES)])
