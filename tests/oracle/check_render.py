#!/usr/bin/env python3
"""Compare the template engine with Jinja2 (render_oracle.py, profile hf5).

    check_render.py --tool build/release/tests/render_oracle_tool --model models/qwen3 [--model ...]
                    [--templates FOLDER] [--count 2000] [--seed N]

Four parts:
  snippets       small templates for every feature of the language (jinja_snippets.py)
  conversations  --count random conversations for the template of every --model and the toy templates
  templates      every *.jinja below --templates, with some conversations each
  provenance     with a source number on every input string: the runs tile the text, and replacing one input changes only bytes that
                 are attributed to it (for templates that don't look into that input; --model templates with plain content)
Both sides must give the same text, or both an error. Null message keys and reasoning aliases are prepared here for both.
Ends with "N passed, M failed". Needs: jinja2==3.1.6.
"""
from __future__ import annotations

import argparse
import copy
import datetime
import json
import random
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import jinja_snippets  # noqa: E402
import render_oracle  # noqa: E402

NOW = "2026-01-02T03:04:05"
NOW_MS = int(datetime.datetime.fromisoformat(NOW).replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)
UNSUPPORTED = 5  # base::ErrorKind::kUnsupported

# What Jinja2 can do and the engine refuses, by the words of its error. Every entry names a reason.
REFUSED = {
    "printing a": "Python prints an address",
    "comparing views of dicts": "no template does",
    "arithmetic on integers beyond 64 bits": "big integers can be printed and compared only",
    "this filter": "filters for HTML pages, random",
    "this method of": "methods of numbers and encodings",
    "iterating over `loop`": "no template does",
    "casefold() of other than ASCII": "needs another table",
    "'sameas' for": "depends on CPython's memory",
    "HTML character references": "needs the table of named references",
    "rounding": "negative digits",
    "floats beyond 64 bits as integers": "big integers can be printed and compared only",
    "complex numbers": "no template has them",
    "formatting a": "big integers in other bases",
    "list.index() with a range": "no template does",
    "fields inside of format": "no template does",
    "a precision for integers": "no template does",
    "zero padding together": "no template does",
    "conversion !": "!a",
    "%a in formats": "no template does",
    "namespace attributes": "names only",
}


class Engine:
    def __init__(self, tool: str):
        self.process = subprocess.Popen([tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, request: dict) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the tool died on {json.dumps(request)[:2000]}")
        return json.loads(line)


class Report:
    def __init__(self):
        self.passed = self.failed = self.refused = 0
        self.shown = {}

    def check(self, what: str, want: dict, got: dict, detail: str) -> None:
        address = re.search(r" at 0x[0-9a-f]+", want.get("text", ""))
        refused = got.get("error") == UNSUPPORTED and any(word in got["message"] for word in REFUSED)
        if "text" in want and refused:
            self.refused += 1
            return
        ok = ("error" in want) == ("error" in got) and want.get("text") == got.get("text")
        if ok or (address and "error" in got):
            self.passed += 1
            return
        self.fail(what, f"{detail}\n  want {str(want)[:600]}\n  got  {str(got)[:600]}")

    def require(self, what: str, ok: bool, detail: str) -> None:
        if ok:
            self.passed += 1
        else:
            self.fail(what, detail)

    def fail(self, what: str, detail: str) -> None:
        self.failed += 1
        self.shown[what] = self.shown.get(what, 0) + 1
        if self.shown[what] <= 20:
            print(f"FAILED {what}: {detail}")


# ---- snippets -------------------------------------------------------------------------------------------------------------------

def check_snippets(engine: Engine, report: Report) -> None:
    clock = [datetime.datetime.fromisoformat(NOW)]
    environment = render_oracle.environment("hf5", clock)
    for source, context in jinja_snippets.snippets():
        try:
            text = environment.from_string(source).render(**copy.deepcopy(context))
            text.encode()
            want = {"text": text.replace(render_oracle.OPEN, "").replace(render_oracle.SHUT, "")}
        except UnicodeEncodeError:
            want = {"error": "surrogates"}
        except Exception as e:  # noqa: BLE001 - any failure of the template counts as an error
            want = {"error": type(e).__name__, "message": str(e)}
        report.check("snippet", want, engine.ask({"template": source, "context": context, "now_ms": NOW_MS}), source)


# ---- conversations --------------------------------------------------------------------------------------------------------------

WORDS = ["hello", "Paris", "weather", "<|im_end|>", "</think>", "<think>", "<tool_response>", "</tool_response>", "\n", "\n\n", " ", "\t", "é", "日本語", "😀",
         "'", '"', "\\", "<b>", "&amp;", "{{ x }}", "{% if %}", "\u2028", "\x7f", "1e-7", "ß", "a\u0301", "\r\n", "\\n", "</tool_call>", "<tool_call>"]


def random_text(rng: random.Random, most: int = 12) -> str:
    return "".join(rng.choice(WORDS) + rng.choice(["", " "]) for _ in range(rng.randrange(most)))


def random_json(rng: random.Random, depth: int = 0):
    kind = rng.randrange(12 if depth < 3 else 9)
    if kind < 3:
        return random_text(rng, 4)
    if kind == 3:
        return rng.choice([None, True, False])
    if kind == 4:
        return rng.choice([0, 1, -1, 42, 2**31, -(2**53) - 1, 2**63 - 1, 2**63, 10**25, rng.randrange(-10**6, 10**6)])
    if kind < 7:
        return rng.choice([0.0, -0.0, 1.0, 1e-7, 1e16, 1e15, 0.1, 1.5e300, -2.5, 3.14159, 1e22, 5e-324, rng.random(), rng.random() * 1e20, rng.uniform(-1e-5, 1e-5)])
    if kind < 9:
        return rng.choice(["", "x", "it's", 'say "hi"'])
    if kind == 9:
        return [random_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["city", "unit", "items", "n", "é", "a b", "", "get", "x'y"]) + rng.choice(["", "1", "2"]): random_json(rng, depth + 1)
            for _ in range(rng.randrange(5))}


