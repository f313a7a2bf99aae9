"""How the shared simulator is told to go wrong: the last user message says "please: NAME"."""
from __future__ import annotations

CLOSE = "<|im_end|>\n<|im_start|>assistant\n"
TEXT = "This is the answer that goes wrong."
# Faults of the simulator with which the turn must fail, and the status the client is told.
FAILING = {
    "no_logprobs": 502, "short_logprobs": 502, "nan_logprob": 502, "null_logprob": 502, "count_off_by_one": 502,
    "wrong_prompt_tokens": 502, "id_out_of_range": 502, "id_negative": 502, "id_string": 502, "id_bool": 502, "null_finish": 502,
    "abort": 502, "error_body": 502, "html_body": 502, "cut_stream": 502, "no_done": 502, "error_event": 502, "http_400": 400,
    "http_404": 404, "http_413": 413, "http_429": 429, "http_500": 500, "http_503": 503, "closed": 502, "bare_error_event": 502,
}
# Faults with which the answer is still good.
HARMLESS = ["no_output_ids", "ids_past_stop", "split_bytes", "trimmed_stop", "slow_body"]


def request_for(name: str) -> str:
    return f"please: {name}"


def step(name: str, **reply) -> dict:
    return {"when": {"tail": request_for(name) + CLOSE}, "repeat": True, **reply}


def script() -> list[dict]:
    steps = [step(name, fault=name, text=TEXT) for name in [*FAILING, *HARMLESS, "stall"] if name != "slow_body"]
    steps.append(step("slow_body", fault="slow_body", output_ids=[9707, 151645]))  # a millisecond for each byte
    steps.append(step("slow", text="slowly " * 200, token_delay_ms=20))
    steps.append(step("stop only", text=""))
    steps.append(step("nothing", output_ids=[], finish="stop"))
    steps.append(step("reasoning", text="<think>\nI wonder about this and that.\n</think>\n\nSo be it."))
    steps.append(step("call only", text='<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "days": 1}}\n</tool_call>'))
    steps.append(step("say hello", text="Hello there, how are you?"))
    return steps
