"""Where a request attaches when a client changes its history: nothing that was sampled is lost, and nothing wrong is continued."""
import copy
import subprocess
import threading

import pytest

from agent import TOOLS, written_anew
from dialogue import GREETING, Dialogue, error_of, user
from faults import request_for
from programs import BINARY
from records import check_prefix, check_record, check_segments, tokenizer

TOOL_QUESTION = "What is the weather in Rome?"


@pytest.fixture
def dialogue(gateway):
    return Dialogue(gateway)


def with_tools(gateway) -> Dialogue:
    """A dialogue whose last answer calls a tool; the tool's message is appended."""
    dialogue = Dialogue(gateway)
    dialogue.say(TOOL_QUESTION, tools=TOOLS)
    call = dialogue.messages[-1]["tool_calls"][0]
    dialogue.messages.append({"role": "tool", "tool_call_id": call["id"], "content": "sunny"})
    return dialogue


def go_on(dialogue: Dialogue, messages: list[dict], **parameters) -> dict:
    """Sends the messages; the record line of the turn."""
    count = len(dialogue.lines())
    answer = dialogue.send({"messages": messages, **parameters})
    assert answer.status_code == 200, answer.text
    lines = dialogue.lines()
    assert len(lines) == count + 1, "the turn is not on record"
    check_prefix(lines)
    check_segments(lines)
    return lines[-1]


def continues(line: dict, parent: dict) -> bool:
    return line["parent_turn"] == parent["turn"]


def test_sampling_the_last_turn_again_gives_a_sibling(dialogue):
    dialogue.say(GREETING)
    dialogue.say("And now?")
    line = go_on(dialogue, dialogue.messages[:-1])
    first, second, _ = dialogue.lines()
    assert continues(line, first) and continues(second, first)
    assert line["prompt_token_ids"] == second["prompt_token_ids"]
    view = dialogue.gateway.http.get(f"/sessions/{dialogue.session}").json()
    assert len(view["metadata"]["tree"]["leaves"]) == 2


def test_sampling_again_while_the_engine_fails_keeps_both_turns(dialogue):
    dialogue.say(GREETING)
    dialogue.messages.append(user(request_for("http_500")))
    before = dialogue.snapshot()
    for _ in range(2):
        assert dialogue.send(dialogue.body()).status_code == 500
        assert dialogue.snapshot() == before


def test_the_first_turn_can_be_sampled_again(dialogue):
    dialogue.say(GREETING)
    line = go_on(dialogue, dialogue.messages[:-1])
    assert line["attach"]["kind"] == "root"
    assert line["prompt_token_ids"] == dialogue.lines()[0]["prompt_token_ids"]


def test_two_turns_back_is_a_branch(dialogue):
    for text in (GREETING, "second", "third"):
        dialogue.say(text)
    line = go_on(dialogue, [*dialogue.messages[:3], user("another second")])
    assert continues(line, dialogue.lines()[0])


def test_several_rollbacks_keep_the_row(dialogue):
    for text in (GREETING, "second", "third"):
        dialogue.say(text)
    for messages in (dialogue.messages[:6], dialogue.messages[:4], dialogue.messages[:6]):
        assert go_on(dialogue, messages)["attach"]["kind"] == "child"


def test_a_rewritten_first_message_is_a_new_root_that_says_so(dialogue):
    dialogue.say(GREETING)
    messages = copy.deepcopy(dialogue.messages)
    messages[1]["content"] = "Something else"
    line = go_on(dialogue, [*messages, user("more")])
    assert line["attach"] == {"kind": "root", "reason": "history", "ambiguous": False, "trim": 0}


def test_an_edited_answer_is_not_taken_for_the_recorded_one(dialogue):
    dialogue.say(GREETING)
    dialogue.say("second")
    messages = copy.deepcopy(dialogue.messages)
    messages[-1]["content"] = "I never said that."
    line = go_on(dialogue, [*messages, user("third")])
    assert not continues(line, dialogue.lines()[1])
    assert "I never said that." in tokenizer().decode(line["prompt_token_ids"])


