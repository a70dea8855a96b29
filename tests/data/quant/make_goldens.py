#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes goldens.json: block formats decoded and encoded by implementations that are not ours.

  make_goldens.py --ggml LIBGGML_BASE.so     needs: gguf 0.19.0, numpy; a ggml shared library for the encoders

decode   Random and extreme blocks; the values are those of the Python package gguf (pure numpy).
encode   One seeded list of weights; for each format the root mean square error that ggml's own encoder (without an
         importance matrix) makes on it. Our encoders must not do worse than the test's stated ratio.
Hex strings are little endian bytes; decoded values are f32.
"""
import argparse
import ctypes
import json
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as T
from gguf.quants import dequantize

SEED = 20240611
# name, ggml's type, elements of a block, bytes of a block, byte offsets of the f16 factors in it
FORMATS = [
    ("q4_0", T.Q4_0, 32, 18, [0]), ("q4_1", T.Q4_1, 32, 20, [0, 2]), ("q5_0", T.Q5_0, 32, 22, [0]),
    ("q5_1", T.Q5_1, 32, 24, [0, 2]), ("q8_0", T.Q8_0, 32, 34, [0]),
    ("q2_k", T.Q2_K, 256, 84, [80, 82]), ("q3_k", T.Q3_K, 256, 110, [108]), ("q4_k", T.Q4_K, 256, 144, [0, 2]),
    ("q5_k", T.Q5_K, 256, 176, [0, 2]), ("q6_k", T.Q6_K, 256, 210, [208]),
    ("iq4_nl", T.IQ4_NL, 32, 18, [0]), ("iq4_xs", T.IQ4_XS, 256, 136, [0]),
]
# f16 factors of the extreme blocks: ordinary, the largest, the smallest subnormal, negative, zero
EXTREMES = [0.0123, 65504.0, 2.0**-24, -0.5, 0.0]


def blocks_of(rng, elements, size, factors):
    """Random bytes with ordinary factors; then all bits set and all clear with extreme ones."""
    blocks = []
    for _ in range(2 if elements == 256 else 4):
        block = rng.integers(0, 256, size, dtype=np.uint8)
        for at in factors:
            block[at:at + 2] = np.frombuffer(np.float16(rng.normal() * 0.02).tobytes(), np.uint8)
        blocks.append(block)
    extremes = EXTREMES[1:3] if elements == 256 else EXTREMES
    for i, factor in enumerate(extremes):
        block = np.full(size, 0xff if i % 2 == 0 else 0x00, np.uint8)
        for at in factors:
            block[at:at + 2] = np.frombuffer(np.float16(factor).tobytes(), np.uint8)
        blocks.append(block)
    return np.stack(blocks)


def weights(rng):
    """Like a layer's: normal, rows of different spread, a few outliers, one block of zeros, one of equal values."""
    w = rng.normal(size=(8, 256)) * np.geomspace(0.002, 0.5, 8)[:, None]
    w[2, ::37] *= 8
    w[5, :64] = 0
    w[6, 64:96] = 0.25
    w[7] = np.abs(w[7])
    return w.astype(np.float32)


def ggml_encoder(path):
    lib = ctypes.CDLL(path)
    lib.ggml_quantize_chunk.restype = ctypes.c_size_t
    lib.ggml_quantize_chunk.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64,
                                        ctypes.c_int64, ctypes.c_void_p]

    def encode(kind, w, size):
        out = np.zeros(size, np.uint8)
        src = np.ascontiguousarray(w, np.float32)
        lib.ggml_quantize_chunk(int(kind), src.ctypes.data, out.ctypes.data, 0, src.shape[0], src.shape[1], None)
        return out
    return encode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ggml", required=True, help="path of libggml-base.so")
    args = parser.parse_args()
    rng = np.random.default_rng(SEED)
    decode = {}
    with np.errstate(all="ignore"):
        for name, kind, elements, size, factors in FORMATS:
            blocks = blocks_of(rng, elements, size, factors)
            values = dequantize(blocks.reshape(-1), kind).astype("<f4")
            decode[name] = {"blocks": blocks.tobytes().hex(), "values": values.tobytes().hex()}
    w = weights(rng)
    encode = ggml_encoder(args.ggml)
    rmse = {}
    for name, kind, elements, size, _ in FORMATS:
        packed = encode(kind, w, w.size // elements * size)
        back = dequantize(packed, kind).reshape(w.shape)
        rmse[name] = [float(np.sqrt(np.mean((back[r].astype(np.float64) - w[r])**2))) for r in range(w.shape[0])]
    golden = {"decode": decode, "encode": {"weights": w.astype("<f4").tobytes().hex(), "row": w.shape[1], "rmse": rmse}}
    Path(__file__).with_name("goldens.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
