#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a GPU host, from the folder that `make dist` made:  ./cuda-bench.sh [CONFIG.json...]
# Times decoding and prompts of seeded random models of the given shapes (of a 7B decoder without any). Needs no network;
# a shape's weights are written to FOLDER (default: a folder under /dev/shm), twice their size is needed there.
here=$(dirname "$0")
nereid=$here/bin/nereid
folder=${FOLDER:-/dev/shm/nereid-cuda-bench}
mkdir -p "$folder"
trap 'rm -rf "$folder"' EXIT
export NEREID_CACHE_DIR="$folder/cache"
if [ $# = 0 ]; then
  cat >"$folder/7b.json" <<'CONFIG'
{"architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
 "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 125696, "rms_norm_eps": 1e-06,
 "max_position_embeddings": 4096, "tie_word_embeddings": false, "torch_dtype": "float16"}
CONFIG
  set -- "$folder/7b.json"
fi
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
date -u
for config; do
  model=$folder/$(basename "$config" .json)
  "$nereid" models random "$config" -o "$model" --seed 1 -q >/dev/null || exit 1
  echo "$config: decoding at context 512, then prompts"
  "$nereid" bench "$model" --device cuda -p 0 -n 64 -b 1,32,128 -d 512 -r 5 --no-roof -q || exit 1
  "$nereid" bench "$model" --device cuda -p 2048 -n 0 -b 1,8 -r 3 --no-roof -q || exit 1
  echo "$config: the layers' weights, keys and values in fp8"
  "$nereid" bench "$model" --device cuda --gpu-weights fp8 --kv-cache-dtype fp8 -p 0 -n 64 -b 1,32,128 -d 512 -r 5 --no-roof -q || exit 1
  rm -rf "$model" "$NEREID_CACHE_DIR"
done
echo "not covered here: int4 weights, requests of a server, other programs, several GPUs"
