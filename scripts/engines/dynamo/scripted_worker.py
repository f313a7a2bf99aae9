#!/usr/bin/env python3
"""A token worker for Dynamo's frontend that answers from a script: no model, no GPU. Runs in the environment of install.sh.

  scripted_worker.py --model FOLDER --name NAME --script FILE --record FILE [--context N] [--tool-parser P] [--reasoning-parser P]

Each request is a line of the record, as the frontend gave it: {"kind": "request", "id", "request": {"token_ids", ...}}; a
cancelled one adds {"kind": "cancelled", "id", "sent"}. The script is a JSON list, read again whenever the file was replaced.
The first row that applies makes the answer; where none does, the worker repeats the last 64 ids of the prompt.

  when        "last": ids the prompt ends with; "holds": lists of ids, all of which stand somewhere in it; "times": how often the row
              may be used
  answer      "token_ids", "logprobs" (one each; else made up), "top" ([[id, logprob], ...] each), "cached_tokens"
  pace        "chunk": ids per message (1); "delay_ms": between messages (0)
  end         "finish_reason" ("stop"), "stop_reason", "engine_data": members that replace the true ones
  faults      "raise": [class, text] before the first id (a class of dynamo.llm.exceptions or a builtin);
              "http_error": [status, text] before the first id; "error": text as the finish; "no_finish": true;
              "no_engine_data": true; "hang_after": N ids, then nothing until cancelled; "die_after": N ids, then the process ends

Stop ids, hidden stop ids (the model's), min_tokens, ignore_eos and max_tokens are honoured as by an engine.
"""
from __future__ import annotations

import argparse
import asyncio
import builtins
import json
import os
import signal
import sys
from pathlib import Path

from dynamo.llm import ModelInput, ModelRuntimeConfig, ModelType, WorkerType, exceptions, register_model
from dynamo.runtime import DistributedRuntime

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from script_rows import applies  # noqa: E402


class Script:
    def __init__(self, path: Path):
        self.path = path
        self.version = None
        self.rows: list[dict] = []
        self.used: list[int] = []

    def pick(self, prompt: list[int]) -> dict:
        self._read()
        for i, row in enumerate(self.rows):
            if not applies(row, prompt):
                continue
            if self.used[i] < row.get("times", self.used[i] + 1):
                self.used[i] += 1
                return row
        return {"token_ids": prompt[-64:]}

    def _read(self) -> None:
        state = self.path.stat()
        version = (state.st_ino, state.st_mtime_ns)
        if version == self.version:
            return
        self.rows = json.loads(self.path.read_text())
        self.used = [0] * len(self.rows)
        self.version = version


