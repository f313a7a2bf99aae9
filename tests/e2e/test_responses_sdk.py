"""The official SDK on POST /v1/responses, by token ids and by messages: streams, forms of the output, what is kept, histories that a client carries."""
import json

import openai
import pytest
from pydantic import BaseModel

from agent_task import hermes
from messages import WAYS
from open_responses import check_response
from programs import until
from records import tokenizer
from responses_place import EVERY_WAY, TOKENS, WEATHER, Place, place, text_of  # noqa: F401  (place is a fixture)

# Waits for its part of the gateway: take the line out when that is there.
BACKGROUND = pytest.mark.skip(reason="responses in the background are not served yet")
CARRIED = {"store": False, "include": ["reasoning.encrypted_content"]}


class City(BaseModel):
    city: str
    degrees: float


def thought(number: int, text: str) -> dict:
    return {"text": f"<think>\nThought {number}.\n</think>\n\n{text}"}


@EVERY_WAY
def test_a_stream_is_one_state_after_the_other(place, way):
    """The helper of the SDK demands ids that stay, each delta behind its item, and a last event with all of it."""
    at = place(way, [thought(1, "Let me see.\n" + hermes("get_weather", ['{"city": "Zürich"}']))])
    with at.sdk.responses.stream(model=at.model, input="go", tools=[{**WEATHER, "strict": False}]) as stream:
        seen = [event.type for event in stream]
        final = stream.get_final_response()
    assert seen[0] == "response.created" and seen[-1] == "response.completed"
    assert "response.output_text.delta" in seen and "response.function_call_arguments.delta" in seen
    assert final.output_text.strip() == "Let me see."
    (call,) = [item for item in final.output if item.type == "function_call"]
    assert json.loads(call.arguments) == {"city": "Zürich"} and call.status == "completed"


@pytest.mark.parametrize("way", [way for way in WAYS if way[1] != "messages"], ids="-".join)
def test_a_form_of_the_output_is_read_by_the_sdk(place, way):
    answer = '{"city": "Rome", "degrees": 21.5}'
    at = place(way, [{"text": answer}, {"text": answer}])
    parsed = at.sdk.responses.parse(model=at.model, input="go", text_format=City)
    assert parsed.output_parsed == City(city="Rome", degrees=21.5)
    with at.sdk.responses.stream(model=at.model, input="go", text_format=City) as stream:
        assert stream.get_final_response().output_parsed == City(city="Rome", degrees=21.5)


@pytest.mark.parametrize("way", [TOKENS, *(way for way in WAYS if way[1] == "messages")], ids="-".join)
def test_a_form_of_the_output_is_refused_where_nothing_keeps_it(place, way):
    at = place(way, [])
    with pytest.raises(openai.BadRequestError) as refused:
        at.sdk.responses.parse(model=at.model, input="go", text_format=City)
    assert refused.value.param == "text.format"


@EVERY_WAY
def test_what_was_asked_is_listed_page_by_page(place, way):
    at = place(way, [{"text": "one"}, {"text": "two"}])
    words = ["a", "b", "c", "d", "e"]
    first = at.sdk.responses.create(model=at.model, input=[{"role": "user", "content": word} for word in words])
    second = at.sdk.responses.create(model=at.model, input="f", previous_response_id=first.id)

    def listed(response: str, **options) -> list:
        return [item.content[0].text for item in at.sdk.responses.input_items.list(response, **options)]

    assert listed(first.id, limit=2, order="asc") == words and listed(first.id, limit=2) == words[::-1]
    page = at.sdk.responses.input_items.list(first.id, limit=2, order="asc")
    assert page.has_more and [item.content[0].text for item in page.data] == ["a", "b"]
    assert listed(first.id, after=page.last_id, order="asc") == ["c", "d", "e"]
    assert listed(second.id) == ["f"]


