#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the small safetensors files of the tests and of the fuzzer's corpus. Needs: safetensors 0.8.0, numpy.

  all_types.safetensors, sharded/*       beside this script: written by the Python package safetensors; what is in
                                         all_types is repeated in all_types.json
  tests/corpus/safetensors_fuzz/*        the same and damaged copies: one fault each, named by it
  tests/corpus/safetensors_index_fuzz/*  the index of sharded/ and wrong ones
"""
import json
import struct
from pathlib import Path

import numpy as np
from safetensors import TensorSpec, serialize

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "corpus" / "safetensors_fuzz"
INDEX_CORPUS = HERE.parent.parent / "corpus" / "safetensors_index_fuzz"
# our name, the package's name, bytes of an element
TYPES = [("f64", "float64", 8), ("f32", "float32", 4), ("f16", "float16", 2), ("bf16", "bfloat16", 2), ("i64", "int64", 8),
         ("i32", "int32", 4), ("i16", "int16", 2), ("i8", "int8", 1), ("u64", "uint64", 8), ("u32", "uint32", 4),
         ("u16", "uint16", 2), ("u8", "uint8", 1), ("bool", "bool", 1), ("f8e4m3", "float8_e4m3fn", 1),
         ("f8e5m2", "float8_e5m2", 1)]


def pack(tensors, metadata=None):
    """tensors: name -> (the package's dtype name, shape, bytes)"""
    alive = {name: np.frombuffer(data, np.uint8) for name, (_, _, data) in tensors.items()}
    specs = {name: TensorSpec(dtype=kind, shape=shape, data_ptr=alive[name].ctypes.data, data_len=len(data))
             for name, (kind, shape, data) in tensors.items()}
    return bytes(serialize(specs, metadata))


def all_types():
    rng = np.random.default_rng(1)
    tensors, described = {}, []
    for name, kind, size in TYPES:
        shape = [2, 3]
        data = rng.integers(0, 2 if name == "bool" else 256, 6 * size, dtype=np.uint8).tobytes()
        tensors[name] = (kind, shape, data)
        described.append({"name": name, "sizes": shape, "bytes": data.hex()})
    for name, shape in (("scalar", []), ("empty", [0, 4])):
        data = np.zeros(int(np.prod(shape)), np.float32).tobytes()
        tensors[name] = ("float32", shape, data)
        described.append({"name": name, "sizes": shape, "bytes": data.hex()})
    return pack(tensors, {"format": "pt", "note": "näreid"}), sorted(described, key=lambda t: t["name"])


def by_hand(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype="F32", shape=(2,), begin=0, end=8):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def damaged(good):
    yield "tiny", by_hand({"t": entry()}, bytes(8))
    yield "misaligned", by_hand(b'{"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   ', bytes(8))
    yield "overlap", by_hand({"a": entry(), "b": entry(begin=4, end=12)}, bytes(12))
    yield "hole", by_hand({"a": entry(), "b": entry(begin=12, end=20)}, bytes(20))
    yield "trailing_bytes", by_hand({"a": entry()}, bytes(9))
    yield "out_of_file", by_hand({"a": entry(shape=(4,), end=16)}, bytes(8))
    yield "wrong_size", by_hand({"a": entry(shape=(3,))}, bytes(8))
    yield "product_overflows", by_hand({"a": entry(shape=(2**40, 2**40))}, bytes(8))
    yield "negative_size", by_hand({"a": entry(shape=(-2,))}, bytes(8))
    yield "float_size", by_hand({"a": entry(shape=(2.5,))}, bytes(8))
    yield "reversed_offsets", by_hand({"a": entry(begin=8, end=0)}, bytes(8))
    yield "unknown_dtype", by_hand({"a": entry(dtype="C64", shape=(1,))}, bytes(8))
    yield "no_dtype", by_hand({"a": {"shape": [2], "data_offsets": [0, 8]}}, bytes(8))
    yield "not_an_object", by_hand(b"[1,2]")
    yield "broken_json", by_hand(b'{"a":')
    yield "deep_json", by_hand(b'{"a":' + b"[" * 2000)
    yield "bad_utf8", by_hand(b'{"\xff\xfe":1}')
    yield "bad_metadata", by_hand({"__metadata__": {"k": 1}})
    yield "header_past_end", by_hand(b"{}", length=2**40)
    yield "header_huge", by_hand(b"{}", length=2**64 - 1)
    for cut in (0, 7, 8, 40, len(good) - 1):
        yield f"cut_at_{cut}", good[:cut]


def sharded():
    folder = HERE / "sharded"
    folder.mkdir(exist_ok=True)
    weight_map = {}
    for shard in (1, 2):
        file = f"model-{shard:05}-of-00002.safetensors"
        tensors = {f"layer.{shard}.{kind}": ("float32", [2, 2], np.full((2, 2), shard, np.float32).tobytes()) for kind in "ab"}
        (folder / file).write_bytes(pack(tensors, {"format": "pt"}))
        weight_map.update({name: file for name in tensors})
    index = {"metadata": {"total_size": 64}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
    (INDEX_CORPUS / "good").write_text(json.dumps(index))
    for name, wrong in (("outside", {"weight_map": {"t": "../x"}}), ("no_map", {}), ("number", {"weight_map": {"t": 1}})):
        (INDEX_CORPUS / name).write_text(json.dumps(wrong))


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    INDEX_CORPUS.mkdir(parents=True, exist_ok=True)
    good, described = all_types()
    (HERE / "all_types.safetensors").write_bytes(good)
    (HERE / "all_types.json").write_text(json.dumps(described, indent=1) + "\n")
    sharded()
    (CORPUS / "all_types").write_bytes(good)
    for name, data in damaged(good):
        (CORPUS / name).write_bytes(data)


if __name__ == "__main__":
    main()
