# SPDX-License-Identifier: Apache-2.0
"""The part of bench/peers/llm_cpu that needs packages (openvino-genai, onnxruntime-genai, ctranslate2): it runs in a
Python of its own, one peer a process.

  llm_peer.py versions
  llm_peer.py run ENGINE MODEL THREADS      MODEL: the GGUF file for openvino, else the folder that llm_models.py made

Prints one JSON object: tokens a second, seconds, MiB. Figures come from the wall time of whole calls, in the same way for
every peer: a prompt's is 512 tokens and one answer; a token's is the time of N + 1 answers less the time of one.
"""
import json
import re
import sys
import time
from pathlib import Path

PROMPT, GENERATED, TOGETHER = 512, 128, 32
BATCHES = (8, 32)
VOCABULARY = 40000  # ids below this are in SmolLM2's vocabulary and are ordinary tokens from 100 on


def tokens(count, sequence=0):
    return [100 + (sequence * 7919 + i * 31) % (VOCABULARY - 100) for i in range(count)]


class OpenVino:
    def __init__(self, model, threads):
        import numpy
        import openvino
        import openvino_genai
        self.genai, self.numpy, self.tensor = openvino_genai, numpy, openvino.Tensor
        self.pipeline = openvino_genai.LLMPipeline(model, "CPU", INFERENCE_NUM_THREADS=threads)

    def generate(self, prompts, count):
        config = self.genai.GenerationConfig()
        config.max_new_tokens, config.min_new_tokens, config.ignore_eos, config.do_sample = count, count, True, False
        ids = self.numpy.array(prompts, dtype=self.numpy.int64)
        result = self.pipeline.generate(
            self.genai.TokenizedInputs(self.tensor(ids), self.tensor(self.numpy.ones_like(ids))), config)
        return sum(len(one) for one in result.tokens)


class OnnxRuntime:
    def __init__(self, model, threads):
        import onnxruntime_genai
        self.genai = onnxruntime_genai
        config = onnxruntime_genai.Config(model)
        config.overlay(json.dumps({"model": {"decoder": {"session_options": {
            "intra_op_num_threads": threads, "inter_op_num_threads": 1}}}}))
        self.model = onnxruntime_genai.Model(config)

    def generate(self, prompts, count):
        import numpy
        params = self.genai.GeneratorParams(self.model)
        length = len(prompts[0]) + count
        params.set_search_options(max_length=length, min_length=length, batch_size=len(prompts), do_sample=False)
        generator = self.genai.Generator(self.model, params)
        generator.append_tokens(numpy.array(prompts, dtype=numpy.int32))
        made = 0
        while made < count:
            generator.generate_next_token()
            made += 1
        return made * len(prompts)


class CTranslate2:
    def __init__(self, model, threads):
        import ctranslate2
        self.generator = ctranslate2.Generator(model, device="cpu", compute_type="int8", inter_threads=1,
                                               intra_threads=threads)
        self.words = [""] * VOCABULARY
        for word, i in json.loads((Path(model).parent / "hf" / "tokenizer.json").read_text())["model"]["vocab"].items():
            if i < VOCABULARY:
                self.words[i] = word

    def generate(self, prompts, count):
        results = self.generator.generate_batch(
            [[self.words[i] for i in one] for one in prompts], max_batch_size=len(prompts), max_length=count,
            min_length=count, sampling_topk=1, beam_size=1, include_prompt_in_result=False, end_token=[])
        return sum(len(one.sequences_ids[0]) for one in results)


ENGINES = {"openvino-genai": OpenVino, "onnxruntime-genai": OnnxRuntime, "ctranslate2": CTranslate2}
PACKAGES = {"openvino-genai": "openvino_genai", "onnxruntime-genai": "onnxruntime_genai", "ctranslate2": "ctranslate2"}


def versions():
    import importlib.metadata
    return {name: importlib.metadata.version(name) for name in PACKAGES}


def peak_mib():
    return int(re.search(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.M).group(1)) / 1024


def timed(engine, prompts, count):
    start = time.perf_counter()
    made = engine.generate(prompts, count)
    seconds = time.perf_counter() - start
    if made != count * len(prompts):
        raise SystemExit(f"{type(engine).__name__} made {made} tokens where {count * len(prompts)} were asked for")
    return seconds


def run(name, model, threads):
    start = time.perf_counter()
    engine = ENGINES[name](model, int(threads))
    first = timed(engine, [tokens(16)], 1)
    said = {"first_token_s": time.perf_counter() - start, "first_answer_s": first}
    timed(engine, [tokens(16)], 4)
    said["pp512"] = PROMPT / timed(engine, [tokens(PROMPT)], 1)
    said["tg128"] = GENERATED / (timed(engine, [tokens(1)], GENERATED + 1) - timed(engine, [tokens(1)], 1))
    said["peak_mib"] = peak_mib()
    for batch in BATCHES:
        prompts = [tokens(1, sequence) for sequence in range(batch)]
        seconds = timed(engine, prompts, TOGETHER + 1) - timed(engine, prompts, 1)
        said[f"tg{TOGETHER} x{batch}"] = batch * TOGETHER / seconds
    return said


if __name__ == "__main__":
    if sys.argv[1] == "versions":
        print(json.dumps(versions()))
    else:
        print(json.dumps(run(*sys.argv[2:])))
