#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes goldens/smollm2.json: what llama.cpp answers to prompts.json, token by token, greedily.

  make_goldens.py --server PATH/llama-server --perplexity PATH/llama-perplexity --model SmolLM2-135M-Instruct.Q4_1.gguf \
      --text shakespeare.txt

The programs are those of the llama.cpp sources inside the source package of llama-cpp-python 0.3.36 (vendor/llama.cpp),
built for the CPU with their own CMake files. For each token the golden holds its id and how far the second best logit
lies below the best (their log-probabilities differ by as much): where another correct program parts from it, that gap
says whether it was a close call. The perplexity is that of the text's first 100 000 bytes, in windows of 512.
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
    if reason == "stop" and len(result["tokens"]) < len(ids):
        ids, gaps = ids[:-1], gaps
    return {"prompt": prompt, "prompt_ids": prompt_ids, "finish_reason": reason, "tokens": ids, "gaps": gaps,
            "text": result["content"]}


def answers_of(server_program, model):
    port = free_port()
    command = [server_program, "-m", model, "--port", str(port), "--host", "127.0.0.1", "-c", "2048", "-t", "1",
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("server", "perplexity", "model", "text"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    golden = {"model": Path(args.model).name, "made_by": "llama.cpp of llama-cpp-python 0.3.36",
              "perplexity": {"text": Path(args.text).name, "bytes": TEXT_BYTES,
                             "value": perplexity_of(args.perplexity, args.model, args.text)},
              "answers": answers_of(args.server, args.model)}
    out = HERE / "goldens" / "smollm2.json"
    out.parent.mkdir(exist_ok=True)
    rows = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in golden.pop("answers"))
    head = json.dumps(golden, indent=2)[:-2]
    out.write_text(f'{head},\n  "answers": [\n{rows}\n  ]\n}}\n')
    print(f"make_goldens: wrote {out.name}")


if __name__ == "__main__":
    main()
