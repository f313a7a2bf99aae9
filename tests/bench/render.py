#!/usr/bin/env python3
"""Jinja2's CPU time for the Qwen3 template over 41 messages and 5 tools: the peer of src/chat/jinja/template_bench.cc."""
from __future__ import annotations

import argparse
import sys
import time

from bench_common import ROOT, summary

sys.path.insert(0, str(ROOT / "tests" / "oracle"))
import render_oracle  # noqa: E402

WORDS = "the weather in Rome is sunny and warm, in Paris it rains, so take a coat and an umbrella with you "


def conversation() -> dict:
    messages: list[dict] = [{"role": "system", "content": WORDS * 4}]
    for i in range(10):
        messages += [{"role": "user", "content": f"{i}: " + WORDS * 2},
                     {"role": "assistant", "content": WORDS, "reasoning_content": WORDS * 2, "tool_calls": [
                         {"id": f"c{i}", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Rome", "days": i}}}]},
                     {"role": "tool", "tool_call_id": f"c{i}", "content": WORDS * 3},
                     {"role": "assistant", "content": WORDS * 2}]
    messages.append({"role": "user", "content": "and now?"})
    tools = [{"type": "function", "function": {"name": f"tool_{i}", "description": WORDS, "parameters": {
        "type": "object", "properties": {f"p{k}": {"type": "string", "description": WORDS[:40]} for k in range(4)}}}} for i in range(5)]
    return {"messages": messages[:41], "tools": tools, "add_generation_prompt": True}


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--tool", help="not needed here; the benchmarks are all started alike")
    ap.add_argument("--rounds", type=int, default=7)
    args = ap.parse_args()
    template = render_oracle.load(ROOT / "models" / "qwen3").template
    context = conversation()
    spent = []
    for _ in range(args.rounds + 1):
        before = time.process_time()
        for _ in range(100):
            text = template.render(**context)
        spent.append((time.process_time() - before) * 1e4)
    print(f"  Jinja2, {len(text) // 1000} kB of prompt: {summary(spent[1:])} µs of CPU")


if __name__ == "__main__":
    main()
