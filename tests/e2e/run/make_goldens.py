#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes goldens/smollm2.json: what llama.cpp answers to prompts.json, token by token, greedily.

  make_goldens.py --bin FOLDER_OF_LLAMA_CPP --model SmolLM2-135M-Instruct.Q4_1.gguf --text shakespeare.txt

The programs are those of the llama.cpp sources inside the source package of llama-cpp-python 0.3.36 (vendor/llama.cpp),
built for the CPU with their own CMake files. For each token the golden holds its id and how far the second best logit
lies below the best (their log-probabilities differ by as much): where another correct program parts from it, that gap
says whether it was a close call. The perplexity is that of the text's first 100 000 bytes, in windows of 512.

Two sets of answers. "exact": the same weights decoded to f32 (llama-quantize), so that activations are not rounded, with
an f32 cache and without flash attention: what `nereid run --exact` must repeat. "fast": the file as it is, where both
programs round activations to int8 (docs/decisions/0005-what-equal-answers-mean.md says what that does to answers).
"""
import argparse
import json
import re
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ANSWER_TOKENS = 64
TEXT_BYTES = 100_000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def post(port, path, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def wait_until_ready(server, port):
    while server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
    raise SystemExit("make_goldens: the server ended before it was ready.")


def answer(port, prompt):
    body = {"prompt": prompt, "n_predict": ANSWER_TOKENS, "temperature": 0, "samplers": ["temperature"], "n_probs": 2,
            "cache_prompt": False, "return_tokens": True}
    result = post(port, "/completion", body)
    ids, gaps = [], []
    for step in result["completion_probabilities"]:
        best, second = step["top_logprobs"][:2]
        ids.append(step["id"])
        gaps.append(round(best["logprob"] - second["logprob"], 5))
        if best["id"] != step["id"]:
            raise SystemExit(f"make_goldens: the token drawn for {prompt!r} is not the likeliest.")
    prompt_ids = post(port, "/tokenize", {"content": prompt, "add_special": True, "parse_special": True})["tokens"]
    # An end token, if it was drawn, is the last step; Nereid leaves it out of `tokens`.
    reason = "stop" if result["stop_type"] == "eos" else "length"
    if reason == "stop":
        ids = ids[:-1]
    return {"prompt": prompt, "prompt_ids": prompt_ids, "finish_reason": reason, "tokens": ids, "gaps": gaps,
            "text": result["content"]}


def answers_of(server_program, model, *options):
    port = free_port()
    command = [server_program, *options, "-m", model, "--port", str(port), "--host", "127.0.0.1", "-c", "2048", "-t", "1",
               "-np", "1", "--no-webui"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_until_ready(server, port)
            return [answer(port, prompt) for prompt in json.loads((HERE / "prompts.json").read_text())]
        finally:
            server.terminate()


def perplexity_of(program, model, text):
    with tempfile.NamedTemporaryFile(suffix=".txt") as part:
        part.write(Path(text).read_bytes()[:TEXT_BYTES])
        part.flush()
        run = subprocess.run([program, "-m", model, "-f", part.name, "-c", "512", "-b", "512", "-t", "1"],
                             capture_output=True, text=True, check=True)
    found = re.search(r"Final estimate: PPL = ([0-9.]+)", run.stdout + run.stderr)
    return float(found.group(1))


def exact_answers_of(folder, model):
    with tempfile.TemporaryDirectory() as scratch:
        decoded = f"{scratch}/f32.gguf"
        subprocess.run([folder / "llama-quantize", "--allow-requantize", model, decoded, "F32"], check=True,
                       capture_output=True)
        return answers_of(folder / "llama-server", decoded, "-fa", "off", "-ctk", "f32", "-ctv", "f32")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--text", required=True)
    args = parser.parse_args()
    write({"model": Path(args.model).name, "made_by": "llama.cpp of llama-cpp-python 0.3.36",
           "perplexity": {"text": Path(args.text).name, "bytes": TEXT_BYTES,
                          "value": perplexity_of(args.bin / "llama-perplexity", args.model, args.text)},
           "exact": exact_answers_of(args.bin, args.model),
           "fast": answers_of(args.bin / "llama-server", args.model)})


def write(golden):
    """One line an answer."""
    out = HERE / "goldens" / "smollm2.json"
    out.parent.mkdir(exist_ok=True)
    sets = [f'  "{name}": [\n' + ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in golden.pop(name)) + "\n  ]"
            for name in ("exact", "fast")]
    out.write_text(json.dumps(golden, indent=2)[:-2] + ",\n" + ",\n".join(sets) + "\n}\n")
    print(f"make_goldens: wrote {out.name}")


if __name__ == "__main__":
    main()