@EVERY_WAY
@pytest.mark.parametrize("shown", [True, False], ids=["as-it-came", "encrypted-alone"])
def test_a_client_carries_its_history_and_its_reasoning(place, way, shown):
    """Nothing is stored. Some clients hand reasoning back as it came, some its encrypted content alone."""
    at = place(way, [thought(1, hermes("get_weather", ['{"city": "Rome"}'])), thought(2, hermes("get_weather", ['{"city": "Oslo"}'])),
                     thought(3, "Rome.")])
    items: list = [{"role": "user", "content": "Which is sunnier?"}]
    for _ in range(3):
        asked = {} if way != ("dynamo", "responses") else {"reasoning": {"summary": "auto"}}
        answer = at.create(input=items, tools=[WEATHER], **CARRIED, **asked)
        assert answer.status_code == 200, answer.text
        check_response(answer.json())
        output = answer.json()["output"]
        reasoning = [item for item in output if item["type"] == "reasoning"]
        assert all(item["encrypted_content"] for item in reasoning)
        if not shown:
            output = [{name: item[name] for name in ("type", "summary", "encrypted_content")} if item in reasoning else item for item in output]
        items += output
        items += [{"type": "function_call_output", "call_id": item["call_id"], "output": "sunny"} for item in output if item["type"] == "function_call"]
    # Dynamo's text begins right behind its reasoning.
    assert text_of(answer.json()).strip() == "Rome."
    if way == TOKENS:
        calls = at.stack.sim.log()
        for before, after in zip(calls, calls[1:]):
            whole = before["prompt_ids"] + before["output_ids"]
            assert after["prompt_ids"][:len(whole)] == whole


@pytest.mark.parametrize("way", [TOKENS, ("vllm", "responses"), ("vllm", "chat-text")], ids="-".join)
def test_carried_reasoning_is_known_to_a_gateway_that_never_saw_it(place, way):
    first = place(way, [thought(7, hermes("get_weather", ['{"city": "Rome"}']))])
    answer = first.create(input="go", tools=[WEATHER], **CARRIED).json()
    carried = [{**item, "content": []} if item["type"] == "reasoning" else item for item in answer["output"]]
    call = next(item for item in carried if item["type"] == "function_call")
    other = place(way, [{"text": "Sunny."}])
    again = other.create(input=[{"role": "user", "content": "go"}, *carried,
                                {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}], tools=[WEATHER], **CARRIED)
    assert again.status_code == 200, again.text
    assert "Thought 7." in other.prompts()[0]
    spoilt = [{**item, "encrypted_content": item["encrypted_content"][:-3] + "!!!"} if item["type"] == "reasoning" else item for item in carried]
    refused = other.create(input=[{"role": "user", "content": "go"}, *spoilt], **CARRIED)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "input[1].encrypted_content")


