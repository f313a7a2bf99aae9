"""openai-agents on Chat Completions: python run_openai_agents.py BASE_URL stream|whole PROMPT. Prints what it did as JSON."""
import asyncio
import json
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI

base_url, way, prompt = sys.argv[1:]
looked_up = []


@function_tool
def look_up(city: str, days: float, note: str = "") -> str:
    """What the weather in a city will be."""
    looked_up.append([city, days, note])
    return f"{city}: sunny, {20 + len(looked_up)} degrees"


async def main() -> None:
    client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)
    agent = Agent(name="planner", instructions="You plan journeys. Use the tool.", tools=[look_up],
                  model=OpenAIChatCompletionsModel(model="qwen3", openai_client=client))
    if way == "stream":
        result = Runner.run_streamed(agent, prompt, max_turns=20)
        async for _ in result.stream_events():
            pass
    else:
        result = await Runner.run(agent, prompt, max_turns=20)
    print(json.dumps({"answer": result.final_output, "looked_up": looked_up}))


asyncio.run(main())
