#!/usr/bin/env python3
"""Records answers by messages of a server that scripts/engines/vllm/server.py started, as tests/captures/README.md says:

  tests/vllm/capture.py URL >tests/captures/vllm/talks.json

What is sampled is forced, so that each answer is known; the key that forces it is left out of the request that is written down. Tokens that
tests/captures/vocabulary lacks are put in.
"""
from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "tests/e2e"), str(ROOT / "scripts/engines/vllm")]

from model_folder import CLOSE, CONTEXT  # noqa: E402
from records import tokenizer  # noqa: E402

VOCABULARY = ROOT / "tests/captures/vocabulary/tokenizer.json"
SYSTEM, QUESTION = "Be brief.", "Hi"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "get_weather", "description": "Weather of a city"}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
THINKING = "<think>\nLet me see.\n</think>\n\n"


def chat(more: dict, limit: int) -> dict:
    tools = {"tools": [{"type": "function", "function": TOOL | {"parameters": SCHEMA}}]} if more.pop("tools", False) else {}
    history = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
    if more.pop("results", False):
        call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
        history += [{"role": "assistant", "content": "", "reasoning_content": "\nLet me see.\n", "tool_calls": [call]},
                    {"role": "tool", "content": "sunny", "tool_call_id": "c1"}]
    usage = {"stream_options": {"include_usage": True}} if more["stream"] else {}
    return {"model": "qwen3", "messages": history, **tools, "max_tokens": limit, **more, **usage}


def responses(more: dict, limit: int) -> dict:
    tools = {"tools": [{"type": "function", **TOOL, "parameters": SCHEMA}]} if more.pop("tools", False) else {}
    history = [{"type": "message", "role": "system", "content": SYSTEM}, {"type": "message", "role": "user", "content": QUESTION}]
    if more.pop("results", False):
        history += [{"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "\nLet me see.\n"}]},
                    {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Paris"}'},
                    {"type": "function_call_output", "call_id": "c1", "output": "sunny"}]
    return {"model": "qwen3", "input": history, **tools, "max_output_tokens": limit, "store": False, **more}


def messages(more: dict, limit: int) -> dict:
    tools = {"tools": [TOOL | {"input_schema": SCHEMA}]} if more.pop("tools", False) else {}
    history: list[dict] = [{"role": "user", "content": QUESTION}]
    if more.pop("results", False):
        history += [{"role": "assistant", "content": [{"type": "thinking", "thinking": "\nLet me see.\n", "signature": ""},
                                                      {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Paris"}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sunny"}]}]
    if "stop" in more:
        more["stop_sequences"] = more.pop("stop")
    return {"model": "qwen3", "max_tokens": limit, "system": [{"type": "text", "text": SYSTEM}], "messages": history, **tools, **more}


ROUTES = {"chat": ("/v1/chat/completions", chat), "responses": ("/v1/responses", responses), "messages": ("/v1/messages", messages)}
# What is sampled, what else is asked for, and how many tokens at most.
ANSWERS = {
    "words": (THINKING + "Hello there.", {}, 100),
    "one_call": (THINKING + CALL, {"tools": True}, 100),
    "words_and_two_calls": (THINKING + "Sure.\n" + CALL + "\n" + CALL, {"tools": True}, 100),
    "behind_a_result": (THINKING + "Sure.", {"tools": True, "results": True}, 100),
    "stop_string": (THINKING + "one STOP two", {"stop": ["STOP"]}, 100),
    "cut_in_words": (THINKING + "one two three", {}, 10),
    "cut_in_reasoning": (THINKING, {}, 4),
    "cut_in_a_call": (THINKING + CALL, {"tools": True}, 24),
}
REFUSALS = {
    "another_model": {"model": "other"},
    "more_than_the_context": {"limit": CONTEXT + 1},
    "a_temperature_of_3": {"temperature": 3},
    "a_temperature_in_letters": {"temperature": "hot"},
}


def record(http: httpx.Client, name: str, route: str, more: dict, sampled: list[int] | None, limit: int) -> dict:
    path, write = ROUTES[route]
    body = write(dict(more), limit)
    forced = {"vllm_xargs": {"forced_ids": sampled}} if sampled else {}
    answer = http.post(path, json=body | forced)
    text = answer.content.decode()
    kind = answer.headers["content-type"]
    response: dict = {"status": answer.status_code, "content_type": kind}
    response |= {"sse": text} if kind.startswith("text/event-stream") else {"body": json.loads(text)}
    if sampled:
        response["sampled"] = [*sampled, CLOSE][:limit] if "stop" not in more else sampled[:until_stop(sampled, more["stop"][0])]
    return {"case": name, "request": {"method": "POST", "path": path, "body": body}, "response": response}


def until_stop(ids: list[int], stop: str) -> int:
    return next(count for count in range(len(ids) + 1) if stop in tokenizer().decode(ids[:count], skip_special_tokens=False))


def add_to_vocabulary(cases: list[dict]) -> None:
    known = json.loads(VOCABULARY.read_text())
    for case in cases:
        for token in case["response"].get("sampled", []):
            known["model"]["vocab"].setdefault(tokenizer().id_to_token(token), token)
    VOCABULARY.write_text(json.dumps(known, indent=0, ensure_ascii=False) + "\n")


def main() -> None:
    cases = []
    with httpx.Client(base_url=sys.argv[1], timeout=300) as http:
        release = http.get("/version").json()["version"].split("+")[0]
        for route in ROUTES:
            for stream in (False, True):
                tail = "_stream" if stream else ""
                for name, (text, more, limit) in ANSWERS.items():
                    ids = tokenizer().encode(text, add_special_tokens=False).ids
                    cases.append(record(http, f"{route}_{name}{tail}", route, more | {"stream": stream}, ids, limit))
                for name, wrong in REFUSALS.items():
                    more = {key: value for key, value in wrong.items() if key != "limit"} | {"stream": stream}
                    cases.append(record(http, f"{route}_{name}{tail}", route, more, None, wrong.get("limit", 100)))
    add_to_vocabulary(cases)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
    note = "Conversations by messages, each answer forced: words, calls, cuts, refusals."
    head = json.dumps({"engine": "vllm", "release": release, "note": note}, separators=(",", ":")).removesuffix("}")
    print(head + ',"cases":[\n' + lines + "\n]}")


if __name__ == "__main__":
    main()
