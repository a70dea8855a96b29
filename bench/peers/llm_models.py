# SPDX-License-Identifier: Apache-2.0
"""Makes of one GGUF file what the Python peers of bench/peers/llm_cpu load; it runs in their Python.

  llm_models.py FILE.gguf DIR

DIR/hf            the weights as f32 beside their tokenizer, as transformers reads them
DIR/ctranslate2   int8, by ct2-transformers-converter
DIR/genai         int4 in blocks of 32, by onnxruntime_genai's builder
openvino-genai reads the GGUF file itself.
"""
import subprocess
import sys
from pathlib import Path


def main(gguf, folder):
    import torch
    import transformers
    gguf, folder = Path(gguf).resolve(), Path(folder).resolve()
    hf = folder / "hf"
    if not (hf / "config.json").exists():
        options = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
        model = transformers.AutoModelForCausalLM.from_pretrained(**options, dtype=torch.float32)
        model.hf_quantizer = None  # the weights are plain f32 by now, which it does not believe
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(hf)
        transformers.AutoTokenizer.from_pretrained(**options).save_pretrained(hf)
    if not (folder / "ctranslate2").exists():
        from ctranslate2.converters import TransformersConverter
        TransformersConverter(str(hf), load_as_float16=False).convert(str(folder / "ctranslate2"), quantization="int8")
    if not (folder / "genai" / "genai_config.json").exists():
        subprocess.run([sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", hf, "-o", folder / "genai", "-p",
                        "int4", "-e", "cpu", "-c", folder / "cache", "--extra_options", "int4_block_size=32"], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
