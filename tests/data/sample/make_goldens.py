# SPDX-License-Identifier: Apache-2.0
"""What the sampling chain leaves, and with which probabilities, in numpy and float64: writes goldens.json.

usage: python make_goldens.py      (needs numpy)

Written from the steps' published definitions, with whole sorts and no shortcuts. Logits are multiples of 1/64 without
ties, so that float32 and float64 agree on every comparison but those at a filter's very edge; rows whose edge is closer
than 1e-4 are drawn again.
"""
import json
import pathlib

import numpy as np

OFF = dict(
    temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, typical_p=1.0, repetition_penalty=1.0, presence_penalty=0.0,
    frequency_penalty=0.0, penalty_last_n=64,
)
SETTINGS = [
    {},
    dict(temperature=0.7),
    dict(temperature=2.5),
    dict(top_k=1),
    dict(top_k=7),
    dict(top_k=1000),
    dict(top_p=0.9),
    dict(top_p=0.35),
    dict(top_p=0.0),
    dict(min_p=0.05),
    dict(min_p=1.0),
    dict(typical_p=0.8),
    dict(typical_p=0.2),
    dict(top_k=40, top_p=0.95, min_p=0.05, temperature=0.8),
    dict(top_k=12, typical_p=0.9, top_p=0.8, temperature=1.3),
    dict(repetition_penalty=1.3),
    dict(repetition_penalty=1.1, presence_penalty=0.5, frequency_penalty=0.25, penalty_last_n=-1, temperature=0.9),
    dict(frequency_penalty=1.5, penalty_last_n=5, top_k=20),
    dict(presence_penalty=-2.0, penalty_last_n=0),
    dict(logit_bias={"3": 5.0, "10": -100.0, "0": 1.25}, top_p=0.7),
]


class TooClose(Exception):
    pass


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def prefix(probabilities, p, inclusive):
    """How many of the ordered probabilities are needed to reach (or, not inclusive, to pass) p; at least one."""
    sums = np.cumsum(probabilities)
    if np.min(np.abs(sums - p)) < 1e-4 and 0 < p < 1:
        raise TooClose
    reached = sums >= p if inclusive else sums > p
    return int(np.argmax(reached)) + 1 if reached.any() else len(sums)


def chain(logits, history, s):
    x = logits.astype(np.float64).copy()
    for token, bias in s.get("logit_bias", {}).items():
        x[int(token)] += bias
    n = s["penalty_last_n"]
    if n != 0:
        seen = history if n < 0 else history[-n:]
        for token in set(seen):
            x[token] = x[token] / s["repetition_penalty"] if x[token] > 0 else x[token] * s["repetition_penalty"]
            x[token] -= seen.count(token) * s["frequency_penalty"] + s["presence_penalty"]
    order = np.argsort(-x, kind="stable")
    if s["top_k"] > 0:
        order = order[: s["top_k"]]
    if s["typical_p"] < 1:
        p = softmax(x[order])
        distance = np.abs(-np.log(p) + np.sum(p * np.log(p)))
        by = np.argsort(distance, kind="stable")
        if len(by) > 1 and np.min(np.diff(distance[by])) < 1e-5:
            raise TooClose
        order = order[by[: prefix(p[by], s["typical_p"], False)]]
        order = order[np.argsort(-x[order], kind="stable")]
    if s["top_p"] < 1:
        order = order[: prefix(softmax(x[order]), s["top_p"], True)]
    if s["min_p"] > 0:
        p = softmax(x[order])
        if s["min_p"] < 1 and np.min(np.abs(p - s["min_p"] * p.max())) < 1e-4 * s["min_p"]:
            raise TooClose
        order = order[p >= s["min_p"] * p.max() * (1 - 1e-12)]
    p = softmax(x[order] / s["temperature"])
    return [[int(t), float(f"{q:.8g}")] for t, q in zip(order, p)]


def philox_uniform(seed, n):
    """The n-th number in [0, 1) of Philox4x32-10, the first two words as 53 bits."""
    c = [n & 0xFFFFFFFF, n >> 32, 0, 0]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return ((c[0] << 32 | c[1]) >> 11) * 2.0**-53


def draws(vocabulary, temperature, top_k, seed, count):
    """Tokens drawn from logits that follow a formula: by id without top-k, best first with it."""
    logits = (np.arange(vocabulary, dtype=np.uint64) * np.uint64(2654435761) % np.uint64(4096)).astype(np.float64) / 512
    order = np.arange(vocabulary)
    if top_k > 0:
        order = np.argsort(-logits, kind="stable")[:top_k]
    sums = np.cumsum(softmax(logits[order] / temperature))
    return [int(order[np.argmax(sums > philox_uniform(seed, n))]) for n in range(count)]


def main():
    rng = np.random.default_rng(20250726)
    rows = []
    for settings in SETTINGS:
        for vocabulary in (50, 300):
            while True:
                logits = rng.permutation(np.arange(-4 * vocabulary, 4 * vocabulary))[:vocabulary] / 64 * (400 / vocabulary) ** 0.5
                logits = np.round(logits * 64) / 64
                history = [int(t) for t in rng.integers(0, vocabulary, 40)]
                try:
                    left = chain(logits, history, {**OFF, **settings})
                except TooClose:
                    continue
                break
            rows.append({"settings": settings, "logits": [float(v) for v in logits], "history": history, "left": left})
    drawn = []
    for vocabulary, temperature, top_k, seed in [(32000, 0.9, 0, 7), (5000, 1.0, 0, 2**63 + 5), (32000, 1.2, 40, 7)]:
        tokens = draws(vocabulary, temperature, top_k, seed, 40)
        drawn.append(dict(vocabulary=vocabulary, temperature=temperature, top_k=top_k, seed=seed, tokens=tokens))
    out = pathlib.Path(__file__).with_name("goldens.json")
    lines = [",\n".join(json.dumps(r, separators=(",", ":")) for r in part) for part in (rows, drawn)]
    out.write_text('{"chain": [\n' + lines[0] + '\n],\n"draws": [\n' + lines[1] + "\n]}\n")
    print(f"{len(rows)} rows, {out.stat().st_size} bytes")


main()
