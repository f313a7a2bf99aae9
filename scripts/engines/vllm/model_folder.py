"""The folder of a tiny Qwen3: a real tokenizer and chat template, and a network of two layers with random weights.

vLLM's own dummy weights are so small that every logprob is that of a fair draw; these make each id's logprob its own.
"""
from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path

CONTEXT = 4096
VOCABULARY = 151936
WIDTH, HEADS, HEAD, INNER, LAYERS = 64, 2, 32, 128, 2
# Ids from here on are added tokens and padding rows; what ends an answer; the second token that does.
FIRST_ADDED, CLOSE, PAD = 151643, 151645, 151643
# Stands for any text token in a list of forced ids.
FREE = -1


# A bfloat16 is a sign, 8 bits of exponent and 7 of mantissa, little-endian: random bytes become numbers of either sign
# between 1/8 and 1/4 when the exponent's bits are set.
EXPONENT = 127 - 3
HIGH = bytes(byte & 0x80 | EXPONENT >> 1 for byte in range(256))
LOW = bytes((EXPONENT & 1) << 7 | byte & 0x7F for byte in range(256))
ONE = b"\x80\x3f"


def write(folder: Path, tokenizer: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copyfile(tokenizer / name, folder / name)
    _write(folder / "config.json", {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": WIDTH, "intermediate_size": INNER,
        "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": 1, "head_dim": HEAD, "vocab_size": VOCABULARY,
        "max_position_embeddings": CONTEXT, "rms_norm_eps": 1e-6, "rope_theta": 1e6, "hidden_act": "silu", "tie_word_embeddings": False,
        "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": PAD, "eos_token_id": CLOSE, "torch_dtype": "bfloat16",
        "use_cache": True})
    _write(folder / "generation_config.json", {"eos_token_id": [CLOSE, PAD]})
    _write_weights(folder / "model.safetensors")


def _shapes() -> dict[str, list[int]]:
    """Names and shapes as Qwen3ForCausalLM reads them."""
    shapes = {"model.embed_tokens.weight": [VOCABULARY, WIDTH], "lm_head.weight": [VOCABULARY, WIDTH], "model.norm.weight": [WIDTH]}
    layer = {
        "self_attn.q_proj": [HEADS * HEAD, WIDTH], "self_attn.k_proj": [HEAD, WIDTH], "self_attn.v_proj": [HEAD, WIDTH],
        "self_attn.o_proj": [WIDTH, HEADS * HEAD], "self_attn.q_norm": [HEAD], "self_attn.k_norm": [HEAD], "mlp.gate_proj": [INNER, WIDTH],
        "mlp.up_proj": [INNER, WIDTH], "mlp.down_proj": [WIDTH, INNER], "input_layernorm": [WIDTH], "post_attention_layernorm": [WIDTH]}
    return shapes | {f"model.layers.{i}.{name}.weight": shape for i in range(LAYERS) for name, shape in layer.items()}


def _write_weights(path: Path) -> None:
    """safetensors: eight bytes with the size of a JSON header, the header, the numbers one tensor after the other."""
    chance, header, tensors, at = random.Random(0), {}, [], 0
    for name, shape in _shapes().items():
        count = math.prod(shape)
        tensors.append(ONE * count if name.endswith("norm.weight") else _numbers(chance, count))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + 2 * count]}
        at += 2 * count
    head = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    head += b" " * (-len(head) % 8)
    path.write_bytes(b"".join([len(head).to_bytes(8, "little"), head, *tensors]))


def _numbers(chance: random.Random, count: int) -> bytes:
    numbers = bytearray(2 * count)
    numbers[0::2] = chance.randbytes(count).translate(LOW)
    numbers[1::2] = chance.randbytes(count).translate(HIGH)
    return bytes(numbers)


def _write(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n")
