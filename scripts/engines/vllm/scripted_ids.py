"""A logits processor for vLLM that answers from a script: what is sampled depends on the prompt's ids. Loaded by
`vllm serve --logits-processors scripted_ids:ScriptedIds`, with the script's file in SCRIPTED_IDS.

The script is a JSON list. The first row that applies to a prompt (script_rows.py) makes the answer, its `token_ids`; behind their end the model ends.
Where none applies the model samples for itself. Logprobs stay the model's own: vLLM takes them before any processor.
"""
from __future__ import annotations

import json
import os
from pathlib import Path

import torch
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

from model_folder import CLOSE
from script_rows import applies

VARIABLE = "SCRIPTED_IDS"


class ScriptedIds(AdapterLogitsProcessor):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.rows = json.loads(Path(os.environ[VARIABLE]).read_text())

    def is_argmax_invariant(self) -> bool:
        return False

    def new_req_logits_processor(self, params):
        rows, chosen = self.rows, []

        # vLLM hands the prompt over where a processor takes three arguments.
        def force(prompt: list[int], sampled: list[int], logits: torch.Tensor) -> torch.Tensor:
            if not chosen:
                chosen.append(next((row["token_ids"] for row in rows if applies(row, list(prompt))), None))
            if chosen[0] is None:
                return logits
            step = len(sampled)
            logits[:] = float("-inf")
            logits[chosen[0][step] if step < len(chosen[0]) else CLOSE] = 0.0
            return logits

        return force
