# SPDX-License-Identifier: Apache-2.0
"""What the sampling chain leaves, and with which probabilities, in numpy and float64: writes goldens.json.

usage: python make_goldens.py      (needs numpy)

Written from the steps' published definitions, with whole sorts, whole texts and no shortcuts. Logits are multiples of 1/64 without
ties, so that float32 and float64 agree on every comparison but those at a filter's very edge; rows whose edge is closer
than 1e-4 are drawn again.
"""
import json
import pathlib

import numpy as np

OFF = dict(
    temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, typical_p=1.0, repetition_penalty=1.0, presence_penalty=0.0,
    frequency_penalty=0.0, penalty_last_n=64, top_n_sigma=0.0, xtc_probability=0.0, xtc_threshold=0.1,
    dynatemp_range=0.0, dynatemp_exponent=1.0, dry_multiplier=0.0, dry_base=1.75, dry_allowed_length=2,
    dry_penalty_last_n=-1, no_repeat_ngram_size=0, seed=0,
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
    dict(top_n_sigma=1.0),
    dict(top_n_sigma=2.0, top_k=9, temperature=1.5),
    dict(xtc_probability=1.0, xtc_threshold=0.05),
    dict(xtc_probability=1.0, xtc_threshold=0.4),
    dict(xtc_probability=0.5, xtc_threshold=0.02, top_k=20, seed=3),
    dict(xtc_probability=0.5, xtc_threshold=0.02, top_k=20, seed=4),
    dict(dynatemp_range=0.5, temperature=0.8),
    dict(dynatemp_range=0.8, dynatemp_exponent=2.5, temperature=1.2, top_k=30),
    dict(dynatemp_range=3.0, temperature=1.0, top_p=0.9),
    dict(dry_multiplier=0.8),
    dict(dry_multiplier=2.0, dry_base=1.3, dry_allowed_length=1, dry_penalty_last_n=30),
    dict(dry_multiplier=1.5, dry_sequence_breakers=["ab", "\n"], dry_allowed_length=1),
    dict(dry_multiplier=1.5, dry_sequence_breakers=[]),
    dict(no_repeat_ngram_size=1),
    dict(no_repeat_ngram_size=2, top_k=10),
    dict(no_repeat_ngram_size=3),
    dict(bad_words=["ab", "cdc", "b:a"]),
    dict(bad_words=["a"], top_p=0.9),
    dict(bad_token_ids=[[3], [1, 2], [2, 1], [1, 1, 1]]),
    dict(allowed_token_ids=[1, 2, 5, 8, 13, 21, 34], temperature=1.7),
    dict(repetition_penalty=1.2, dry_multiplier=0.5, no_repeat_ngram_size=3, bad_words=["bb"], top_n_sigma=1.5, top_k=25,
         typical_p=0.95, top_p=0.9, min_p=0.01, xtc_probability=1.0, xtc_threshold=0.1, temperature=0.9),
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


def completes(word, before, piece):
    """Whether `before + piece` holds the word at a place that ends in the piece."""
    text = before + piece
    return any(text.startswith(word, i) for i in range(len(text)) if i + len(word) > len(before))


def dry_lengths(tokens, pieces, s):
    """For each token that would go on with a repeat: the length of the longest such repeat."""
    breakers = s.get("dry_sequence_breakers", ["\n", ":", "\"", "*"])
    text = "".join(pieces[t] for t in tokens)
    ends = [text.rfind(b) + len(b) for b in breakers if b in text]
    starts = np.cumsum([0] + [len(pieces[t]) for t in tokens])[:-1]
    limit = int(np.sum(starts >= max(ends))) if ends else len(tokens)
    lengths = {}
    for end in range(1, len(tokens)):  # a repeat that stops before this place
        n = 0
        while n < end and n < limit and tokens[end - 1 - n] == tokens[len(tokens) - 1 - n]:
            n += 1
        if n >= s["dry_allowed_length"]:
            lengths[tokens[end]] = max(n, lengths.get(tokens[end], 0))
    return lengths


def chain(logits, history, s, step, pieces):
    x = logits.astype(np.float64).copy()
    answer = history[len(history) - step:]
    said = "".join(pieces[t] for t in answer)
    for token, bias in s.get("logit_bias", {}).items():
        x[int(token)] += bias
    for token in range(len(x)):
        last = answer + [token]
        if (
            ("allowed_token_ids" in s and token not in s["allowed_token_ids"])
            or any(last[-len(bad):] == bad for bad in s.get("bad_token_ids", []))
            or any(completes(word, said, pieces[token]) for word in s.get("bad_words", []))
        ):
            x[token] = -np.inf
    n = s["no_repeat_ngram_size"]
    if n > 0:
        seen = {tuple(history[i:i + n]) for i in range(len(history) - n + 1)}
        for token in range(len(x)):
            if tuple((history + [token])[-n:]) in seen:
                x[token] = -np.inf
    n = s["penalty_last_n"]
    if n != 0:
        seen = history if n < 0 else history[-n:]
        for token in set(seen):
            x[token] = x[token] / s["repetition_penalty"] if x[token] > 0 else x[token] * s["repetition_penalty"]
            x[token] -= seen.count(token) * s["frequency_penalty"] + s["presence_penalty"]
    if s["dry_multiplier"] > 0:
        n = s["dry_penalty_last_n"]
        for token, length in dry_lengths(history if n < 0 else history[-n:], pieces, s).items():
            x[token] -= s["dry_multiplier"] * s["dry_base"] ** (length - s["dry_allowed_length"])
    if s["top_n_sigma"] > 0:
        finite = x[x > -np.inf]
        bound = finite.max() - s["top_n_sigma"] * finite.std()
        if np.min(np.abs(finite - bound)) < 1e-3:
            raise TooClose
        x[x < bound] = -np.inf
    order = np.argsort(-x, kind="stable")
    order = order[x[order] > -np.inf]
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
    if s["xtc_probability"] > 0 and philox_uniform(s["seed"], step, 1) < s["xtc_probability"]:
        p = softmax(x[order])
        if np.min(np.abs(p - s["xtc_threshold"])) < 1e-5:
            raise TooClose
        above = int(np.sum(p >= s["xtc_threshold"]))
        if above >= 2:
            order = order[above - 1:]
    temperature = s["temperature"]
    if s["dynatemp_range"] > 0:
        p = softmax(x[order])
        share = -np.sum(p * np.log(p)) / np.log(len(p))
        low, high = max(0.0, temperature - s["dynatemp_range"]), temperature + s["dynatemp_range"]
        temperature = low + (high - low) * share ** s["dynatemp_exponent"]
    p = softmax(x[order] / temperature)
    return [[int(t), float(f"{q:.8g}")] for t, q in zip(order, p)]


def philox_uniform(seed, n, stream=0):
    """The n-th number in [0, 1) of Philox4x32-10, the first two words as 53 bits."""
    c = [n & 0xFFFFFFFF, n >> 32, stream, 0]
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


def mirostat(version, tau, eta, temperature, seed, vocabulary, count, rng):
    """Basu et al. 2021, algorithms 1 and 2: logits, tokens drawn (best first in 1, by id in 2) and mu after each."""
    mu = 2 * tau
    rows, tokens, mus = [], [], []
    for step in range(count):
        while True:
            logits = np.round(rng.normal(0, 3, vocabulary) * 64) / 64
            x = logits / temperature
            p = softmax(x)
            if version == 1:
                order = np.argsort(-p, kind="stable")
                m = min(100, vocabulary)
                i = np.arange(m - 1)
                t = np.log((i + 2) / (i + 1))
                b = np.log(p[order[i]] / p[order[i + 1]])
                s = np.sum(t * b) / np.sum(t * t)
                e = s - 1
                k = (e * 2**mu / (1 - vocabulary ** (-e))) ** (1 / s)
                kept = order[: min(vocabulary, max(1, int(k)))]
                close = abs(k - round(k)) < 1e-3
            else:
                surprise = -np.log2(p)
                kept = np.flatnonzero(surprise <= mu)
                close = np.min(np.abs(surprise - mu)) < 1e-4
                if len(kept) == 0:
                    kept = np.array([np.argmax(p)])
            q = p[kept] / p[kept].sum()
            sums = np.cumsum(q)
            u = philox_uniform(seed, step)
            if close or np.min(np.abs(sums - u)) < 1e-5:
                continue
            break
        place = int(np.argmax(sums > u))
        mu -= eta * (-np.log2(q[place]) - tau)
        rows.append([float(v) for v in logits])
        tokens.append(int(kept[place]))
        mus.append(float(f"{mu:.7g}"))
    return dict(mirostat=version, mirostat_tau=tau, mirostat_eta=eta, temperature=temperature, seed=seed, logits=rows,
                tokens=tokens, mu=mus)


def main():
    rng = np.random.default_rng(20250726)
    rows = []
    for settings in SETTINGS:
        for vocabulary in (50, 300):
            while True:
                logits = rng.permutation(np.arange(-4 * vocabulary, 4 * vocabulary))[:vocabulary] / 64 * (400 / vocabulary) ** 0.5
                logits = np.round(logits * 64) / 64
                # A few tokens only, so that they repeat.
                history = [int(t) for t in rng.integers(0, min(vocabulary, 6 if vocabulary == 50 else 300), 40)]
                step = int(rng.integers(0, 41))
                pieces = ["".join(rng.choice(list("abcd:\n"), rng.integers(1, 4))) for _ in range(vocabulary)]
                try:
                    left = chain(logits, history, {**OFF, **settings}, step, pieces)
                except TooClose:
                    continue
                break
            row = {"settings": settings, "logits": [float(v) for v in logits], "history": history, "step": step, "left": left}
            if {"bad_words", "dry_multiplier"} & set(settings):
                row["pieces"] = pieces
            rows.append(row)
    drawn = []
    for vocabulary, temperature, top_k, seed in [(32000, 0.9, 0, 7), (5000, 1.0, 0, 2**63 + 5), (32000, 1.2, 40, 7)]:
        tokens = draws(vocabulary, temperature, top_k, seed, 40)
        drawn.append(dict(vocabulary=vocabulary, temperature=temperature, top_k=top_k, seed=seed, tokens=tokens))
    surprises = [mirostat(v, tau, eta, t, 11, n, 12, rng) for v, tau, eta, t, n in
                 [(1, 5.0, 0.1, 1.0, 200), (1, 2.0, 0.5, 0.8, 60), (2, 5.0, 0.1, 1.0, 200), (2, 2.0, 0.5, 1.3, 60), (2, 0.1, 1.0, 1.0, 60)]]
    out = pathlib.Path(__file__).with_name("goldens.json")
    lines = [",\n".join(json.dumps(r, separators=(",", ":")) for r in part) for part in (rows, drawn, surprises)]
    out.write_text('{"chain": [\n' + lines[0] + '\n],\n"draws": [\n' + lines[1] + '\n],\n"mirostat": [\n' + lines[2] + "\n]}\n")
    print(f"{len(rows)} rows, {out.stat().st_size} bytes")


main()
