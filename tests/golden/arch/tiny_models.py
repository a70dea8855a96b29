# SPDX-License-Identifier: Apache-2.0
"""Tiny seeded decoders of every architecture: their configurations, and weights that a formula gives.

A weight is a function of its tensor's name and its index, so that Python and C++ can make the same checkpoint without
anybody storing it (src/llm/arch/golden_model_test.cc has the C++ side):

    h    = FNV-1a 64 of the tensor's Hugging Face name
    x    = mix(h + (index + 1) * 0x9e3779b97f4a7c15)       mix: the finaliser of splitmix64
    u    = (x >> 40) / 2^24 - 1/2                          exactly representable in f32, in [-1/2, 1/2)
    w    = u * scale + offset                              in f32, product rounded before the sum

All sums are modulo 2^64. `scale` and `offset` are chosen by the kind of tensor (see kind_of).
"""

import math

import numpy as np

TOKENS = 24


def fnv1a(name: str) -> int:
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


def weights(name: str, shape, scale: float, offset: float) -> np.ndarray:
    count = math.prod(shape)
    with np.errstate(over="ignore"):
        x = np.uint64(fnv1a(name)) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    u = (x >> np.uint64(40)).astype(np.float32) / np.float32(2**24) - np.float32(0.5)
    return (u * np.float32(scale) + np.float32(offset)).reshape(shape)


def kind_of(name: str, shape, norm_offset: float):
    """Scale and offset: matrices near 1/sqrt(columns) so that no layer dies or explodes; norms near one."""
    if "norm" in name:
        return 1.0, norm_offset
    if name.endswith(".bias"):
        return 1.0, 0.0
    if "embed_tokens" in name:  # models with (1 + w) norms scale embeddings up themselves
        return (2.0 if norm_offset else 0.5), 0.0
    return float(np.float32(4.0 / math.sqrt(shape[1]))), 0.0


def prompt(vocab: int, count: int = TOKENS):
    """Token ids with repeats, so that attention has something to find."""
    return [(7 * i * i + 3 * i + 11) % vocab for i in range(count - 4)] + [11, 21 % vocab, 11, 5]


def _llama(**extra):
    base = dict(
        architectures=["LlamaForCausalLM"], model_type="llama", hidden_act="silu", hidden_size=72,
        intermediate_size=96, num_hidden_layers=2, num_attention_heads=9, num_key_value_heads=3, vocab_size=128,
        rms_norm_eps=1e-5, max_position_embeddings=64, rope_theta=10000.0, tie_word_embeddings=True,
    )
    return base | extra


def _qwen(model_type, architecture, **extra):
    base = dict(
        architectures=[architecture], model_type=model_type, hidden_act="silu", hidden_size=56, intermediate_size=80,
        num_hidden_layers=3, num_attention_heads=7, num_key_value_heads=1, vocab_size=112, rms_norm_eps=1e-6,
        max_position_embeddings=64, rope_theta=1000000.0, tie_word_embeddings=True,
    )
    return base | extra


def _gemma3(**extra):
    base = dict(
        architectures=["Gemma3ForCausalLM"], model_type="gemma3_text", hidden_activation="gelu_pytorch_tanh",
        hidden_size=48, intermediate_size=80, num_hidden_layers=7, num_attention_heads=4, num_key_value_heads=1,
        head_dim=16, vocab_size=136, rms_norm_eps=1e-6, max_position_embeddings=64, rope_theta=1000000.0,
        rope_local_base_freq=10000.0, sliding_window=5, sliding_window_pattern=6, query_pre_attn_scalar=16,
        final_logit_softcapping=None, attn_logit_softcapping=None, tie_word_embeddings=True,
    )
    return base | extra


def _file(config, **extra):
    """As small as a model with a byte-level tokenizer of 264 tokens gets; the head is its own, or greedy runs repeat."""
    size = dict(hidden_size=32, intermediate_size=64, vocab_size=264, max_position_embeddings=256,
                tie_word_embeddings=config["model_type"].startswith("gemma3"))
    return config | size | extra


def _scaling(kind, **extra):
    return {"rope_type": kind, **extra}


