"""POST /v1/responses: stateful in front of engines that are not, by token ids and by messages; each object and event against the Open Responses schema."""
import json

import openai
import pytest

from open_responses import check_events, check_response
from raw_http import named_events
from responses_place import CALL, EVERY_WAY, TOKENS, WEATHER, place, text_of  # noqa: F401  (place is a fixture)


@EVERY_WAY
def test_the_word_is_remembered(place, way):
    at = place(way, [{"text": "OK"}, {"text": "APPLE"}])
    first = at.create(input="Remember the word APPLE.")
    assert first.status_code == 200, first.text
    check_response(first.json())
    events = at.events(input="Which word?", previous_response_id=first.json()["id"])
    check_events(events)
    second = events[-1]["response"]
    assert (text_of(first.json()), text_of(second)) == ("OK", "APPLE")
    assert second["previous_response_id"] == first.json()["id"]
    prompt = at.prompts()[1]
    assert prompt.index("Remember the word APPLE.") < prompt.index("OK") < prompt.index("Which word?")
    assert prompt.count("Remember the word APPLE.") == 1
    # What was streamed is kept as it was told.
    assert at.http.get(f"/v1/responses/{second['id']}").json() == second
    assert at.http.get(f"/v1/responses/{first.json()['id']}").json() == first.json()


@EVERY_WAY
@pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])
def test_a_function_call_and_its_output(place, way, stream):
    text = CALL if way == TOKENS else ""
    script = [{"text": text} if way == TOKENS else {"text": CALL}, {"text": "Sunny."}]
    at = place(way, script)

    def create(**body) -> dict:
        if not stream:
            answer = at.create(**body)
            assert answer.status_code == 200, answer.text
            check_response(answer.json())
            return answer.json()
        events = at.events(**body)
        check_events(events)
        return events[-1]["response"]

    first = create(input="What is the weather in Rome?", tools=[WEATHER])
    call = [item for item in first["output"] if item["type"] == "function_call"][0]
    assert (call["name"], json.loads(call["arguments"]), call["status"]) == ("get_weather", {"city": "Rome"}, "completed")
    missing = at.create(input="and?", previous_response_id=first["id"])
    assert missing.status_code == 400 and call["call_id"] in missing.json()["error"]["message"]
    second = create(input=[{"type": "function_call_output", "call_id": call["call_id"], "output": "sunny, 21 degrees"}], previous_response_id=first["id"])
    assert text_of(second) == "Sunny."
    # Tools go on to hold.
    assert second["tools"] == first["tools"] and second["tools"][0]["name"] == "get_weather"
    prompts = at.prompts()
    assert len(prompts) == 2 and "sunny, 21 degrees" in prompts[1] and "get_weather" in prompts[1]


def test_what_was_said_of_tools_goes_on_to_hold(place):
    at = place(TOKENS, [{"text": "OK"}, {"text": CALL}, {"text": CALL}])
    first = at.create(input="hello", tools=[WEATHER], tool_choice="none")
    assert first.status_code == 200, first.text
    second = at.create(input="What is the weather in Rome?", previous_response_id=first.json()["id"])
    assert second.status_code == 200, second.text
    assert second.json()["tool_choice"] == "none" and text_of(second.json()) == CALL
    third = at.create(input="And now?", previous_response_id=second.json()["id"], tool_choice="auto")
    assert third.status_code == 200, third.text
    assert third.json()["tool_choice"] == "auto" and [item["type"] for item in third.json()["output"]] == ["function_call"]


@EVERY_WAY
def test_the_sdk(place, way):
    at = place(way, [{"text": "one"}, {"text": "two"}, {"text": "three"}])
    first = at.sdk.responses.create(model=at.model, input="a", instructions="Be brief.", metadata={"k": "v"}, temperature=0.5)
    assert (first.output_text, first.status, first.metadata, first.temperature) == ("one", "completed", {"k": "v"}, 0.5)
    with at.sdk.responses.stream(model=at.model, input="b", previous_response_id=first.id) as stream:
        second = [event for event in stream if event.type == "response.completed"][0].response
    assert second.output_text == "two" and second.instructions is None
    assert at.sdk.responses.retrieve(second.id).output_text == "two"
    items = at.sdk.responses.input_items.list(first.id)
    assert [item.content[0].text for item in items.data] == ["a"] and items.data[0].id
    at.sdk.responses.delete(second.id)
    with pytest.raises(openai.NotFoundError):
        at.sdk.responses.retrieve(second.id)
    with pytest.raises(openai.BadRequestError) as gone:
        at.sdk.responses.create(model=at.model, input="c", previous_response_id=second.id)
    assert gone.value.code == "previous_response_not_found" and gone.value.param == "previous_response_id"
    # Instructions are of one request.
    prompts = at.prompts()
    assert "Be brief." in prompts[0] and "Be brief." not in prompts[1] and "one" in prompts[1]


def test_two_that_go_on_from_one_extend_the_same_ids(place):
    at = place(TOKENS, [{"text": "yes"}, {"text": "yes"}, {"text": "one"}, {"text": "two"}])
    roots = [at.create(input="go").json()["id"] for _ in range(2)]
    for root in roots:
        assert at.create(input="on", previous_response_id=root).status_code == 200
    calls = at.stack.sim.log()
    for root, child in ((0, 2), (1, 3)):
        whole = calls[root]["prompt_ids"] + calls[root]["output_ids"]
        assert calls[child]["prompt_ids"][:len(whole)] == whole


