"""/v1/conversations: items that reach the model, by token ids and by messages; every object against OpenAI's SDK and the Open Responses schema."""
import itertools
import json
import subprocess
import threading

import httpx
import openai
import pytest

from conversation_schema import check_conversation, check_deleted, check_item, check_list
from open_responses import check_events, check_response
from programs import BINARY, MODEL, Program, until
from raw_http import named_events
from responses_place import CALL, EVERY_WAY, TOKENS, Place, numbers, places

WEATHER = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}


class Talking(Place):
    """What it says of conversations is checked."""

    def conversation(self, *items, **body) -> str:
        answer = self.http.post("/v1/conversations", json={"items": list(items), **body})
        assert answer.status_code == 200, answer.text
        check_conversation(answer.json())
        return answer.json()["id"]

    def answered(self, **body) -> dict:
        answer = self.create(**body)
        assert answer.status_code == 200, answer.text
        check_response(answer.json())
        return answer.json()

    def items(self, conversation: str, **query) -> list[dict]:
        answer = self.http.get(f"/v1/conversations/{conversation}/items", params={"order": "asc", "limit": 100, **query})
        assert answer.status_code == 200, answer.text
        check_list(answer.json())
        return answer.json()["data"]


@pytest.fixture
def place(workplace, make_stack):
    yield from places(workplace, make_stack, Talking)


def said(role: str, text: str) -> dict:
    return {"role": role, "content": text}


def text_of(item: dict) -> str:
    return "".join(part["text"] for part in item.get("content") or [])


@EVERY_WAY
def test_items_reach_the_model_and_answers_join_them(place, way):
    at = place(way, [{"text": "FIG"}, {"text": "APPLE"}, {"text": "PEAR"}])
    conversation = at.conversation(said("user", "Remember the word APPLE."), said("assistant", "OK"), metadata={"k": "v"})
    first = at.answered(input="And PEAR.", conversation=conversation)
    assert first["conversation"] == {"id": conversation} and first["previous_response_id"] is None
    added = at.http.post(f"/v1/conversations/{conversation}/items", json={"items": [said("user", "And PLUM.")]})
    assert added.status_code == 200, added.text
    check_list(added.json())
    answer = at.create(input="Which words?", conversation={"id": conversation}, stream=True)
    events = named_events(answer.content)
    check_events(events)
    assert all(event["response"]["conversation"] == {"id": conversation} for event in events if "response" in event)
    assert at.http.get(f"/v1/responses/{events[-1]['response']['id']}").json() == events[-1]["response"]
    words = ["Remember the word APPLE.", "OK", "And PEAR.", "FIG", "And PLUM.", "Which words?"]
    prompt = at.prompts()[1]
    places = [prompt.index(word) for word in words]
    assert places == sorted(places) and all(prompt.count(word) == 1 for word in words if word.endswith("."))
    items = [item for item in at.items(conversation) if item["type"] == "message"]
    assert [text_of(item) for item in items] == [*words, "APPLE"]
    assert [item["role"] for item in items] == ["user", "assistant", "user", "assistant", "user", "user", "assistant"]
    # An answer's items are in it as they were told.
    assert [item for item in at.items(conversation) if item in events[-1]["response"]["output"]] == events[-1]["response"]["output"]
    # And it goes on from both.
    assert at.answered(input="again", conversation=conversation)["status"] == "completed"


@EVERY_WAY
def test_a_function_call_and_its_output(place, way):
    at = place(way, [{"text": CALL}, {"text": "Sunny."}, {"text": "Bye."}])
    conversation = at.conversation()
    first = at.answered(input="Weather in Rome?", tools=[WEATHER], conversation=conversation)
    call = [item for item in first["output"] if item["type"] == "function_call"][0]
    missing = at.create(input="and?", conversation=conversation)
    assert missing.status_code == 400 and call["call_id"] in missing.json()["error"]["message"]
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "21 degrees"}
    second = at.answered(input=[output], conversation=conversation)
    assert second["tools"] == first["tools"], "tools go on to hold"
    kinds = [item["type"] for item in at.items(conversation)]
    assert kinds[0] == "message" and kinds.index("function_call") + 1 == kinds.index("function_call_output")
    third = at.answered(input="Thanks.", conversation=conversation)
    assert third["status"] == "completed" and "21 degrees" in at.prompts()[2]


