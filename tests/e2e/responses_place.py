"""A gateway with the Responses API in front of a scripted engine, on each of its ways up: what the tests of it share."""
import itertools

import httpx
import openai
import pytest

from messages import WAYS, MessageStack
from raw_http import named_events
from records import tokenizer

numbers = itertools.count()
MODEL_NAME = "m"
TOKENS = ("tokens", "generate")
EVERY_WAY = pytest.mark.parametrize("way", [TOKENS, *WAYS], ids=lambda way: "-".join(way))
WEATHER = {"type": "function", "name": "get_weather", "description": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'


class Place:
    """A gateway on one of its ways to an engine that answers by a script. `sim_options` are of an engine that is driven by messages."""

    def __init__(self, folder, make_stack, way, script, *sim_options):
        self.way = way
        if way == TOKENS:
            self.stack = make_stack(script=script)
            self.model = "qwen3"
        else:
            # These are ready when they have answered a request.
            asked = [] if way[0] == "openai" else [{"text": "ready"}]
            self.stack = MessageStack(folder, "--model-name", MODEL_NAME, *sim_options, kind=way[0], mode=way[1], script=[*asked, *script])
            self.model = MODEL_NAME
        self.url = self.stack.gateway.url
        self.http = httpx.Client(base_url=self.url, timeout=60)
        self.sdk = openai.OpenAI(base_url=f"{self.url}/v1", api_key="none", max_retries=0)

    def create(self, **body) -> httpx.Response:
        return self.http.post("/v1/responses", json={"model": self.model, **body})

    def events(self, **body) -> list[dict]:
        answer = self.create(stream=True, **body)
        assert answer.status_code == 200, answer.text
        return named_events(answer.content)

    def prompts(self) -> list[str]:
        """What the engine was shown, turn by turn."""
        if self.way == TOKENS:
            return [tokenizer().decode(call["prompt_ids"], skip_special_tokens=False) for call in self.stack.sim.log()]
        return [tokenizer().decode(ids, skip_special_tokens=False) for ids in self.stack.prompts()]

    def close(self) -> None:
        self.http.close()
        self.sdk.close()
        if self.way != TOKENS:
            self.stack.kill()


def text_of(response: dict) -> str:
    return "".join(part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"])


def places(folder, make_stack, kind=Place):
    """Of a fixture: makes places of a kind, and ends them."""
    made = []

    def make(way, script, *sim_options):
        made.append(kind(folder / f"place-{next(numbers)}", make_stack, way, script, *sim_options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def place(workplace, make_stack):
    yield from places(workplace, make_stack)
