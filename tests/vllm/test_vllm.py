"""Conversations through the gateway on a real vLLM: what went over the wire is what is recorded, and what was cut or refused is not."""
import json
import subprocess
import time

import pytest

from agent import QUESTIONS
from answers import THOUGHT, agent_answer, spelled, thinking, words
from dialogue import Dialogue, check_untouched, error_of, user
from model_folder import CLOSE, CONTEXT, FREE, PAD
from programs import BINARY
from records import check_logprobs, check_prefix, check_segments, check_spliced, check_view, tokenizer
from steps import LONG, begin, doctor, events, hang_up, hold, hold_at_once

# How far a logprob may be from the one of another pass over the same ids: single precision, other batch shapes.
NEAR = 1e-3


def exchange_of(line: dict, log: list):
    (found,) = [each for each in log if each.prompt == line["prompt_token_ids"]]
    return found


def check_wire(line: dict, exchange) -> None:
    """I4: the record holds what was sent and what came, to the last digit."""
    sampled = exchange.ids()
    assert sampled == line["completion_token_ids"] + line["discarded_token_ids"]
    assert exchange.logprobs()[:len(line["completion_logprobs"])] == line["completion_logprobs"]
    if exchange.forced:
        assert all(want in (FREE, got) for want, got in zip(exchange.forced, sampled)), "the engine sampled other ids than it was made to"
    assert exchange.usage()["prompt_tokens"] == len(line["prompt_token_ids"])
    assert exchange.usage()["completion_tokens"] == len(sampled)
    assert line["cached_tokens"] == exchange.usage()["prompt_tokens_details"]["cached_tokens"]
    assert line["engine_finish_reason"] == exchange.finish()[0]
    assert line["weight_versions"] == exchange.weights()


def check_lines(lines: list[dict], log: list) -> None:
    check_prefix(lines)
    check_logprobs(lines)
    check_segments(lines)
    for line in lines:
        check_wire(line, exchange_of(line, log))


