"""The folder of a model without weights, which Dynamo's frontend loads: a tokenizer, a chat template and what they imply."""
from __future__ import annotations

import json
import shutil
from pathlib import Path


CHATML = ("<|im_end|>", "<|endoftext|>")


def write(folder: Path, tokenizer: Path, template: Path, context: int, ends: tuple[str, ...] = CHATML) -> None:
    """`tokenizer` is a tokenizer.json of Hugging Face's format whose vocabulary holds `ends`: the tokens that end an answer, padding last."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
    described = json.loads(tokenizer.read_text())
    added = {token["content"]: token["id"] for token in described["added_tokens"]}
    end, pad = ends[0], ends[-1]
    # The shape of the network is never used, but has to be there.
    _write(folder / "config.json", {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 64, "intermediate_size": 128,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
        "max_position_embeddings": context, "vocab_size": len(described["model"]["vocab"]) + len(added),
        "bos_token_id": added[pad], "eos_token_id": added[end]})
    _write(folder / "generation_config.json", {"eos_token_id": [added[token] for token in ends]})
    _write(folder / "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": None, "eos_token": end, "pad_token": pad,
        "model_max_length": context, "chat_template": template.read_text()})


def _write(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n")