# name -> what to build. Keys besides config:
#   tokens       length of the prompt (TOKENS)
#   max_context  what Nereid is told to build for (the prompt's length decides in transformers)
#   bf16         weights are rounded to bf16, and the embedding scale with them; arithmetic stays f32
#   wrapped      store as the text half of a multimodal checkpoint (text_config, language_model.model.*)
#   gguf         False where llama.cpp's converter cannot express the model
CASES = {
    "llama": dict(config=_llama()),
    "llama_untied_biases": dict(
        config=_llama(tie_word_embeddings=False, attention_bias=True, mlp_bias=True, num_key_value_heads=9),
        gguf=False,  # the converter drops the mlp's biases
    ),
    "llama_linear": dict(
        config=_llama(rope_scaling={"type": "linear", "factor": 4.0}, tie_word_embeddings=False),
    ),
    "llama_dynamic": dict(
        config=_llama(rope_scaling={"type": "dynamic", "factor": 2.0}, max_position_embeddings=16),
        max_context=TOKENS, gguf=False,
    ),
    "llama_dynamic_short": dict(
        config=_llama(rope_scaling={"type": "dynamic", "factor": 2.0}, max_position_embeddings=16),
        tokens=14, max_context=14, gguf=False,
    ),
    "llama_llama3": dict(
        config=_llama(
            rope_theta=500.0, hidden_size=96, num_attention_heads=6, num_key_value_heads=2,
            rope_scaling=_scaling("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                  original_max_position_embeddings=32)),
    ),
    "llama_yarn": dict(
        config=_llama(
            rope_theta=100.0, hidden_size=96, num_attention_heads=6, num_key_value_heads=2,
            rope_scaling=_scaling("yarn", factor=4.0, original_max_position_embeddings=16)),
    ),
    "llama_yarn_mscale": dict(
        config=_llama(
            rope_theta=100.0, hidden_size=96, num_attention_heads=6, num_key_value_heads=2,
            rope_scaling=_scaling("yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=8.0,
                                  beta_slow=0.5, mscale=0.7, mscale_all_dim=1.3)),
        gguf=False,
    ),
    "llama_longrope_long": dict(
        config=_llama(
            max_position_embeddings=64,
            rope_scaling=_scaling("longrope", original_max_position_embeddings=16,
                                  short_factor=[1.0, 1.1, 1.2, 1.3], long_factor=[1.0, 2.0, 4.0, 8.0])),
        gguf=False,
    ),
    "llama_longrope_short": dict(
        config=_llama(
            max_position_embeddings=64,
            rope_scaling=_scaling("longrope", original_max_position_embeddings=16,
                                  short_factor=[1.0, 1.1, 1.2, 1.3], long_factor=[1.0, 2.0, 4.0, 8.0])),
        tokens=12, max_context=16, gguf=False,
    ),
    "mistral": dict(
        config=dict(
            architectures=["MistralForCausalLM"], model_type="mistral", hidden_act="silu", hidden_size=64,
            intermediate_size=112, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, head_dim=16,
            vocab_size=120, rms_norm_eps=1e-5, max_position_embeddings=64, rope_theta=10000.0, sliding_window=7,
            tie_word_embeddings=False),
        gguf="window",  # the converter leaves the window out; GGUF's key for it is added
    ),
    "qwen2": dict(config=_qwen("qwen2", "Qwen2ForCausalLM")),
    "qwen2_window": dict(
        config=_qwen("qwen2", "Qwen2ForCausalLM", use_sliding_window=True, sliding_window=6, max_window_layers=1,
                     num_attention_heads=14, num_key_value_heads=2, tie_word_embeddings=False),
        gguf=False,
    ),
    "qwen3": dict(
        config=_qwen("qwen3", "Qwen3ForCausalLM", hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
                     head_dim=32),
    ),
    "qwen3_yarn_untied": dict(
        config=_qwen("qwen3", "Qwen3ForCausalLM", hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
                     head_dim=32, tie_word_embeddings=False, rope_theta=1000.0,
                     rope_scaling=_scaling("yarn", factor=4.0, original_max_position_embeddings=16)),
    ),
    "gemma3": dict(config=_gemma3()),
    "gemma3_bf16": dict(config=_gemma3(final_logit_softcapping=30.0), bf16=True),
    "gemma3_multimodal": dict(
        config=_gemma3(rope_scaling={"factor": 8.0, "rope_type": "linear"}, sliding_window_pattern=2,
                       num_hidden_layers=4, query_pre_attn_scalar=24),
        wrapped=True, gguf=False,  # the converter knows a period of 6 only
    ),
    # Those that make_files.py writes to disk as well: rows of 32 or 64 elements, so that any 32-wide block format fits.
    "file_llama": dict(config=_file(_llama(num_attention_heads=4, num_key_value_heads=2, head_dim=8)), bf16=True),
    "file_qwen2": dict(
        config=_file(_qwen("qwen2", "Qwen2ForCausalLM", num_attention_heads=4, num_hidden_layers=2)), bf16=True),
    "file_qwen3": dict(
        config=_file(_qwen("qwen3", "Qwen3ForCausalLM", num_attention_heads=4, num_key_value_heads=2, head_dim=16,
                           num_hidden_layers=2)), bf16=True),
    "file_gemma3": dict(
        config=_file(_gemma3(head_dim=8, query_pre_attn_scalar=8, num_hidden_layers=6), intermediate_size=32),
        bf16=True),
}