def test_a_repeat_gets_the_same_bytes(place):
    """Also of what it took over from the response before."""
    at = place(TOKENS, [{"text": CALL}, {"text": "<think>\nhm</think>\n\nSunny."}])
    first = at.create(input="go", tools=[WEATHER], temperature=0.25).json()
    call = first["output"][0]["call_id"]
    body = {"input": [{"type": "function_call_output", "call_id": call, "output": "21"}], "previous_response_id": first["id"]}
    answers = [at.http.post("/v1/responses", json={"model": at.model, **body}, headers={"Idempotency-Key": "k1"}) for _ in range(2)]
    assert answers[0].status_code == 200 and answers[0].content == answers[1].content
    assert len(at.stack.sim.log()) == 2
    assert at.http.get(f"/v1/responses/{answers[0].json()['id']}").content == answers[0].content
    usage = answers[0].json()["usage"]
    assert 0 < usage["output_tokens_details"]["reasoning_tokens"] < usage["output_tokens"]


def test_what_is_not_stored_can_not_be_gone_on_from(place):
    at = place(TOKENS, [{"text": "one"}, {"text": "two"}])
    first = at.create(input="a", store=False).json()
    assert first["store"] is False
    assert at.http.get(f"/v1/responses/{first['id']}").status_code == 404
    again = at.create(input="b", previous_response_id=first["id"])
    assert (again.status_code, again.json()["error"]["code"]) == (400, "previous_response_not_found")
    assert len(at.stack.sim.log()) == 1


def test_custom_tools_and_local_shells_come_back_as_what_they_are(place):
    patch = '<tool_call>\n{"name": "apply_patch", "arguments": {"input": "*** Begin \\"x\\""}}\n</tool_call>'
    shell = '<tool_call>\n{"name": "local_shell", "arguments": {"command": ["ls", "-l"]}}\n</tool_call>'
    nested = '<tool_call>\n{"name": "agents__spawn", "arguments": {}}\n</tool_call>'
    at = place(TOKENS, [{"text": f"{patch}\n{shell}\n{nested}"}, {"text": "done"}])
    tools = [{"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}}, {"type": "local_shell"},
             {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "spawn", "parameters": {"type": "object"}}]}]
    events = at.events(input="patch it", tools=tools)
    check_events(events)
    custom, local, member = events[-1]["response"]["output"]
    assert (custom["type"], custom["name"], custom["input"]) == ("custom_tool_call", "apply_patch", '*** Begin "x"')
    assert (local["type"], local["action"]) == ("local_shell_call", {"type": "exec", "command": ["ls", "-l"], "env": {}})
    assert (member["type"], member["name"], member["namespace"]) == ("function_call", "spawn", "agents")
    outputs = [{"type": "custom_tool_call_output", "call_id": custom["call_id"], "output": [{"type": "input_text", "text": "patched"}]},
               {"type": "local_shell_call_output", "call_id": local["call_id"], "output": "total 0"},
               {"type": "function_call_output", "call_id": member["call_id"], "output": "spawned"}]
    second = at.create(input=outputs, previous_response_id=events[-1]["response"]["id"])
    assert second.status_code == 200 and text_of(second.json()) == "done", second.text
    calls = at.stack.sim.log()
    whole = calls[0]["prompt_ids"] + calls[0]["output_ids"]
    assert calls[1]["prompt_ids"][:len(whole)] == whole


def test_a_stream_that_breaks_is_failed(place):
    at = place(TOKENS, [{"text": "word " * 60, "token_delay_ms": 2, "fault": "cut_stream"}])
    answer = at.create(input="go", stream=True)
    assert answer.status_code == 200
    events = named_events(answer.content)
    assert [event["type"] for event in events[-2:]] == ["error", "response.failed"]
    failed = events[-1]["response"]
    assert failed["status"] == "failed" and failed["error"]["message"] and failed["id"] == events[0]["response"]["id"]
    check_response(failed)
    assert at.http.get(f"/v1/responses/{failed['id']}").status_code == 404


def test_a_limit_is_incomplete(place):
    at = place(TOKENS, [{"text": "one two three four five six seven"}])
    response = at.create(input="go", max_output_tokens=3).json()
    check_response(response)
    assert (response["status"], response["incomplete_details"], response["completed_at"]) == ("incomplete", {"reason": "max_output_tokens"}, None)
    assert response["output"][0]["status"] == "incomplete"


@pytest.mark.parametrize("body,field", [
    ({"input": "x", "tools": [{"type": "web_search"}]}, "tools[0].type"), ({"input": "x", "conversation": 5}, "conversation"),
    ({"input": "x", "background": True}, "background"), ({"input": "x", "unheard_of": 1}, "unheard_of"), ({"input": "x", "max_output_tokens": 0}, "max_output_tokens"),
    ({"input": "x", "reasoning": {"effort": "high"}}, "reasoning.effort"), ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].type"),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}]}, "input[0].content[0]"), ({}, "input"),
    ({"input": "x", "messages": [{"role": "user", "content": "y"}]}, "messages"), ({"input": [{"role": "assistant", "content": "said"}]}, "input"), ({"input": [{"type": "function_call_output", "call_id": "c9", "output": "x"}]}, "input")])
def test_what_is_not_served_is_refused_by_name(place, body, field):
    at = place(TOKENS, [{"text": "never"}])
    answer = at.create(**body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == field, answer.text
    assert at.stack.sim.log() == []


def test_a_websocket_is_refused_with_the_way_out(place):
    at = place(TOKENS, [])
    answer = at.http.get("/v1/responses", headers={"Upgrade": "websocket", "Connection": "Upgrade"})
    assert answer.status_code == 426 and "POST /v1/responses" in answer.json()["error"]["message"]


