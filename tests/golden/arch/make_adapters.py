# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/models/NAME.adapters/: LoRA adapters of the tiny models, and what PEFT computes with each.

    python -m venv v && v/bin/pip install torch==2.15 transformers==5.24 peft==0.21.2 gguf numpy
    v/bin/python tests/golden/arch/make_adapters.py [NAME...]           (after make_files.py)

Each model gets
    NAME.adapters/ADAPTER/adapter_config.json, adapter_model.safetensors     as PEFT saves them
    NAME.adapters/expected.json     the model's prompt, and for each adapter (and for "", none) the logits of the prompt's
                                    last token and the 24 tokens it is continued with greedily, in f32

The adapters' weights are those of tiny_models.weights, rounded to the type they are stored in. They differ in everything
that a configuration can say: modules, ranks, lora_alpha, rslora, patterns of both, element types.
"""

import json
import pathlib
import shutil
import sys

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file

import make_files
import make_goldens
import tiny_models

ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
MLP = ["gate_proj", "up_proj", "down_proj"]

ADAPTERS = {
    "plain": (dict(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"]), torch.float32),
    "all": (dict(r=4, lora_alpha=6, target_modules=ATTENTION + MLP + ["lm_head"], use_rslora=True,
                 rank_pattern={"q_proj": 3, r"layers\.1\.mlp\.up_proj": 9}, alpha_pattern={r"^model.layers.0.*.k_proj": 5.5}),
            torch.bfloat16),
    "mlp": (dict(r=2, lora_alpha=4, target_modules=["gate_proj", "down_proj"], layers_to_transform=[1],
                 fan_in_fan_out=True), torch.float16),
}


def make_adapter(folder, name, model, options, dtype):
    """As a training would leave it; the base model is unchanged afterwards."""
    config = LoraConfig(**options, task_type="CAUSAL_LM")
    config.base_model_name_or_path = folder.parent.name.removesuffix(".adapters")
    adapted = get_peft_model(model, config)
    for full_name, tensor in adapted.named_parameters():
        if "lora_" not in full_name:
            continue
        scale = 1.0 if "lora_A" in full_name else 0.5
        values = tiny_models.weights(name + full_name, tuple(tensor.shape), scale, 0.0)
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(values).to(dtype).float())
    adapted.save_pretrained(folder)
    adapted.unload()
    (folder / "README.md").unlink()
    file = folder / "adapter_model.safetensors"
    save_file({k: v.to(dtype) for k, v in load_file(file).items()}, file, metadata={"format": "pt"})


def expected(model, prompt):
    logits = make_goldens.logits_of(model, prompt)[-1]
    tokens, gap = make_files.greedy(model, prompt)
    return {"greedy_tokens": tokens, "smallest_gap_of_top_two": round(gap, 4),
            "logits": [float(f"{v:.7g}") for v in logits]}


def main():
    torch.set_num_threads(1)
    for golden_name, case in tiny_models.CASES.items():
        name = "tiny-" + golden_name.removeprefix("file_")
        if not golden_name.startswith("file_") or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        out = make_files.OUT / f"{name}.adapters"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        prompt = json.loads((make_files.OUT / f"{name}.expected.json").read_text())["prompt_tokens"]
        model, _, _ = make_goldens.make_model(case)
        results = {"": expected(model, prompt)}
        for adapter, (options, dtype) in ADAPTERS.items():
            base, _, _ = make_goldens.make_model(case)
            make_adapter(out / adapter, adapter, base, options, dtype)
            base, _, _ = make_goldens.make_model(case)
            adapted = PeftModel.from_pretrained(base, out / adapter, autocast_adapter_dtype=True).eval()
            results[adapter] = expected(adapted, prompt)
            print(name, adapter, results[adapter]["greedy_tokens"], results[adapter]["smallest_gap_of_top_two"])
        (out / "expected.json").write_text(json.dumps({"prompt_tokens": prompt, "adapters": results}) + "\n")


if __name__ == "__main__":
    main()
