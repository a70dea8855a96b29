# SPDX-License-Identifier: Apache-2.0
"""LoRA adapters of no sense for SmolLM2-135M, as PEFT would save them: seeded numbers, so that everybody makes the same.

    python3 tests/e2e/openai/make_adapters.py FOLDER            writes FOLDER/NAME/adapter_config.json, adapter_model.safetensors

They differ in modules, rank and element type, and are strong enough to change most answers.
"""
import json
import math
import struct
import sys
from pathlib import Path

LAYERS, HIDDEN, QUERY, KEY, FFN = 30, 576, 576, 192, 1536
SHAPES = {"self_attn.q_proj": (HIDDEN, QUERY), "self_attn.k_proj": (HIDDEN, KEY), "self_attn.v_proj": (HIDDEN, KEY),
          "self_attn.o_proj": (QUERY, HIDDEN), "mlp.gate_proj": (HIDDEN, FFN), "mlp.up_proj": (HIDDEN, FFN),
          "mlp.down_proj": (FFN, HIDDEN)}  # (in, out)

# name: modules, rank, lora_alpha, use_rslora, element type
ADAPTERS = {
    "small": (["q_proj", "v_proj"], 8, 16, False, "F32"),
    "whole": (["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"], 16, 16, False, "BF16"),
    "mlp": (["gate_proj", "down_proj"], 4, 8, True, "F16"),
}


def numbers(seed, count, scale):
    """Uniform in [-scale, scale), by a 64-bit linear congruential generator: slow, and the same everywhere."""
    try:
        import numpy as np
    except ImportError:
        state, out = seed, []
        for _ in range(count):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            out.append(((state >> 40) / 2**23 - 1) * scale)
        return out
    # The same in one go: x_n = a^n x_0 + c (a^n - 1) / (a - 1), by cumulative products modulo 2^64.
    with np.errstate(over="ignore"):
        a = np.cumprod(np.full(count, 6364136223846793005, np.uint64))
        sums = np.cumsum(np.concatenate([[np.uint64(1)], a[:-1]]))
        state = a * np.uint64(seed) + sums * np.uint64(1442695040888963407)
    return ((state >> np.uint64(40)).astype(np.float64) / 2**23 - 1) * scale


def encode(values, dtype):
    if dtype == "F32":
        return struct.pack(f"<{len(values)}f", *values)
    if dtype == "F16":
        return struct.pack(f"<{len(values)}e", *values)
    bits = struct.unpack(f"<{len(values)}I", struct.pack(f"<{len(values)}f", *values))
    return struct.pack(f"<{len(values)}H", *(b >> 16 for b in bits))  # towards zero: any number will do


def write(folder, name):
    modules, rank, alpha, rslora, dtype = ADAPTERS[name]
    folder = Path(folder) / name
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({
        "peft_type": "LORA", "task_type": "CAUSAL_LM", "r": rank, "lora_alpha": alpha, "use_rslora": rslora,
        "target_modules": modules, "bias": "none", "lora_dropout": 0.0, "fan_in_fan_out": False}))
    header, data, at, seed = {}, [], 0, 1 + sorted(ADAPTERS).index(name)
    for layer in range(LAYERS):
        for module, (width, height) in SHAPES.items():
            if module.split(".")[1] not in modules:
                continue
            for part, shape, scale in (("A", [rank, width], math.sqrt(3 / width)), ("B", [height, rank], 0.15)):
                seed = (seed * 2862933555777941757 + 3037000493) % 2**64
                raw = encode(numbers(seed, shape[0] * shape[1], scale), dtype)
                header[f"base_model.model.model.layers.{layer}.{module}.lora_{part}.weight"] = {
                    "dtype": dtype, "shape": shape, "data_offsets": [at, at + len(raw)]}
                data.append(raw)
                at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))
    return folder


def main():
    for name in ADAPTERS:
        print(write(sys.argv[1], name))


if __name__ == "__main__":
    main()
