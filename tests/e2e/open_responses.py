"""What the Open Responses schema (package openresponses-types) says of objects and events."""
from __future__ import annotations

import openresponses_types as schema
from openresponses_types import types

# The words of reasoning that OpenAI's SDKs and vLLM use; the schema has other ones (response.reasoning.delta).
BESIDE_THE_SCHEMA = {"response.reasoning_text.delta", "response.reasoning_text.done", "response.custom_tool_call_input.delta",
                     "response.custom_tool_call_input.done"}
ITEMS_BESIDE = {"custom_tool_call", "local_shell_call"}


def event_types() -> dict:
    known = {}
    for name in dir(types):
        made = getattr(types, name)
        if name.endswith("StreamingEvent") and hasattr(made, "model_fields"):
            for word in made.model_fields["type"].annotation:
                known[word.value] = made
    return known


EVENTS = event_types()


def in_schema(response: dict) -> dict:
    """Without the items and tools that the schema has no word for; these are looked at elsewhere."""
    items = [item for item in response["output"] if item["type"] not in ITEMS_BESIDE]
    return {**response, "output": items, "tools": [tool for tool in response["tools"] if tool["type"] == "function"]}


def check_response(response: dict) -> None:
    """Every key of the schema is there, and of its type."""
    schema.ResponseResource.model_validate(in_schema(response))


def check_events(events: list[dict]) -> None:
    """The ladder: numbered without gap, items closed before the next opens, ids as they were added, deltas that join to what is done, one last event."""
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    assert len({event["response"]["id"] for event in events if "response" in event}) == 1
    open_item, texts, items = None, {}, []
    for event in events:
        kind = event["type"]
        if kind not in BESIDE_THE_SCHEMA and event.get("item", {}).get("type") not in ITEMS_BESIDE:
            EVENTS[kind].model_validate({**event, "response": in_schema(event["response"])} if "response" in event else event)
        if kind == "response.output_item.added":
            assert open_item is None and event["output_index"] == len(items)
            open_item = event["item"]["id"]
            assert event["item"]["status"] == "in_progress"
        elif kind == "response.output_item.done":
            assert event["item"]["id"] == open_item and event["output_index"] == len(items)
            open_item = None
            items.append(event["item"])
        elif "item_id" in event:
            assert event["item_id"] == open_item and event["output_index"] == len(items)
        if kind.endswith(".delta"):
            texts[event["item_id"]] = texts.get(event["item_id"], "") + event["delta"]
        elif kind.endswith(("_text.done", "arguments.done", "input.done")):
            said = event.get("text", event.get("arguments", event.get("input")))
            assert texts.get(event["item_id"], "") == said
    last = events[-1]
    assert last["type"] in ("response.completed", "response.incomplete", "response.failed")
    if last["type"] != "response.failed":
        assert open_item is None and last["response"]["output"] == items
    check_response(last["response"])
