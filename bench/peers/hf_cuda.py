#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face transformers on the GPU, compiled, with CUDA graphs: what Nereid's figures stand beside.

  bench/peers/hf_cuda.py CONFIG.json [--context 512] [--batch 1 32 128] [--steps 32]

Random weights of the configuration in f16; each step decodes one token of every sequence with a static cache. Prints one
JSON line a batch: milliseconds a step, median and best, after warming up. Needs torch with CUDA and transformers."""
import argparse
import json
import statistics
import time

import torch
from transformers import AutoConfig, AutoModelForCausalLM, StaticCache


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--batch", type=int, nargs="+", default=[1])
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    args = parser.parse_args()
    config = AutoConfig.from_pretrained(args.config)
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float16)
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").half().eval()
    torch.set_default_dtype(torch.float32)
    for batch in args.batch:
        cache = StaticCache(config=config, max_cache_len=args.context + args.steps + 16)
        with torch.no_grad():
            prompt = torch.randint(0, config.vocab_size, (batch, args.context), device="cuda")
            positions = torch.arange(args.context, device="cuda")
            model(prompt, past_key_values=cache, cache_position=positions, logits_to_keep=1)

            def step(token, position):
                out = model(token, past_key_values=cache, cache_position=position, logits_to_keep=1)
                return out.logits[:, -1].argmax(-1, keepdim=True)

            run = step if args.eager else torch.compile(step, mode="reduce-overhead", fullgraph=True)
            token = prompt[:, -1:].clone()
            position = torch.tensor([args.context], device="cuda")
            for _ in range(4):
                token = run(token, position).clone()
            times = []
            for _ in range(args.steps):
                torch.cuda.synchronize()
                start = time.perf_counter()
                token = run(token, position).clone()
                torch.cuda.synchronize()
                times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps({"batch": batch, "context": args.context, "compiled": not args.eager,
                          "ms_median": round(statistics.median(times), 3), "ms_best": round(min(times), 3),
                          "torch": torch.__version__, "gpu": torch.cuda.get_device_name(0)}), flush=True)


if __name__ == "__main__":
    main()
