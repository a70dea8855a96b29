#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a GPU host, from the folder that `make dist` made:  ./cuda-test.sh [MODEL...]   (GGUF files or folders)
# What the GPU and the CPU make of the same models: how well they foretell a text, greedy answers, and a server's answers
# to many at one time. Without a MODEL small random ones of four architectures are made. Needs no network.
here=$(dirname "$0")
nereid=$here/bin/nereid
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
export NEREID_CACHE_DIR="$work/cache"
"$nereid" doctor | sed -n '/gpu/,$p' | head -n 20
failed=0

random() { # NAME MORE: a model of this configuration; ids stand for its text
  cat >"$work/$1.json" <<CONFIG
{"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": 64,
 "num_key_value_heads": 2, "vocab_size": 1000, "rms_norm_eps": 1e-5, "max_position_embeddings": 2048, $2}
CONFIG
  "$nereid" models random "$work/$1.json" -o "$work/$1" --seed 7 -q >/dev/null || failed=1
}
if [ $# = 0 ]; then
  random llama-f16 '"architectures": ["LlamaForCausalLM"], "tie_word_embeddings": false, "torch_dtype": "float16"'
  random llama-bf16 '"architectures": ["LlamaForCausalLM"], "tie_word_embeddings": true, "torch_dtype": "bfloat16"'
  random qwen2 '"architectures": ["Qwen2ForCausalLM"], "tie_word_embeddings": true, "torch_dtype": "float16"'
  random qwen3 '"architectures": ["Qwen3ForCausalLM"], "tie_word_embeddings": true, "torch_dtype": "float16"'
  set -- "$work/llama-f16" "$work/llama-bf16" "$work/qwen2" "$work/qwen3"
fi
head -c 6000 "$here/README.md" >"$work/text"

perplexity() { "$nereid" eval "$@" --perplexity "$work/text" --json -q | sed 's/.*"perplexity":\([0-9.e+]*\).*/\1/'; }
for model; do
  cpu=$(perplexity "$model" --exact)
  gpu=$(perplexity "$model" --device cuda)
  if awk -v a="$cpu" -v b="$gpu" 'BEGIN { exit !(a > 0 && b > 0 && a / b < 1.005 && b / a < 1.005) }'; then
    echo "ok   $model: perplexity $gpu on the GPU, $cpu on the CPU with nothing rounded"
  else
    echo "FAIL $model: perplexity '$gpu' on the GPU, '$cpu' on the CPU with nothing rounded"
    failed=1
  fi
  "$nereid" run "$model" --device cuda -p 'The capital of France is' -n 24 --temperature 0 -q >"$work/answer" || failed=1
  "$nereid" serve "$model" --device cuda --host 127.0.0.1 --port 18311 --max-sequences 32 -q >"$work/log" 2>&1 &
  server=$!
  "$nereid" bench http://127.0.0.1:18311 --endpoint completions -c 32 -r 128 -p 64 -n 32 -q --json >"$work/load" 2>"$work/wait"
  tries=0
  while ! [ -s "$work/load" ] && [ $tries -lt 60 ]; do # until the server answers
    sleep 0.5
    tries=$((tries + 1))
    "$nereid" bench http://127.0.0.1:18311 --endpoint completions -c 32 -r 128 -p 64 -n 32 -q --json >"$work/load" 2>"$work/wait"
  done
  kill "$server" && wait "$server"
  server=
  if [ -s "$work/load" ] && ! grep -q '"failed":[1-9]' "$work/load"; then
    echo "ok   $model: 128 answers to 32 clients by a server on the GPU"
  else
    echo "FAIL $model: a server on the GPU: $(head -c 300 "$work/wait")$(tail -n 2 "$work/log")"
    failed=1
  fi
done
echo "not covered here: the kernels one by one (make -C src/kernels/cuda/harness), prompts beyond 1,500 tokens, weights in"
echo "fp8, int8 or int4 of random models, several GPUs, GPUs other than the one that was found"
exit $failed
