"""What OpenAI's SDK and the Open Responses schema (package openresponses-types) say of conversations and their items."""
from __future__ import annotations

from openai.types import conversations as sdk
from openai.types import responses
from openai.types.conversations import conversation_item
from openresponses_types import types as schema

OF_SDK = {"message": sdk.Message, "reasoning": responses.ResponseReasoningItem, "function_call": responses.ResponseFunctionToolCallItem,
          "function_call_output": responses.ResponseFunctionToolCallOutputItem, "custom_tool_call": responses.ResponseCustomToolCall,
          "custom_tool_call_output": responses.ResponseCustomToolCallOutput, "local_shell_call": conversation_item.LocalShellCall,
          "local_shell_call_output": conversation_item.LocalShellCallOutput}
# The types that the schema has a word for.
OF_SCHEMA = {"message": schema.Message, "reasoning": schema.ReasoningBody, "function_call": schema.FunctionCall, "function_call_output": schema.FunctionCallOutput}


def check_item(item: dict) -> None:
    assert isinstance(item["id"], str) and item["id"]
    if item["type"] in OF_SDK:
        OF_SDK[item["type"]].model_validate(item, strict=True)
    if item["type"] in OF_SCHEMA:
        OF_SCHEMA[item["type"]].model_validate(item)


def check_list(page: dict) -> None:
    assert set(page) == {"object", "data", "first_id", "last_id", "has_more"} and page["object"] == "list"
    for item in page["data"]:
        check_item(item)
    if page["data"]:
        assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], page["data"][-1]["id"])
    else:
        assert page["first_id"] is None and page["last_id"] is None and page["has_more"] is False


def check_conversation(conversation: dict) -> None:
    assert set(conversation) == {"id", "object", "created_at", "metadata"}
    sdk.Conversation.model_validate(conversation, strict=True)


def check_deleted(answer: dict) -> None:
    assert answer["deleted"] is True
    sdk.ConversationDeletedResource.model_validate(answer, strict=True)
