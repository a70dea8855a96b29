#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes xxhash64.txt and floats.txt beside itself, by the independent Python packages xxhash, numpy and ml_dtypes.

  python3 -m pip install xxhash==4.1.0 numpy==2.4.6 ml_dtypes==0.6.0 && python3 tests/data/base/make_goldens.py
"""
import pathlib

import ml_dtypes
import numpy as np
import xxhash

HERE = pathlib.Path(__file__).parent


def xxhash64():
    data = bytes((i * 131 + i // 7) % 256 for i in range(300))
    lines = ["# seed length hash, of the first `length` of the bytes (i * 131 + i / 7) % 256"]
    for seed in (0, 2654435761, 2**64 - 1):
        for n in (0, 1, 3, 4, 7, 8, 12, 31, 32, 33, 63, 64, 100, 300):
            lines.append(f"{seed} {n} {xxhash.xxh64(data[:n], seed=seed).intdigest():016x}")
    (HERE / "xxhash64.txt").write_text("\n".join(lines) + "\n")


def floats():
    rng = np.random.default_rng(1)
    bits = [0, 0x80000000, 1, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000]
    # Every exponent, and of those near the formats' ranges many.
    for exponent in [*range(0, 255, 6), *(list(range(98, 146)) * 6)]:
        bits.append(int(rng.integers(2)) << 31 | exponent << 23 | int(rng.integers(1 << 23)))
    for _ in range(200):  # exactly representable or half-way: few bits set
        bits.append(int(rng.integers(2)) << 31 | int(rng.integers(98, 146)) << 23 | int(rng.integers(1 << 6)) << 17)
    f32 = np.array(sorted(set(bits)), dtype=np.uint32).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        columns = [
            f32.astype(np.float16).view(np.uint16),
            f32.astype(ml_dtypes.bfloat16).view(np.uint16),
            f32.astype(ml_dtypes.float8_e4m3fn).view(np.uint8),
            f32.astype(ml_dtypes.float8_e5m2).view(np.uint8),
        ]
    lines = ["# f32 f16 bf16 f8e4m3 f8e5m2 (bits; beyond the largest f8 value: NaN or infinity)"]
    for i, b in enumerate(f32.view(np.uint32)):
        h, bf, e4, e5 = (int(c[i]) for c in columns)
        lines.append(f"{b:08x} {h:04x} {bf:04x} {e4:02x} {e5:02x}")
    (HERE / "floats.txt").write_text("\n".join(lines) + "\n")


xxhash64()
floats()