class Answer:
    """What one request gets: ids cut where an engine would have stopped."""

    def __init__(self, row: dict, request: dict):
        self.row = row
        self.prompt = list(request["token_ids"])
        conditions = request.get("stop_conditions") or {}
        self.alternatives = (request.get("output_options") or {}).get("logprobs")
        self.wants_data = "engine_data" in (((request.get("extra_args") or {}).get("nvext") or {}).get("extra_fields") or [])
        self.finish, self.stop_reason = row.get("finish_reason", "stop"), row.get("stop_reason")
        self.ids = self._cut(list(row["token_ids"]), conditions)
        made_up = [-0.01 * (1 + token % 50) for token in self.ids]
        self.logprobs = list(row.get("logprobs", made_up))[: len(self.ids)]

    def _cut(self, ids: list[int], conditions: dict) -> list[int]:
        stops = set(conditions.get("stop_token_ids") or [])
        if not conditions.get("ignore_eos"):
            stops |= set(conditions.get("stop_token_ids_hidden") or [])
        limit, least = conditions.get("max_tokens") or len(ids) + 1, conditions.get("min_tokens") or 0
        for i, token in enumerate(ids):
            if token in stops and i + 1 >= least:
                self.finish, self.stop_reason = self.row.get("finish_reason", "stop"), token
                return ids[: i + 1]
            if i + 1 >= limit:
                self.finish, self.stop_reason = "length", None
                return ids[: i + 1]
        return ids

    def message(self, begin: int, end: int) -> dict:
        message = {"index": 0, "token_ids": self.ids[begin:end]}
        if self.alternatives is not None and begin < end:
            tops = self.row.get("top") or [[pair] for pair in zip(self.ids, self.logprobs)]
            message["log_probs"] = self.logprobs[begin:end]
            message["top_logprobs"] = [
                [{"rank": rank + 1, "token_id": token, "token": None, "logprob": logprob}
                 for rank, (token, logprob) in enumerate(row[: max(1, self.alternatives)])]
                for row in tops[begin:end]]
        return message

    def ending(self) -> dict:
        """What the last message says beside its ids."""
        said = {"finish_reason": "error: " + self.row["error"] if "error" in self.row else self.finish,
                "completion_usage": {"prompt_tokens": len(self.prompt), "completion_tokens": len(self.ids),
                                     "total_tokens": len(self.prompt) + len(self.ids),
                                     "prompt_tokens_details": {"cached_tokens": self.row.get("cached_tokens", 0)}}}
        if self.stop_reason is not None:
            said["stop_reason"] = self.stop_reason
        # As Dynamo's vLLM worker does it: the prompt always, the rest when asked for.
        data = {"prompt_token_ids": self.prompt}
        if self.wants_data:
            data.update(completion_token_ids=self.ids, finished="error" not in self.row)
            if self.alternatives is not None and len(self.logprobs) == len(self.ids):
                data["completion_logprobs"] = self.logprobs
        if not self.row.get("no_engine_data"):
            said["engine_data"] = data | self.row.get("engine_data", {})
        return said


class Worker:
    def __init__(self, script: Script, record: Path):
        self.script = script
        self.record = open(record, "a", buffering=1)

    def note(self, kind: str, context, **what) -> None:
        self.record.write(json.dumps({"kind": kind, "id": context.id(), **what}) + "\n")

    async def generate(self, request: dict, context):
        self.note("request", context, request=request)
        row = self.script.pick(list(request["token_ids"]))
        if "http_error" in row:
            raise exceptions.HttpError(*row["http_error"])
        if "raise" in row:
            name, text = row["raise"]
            raise (getattr(exceptions, name, None) or getattr(builtins, name))(text)
        answer = Answer(row, request)
        sent, step = 0, max(1, row.get("chunk", 1))
        while True:
            if context.is_stopped() or context.is_killed():
                self.note("cancelled", context, sent=sent)
                return
            if sent >= row.get("die_after", sent + 1):
                os._exit(9)
            if sent >= row.get("hang_after", sent + 1):
                await context.async_killed_or_stopped()
                continue
            end = min(sent + step, len(answer.ids))
            message = answer.message(sent, end)
            sent = end
            last = sent == len(answer.ids)
            if last and not row.get("no_finish"):
                message.update(answer.ending())
            yield message
            if last:
                return
            await asyncio.sleep(row.get("delay_ms", 0) / 1000)


async def serve(options: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    runtime = DistributedRuntime(loop, os.environ["DYN_DISCOVERY_BACKEND"], "tcp")
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, runtime.shutdown)
    endpoint = runtime.endpoint("dynamo.backend.generate")
    config = ModelRuntimeConfig()
    config.context_length = options.context
    # The frontend serves POST /inference/v1/generate only for workers that say so, and only where it is switched on itself.
    config.set_engine_specific("vllm_inference_v1_generate", "true")
    # What the frontend reads text with, for clients that send messages.
    config.tool_call_parser, config.reasoning_parser = options.tool_parser, options.reasoning_parser
    config.total_kv_blocks, config.max_num_seqs, config.max_num_batched_tokens = 4096, 256, 8192
    worker = Worker(Script(options.script), options.record)
    serving = asyncio.ensure_future(endpoint.serve_endpoint(worker.generate, graceful_shutdown=True))
    await register_model(ModelInput.Tokens, ModelType.Chat | ModelType.Completions, endpoint, str(options.model), options.name,
                         worker_type=WorkerType.Aggregated, kv_cache_block_size=16, runtime_config=config, ignore_weights=True)
    await serving


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--model", "--script", "--record"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("--tool-parser")
    parser.add_argument("--reasoning-parser")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
