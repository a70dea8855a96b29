# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/arch/*.json: logits of tiny decoders (tiny_models.py) as transformers computes them in f32.

    python -m venv v && v/bin/pip install torch==2.15 transformers==5.24 gguf numpy
    v/bin/python tests/golden/arch/make_goldens.py [--converter llama.cpp] [NAME...]

--converter is a llama.cpp source tree (the one in the llama-cpp-python 0.3.36 source package): its own converter turns each
checkpoint into a GGUF file, and what it did is written down: metadata, names, and how each tensor came from which
Hugging Face tensor (copied, rows of heads permuted, one added), found by comparing the bytes. Without it the gguf part
of the existing file is kept. Each file holds the configuration as a hub would (and as transformers saves it), the names
and shapes of the model's own state_dict, the prompt and one row of logits a token.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np
import torch
import transformers

import tiny_models

HERE = pathlib.Path(__file__).resolve().parent


def make_model(case):
    raw = {k: v for k, v in case["config"].items() if k not in ("architectures", "model_type")}
    auto = transformers.AutoConfig.for_model(case["config"]["model_type"], **json.loads(json.dumps(raw)))
    auto._attn_implementation = "eager"
    cls = getattr(transformers, case["config"]["architectures"][0])
    model = cls(auto).eval().float()
    norm_offset = 0.0 if case["config"]["model_type"].startswith("gemma3") else 1.0
    tensors = {}
    state = model.state_dict()
    for name, tensor in state.items():
        if name == "lm_head.weight" and auto.tie_word_embeddings:
            continue
        scale, offset = tiny_models.kind_of(name, tuple(tensor.shape), norm_offset)
        values = torch.from_numpy(tiny_models.weights(name, tuple(tensor.shape), scale, offset))
        if case.get("bf16"):
            values = values.to(torch.bfloat16).float()
        with torch.no_grad():
            tensor.copy_(values)
        tensors[name] = {"shape": list(tensor.shape), "scale": scale, "offset": offset}
    model.tie_weights()
    embedding = model.model.embed_tokens
    if case.get("bf16") and hasattr(embedding, "embed_scale"):
        embedding.embed_scale = embedding.embed_scale.to(torch.bfloat16).float()
    return model, auto, tensors


def logits_of(model, tokens):
    with torch.no_grad():
        return model(torch.tensor([tokens]), use_cache=False).logits[0].numpy()


def permuted(values, heads):
    rows = values.shape[0]
    return values.reshape(heads, 2, rows // heads // 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


def explain(values, model_tensors, config):
    """Which Hugging Face tensor a GGUF tensor came from, and how."""
    for name, tensor in model_tensors.items():
        if tensor.shape != values.shape:
            continue
        if np.array_equal(tensor, values):
            return {"from": name, "how": "copy"}
        if np.array_equal(tensor + np.float32(1), values):
            return {"from": name, "how": "add_one"}
        for heads in (config["num_attention_heads"], config["num_key_value_heads"]):
            if tensor.shape[0] % (2 * heads) == 0 and np.array_equal(permuted(tensor, heads), values):
                return {"from": name, "how": "permute", "heads": heads}
    return {"values": [float(v) for v in values.reshape(-1)]} if values.size < 256 else None


def convert(case, model, converter):
    sys.path.insert(0, str(converter))
    sys.path.insert(0, str(converter / "gguf-py"))
    import gguf
    from conversion import get_model_class

    cls = get_model_class(case["config"]["architectures"][0])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model.save_pretrained(folder)
        (folder / "config.json").write_text(json.dumps(case["config"]))
        vocab = {f"t{i}": i for i in range(case["config"]["vocab_size"])}
        (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocab}, "added_tokens": []}))
        quiet = type("Quiet", (cls,), {"set_vocab": lambda self: None, "model_arch": cls.model_arch})
        out = folder / "model.gguf"
        quiet(folder, gguf.LlamaFileType.ALL_F32, out).write()
        reader = gguf.GGUFReader(out)
        wanted = {k: v.numpy() for k, v in model.state_dict().items()}
        metadata = {
            key: field.contents()
            for key, field in reader.fields.items()
            if not key.startswith(("GGUF.", "general.")) or key == "general.architecture"
        }
        tensors = {}
        for t in reader.tensors:
            values = np.array(t.data, dtype=np.float32).reshape([int(n) for n in reversed(t.shape)])
            tensors[t.name] = explain(values, wanted, case["config"])
            if tensors[t.name] is None:
                raise SystemExit(f"{t.name}: made from no tensor of the checkpoint in a way known here")
    if case.get("gguf") == "window":
        metadata[metadata["general.architecture"] + ".attention.sliding_window"] = case["config"]["sliding_window"]
    return {"metadata": metadata, "tensors": tensors}


def wrapped(case, tensors):
    """As the first multimodal Gemma 3 checkpoints on hubs are laid out."""
    text = {k: v for k, v in case["config"].items() if k not in ("architectures", "tie_word_embeddings")}
    config = {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": text}
    return config, {("language_model." + name): {**t, "from": name} for name, t in tensors.items()}


def short(values):
    return [[float(f"{v:.7g}") for v in row] for row in values]


def plain(value):
    return json.loads(json.dumps(value, default=str))


def make(name, case, converter):
    model, auto, tensors = make_model(case)
    tokens = tiny_models.prompt(case["config"]["vocab_size"], case.get("tokens", tiny_models.TOKENS))
    saved = {k: v for k, v in plain(auto.to_dict()).items() if not k.startswith("_")}
    saved["architectures"] = case["config"]["architectures"]
    golden = {
        "name": name,
        "made_with": f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}, eager, f32",
        "config": case["config"],
        "saved_config": saved,
        "dtype": "bf16" if case.get("bf16") else "f32",
        "max_context": case.get("max_context", 0),
        "tokens": tokens,
        "tensors": tensors,
    }
    if case.get("wrapped"):
        golden["config"], golden["tensors"] = wrapped(case, tensors)
        del golden["saved_config"]
    path = HERE / f"{name}.json"
    if case.get("gguf", True):
        if converter:
            golden["gguf"] = convert(case, model, converter)
        elif path.exists():
            golden["gguf"] = json.loads(path.read_text()).get("gguf")
    logits = logits_of(model, tokens)
    golden["logits"] = short(logits)
    text = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items())
    path.write_text("{\n" + text + "\n}\n")
    print(f"{name}: |logits| {np.abs(logits).max():.2f}, top {logits[-1].argmax()}, {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--converter", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for name in args.names or tiny_models.CASES:
        make(name, tiny_models.CASES[name], args.converter)


if __name__ == "__main__":
    main()