def audit(gateway, session: str) -> str:
    done = subprocess.run([BINARY, "audit", "--record-dir", gateway.records, "--session", session], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def is_canonical(ids: list[int]) -> bool:
    return tokenizer().encode(tokenizer().decode(ids, skip_special_tokens=False), add_special_tokens=False).ids == ids


def test_the_doctor_names_kind_release_and_mode(vllm, mode, report):
    done = doctor(vllm.url, mode)
    assert done.returncode == 0, done.stdout + done.stderr
    said = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert said["release"] == f"{vllm.release} (as recorded from a running server)", "tests/captures has this release"
    assert said["kind"].startswith("vllm ") and said["mode"].startswith(mode + " ")
    assert said["model"] == f"qwen3, context {CONTEXT} tokens" and said["ids"] == "read as they are sent"
    report.add("`verbatim doctor --engine-mode MODE`", **{key: said[key] for key in ("kind", "release", "mode", "ids")})


@pytest.mark.parametrize("client", ["streaming", "whole"])
def test_ten_turns_with_tools_are_recorded_as_sampled(stack, client, report, say):
    stack.vllm.post("/reset_prefix_cache")
    stack.tap.choose = lambda exchange: agent_answer(exchange.prompt)
    began = time.monotonic()
    session, agent = hold(stack.gateway, QUESTIONS, stream=client == "streaming")
    took = time.monotonic() - began
    lines, log = stack.gateway.record(session), stack.tap.generations()
    assert len(agent.turns) == len(lines) == len(log) == 10
    check_lines(lines, log)
    for number, (turn, line) in enumerate(zip(agent.turns, lines)):
        assert (line["backend_kind"], line["engine_mode"]) == ("vllm", stack.mode)
        assert line["attach"]["kind"] == ("child" if number else "root"), line["attach"]
        assert line["finish_reason"] == turn.finish == ("stop" if number % 2 else "tool_calls")
        assert bool(turn.calls) == (number % 2 == 0) and turn.reasoning == line["assistant_message"]["reasoning_content"] != ""
        assert turn.content == line["assistant_message"]["content"]
        assert line["completion_token_ids"][-1] == CLOSE and line["engine_finish_reason"] == "stop"
        assert not is_canonical(line["completion_token_ids"])
        usage = turn.usage
        assert (usage["prompt_tokens"], usage["completion_tokens"]) == (len(line["prompt_token_ids"]), len(line["completion_token_ids"]))
        assert usage["prompt_tokens_details"]["cached_tokens"] == line["cached_tokens"]
        assert (line["cached_tokens"] > 0) == (number > 0), f"turn {number}: {line['cached_tokens']} tokens came from the cache"
        check_spliced(turn.request, line, [each["completion_token_ids"] for each in lines[:number]])
    check_view(stack.gateway.http.get(f"/sessions/{session}").json(), lines)
    assert "10 turns proved, 0 failed" in audit(stack.gateway, session)
    counts = {name: sum(counted) for name, counted in (
        ("prompt ids", [len(line["prompt_token_ids"]) for line in lines]), ("of them cached", [line["cached_tokens"] for line in lines]),
        ("sampled ids", [len(line["completion_token_ids"]) for line in lines]),
        ("of them drawn freely", [each.forced.count(FREE) for each in log]), ("tool calls", [len(turn.calls) for turn in agent.turns]))}
    report.add("Ten turns with tools", mode=stack.mode, client=client, turns=len(lines), **counts, seconds=f"{took:.1f}")
    say(f"{stack.mode}, {client}: ten turns in {took:.1f} s, {counts}")


def test_recorded_logprobs_are_those_of_another_pass_over_the_recorded_ids(stack, report):
    """What a trainer counts on: ids and logprobs belong together."""
    stack.tap.choose = lambda exchange: agent_answer(exchange.prompt)
    session, _ = hold(stack.gateway, QUESTIONS[:1], stream=False)
    line = stack.gateway.record(session)[-1]
    prompt, completion = line["prompt_token_ids"], line["completion_token_ids"]
    answer = stack.vllm.post("/v1/completions", json={"model": "qwen3", "prompt": prompt + completion, "max_tokens": 1, "prompt_logprobs": 0})
    scored = [each[str(token)]["logprob"]
              for token, each in zip(completion, answer["choices"][0]["prompt_logprobs"][len(prompt):])]
    apart = max(abs(a - b) for a, b in zip(scored, line["completion_logprobs"], strict=True))
    assert apart < NEAR, list(zip(scored, line["completion_logprobs"]))
    assert len(set(line["completion_logprobs"])) > len(completion) // 4, "logprobs that are all alike prove nothing"
    report.add("Logprobs, scored again by the engine in one pass over prompt and completion", mode=stack.mode, ids=len(completion),
               **{"greatest difference": f"{apart:.1e}"})


def test_conversations_held_at_once_do_not_mix(stack):
    stack.tap.choose = lambda exchange: agent_answer(exchange.prompt)
    for session, _ in hold_at_once(stack.gateway):
        lines = stack.gateway.record(session)
        assert [line["attach"]["kind"] for line in lines] == ["root", "child", "child", "child"]
        check_lines(lines, stack.tap.generations())


# Parameters of the request, what is sampled, and what must come of it: finish here, finish and stop there, text.
FINISHES = {
    "close token": ({}, spelled("one two<|im_end|>"), ("stop", "stop", None, "one two")),
    "second end token": ({}, [*spelled("one two"), PAD], ("stop", "stop", PAD, "one two")),
    "stop token": ({"stop_token_ids": spelled("!")}, spelled("one! two<|im_end|>"), ("stop", "stop", spelled("!")[0], None)),
    "stop string": ({"stop": ["never", "STOP"]}, spelled("one STOP two<|im_end|>"), ("stop", "stop", "STOP", "one ")),
    "length": ({"max_tokens": len(THOUGHT) + 5}, spelled("one two<|im_end|>"), ("length", "length", None, "one t")),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("name", FINISHES)
def test_an_answer_ends_as_the_engine_says(stack, name, stream, report):
    parameters, ids, (finish, engine_finish, stop, text) = FINISHES[name]
    stack.tap.choose = lambda exchange: [*THOUGHT, *ids]
    dialogue = Dialogue(stack.gateway)
    got = dialogue.send(dialogue.body(user("count"), stream=stream, **parameters))
    assert got.status_code == 200, got.text
    if stream:
        choices = [choice for each in events(got.content) if each != "[DONE]" for choice in json.loads(each)["choices"]]
        said = "".join(choice["delta"].get("content") or "" for choice in choices)
        reason = choices[-1]["finish_reason"]
    else:
        (choice,) = got.json()["choices"]
        said, reason = choice["message"]["content"], choice["finish_reason"]
    (line,), (exchange,) = dialogue.lines(), stack.tap.generations()
    check_wire(line, exchange)
    assert reason == line["finish_reason"] == finish and exchange.finish() == (engine_finish, stop)
    assert text is None or said == text
    dialogue.messages += [user("count"), {"role": "assistant", "content": said}]
    stack.tap.choose = lambda exchange: spelled("more<|im_end|>")
    dialogue.say("go on")
    parent, child = dialogue.lines()
    assert child["parent_turn"] == parent["turn"]
    check_prefix([parent, child])
    report.add("Ends of answers", mode=stack.mode, client="streaming" if stream else "whole", **{
        "ended by": name, "finish_reason": reason, "the engine's": exchange.finish()[0], "stop": exchange.finish()[1], "ids": len(exchange.ids()),
        "kept": len(line["completion_token_ids"])})


@pytest.mark.parametrize("wanted", [1, 3, 19])
@pytest.mark.parametrize("sampled", ["a likely id", "an unlikely one"])
def test_alternatives_are_the_most_likely_ids(stack, sampled, wanted):
    dialogue = Dialogue(stack.gateway)
    dialogue.say("x", max_tokens=2)
    prompt = dialogue.lines()[0]["prompt_token_ids"]
    # Completions list the sampled id first, then the most likely ones that it isn't.
    (best,) = stack.vllm.post("/v1/completions", json={
        "model": "qwen3", "prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": 20, "return_tokens_as_token_ids": True,
    })["choices"][0]["logprobs"]["top_logprobs"]
    likely = [int(name.removeprefix("token_id:")) for name in best]
    first = likely[1] if sampled == "a likely id" else next(token for token in range(1000, 2000) if token not in likely)
    stack.tap.choose = lambda exchange: [first, CLOSE]
    dialogue = Dialogue(stack.gateway)
    got = dialogue.send(dialogue.body(user("x"), logprobs=True, top_logprobs=wanted)).json()["choices"][0]["logprobs"]["content"]
    (line,) = dialogue.lines()
    assert line["prompt_token_ids"] == prompt and line["completion_token_ids"][0] == first
    check_wire(line, stack.tap.generations()[-1])
    assert [each["logprob"] for each in got] == line["completion_logprobs"][:len(got)]
    assert [top["logprob"] for top in got[0]["top_logprobs"]] == pytest.approx(list(best.values())[:wanted], abs=NEAR)


def weight_version(stack) -> str:
    return stack.vllm.http.get("/weight_info").json()["weight_version"]


def test_each_turn_knows_the_weights_that_sampled_it(stack, report):
    stack.tap.choose = lambda exchange: words()
    dialogue = Dialogue(stack.gateway)
    versions = []
    for number in range(3):
        versions.append(f"{stack.mode}-{number}")
        stack.vllm.post("/update_weight_version", json={"new_version": versions[-1]})
        dialogue.say(f"question {number}")
    lines = dialogue.lines()
    check_lines(lines, stack.tap.generations())
    assert [line["attach"]["kind"] for line in lines] == ["root", "child", "child"]
    spoken = all(each.weights() for each in stack.tap.generations())
    assert [line["weight_version"] for line in lines] == (versions if spoken else [None] * 3)
    report.add("Weight versions", mode=stack.mode, **{"changed": "between turns", "said by the engine": "yes" if spoken else "no",
                                                      "recorded": ", ".join(str(line["weight_version"]) for line in lines)})


def test_weights_that_change_within_an_answer_are_recorded_where_they_did(stack, report):
    stack.tap.choose = lambda exchange: [*thinking(400), *spelled("done"), CLOSE]
    dialogue = Dialogue(stack.gateway)
    before, after = weight_version(stack), f"{stack.mode}-within"
    with begin(stack, dialogue, user("x")) as client:
        stack.vllm.post("/pause", params={"mode": "keep"})
        try:
            stack.vllm.post("/update_weight_version", json={"new_version": after})
        finally:
            stack.vllm.post("/resume")
        answer = client.answer()
    assert answer.status == 200 and events(answer.body)[-1] == "[DONE]"
    (line,), (exchange,) = dialogue.lines(), stack.tap.generations()
    check_wire(line, exchange)
    spoken = exchange.weights()
    if spoken:
        assert [span["version"] for span in line["weight_versions"]] == [before, after]
        assert 0 == line["weight_versions"][0]["begin"] < line["weight_versions"][1]["begin"] < len(exchange.ids())
        assert line["weight_version"] == after
    report.add("Weight versions", mode=stack.mode, **{
        "changed": f"within an answer of {len(exchange.ids())} ids", "said by the engine": "yes" if spoken else "no",
        "recorded": ", ".join(f"{span['version']} from {span['begin']}" for span in line["weight_versions"]) or "None"})


def test_a_client_that_hangs_up_ends_the_generation(stack, report):
    stack.tap.choose = lambda exchange: spelled("hello<|im_end|>")
    dialogue = Dialogue(stack.gateway)
    dialogue.say("hi")
    before = dialogue.snapshot()
    stack.tap.choose = lambda exchange: [*thinking(LONG), CLOSE]
    sampled, took = hang_up(stack, dialogue)
    aborts = [each.path for each in stack.tap.log if "abort" in each.path]
    stack.tap.choose = lambda exchange: spelled("again<|im_end|>")
    check_untouched(dialogue, before)
    report.add("A client that hangs up", mode=stack.mode, **{f"ids sampled, of {LONG}": sampled, "abort calls": len(aborts),
                                                             "seconds until num_requests_running is 0": f"{took:.1f}", "recorded": "nothing"})


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
def test_a_prompt_beyond_the_context_is_refused_with_its_length(stack, stream):
    dialogue = Dialogue(stack.gateway)
    got = dialogue.send(dialogue.body(user("x " * CONTEXT), stream=stream))
    assert got.status_code == 400, got.text
    assert str(CONTEXT) in error_of(got)["message"]
    assert not stack.tap.generations() and not dialogue.lines()


def last_answer(stack):
    """Of what the gateway posted: mode derender is refused before it asks for ids."""
    return [each for each in stack.tap.log if each.method == "POST"][-1]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
def test_a_prompt_that_only_the_engine_finds_too_long_is_refused_as_well(make_stack, mode, stream, report):
    stack = make_stack(mode, "--max-model-len", 100000)
    dialogue = Dialogue(stack.gateway)
    got = dialogue.send(dialogue.body(user("x " * CONTEXT), stream=stream, max_tokens=10))
    assert got.status_code == 400, got.text
    message = error_of(got)["message"]
    assert str(CONTEXT) in message and not dialogue.lines()
    report.add("A prompt that is too long for the engine alone", mode=mode, client="streaming" if stream else "whole",
               **{"the engine's status": last_answer(stack).status, "at": last_answer(stack).path, "the client's": got.status_code,
                  "message": message})
    stack.tap.choose = lambda exchange: spelled("fine<|im_end|>")
    dialogue.say("short", max_tokens=10)