def random_tool(rng: random.Random) -> dict:
    function = {"name": rng.choice(["get_weather", "add", "search", "run_code"]), "description": random_text(rng, 5),
                "parameters": rng.choice([{"type": "object", "properties": {"city": {"type": "string", "description": random_text(rng, 3)}}, "required": ["city"]},
                                          {"type": "object", "properties": {}}, random_json(rng)])}
    if rng.random() < 0.1:
        function["strict"] = True
    return {"type": "function", "function": function}


def random_call(rng: random.Random) -> dict:
    arguments = {f"k{i}": random_json(rng) for i in range(rng.randrange(4))}
    if rng.random() < 0.4:
        arguments = rng.choice([json.dumps(arguments), "", "{not json", "{}"])
    call = {"id": "call_%09d" % rng.randrange(10**9), "type": "function", "function": {"name": rng.choice(["get_weather", "add"]), "arguments": arguments}}
    return call["function"] if rng.random() < 0.05 else call


def random_content(rng: random.Random):
    kind = rng.random()
    if kind < 0.8:
        return random_text(rng)
    if kind < 0.86:
        return None
    if kind < 0.92:
        return rng.choice(["", "\n", "x"])
    if kind < 0.97:
        return [{"type": "text", "text": random_text(rng)} for _ in range(rng.randrange(3))]
    return rng.choice([5, 1.5, True, [], {}, {"a": 1}])


def random_message(rng: random.Random) -> dict:
    role = rng.choice(["user", "user", "assistant", "assistant", "assistant", "tool", "tool", "system", "developer"])
    message = {"role": role, "content": random_content(rng)}
    if role == "assistant":
        if rng.random() < 0.4:
            message[rng.choice(["reasoning_content", "reasoning_content", "reasoning", "thinking"])] = rng.choice([random_text(rng), None, "\nthought\n", ""])
        if rng.random() < 0.2:
            message["content"] = "<think>\n" + random_text(rng) + "\n</think>\n\n" + random_text(rng)
        if rng.random() < 0.5:
            message["tool_calls"] = rng.choice([None, [], [random_call(rng) for _ in range(rng.randrange(1, 4))], [random_call(rng)]])
    if role == "tool":
        message["tool_call_id"] = "call_1"
        if rng.random() < 0.5:
            message["name"] = "add"
    if rng.random() < 0.02:
        del message["content"]
    if rng.random() < 0.05:
        message["name"] = random_text(rng, 3)
    return message


def random_case(rng: random.Random) -> dict:
    messages = [{"role": "system", "content": random_text(rng)}] if rng.random() < 0.5 else []
    if rng.random() < 0.9:
        messages.append({"role": "user", "content": random_text(rng)})
    messages += [random_message(rng) for _ in range(rng.randrange(10))]
    case = {"messages": messages, "tools": rng.choice([None, None, [], [random_tool(rng) for _ in range(rng.randrange(1, 4))]]),
            "add_generation_prompt": rng.random() < 0.6, "kwargs": {}}
    for name, values in (("enable_thinking", [True, False, None]), ("keep_thinking", [True, False]), ("thinking", [True, False])):
        if rng.random() < 0.25:
            case["kwargs"][name] = rng.choice(values)
    if rng.random() < 0.05:
        case["documents"] = [{"title": random_text(rng, 3), "text": random_text(rng)}]
    return case


def context_of(renderer: render_oracle.Renderer, case: dict) -> dict:
    messages = render_oracle.alias_reasoning([{k: v for k, v in m.items() if v is not None} for m in case["messages"]])
    return {**renderer.tokens, **case["kwargs"], "messages": messages, "tools": case.get("tools"), "documents": case.get("documents"),
            "add_generation_prompt": case["add_generation_prompt"]}


