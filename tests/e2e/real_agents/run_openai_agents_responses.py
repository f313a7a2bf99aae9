"""openai-agents on the Responses API: python run_openai_agents_responses.py BASE_URL stream|whole chained|history PROMPT. Prints what it did as JSON."""
import asyncio
import json
import sys

from agents import Agent, ModelSettings, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI

base_url, way, memory, prompt = sys.argv[1:]
looked_up = []


@function_tool
def look_up(city: str, days: float, note: str = "") -> str:
    """What the weather in a city will be."""
    looked_up.append([city, days, note])
    return f"{city}: sunny, {20 + len(looked_up)} degrees"


async def main() -> None:
    client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)
    chained = memory == "chained"
    # Whoever sends its whole history has nothing stored, and gets its reasoning to carry along.
    settings = ModelSettings() if chained else ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
    agent = Agent(name="planner", instructions="You plan journeys. Use the tool.", tools=[look_up], model_settings=settings,
                  model=OpenAIResponsesModel(model="qwen3", openai_client=client))
    if way == "stream":
        result = Runner.run_streamed(agent, prompt, max_turns=20, auto_previous_response_id=chained)
        async for _ in result.stream_events():
            pass
    else:
        result = await Runner.run(agent, prompt, max_turns=20, auto_previous_response_id=chained)
    print(json.dumps({"answer": result.final_output, "looked_up": looked_up}))


asyncio.run(main())