def test_edited_reasoning_is_not_taken_for_the_recorded_one(gateway):
    dialogue = with_tools(gateway)
    messages = copy.deepcopy(dialogue.messages)
    assert messages[2]["reasoning_content"]
    messages[2]["reasoning_content"] = "I thought of something else."
    line = go_on(dialogue, messages, tools=TOOLS)
    assert not continues(line, dialogue.lines()[0])


def drop_reasoning(message):
    message.pop("reasoning_content")


def write_arguments_anew(message):
    for call in message["tool_calls"]:
        call["function"]["arguments"] = written_anew(call["function"]["arguments"])


def other_call_ids(message):
    message["tool_calls"][0]["id"] = "toolu_17"


SPELLINGS = {
    "reasoning dropped": drop_reasoning,
    "reasoning null": lambda message: message.update(reasoning_content=None),
    "reasoning under another name": lambda message: message.update(reasoning=message.pop("reasoning_content")),
    "arguments re-serialised": write_arguments_anew,
    "index added": lambda message: message["tool_calls"][0].update(index=0),
    "content empty": lambda message: message.update(content=""),
    "content absent": lambda message: message.pop("content"),
    "content an empty list": lambda message: message.update(content=[]),
    "call id changed": other_call_ids,
    "null fields": lambda message: message.update(function_call=None, audio=None, refusal=None, name=None),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_another_spelling_of_an_answer_extends_it(gateway, spelling):
    dialogue = with_tools(gateway)
    messages = copy.deepcopy(dialogue.messages)
    SPELLINGS[spelling](messages[2])
    messages[3]["tool_call_id"] = messages[2]["tool_calls"][0]["id"]
    line = go_on(dialogue, messages, tools=TOOLS)
    assert continues(line, dialogue.lines()[0]), line["attach"]


def test_text_in_parts_extends_what_was_said_as_a_string(dialogue):
    dialogue.say(GREETING)
    messages = copy.deepcopy(dialogue.messages)
    for message in messages:
        message["content"] = [{"type": "text", "text": message["content"]}]
    messages[-1]["content"][0]["text"] += "  \n"
    assert continues(go_on(dialogue, [*messages, user("more")]), dialogue.lines()[0])


def test_an_inserted_answer_of_the_client_is_prompt_not_sample(dialogue):
    dialogue.say(GREETING)
    inserted = [user("Say yes."), {"role": "assistant", "content": "Yes, inserted."}, user("more")]
    line = go_on(dialogue, [*dialogue.messages, *inserted])
    text = tokenizer().decode(line["prompt_token_ids"])
    assert "Yes, inserted." in text
    first = dialogue.lines()[0]
    if continues(line, first):
        assert any(segment["source"] == "assistant" for segment in line["prompt_segments"])
    else:
        assert line["attach"]["kind"] == "root"


def test_a_turn_cut_by_length_is_closed_when_it_is_continued(dialogue):
    dialogue.messages.append(user(GREETING))
    answer = dialogue.send(dialogue.body(max_tokens=3))
    assert answer.json()["choices"][0]["finish_reason"] == "length"
    dialogue.messages.append(answer.json()["choices"][0]["message"])
    line = go_on(dialogue, [*dialogue.messages, user("Go on")])
    first = dialogue.lines()[0]
    assert continues(line, first)
    row = first["prompt_token_ids"] + first["completion_token_ids"]
    assert line["prompt_token_ids"][len(row)] == tokenizer().token_to_id("<|im_end|>")
    assert line["spans"][0] == {"count": 1, "source": "close"}, line["spans"][:2]
    view = dialogue.gateway.http.get(f"/sessions/{dialogue.session}").json()
    assert view["metadata"]["tree"]["nodes"][0]["truncated"] is True
    audit = subprocess.run([BINARY, "audit", "--record-dir", dialogue.gateway.records, "--session", dialogue.session], capture_output=True, text=True)
    assert audit.returncode == 0 and "2 turns proved, 0 failed" in audit.stdout, audit.stdout


def test_a_turn_cut_within_reasoning_is_closed_when_it_is_continued(dialogue):
    dialogue.messages.append(user(request_for("reasoning")))
    answer = dialogue.send(dialogue.body(max_tokens=4))
    assert answer.status_code == 200, answer.text
    choice = answer.json()["choices"][0]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("length", None)
    assert "I wonder about this".startswith(choice["message"]["reasoning_content"].strip()), choice
    dialogue.messages.append(choice["message"])
    line = go_on(dialogue, [*dialogue.messages, user("Go on")])
    first = dialogue.lines()[0]
    assert continues(line, first)
    behind = line["prompt_token_ids"][len(first["prompt_token_ids"]) + len(first["completion_token_ids"]):]
    assert tokenizer().decode(behind, skip_special_tokens=False).lstrip("\n").startswith("</think>")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("name,count", [("stop only", 1), ("nothing", 0)])
def test_an_empty_answer_is_recorded_and_can_be_continued(dialogue, name, count, stream):
    dialogue.messages.append(user(request_for(name)))
    answer = dialogue.send(dialogue.body(stream=stream))
    assert answer.status_code == 200, answer.text
    first, = dialogue.lines()
    assert len(first["completion_token_ids"]) == count and first["finish_reason"] == "stop"
    dialogue.messages.append({"role": "assistant", "content": ""})
    assert continues(go_on(dialogue, [*dialogue.messages, user("more")]), first)


def test_an_answer_of_calls_alone_has_no_content(dialogue):
    dialogue.messages.append(user(request_for("call only")))
    answer = dialogue.send(dialogue.body(tools=TOOLS))
    choice = answer.json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls" and choice["message"]["content"] is None
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "get_weather"


def test_arguments_that_are_not_json_are_refused(dialogue):
    history = [user("Hi"), {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"cut": '}}]}, {"role": "tool", "tool_call_id": "c", "content": "x"}]
    before = dialogue.snapshot()
    answer = dialogue.send({"messages": history, "tools": TOOLS})
    assert answer.status_code == 400
    assert error_of(answer)["param"] == "messages[1].tool_calls[0].function.arguments"
    assert dialogue.snapshot() == before


def test_a_call_cut_anywhere_can_be_continued(gateway):
    for count in range(1, 36, 3):
        dialogue = Dialogue(gateway)
        dialogue.messages.append(user(request_for("call only")))
        choice = dialogue.send(dialogue.body(tools=TOOLS, max_tokens=count)).json()["choices"][0]
        calls = choice["message"].get("tool_calls") or []
        more = [{"role": "tool", "tool_call_id": call["id"], "content": "sunny"} for call in calls] or [user("Go on")]
        line = go_on(dialogue, [*dialogue.messages, choice["message"], *more], tools=TOOLS)
        assert continues(line, dialogue.lines()[0]), f"cut after {count} ids: {choice}"


def test_other_tools_are_a_new_root(gateway):
    dialogue = with_tools(gateway)
    line = go_on(dialogue, dialogue.messages, tools=TOOLS[:1])
    assert (line["attach"]["kind"], line["attach"]["reason"]) == ("root", "tools")


def test_nothing_new_is_refused(dialogue):
    dialogue.say(GREETING)
    before = dialogue.snapshot()
    answer = dialogue.send(dialogue.body())
    assert answer.status_code == 400
    assert dialogue.snapshot() == before


def test_two_different_continuations_at_once_become_siblings(make_stack):
    stack = make_stack("--delay-ms", 150)
    dialogue = Dialogue(stack.gateway)
    dialogue.say("Hello")
    answers = {}

    def send(text: str) -> None:
        answers[text] = stack.gateway.chat(dialogue.session, dialogue.body(user(text)))

    threads = [threading.Thread(target=send, args=(text,)) for text in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [answer.status_code for answer in answers.values()] == [200, 200]
    first, *both = dialogue.lines()
    assert len(both) == 2 and all(continues(line, first) for line in both)
    assert len({line["branch"] for line in dialogue.lines()}) >= 1
    check_record(dialogue.lines(), stack.sim.log())


def test_the_same_request_many_times_at_once_is_recorded_each_time(make_stack):
    stack = make_stack("--token-delay-ms", 2)
    dialogue = Dialogue(stack.gateway)
    dialogue.say("Hello")
    body = dialogue.body(user("What now?"))
    statuses = []
    threads = [threading.Thread(target=lambda: statuses.append(stack.gateway.chat(dialogue.session, body).status_code)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert statuses == [200] * 12
    lines = dialogue.lines()
    assert len(lines) == 13 and all(continues(line, lines[0]) for line in lines[1:])
    check_record(lines, stack.sim.log())
