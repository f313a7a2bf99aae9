"""An agent on the official SDK, with the habits of real ones: it writes arguments anew, drops reasoning, and sends no `index`."""
from __future__ import annotations

import json
from dataclasses import dataclass, field

import openai

TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city", "days"]}}},
    {"type": "function", "function": {
        "name": "convert", "description": "Converts an amount of money",
        "parameters": {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}}},
]
SYSTEM = "You are a terse travel assistant. Use the tools."
QUESTIONS = ["What is the weather in Rome?", "And in São Paulo? Bring an ☂ or not?", "今日の Tokyo の天気は?", "Naïve question: what about Zürich's café terraces?",
             "Last one:\n\n  Oslo, please.  "]


def written_anew(arguments: str) -> str:
    """The same value, as another serialiser spells it."""
    return json.dumps(json.loads(arguments), separators=(" ,", ":  "), sort_keys=True)


@dataclass
class Turn:
    request: dict
    content: str | None
    reasoning: str | None
    calls: list[dict]
    finish: str
    usage: dict | None = None
    chunks: list[dict] = field(default_factory=list)


class Agent:
    def __init__(self, base_url: str, *, stream: bool, extra: dict | None = None, timeout: float = 60):
        self.client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=timeout)
        self.stream, self.extra = stream, extra or {}
        self.messages: list[dict] = [{"role": "system", "content": SYSTEM}]
        self.turns: list[Turn] = []

    def close(self) -> None:
        self.client.close()

    def ask(self, question: str) -> None:
        """One question, with the tool's answer in between: two turns."""
        self.messages.append({"role": "user", "content": question})
        for _ in range(4):
            turn = self.turn()
            if not turn.calls:
                return
            for call in turn.calls:
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": self.use(call)})
        raise AssertionError("the model calls tools without end")

    @staticmethod
    def use(call: dict) -> str:
        city = json.loads(call["function"]["arguments"]).get("city", "")
        return json.dumps({"city": city, "sky": "sunny", "degrees": 20 + len(city)}, ensure_ascii=False)

    def turn(self) -> Turn:
        request = {"model": "qwen3", "messages": [dict(message) for message in self.messages], "tools": TOOLS, **self.extra}
        turn = self.streamed(request) if self.stream else self.whole(request)
        self.turns.append(turn)
        message: dict = {"role": "assistant", "content": turn.content}
        if turn.calls:
            message["tool_calls"] = [{"id": call["id"], "type": "function", "function": {
                "name": call["function"]["name"], "arguments": written_anew(call["function"]["arguments"])}} for call in turn.calls]
        self.messages.append(message)
        return turn

    def whole(self, request: dict) -> Turn:
        answer = self.client.chat.completions.create(**request)
        choice = answer.choices[0]
        message = choice.message.model_dump(exclude_none=True)
        return Turn(request, message.get("content"), message.get("reasoning_content"), message.get("tool_calls", []), choice.finish_reason,
                    answer.usage.model_dump(exclude_none=True))

    def streamed(self, request: dict) -> Turn:
        turn = Turn(request, None, None, [], "")
        for chunk in self.client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True}):
            turn.chunks.append(chunk.model_dump(exclude_unset=True))
        fold(turn)
        return turn


def fold(turn: Turn) -> None:
    """Puts a streamed turn together, strictly: what a client may rely on is checked on the way."""
    finishes = []
    for number, chunk in enumerate(turn.chunks):
        assert chunk["object"] == "chat.completion.chunk"
        assert chunk["id"] == turn.chunks[0]["id"]
        if chunk.get("usage"):
            assert chunk is turn.chunks[-1] and chunk["choices"] == [], "usage stands in a chunk of its own, last"
            turn.usage = chunk["usage"]
            continue
        (choice,) = chunk["choices"]
        assert not finishes, "something follows the finish reason"
        delta = choice["delta"]
        assert ("role" in delta) == (number == 0), "the role comes once, first"
        if delta.get("content"):
            turn.content = (turn.content or "") + delta["content"]
        if delta.get("reasoning_content"):
            turn.reasoning = (turn.reasoning or "") + delta["reasoning_content"]
        for piece in delta.get("tool_calls") or []:
            add_call(turn, piece)
        if choice.get("finish_reason"):
            finishes.append(choice["finish_reason"])
    assert len(finishes) == 1, f"finish reasons: {finishes}"
    turn.finish = finishes[0]


def add_call(turn: Turn, piece: dict) -> None:
    if piece["index"] == len(turn.calls):
        assert piece["id"] and piece["type"] == "function" and piece["function"]["name"], "a call begins with id, type and name"
        turn.calls.append({"id": piece["id"], "type": "function",
                           "function": {"name": piece["function"]["name"], "arguments": piece["function"].get("arguments") or ""}})
        return
    assert piece["index"] == len(turn.calls) - 1, "calls come one after the other"
    assert not piece.get("id") and not piece["function"].get("name"), "id and name are sent once"
    turn.calls[-1]["function"]["arguments"] += piece["function"]["arguments"]
