#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the small GGUF files of the tests and of the fuzzer's corpus. Needs: gguf 0.19.0, numpy.

  all_types.gguf, split-0000N-of-00003.gguf   beside this script: written by the Python package gguf, whose reading of
                                              them is in all_types.json
  tests/corpus/gguf_fuzz/*                    the same and damaged copies: one fault each, named by it
"""
import json
import struct
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType as V, GGUFWriter

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "corpus" / "gguf_fuzz"
SCALARS = [("u8", 200, V.UINT8), ("i8", -100, V.INT8), ("u16", 60000, V.UINT16), ("i16", -30000, V.INT16),
           ("u32", 4000000000, V.UINT32), ("i32", -2000000000, V.INT32), ("f32", 0.5, V.FLOAT32), ("bool", True, V.BOOL),
           ("string", "näreid", V.STRING), ("u64", 2**62, V.UINT64), ("i64", -2**62, V.INT64), ("f64", 1e300, V.FLOAT64)]
TYPES = GGMLQuantizationType


def all_types(path):
    writer = GGUFWriter(path, "test")
    for name, value, kind in SCALARS:
        writer.add_key_value(f"scalar.{name}", value, kind)
        writer.add_key_value(f"array.{name}", [value, value], V.ARRAY, sub_type=kind)
    writer.add_key_value("array.empty_text", "", V.STRING)
    rng = np.random.default_rng(1)
    writer.add_tensor("f32", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("f16", np.arange(5, dtype=np.float16))
    writer.add_tensor("f64", np.arange(24, dtype=np.float64).reshape(2, 3, 4))
    writer.add_tensor("i32", np.arange(16, dtype=np.int32).reshape(2, 2, 2, 2))
    writer.add_tensor("q4_0", rng.integers(0, 256, (3, 36), dtype=np.uint8), raw_dtype=TYPES.Q4_0)
    writer.add_tensor("q6_k", rng.integers(0, 256, (2, 210), dtype=np.uint8), raw_dtype=TYPES.Q6_K)
    finish(writer)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def describe(path):
    reader = GGUFReader(path)
    tensors = []
    for t in reader.tensors:
        tensors.append({"name": t.name, "type": t.tensor_type.name.lower(),
                        "sizes": [int(n) for n in reversed(t.shape.tolist())],
                        "bytes": t.data.tobytes().hex()})
    return tensors


def split():
    writer = GGUFWriter(HERE / "split.gguf", "test", split_max_tensors=2)
    writer.add_key_value("answer", 42, V.UINT32)
    for i in range(5):
        writer.add_tensor(f"t{i}", np.full((2, 4), i, np.float32))
    finish(writer)


def damaged(good):
    """name -> bytes; offsets: 0 magic, 4 version, 8 tensor count, 16 pair count, 24 first key's length."""
    def put(at, fmt, *values):
        out = bytearray(good)
        struct.pack_into(fmt, out, at, *values)
        return bytes(out)
    first_type = 24 + 8 + struct.unpack_from("<Q", good, 24)[0]
    record = good.index(b"f32", good.index(b"array.empty_text")) - 8
    rank = record + 8 + 3
    yield "bad_magic", put(0, "<4s", b"GGML")
    yield "bad_version", put(4, "<I", 7)
    yield "big_endian", put(4, ">I", 3)
    yield "huge_tensor_count", put(8, "<Q", 2**63)
    yield "huge_pair_count", put(16, "<Q", 2**40)
    yield "huge_key", put(24, "<Q", 2**64 - 1)
    yield "unknown_value_type", put(first_type, "<I", 99)
    yield "nested_array", put(first_type, "<IIQ", 9, 9, 1)
    yield "rank_5", put(rank, "<I", 5)
    yield "huge_size", put(rank + 4, "<Q", 2**62)
    yield "unknown_tensor_type", put(rank + 20, "<I", 250)
    yield "withdrawn_tensor_type", put(rank + 20, "<I", 16)
    yield "misaligned_offset", put(rank + 24, "<Q", 1)
    yield "offset_out_of_file", put(rank + 24, "<Q", 2**62)
    yield "overlap", put(rank + 24, "<Q", 32)
    for cut in (0, 3, 10, 23, 30, 100, record + 4, len(good) - 40):
        yield f"cut_at_{cut}", good[:cut]


def tiny():
    """The smallest file with one pair and one tensor, written by hand: gives the fuzzer a short start."""
    pair = struct.pack("<Q", 1) + b"k" + struct.pack("<II", 4, 1)
    tensor = struct.pack("<Q", 1) + b"t" + struct.pack("<IQIQ", 1, 2, 0, 0)
    header = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + pair + tensor
    return header + bytes(-len(header) % 32) + struct.pack("<2f", 1, 2)


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    good_path = HERE / "all_types.gguf"
    all_types(good_path)
    (HERE / "all_types.json").write_text(json.dumps(describe(good_path), indent=1) + "\n")
    split()
    good = good_path.read_bytes()
    (CORPUS / "all_types").write_bytes(good)
    (CORPUS / "tiny").write_bytes(tiny())
    (CORPUS / "split_part").write_bytes((HERE / "split-00002-of-00003.gguf").read_bytes())
    for name, data in damaged(good):
        (CORPUS / name).write_bytes(data)


if __name__ == "__main__":
    main()