@EVERY_WAY
def test_what_is_deleted_is_not_said_any_more(place, way):
    at = place(way, [{"text": "one"}, {"text": "two"}, {"text": "three"}])
    conversation = at.conversation(said("user", "SECRET"), said("assistant", "fine"))
    at.answered(input="hello", conversation=conversation)
    for item in at.items(conversation)[:2]:
        answer = at.http.delete(f"/v1/conversations/{conversation}/items/{item['id']}")
        check_conversation(answer.json())
    at.answered(input="more", conversation=conversation)
    prompt = at.prompts()[1]
    assert "SECRET" not in prompt and prompt.index("hello") < prompt.index("one") < prompt.index("more")


def test_the_sdk(place):
    at = place(TOKENS, [{"text": "one"}, {"text": "two"}])
    made = at.sdk.conversations.create(items=[{"type": "message", "role": "user", "content": "a"}], metadata={"k": "v"})
    assert made.object == "conversation" and made.metadata == {"k": "v"} and made.created_at
    assert at.sdk.conversations.retrieve(made.id) == made
    assert at.sdk.conversations.update(made.id, metadata={"k": "w"}).metadata == {"k": "w"}
    more = at.sdk.conversations.items.create(made.id, items=[
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "b"}]}, {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": "d"}])
    assert [item.type for item in more.data] == ["message", "reasoning", "function_call", "function_call_output"] and more.has_more is False
    one = at.sdk.conversations.items.retrieve(more.data[2].id, conversation_id=made.id, include=["reasoning.encrypted_content"])
    assert (one.type, one.name, one.status) == ("function_call", "f", "completed")
    response = at.sdk.responses.create(model=at.model, input="go", conversation=made.id)
    assert response.output_text == "one" and response.conversation.id == made.id
    listed = list(at.sdk.conversations.items.list(made.id, limit=2, order="asc"))
    assert len(listed) == 7 and listed[0].content[0].text == "a" and listed[-1].content[0].text == "one"
    assert [item.id for item in at.sdk.conversations.items.list(made.id, limit=3)] == [item.id for item in reversed(listed)]
    behind = at.sdk.conversations.items.list(made.id, after=listed[4].id, order="asc")
    assert [item.id for item in behind.data] == [item.id for item in listed[5:]]
    assert at.sdk.conversations.items.delete(listed[0].id, conversation_id=made.id).id == made.id
    with pytest.raises(openai.NotFoundError):
        at.sdk.conversations.items.retrieve(listed[0].id, conversation_id=made.id)
    gone = at.sdk.conversations.delete(made.id)
    assert gone.deleted and gone.object == "conversation.deleted"
    with pytest.raises(openai.NotFoundError):
        at.sdk.conversations.retrieve(made.id)
    with pytest.raises(openai.NotFoundError):
        at.sdk.responses.retrieve(response.id)
    with pytest.raises(openai.NotFoundError):
        at.sdk.responses.create(model=at.model, input="go", conversation=made.id)


def test_turns_extend_the_ids_that_were_sampled(place):
    at = place(TOKENS, [{"text": "<think>\nhm</think>\n\none"}, {"text": "two"}, {"text": "three"}, {"text": "four"}])
    conversation = at.conversation(said("user", "a"))
    at.answered(input="b", conversation=conversation)
    at.http.post(f"/v1/conversations/{conversation}/items", json={"items": [said("user", "c")]})
    at.answered(input="d", conversation=conversation)
    at.answered(input="e", conversation=conversation)
    calls = at.stack.sim.log()
    for before, after in itertools.pairwise(calls):
        whole = before["prompt_ids"] + before["output_ids"]
        assert after["prompt_ids"][:len(whole)] == whole
    tree = at.http.get(f"/sessions/{conversation}/tree").json()
    assert [node["attach"] for node in tree["nodes"]] == ["first", "named", "named"]
    # The last exchange is taken back: what is left goes on from its turn.
    for item in at.items(conversation)[-2:]:
        at.http.delete(f"/v1/conversations/{conversation}/items/{item['id']}")
    at.answered(input="f", conversation=conversation)
    calls = at.stack.sim.log()
    whole = calls[1]["prompt_ids"] + calls[1]["output_ids"]
    assert calls[3]["prompt_ids"][:len(whole)] == whole


def test_one_of_two_writers_is_told_before_the_model_runs(place):
    at = place(TOKENS, [{"text": "word " * 60, "token_delay_ms": 40}, {"text": "two"}])
    conversation = at.conversation(said("user", "a"))
    item = at.items(conversation)[0]["id"]
    with at.http.stream("POST", "/v1/responses", json={"model": at.model, "input": "b", "conversation": conversation, "stream": True}) as slow:
        pieces = slow.iter_bytes()
        first = next(pieces)
        with httpx.Client(base_url=at.url, timeout=60) as other:
            locked = [other.post("/v1/responses", json={"model": at.model, "input": "c", "conversation": conversation}),
                      other.post(f"/v1/conversations/{conversation}/items", json={"items": [said("user", "x")]}),
                      other.delete(f"/v1/conversations/{conversation}/items/{item}")]
        for answer in locked:
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conversation_locked"), answer.text
        assert len(at.stack.sim.log()) == 1
        events = named_events(first + b"".join(pieces))
    assert events[-1]["type"] == "response.completed"
    # The SDK asks again by itself.
    with openai.OpenAI(base_url=f"{at.url}/v1", api_key="none", max_retries=5) as patient:
        assert patient.responses.create(model=at.model, input="c", conversation=conversation).output_text == "two"
    assert len(at.items(conversation)) == 5


def test_of_many_at_once_none_is_lost(place):
    at = place(TOKENS, [{"text": f"answer {i}"} for i in range(8)])
    conversation = at.conversation()
    answers = []

    def ask(i: int) -> None:
        with httpx.Client(base_url=at.url, timeout=60) as http:
            answers.append(http.post("/v1/responses", json={"model": at.model, "input": f"question {i}", "conversation": conversation}))

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    good = [answer for answer in answers if answer.status_code == 200]
    assert good and {answer.status_code for answer in answers} <= {200, 409}
    assert len(at.stack.sim.log()) == len(good), "the model worked for those alone that were answered"
    roles = [item["role"] for item in at.items(conversation)]
    assert roles == ["user", "assistant"] * len(good)


def test_what_is_not_stored_is_in_the_conversation_all_the_same(place):
    at = place(TOKENS, [{"text": "one"}, {"text": "two"}])
    conversation = at.conversation()
    first = at.answered(input="a", conversation=conversation, store=False)
    assert at.http.get(f"/v1/responses/{first['id']}").status_code == 404
    assert [text_of(item) for item in at.items(conversation)] == ["a", "one"]
    at.answered(input="b", conversation=conversation)
    calls = at.stack.sim.log()
    whole = calls[0]["prompt_ids"] + calls[0]["output_ids"]
    assert calls[1]["prompt_ids"][:len(whole)] == whole


def test_a_limit_and_a_broken_stream(place):
    at = place(TOKENS, [{"text": "one two three four five six"}, {"text": "word " * 60, "fault": "cut_stream"}, {"text": "fine"}])
    conversation = at.conversation()
    cut = at.answered(input="a", conversation=conversation, max_output_tokens=3)
    assert cut["status"] == "incomplete" and [item["status"] for item in at.items(conversation)] == ["completed", "incomplete"]
    before = at.items(conversation)
    answer = at.create(input="b", conversation=conversation, stream=True)
    assert named_events(answer.content)[-1]["type"] == "response.failed"
    assert at.items(conversation) == before
    at.answered(input="c", conversation=conversation)


@pytest.mark.parametrize("body,status,code", [
    ({"conversation": "conv_x", "previous_response_id": "resp_x"}, 400, "mutually_exclusive_parameters"), ({"conversation": "conv_x"}, 404, "not_found"),
    ({"conversation": {"id": "conv_x"}}, 404, "not_found"), ({"conversation": "../../etc/passwd\u0000"}, 404, "not_found"),
    ({"conversation": "x" * 10_000}, 400, None), ({"conversation": ["conv_x"]}, 400, None), ({"conversation": ""}, 400, None)])
def test_what_can_not_be_is_refused(place, body, status, code):
    at = place(TOKENS, [{"text": "never"}])
    answer = at.create(input="x", **body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert at.stack.sim.log() == []


# Without dots of their own: clients resolve these.
HOSTILE = ["conv_x", "%2e%2e%2f", "a%00b", "conv_%ff", "x" * 5000, "'; DROP TABLE conversation; --", "conv_x/items/y/z"]


def test_strange_ids_are_not_found(place):
    at = place(TOKENS, [])
    known = at.conversation(said("user", "a"))
    for name in HOSTILE:
        for path in (f"/v1/conversations/{name}", f"/v1/conversations/{name}/items", f"/v1/conversations/{known}/items/{name}"):
            answer = at.http.get(path)
            assert answer.status_code in (404, 414, 431), (path, answer.status_code)
            assert answer.json()["error"]["message"]
    assert len(at.items(known)) == 1


def test_ten_thousand_items(place):
    """They come in pages, and reach the model where they are all read again."""
    at = place(("openai", "chat"), [{"text": "done"}, {"text": "more"}], "--max-model-len", "1000000")
    conversation = at.conversation()
    for start in range(0, 10_000, 20):
        items = [said("user" if i % 2 == 0 else "assistant", f"w{i}") for i in range(start, start + 20)]
        answer = at.http.post(f"/v1/conversations/{conversation}/items", json={"items": items})
        assert answer.status_code == 200, answer.text
    seen, after = [], {}
    while True:
        page = at.http.get(f"/v1/conversations/{conversation}/items", params={"order": "asc", "limit": 100, **after}).json()
        seen += page["data"]
        if not page["has_more"]:
            break
        after = {"after": page["last_id"]}
    assert [text_of(item) for item in seen] == [f"w{i}" for i in range(10_000)] and len({item["id"] for item in seen}) == 10_000
    for question in ("and now?", "again?"):
        answer = at.create(input=question, conversation=conversation)
        assert answer.status_code == 200, answer.text
    assert len(at.items(conversation, order="desc")) == 100
    too_many = at.http.post(f"/v1/conversations/{conversation}/items", json={"items": [said("user", "x")] * 21})
    assert (too_many.status_code, too_many.json()["error"]["param"]) == (400, "items")


def test_a_conversation_that_is_full_says_so(place):
    at = place(TOKENS, [{"text": "never"}])
    conversation = at.conversation()
    text = "x" * (12 << 20)
    answers = [at.http.post(f"/v1/conversations/{conversation}/items", json={"items": [said("user", text)]}) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [400]
    assert answers[-1].json()["error"]["code"] == "conversation_full"
    full = at.create(input=text, conversation=conversation)
    assert (full.status_code, full.json()["error"]["code"]) == (400, "conversation_full")
    assert at.stack.sim.log() == []


def test_keys_and_restart_and_another_store(workplace, make_stack):
    """Of its owner alone; there again behind a kill; in an export and in the store that is made of it."""
    folder = workplace / f"conversations-{next(numbers)}"
    stack = make_stack(script=[{"text": "one"}, {"text": "two"}, {"text": "three"}])
    folder.mkdir()
    keys = folder / "keys"
    keys.write_text("ann ann-key-0123456789\nbob bob-key-0123456789\n")

    def serve(data) -> tuple[Program, httpx.Client, httpx.Client]:
        program = Program(["serve", "--engine", stack.sim.url, "--engine-kind", "sglang", "--tokenizer", MODEL, "--port", 0, "--api-keys", keys, "--data-dir", data],
                          folder / f"serve-{next(numbers)}.stderr")
        ann, bob = (httpx.Client(base_url=program.url, timeout=60, headers={"Authorization": f"Bearer {name}-key-0123456789"}) for name in ("ann", "bob"))
        until(lambda: ann.get("/ready").status_code == 200, "the gateway is ready")
        return program, ann, bob

    def turn(client, text, conversation):
        return client.post("/v1/responses", json={"model": "qwen3", "input": text, "conversation": conversation})

    def kept(client, conversation) -> list:
        return [client.get(f"/v1/conversations/{conversation}").json(), client.get(f"/v1/conversations/{conversation}/items", params={"order": "asc"}).json()]

    program, ann, bob = serve(folder / "data")
    try:
        conversation = ann.post("/v1/conversations", json={"items": [said("user", "a")], "metadata": {"k": "v"}}).json()["id"]
        assert turn(ann, "b", conversation).status_code == 200
        item = ann.get(f"/v1/conversations/{conversation}/items").json()["data"][0]["id"]
        for method, path in (("GET", ""), ("POST", ""), ("DELETE", ""), ("GET", "/items"), ("POST", "/items"), ("GET", f"/items/{item}"), ("DELETE", f"/items/{item}")):
            body = {"items": [said("user", "x")]} if path == "/items" else {"metadata": {}}
            answer = bob.request(method, f"/v1/conversations/{conversation}{path}", json=body if method == "POST" else None)
            assert answer.status_code == 404, (method, path, answer.text)
        assert turn(bob, "x", conversation).status_code == 404
        before = kept(ann, conversation)
    finally:
        program.kill()
    program, ann, bob = serve(folder / "data")
    try:
        assert kept(ann, conversation) == before
        assert turn(ann, "c", conversation).status_code == 200
        before = kept(ann, conversation)
    finally:
        program.kill()
    calls = stack.sim.log()
    whole = calls[0]["prompt_ids"] + calls[0]["output_ids"]
    assert calls[1]["prompt_ids"][:len(whole)] == whole, "behind a restart it goes on from the ids that were sampled"
    file, other = folder / "export.jsonl", folder / "other"

    def tool(*arguments) -> None:
        done = subprocess.run([BINARY, "store", *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr

    tool("export", file, "--data-dir", folder / "data")
    tool("import", file, "--data-dir", other)
    tool("check", "--data-dir", other)
    kinds = [json.loads(line)["kind"] for line in file.read_text().splitlines()]
    assert kinds.count("conversation") == 1 and kinds.count("item") == 5
    program, ann, bob = serve(other)
    try:
        assert kept(ann, conversation) == before
        assert turn(ann, "d", conversation).status_code == 200
        assert ann.delete(f"/v1/conversations/{conversation}").json() == {"id": conversation, "object": "conversation.deleted", "deleted": True}
        check_deleted({"id": conversation, "object": "conversation.deleted", "deleted": True})
        assert ann.get(f"/sessions/{conversation}").status_code == 404
    finally:
        program.kill()


def test_items_of_each_kind_have_the_shape_that_clients_read(place):
    at = place(TOKENS, [])
    items = [said("user", "a"), said("assistant", "b"), {"type": "message", "role": "user", "content": [{"text": "c"}, {"type": "input_text", "text": "d"}]},
             {"role": "assistant", "content": [{"type": "output_text", "text": "e"}], "status": None}, {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "f"}]},
             {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": "g"},
             {"type": "custom_tool_call", "call_id": "c2", "name": "p", "input": "h"}, {"type": "custom_tool_call_output", "call_id": "c2", "output": "i"},
             {"type": "local_shell_call", "id": "lsh_1", "call_id": "c3", "action": {"type": "exec", "command": ["ls"], "env": {}}},
             {"type": "local_shell_call_output", "id": "c3", "output": "j", "unheard_of": {"z": 1.50}}]
    conversation = at.conversation(*items)
    kept = at.items(conversation)
    assert [item["type"] for item in kept] == [item.get("type", "message") for item in items]
    assert kept[-1]["unheard_of"] == {"z": 1.50} and kept[-1]["id"] == "c3"
    for item in kept:
        answer = at.http.get(f"/v1/conversations/{conversation}/items/{item['id']}")
        assert answer.status_code == 200 and answer.json() == item
        check_item(answer.json())
