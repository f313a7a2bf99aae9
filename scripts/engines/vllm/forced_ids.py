"""A logits processor for vLLM: what a request samples is what the request says. Loaded by `vllm serve --logits-processors forced_ids:ForcedIds`.

A request brings `forced_ids` among its extra arguments (`sampling_params.extra_args` of /inference/v1/generate, `vllm_xargs` of /v1/completions):
the ids to sample, one after the other, where FREE stands for any text token, drawn by the model. Behind the end of the list the model ends
its answer. Logprobs stay the model's own: vLLM takes them before any processor.
"""
from __future__ import annotations

import torch
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

from model_folder import CLOSE, FIRST_ADDED, FREE


class ForcedIds(AdapterLogitsProcessor):
    def is_argmax_invariant(self) -> bool:
        return False

    @classmethod
    def validate_params(cls, sampling_params) -> None:
        wanted = (sampling_params.extra_args or {}).get("forced_ids")
        if wanted is not None and not (isinstance(wanted, list) and all(type(each) is int and each >= FREE for each in wanted)):
            raise ValueError("forced_ids: expected a list of token ids")

    def new_req_logits_processor(self, params):
        wanted = (params.extra_args or {}).get("forced_ids")
        if wanted is None:
            return None

        def force(sampled: list[int], logits: torch.Tensor) -> torch.Tensor:
            step = len(sampled)
            forced = wanted[step] if step < len(wanted) else CLOSE
            if forced == FREE:
                logits[FIRST_ADDED:] = float("-inf")
            else:
                logits[:] = float("-inf")
                logits[forced] = 0.0
            return logits

        return force
