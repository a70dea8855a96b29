# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/models/: the file_* models of tiny_models.py as Hugging Face directories and as GGUF files.

    v/bin/python tests/golden/arch/make_files.py          (after make_goldens.py, in the same environment)

Each model gets
    NAME/config.json, model.safetensors (bf16), tokenizer.json, tokenizer_config.json, generation_config.json
    NAME.gguf                                  f16 matrices, f32 vectors, laid out as make_goldens.py saw llama.cpp do it
    NAME.expected.json                         a prompt and what transformers continues it with, greedily

The tokenizer is byte-level BPE: the 256 bytes, four merges and four special tokens. The prompt is the one, of a few
dozen, whose 24 greedy steps have the widest gap between the two best logits, so that rounding does not decide.
"""

import json
import pathlib
import struct

import gguf
import numpy as np
import torch

import make_goldens
import tiny_models

OUT = pathlib.Path(__file__).resolve().parents[2] / "data" / "models"
STEPS = 24
MERGES = ["h e", "t he", "i n", "o u"]
SPECIAL = ["<|begin|>", "<|end|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\\n{{ message['content'] }}<|im_end|>\\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}"
)
WORDS = "the inn, our hero; then thin hours. soup without heat? 12 Ünïcode in the house of the other inner tune".split()


def byte_stand_ins():
    """The printable characters that byte-level BPE writes bytes as: Latin-1's own where visible, else from U+0100 on."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in visible]
    return {b: chr(b) for b in visible} | {b: chr(0x100 + i) for i, b in enumerate(others)}


def vocabulary():
    stand_ins = byte_stand_ins()
    return [stand_ins[b] for b in range(256)] + [m.replace(" ", "") for m in MERGES] + SPECIAL


def write_tokenizer(folder):
    added = [
        {"id": 260 + i, "content": s, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}
        for i, s in enumerate(SPECIAL)
    ]
    tokens = vocabulary()
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {t: i for i, t in enumerate(tokens[:260])}, "merges": [m.split(" ") for m in MERGES]},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False))
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": SPECIAL[0], "eos_token": SPECIAL[1],
        "add_bos_token": False, "chat_template": TEMPLATE, "clean_up_tokenization_spaces": False}, indent=1))


def write_safetensors(path, tensors):
    header, data, at = {}, [], 0
    for name, values in tensors.items():
        raw = values.to(torch.bfloat16).contiguous().view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(values.shape), "data_offsets": [at, at + len(raw)]}
        data.append(raw)
        at += len(raw)
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def write_directory(name, case, model, tensors):
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    config = case["config"] | {"torch_dtype": "bfloat16", "bos_token_id": 260, "eos_token_id": 261}
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": 260, "eos_token_id": [261, 263]}))
    state = model.state_dict()
    write_safetensors(folder / "model.safetensors", {n: state[n] for n in tensors})
    write_tokenizer(folder)


def write_gguf(name, golden, model):
    recipe = golden["gguf"]
    writer = gguf.GGUFWriter(OUT / f"{name}.gguf", recipe["metadata"]["general.architecture"])
    writer.add_name(f"Nereid test model {name}")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    for key, value in recipe["metadata"].items():
        if key == "general.architecture":
            continue
        if isinstance(value, str):
            writer.add_string(key, value)
        elif isinstance(value, float):
            writer.add_float32(key, value)
        else:
            writer.add_uint32(key, value)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(vocabulary())
    writer.add_token_types([gguf.TokenType.NORMAL] * 260 + [gguf.TokenType.CONTROL] * len(SPECIAL))
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(260)
    writer.add_eos_token_id(261)
    writer.add_eot_token_id(263)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    state = model.state_dict()
    for tensor, how in recipe["tensors"].items():
        values = state[how["from"]].numpy()
        if how["how"] == "permute":
            values = make_goldens.permuted(values, how["heads"])
        if how["how"] == "add_one":
            values = values + np.float32(1)
        writer.add_tensor(tensor, values if values.ndim == 1 else values.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def encode(text):
    """Ids of a text; the directories' tokenizers are all the same."""
    import tokenizers

    folder = next(p for p in OUT.iterdir() if (p / "tokenizer.json").exists())
    return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text, add_special_tokens=False).ids


def greedy(model, prompt):
    tokens, gap = list(prompt), float("inf")
    for _ in range(STEPS):
        logits = make_goldens.logits_of(model, tokens)[-1]
        best = np.sort(logits)[-2:]
        gap = min(gap, float(best[1] - best[0]))
        tokens.append(int(logits.argmax()))
    return tokens[len(prompt):], gap


def write_expected(name, model):
    found = []
    for i in range(40):
        text = " ".join(WORDS[(i * 3 + j * (1 + i % 5)) % len(WORDS)] for j in range(5))
        prompt = encode(text)
        steps, gap = greedy(model, prompt)
        if not set(steps) & {261, 263} and len(set(steps)) >= 8:
            found.append((gap, text, prompt, steps))
    gap, text, prompt, steps = max(found)
    (OUT / f"{name}.expected.json").write_text(json.dumps(
        {"prompt": text, "prompt_tokens": prompt, "greedy_tokens": steps, "smallest_gap_of_top_two": round(gap, 4)},
        ensure_ascii=False) + "\n")
    print(f"{name}: {len(found)} prompts, best gap {gap:.4f}, {text!r} -> {steps}")


def main():
    torch.set_num_threads(1)
    for golden_name, case in tiny_models.CASES.items():
        if not golden_name.startswith("file_"):
            continue
        name = "tiny-" + golden_name.removeprefix("file_")
        golden = json.loads((make_goldens.HERE / f"{golden_name}.json").read_text())
        model, _, tensors = make_goldens.make_model(case)
        write_directory(name, case, model, tensors)
        write_gguf(name, golden, model)
        write_expected(name, model)


if __name__ == "__main__":
    main()
