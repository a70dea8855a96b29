# SPDX-License-Identifier: Apache-2.0
"""Holds the chain's rows of goldens.json to llama.cpp's samplers: prints the rows that differ and how many agree.

usage: python check_llama_cpp.py LIBLLAMA.SO      (built from the llama-cpp-python 0.3.36 source package)

Rows with steps that llama.cpp lacks (bans), that draw lots, or that need a vocabulary (breakers of dry) are left out.
"""
import ctypes as C
import json
import math
import pathlib
import sys


class Token(C.Structure):
    _fields_ = [("id", C.c_int32), ("logit", C.c_float), ("p", C.c_float)]


class Tokens(C.Structure):
    _fields_ = [("data", C.POINTER(Token)), ("size", C.c_size_t), ("selected", C.c_int64), ("sorted", C.c_bool)]


LIB = C.CDLL(sys.argv[1], mode=C.RTLD_GLOBAL)
LIB.llama_sampler_apply.argtypes = [C.c_void_p, C.POINTER(Tokens)]
LIB.llama_sampler_accept.argtypes = [C.c_void_p, C.c_int32]
F, I, U, S, P = C.c_float, C.c_int32, C.c_uint32, C.c_size_t, C.c_void_p


def sampler(name, *typed, history=()):
    make = getattr(LIB, "llama_sampler_init_" + name)
    make.restype, make.argtypes = P, [kind for kind, _ in typed]
    made = make(*[value for _, value in typed])
    for token in history:
        LIB.llama_sampler_accept(made, token)
    return made


def chain(row):
    s, history = row["settings"], row["history"]
    last = s.get("penalty_last_n", 64)
    last = len(history) if last < 0 else last
    if {"repetition_penalty", "presence_penalty", "frequency_penalty"} & set(s) and last > 0:
        yield sampler("penalties", (I, len(row["logits"])), (I, last), (F, s.get("repetition_penalty", 1)),
                      (F, s.get("frequency_penalty", 0)), (F, s.get("presence_penalty", 0)), history=history)
    if "dry_multiplier" in s:
        yield sampler("dry", (P, None), (I, 4096), (F, s["dry_multiplier"]), (F, s.get("dry_base", 1.75)),
                      (I, s.get("dry_allowed_length", 2)), (I, s.get("dry_penalty_last_n", -1)), (P, None), (S, 0), history=history)
    if "top_n_sigma" in s:
        yield sampler("top_n_sigma", (F, s["top_n_sigma"]))
    if "top_k" in s:
        yield sampler("top_k", (I, s["top_k"]))
    for name, setting in (("typical", "typical_p"), ("top_p", "top_p"), ("min_p", "min_p")):
        if setting in s:
            yield sampler(name, (F, s[setting]), (S, 1))
    if "xtc_probability" in s:
        yield sampler("xtc", (F, 1.0), (F, s["xtc_threshold"]), (S, 1), (U, 1))
    yield sampler("temp_ext", (F, s.get("temperature", 1.0)), (F, s.get("dynatemp_range", 0)), (F, s.get("dynatemp_exponent", 1)))


def left(row):
    data = (Token * len(row["logits"]))(*[Token(i, l, 0) for i, l in enumerate(row["logits"])])
    for token, bias in row["settings"].get("logit_bias", {}).items():
        data[int(token)].logit += bias
    tokens = Tokens(data, len(data), -1, False)
    for one in chain(row):
        LIB.llama_sampler_apply(one, C.byref(tokens))
    logits = {tokens.data[i].id: tokens.data[i].logit for i in range(tokens.size)}
    best = max(logits.values())
    weights = {t: math.exp(l - best) for t, l in logits.items() if l - best > -80}
    return {t: w / sum(weights.values()) for t, w in weights.items()}


def main():
    rows = json.loads(pathlib.Path(__file__).with_name("goldens.json").read_text())["chain"]
    agreed = 0
    for row in rows:
        s = row["settings"]
        if {"bad_words", "bad_token_ids", "allowed_token_ids", "no_repeat_ngram_size"} & set(s):
            continue
        if 0 < s.get("xtc_probability", 0) < 1 or ("dry_multiplier" in s and s.get("dry_sequence_breakers") != []):
            continue
        found, wanted = left(row), dict(row["left"])
        worst = max(abs(found.get(t, 0) - wanted.get(t, 0)) for t in set(found) | set(wanted))
        agreed += worst < 1e-6
        if worst >= 1e-6:
            print(f"{s} of {len(row['logits'])}: differs by {worst}")
    print(f"{agreed} rows agree")


main()
