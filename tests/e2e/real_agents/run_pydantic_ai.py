"""pydantic-ai on Chat Completions: python run_pydantic_ai.py BASE_URL stream|whole PROMPT. Prints what it did as JSON."""
import asyncio
import json
import sys

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

base_url, way, prompt = sys.argv[1:]
looked_up = []
client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)
agent = Agent(OpenAIChatModel("qwen3", provider=OpenAIProvider(openai_client=client)), instructions="You plan journeys. Use the tool.")


@agent.tool_plain
def look_up(city: str, days: float, note: str = "") -> str:
    """What the weather in a city will be."""
    looked_up.append([city, days, note])
    return f"{city}: sunny, {20 + len(looked_up)} degrees"


async def main() -> None:
    if way == "stream":
        async with agent.iter(prompt) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as events:
                        async for _ in events:
                            pass
        answer = run.result.output
    else:
        answer = (await agent.run(prompt)).output
    print(json.dumps({"answer": answer, "looked_up": looked_up}))


asyncio.run(main())