@pytest.mark.parametrize("way", [TOKENS, ("vllm", "responses"), ("vllm", "chat-text"), ("vllm", "messages")], ids="-".join)
def test_tools_that_a_client_found_are_called_as_what_they_are(place, way):
    """It searches, its output holds what was found; the tools that hold from the beginning come in an item."""
    search = {"type": "tool_search", "execution": "client", "description": "Looks for tools", "parameters": {"type": "object"}}
    member = {"type": "function", "name": "add", "description": "Adds an event", "parameters": {"type": "object"}}
    freeform = {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec", "description": "Runs a script"}]}
    at = place(way, [{"text": hermes("tool_search", ['{"query": "calendar"}'])}, {"text": hermes("calendar__add", ['{"day": 1}'])},
                     {"text": hermes("functions__exec", ['{"input": "text(1)"}'])}, {"text": "Done."}])
    items: list = [{"type": "additional_tools", "role": "developer", "tools": [search, freeform]}, {"role": "user", "content": "go"}]
    outputs = [{"type": "tool_search_output", "execution": "client", "status": "completed", "tools": [{"type": "namespace", "name": "calendar", "tools": [member]}]},
               {"type": "function_call_output", "output": "added"},
               {"type": "custom_tool_call_output", "output": [{"type": "input_text", "text": "1"}]}]
    calls = []
    for output in outputs:
        answer = at.create(input=items, store=False)
        assert answer.status_code == 200, answer.text
        call = next(item for item in answer.json()["output"] if item["type"].endswith("_call"))
        calls.append(call)
        items += [*answer.json()["output"], {**output, "call_id": call["call_id"]}]
    assert (calls[0]["type"], calls[0]["execution"], calls[0]["arguments"]) == ("tool_search_call", "client", {"query": "calendar"})
    assert (calls[1]["type"], calls[1]["namespace"], calls[1]["name"]) == ("function_call", "calendar", "add")
    assert (calls[2]["type"], calls[2]["namespace"], calls[2]["name"], calls[2]["input"]) == ("custom_tool_call", "functions", "exec", "text(1)")
    last = at.create(input=items, store=False)
    assert last.status_code == 200 and text_of(last.json()) == "Done.", last.text
    prompts = at.prompts()
    assert "Looks for tools" in prompts[0] and "Runs a script" in prompts[0] and "calendar__add" not in prompts[0]
    assert "calendar__add" in prompts[1] and "Adds an event" in prompts[1]
    if way == TOKENS:
        log = at.stack.sim.log()
        for before, after in zip(log, log[1:]):
            whole = before["prompt_ids"] + before["output_ids"]
            assert after["prompt_ids"][:len(whole)] == whole


def test_tools_of_an_item_go_on_to_hold(place):
    at = place(TOKENS, [{"text": "one"}, {"text": "two"}])
    item = {"type": "additional_tools", "role": "developer", "tools": [WEATHER]}
    first = at.create(input=[item, {"role": "user", "content": "a"}]).json()
    second = at.create(input="b", previous_response_id=first["id"]).json()
    assert [tool["name"] for tool in second["tools"]] == ["get_weather"] and second["tools"] == first["tools"]
    assert "get_weather" in tokenizer().decode(at.stack.sim.log()[1]["prompt_ids"])
    refused = at.create(input=[item, {"role": "user", "content": "c"}], previous_response_id=first["id"])
    assert refused.status_code == 400 and "additional_tools" in refused.json()["error"]["message"]


@BACKGROUND
@EVERY_WAY
def test_a_response_in_the_background(place, way):
    at = place(way, [{"text": "one"}])
    response = at.sdk.responses.create(model=at.model, input="a", background=True)
    assert response.status in ("queued", "in_progress") and response.background is True
    until(lambda: at.sdk.responses.retrieve(response.id).status not in ("queued", "in_progress"), "the response ends")
    response = at.sdk.responses.retrieve(response.id)
    assert (response.status, response.output_text) == ("completed", "one")
    numbers = [event.sequence_number for event in at.sdk.responses.retrieve(response.id, stream=True, starting_after=1)]
    assert numbers[0] == 2 and numbers == list(range(2, 2 + len(numbers)))


@BACKGROUND
@EVERY_WAY
def test_a_response_is_cancelled(place, way):
    at = place(way, [{"text": "word " * 400, "token_delay_ms": 50}])
    response = at.sdk.responses.create(model=at.model, input="a", background=True)
    assert at.sdk.responses.cancel(response.id).status == "cancelled"
    assert at.sdk.responses.cancel(response.id).status == "cancelled"
    assert at.sdk.responses.retrieve(response.id).status == "cancelled"


@EVERY_WAY
def test_conversations(place, way):
    at = place(way, [{"text": "APPLE"}])
    made = at.sdk.conversations.create(items=[{"type": "message", "role": "user", "content": "Remember APPLE."}], metadata={"k": "v"})
    response = at.sdk.responses.create(model=at.model, input="Which word?", conversation=made.id)
    assert response.output_text == "APPLE" and response.conversation.id == made.id
    items = list(at.sdk.conversations.items.list(made.id, order="asc"))
    assert [item.role for item in items] == ["user", "user", "assistant"]
    assert at.sdk.conversations.items.retrieve(items[0].id, conversation_id=made.id).content[0].text == "Remember APPLE."
    at.sdk.conversations.items.delete(items[0].id, conversation_id=made.id)
    assert len(list(at.sdk.conversations.items.list(made.id))) == 2
    assert at.sdk.conversations.update(made.id, metadata={"k": "w"}).metadata == {"k": "w"}
    assert at.sdk.conversations.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        at.sdk.conversations.retrieve(made.id)
    assert "Remember APPLE." in at.prompts()[0]