def check_conversations(engine: Engine, report: Report, path: Path, config: dict, cases: list, name: str) -> None:
    source = path.read_text()
    parsed = engine.ask({"template": source})
    try:
        renderer = render_oracle.Renderer(source, config, "hf5", NOW)
    except Exception as e:  # noqa: BLE001
        report.check(name, {"error": type(e).__name__, "message": str(e)}, parsed, str(path))
        return
    if "error" in parsed:
        report.fail(name, f"{path}: does not parse: {parsed}")
        return
    for case in cases:
        want = renderer(case)
        got = engine.ask({"context": context_of(renderer, case), "now_ms": NOW_MS})
        report.check(name, want, got, f"{path} {json.dumps(case)[:1500]}")


def config_of(folder: Path) -> dict:
    path = folder / "tokenizer_config.json"
    return json.loads(path.read_text()) if path.exists() else {"bos_token": "<s>", "eos_token": "</s>"}


# ---- provenance -----------------------------------------------------------------------------------------------------------------

def leaves(value, path=()) -> list:
    """Paths of everything that gets a source number in the tool, in its order."""
    if isinstance(value, dict):
        return [leaf for k, v in value.items() for leaf in leaves(v, (*path, k))]
    if isinstance(value, list):
        return [leaf for i, v in enumerate(value) for leaf in leaves(v, (*path, i))]
    return [path]


def at_path(value, path):
    for step in path:
        value = value[step]
    return value


def set_path(value, path, new) -> None:
    at_path(value, path[:-1])[path[-1]] = new


def segments(answer: dict) -> list:
    data, at, out = answer["text"].encode(), 0, []
    for size, source in answer["runs"]:
        out.append((source, data[at:at + size]))
        at += size
    return out


def check_provenance(engine: Engine, report: Report, path: Path, config: dict, rng: random.Random, count: int) -> None:
    source = path.read_text()
    renderer = render_oracle.Renderer(source, config, "hf5", NOW)
    engine.ask({"template": source})
    for _ in range(count):
        case = random_case(rng)
        for m in case["messages"]:
            m["content"] = "content %d" % rng.randrange(10**6)
            for key in ("reasoning", "thinking", "reasoning_content"):
                m.pop(key, None)
        context = context_of(renderer, case)
        before = engine.ask({"context": context, "sources": True, "now_ms": NOW_MS})
        if "error" in before:
            continue
        size = len(before["text"].encode())
        tiled = sum(n for n, _ in before["runs"]) == size and all(n > 0 for n, _ in before["runs"])
        merged = all(a[1] != b[1] for a, b in zip(before["runs"], before["runs"][1:]))
        report.require("runs", tiled and merged, f"{path}: runs do not tile the text: {before['runs']}")
        numbered = leaves(context)
        inputs = [i for i, p in enumerate(numbered) if isinstance(at_path(context, p), str) and p[0] in ("messages", "tools") and p[-1] in ("content", "description", "text")]
        if not inputs:
            continue
        chosen = rng.choice(inputs)
        changed = json.loads(json.dumps(context))
        set_path(changed, numbered[chosen], "replaced \"é\"\n text")
        after = engine.ask({"context": changed, "sources": True, "now_ms": NOW_MS})
        if "error" in after:
            report.fail("provenance", f"{path}: the replaced input fails: {after}")
            continue
        others = [[s for s in segments(x) if s[0] != chosen + 1] for x in (before, after)]
        same = b"".join(s for _, s in others[0]) == b"".join(s for _, s in others[1])
        report.require("provenance", same, f"{path}: input {numbered[chosen]} changed other bytes\n  {before['text']!r}\n  {after['text']!r}")


def main() -> int:
    ap = argparse.ArgumentParser(description="compare the template engine with Jinja2")
    ap.add_argument("--tool", required=True)
    ap.add_argument("--model", type=Path, action="append", default=[])
    ap.add_argument("--templates", type=Path, action="append", default=[])
    ap.add_argument("--count", type=int, default=2000)
    ap.add_argument("--seed", type=int)
    a = ap.parse_args()
    seed = a.seed if a.seed is not None else random.randrange(10**9)
    print(f"seed {seed}")
    rng, engine, report = random.Random(seed), Engine(a.tool), Report()
    check_snippets(engine, report)
    print(f"snippets: {report.passed} same, {report.refused} refused")
    toys = sorted((Path(__file__).parent.parent / "cases" / "toy").glob("*.jinja"))
    for path, config in [(m / "chat_template.jinja", config_of(m)) for m in a.model] + [(t, {}) for t in toys]:
        check_conversations(engine, report, path, config, [random_case(rng) for _ in range(a.count)], "conversation")
        check_provenance(engine, report, path, config, rng, max(a.count // 4, 50))
    seen = set()
    for folder in a.templates:
        cases = [random_case(rng) for _ in range(30)]
        for path in sorted(folder.rglob("*.jinja")):
            source = path.read_text()
            if source not in seen:
                seen.add(source)
                check_conversations(engine, report, path, config_of(path.parent), cases, "template")
    print(f"{len(seen)} distinct templates; {report.refused} refused with a reason")
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
