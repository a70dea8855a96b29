#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a GPU host, from the folder that `make dist` made:  ./cuda-test.sh MODEL...
# What the GPU and the CPU make of the same models: how well they foretell a text, and greedy answers. Needs no network.
here=$(dirname "$0")
nereid=$here/bin/nereid
[ $# -gt 0 ] || { echo "usage: $0 MODEL...   (GGUF files or folders)" >&2; exit 2; }
"$nereid" doctor | sed -n '/gpu/,$p' | head -n 20
text=$(mktemp)
trap 'rm -f "$text"' EXIT
cat "$here/README.md" "$here/THIRD_PARTY.md" >"$text"
failed=0
for model; do
  on_cpu=$("$nereid" eval "$model" --perplexity "$text" --exact --json -q) || failed=1
  on_gpu=$("$nereid" eval "$model" --perplexity "$text" --device cuda --json -q) || failed=1
  cpu=$(echo "$on_cpu" | sed 's/.*"perplexity":\([0-9.e+]*\).*/\1/')
  gpu=$(echo "$on_gpu" | sed 's/.*"perplexity":\([0-9.e+]*\).*/\1/')
  if awk -v a="$cpu" -v b="$gpu" 'BEGIN { exit !(a > 0 && b > 0 && a / b < 1.005 && b / a < 1.005) }'; then
    echo "ok   $model: perplexity $gpu on the GPU, $cpu on the CPU with nothing rounded"
  else
    echo "FAIL $model: perplexity '$gpu' on the GPU, '$cpu' on the CPU with nothing rounded"
    failed=1
  fi
  "$nereid" run "$model" --device cuda -p 'The capital of France is' -n 24 --temperature 0 -q || failed=1
  echo
done
echo "not covered here: the kernels one by one (make -C src/kernels/cuda/harness), several GPUs, servers under load"
exit $failed
