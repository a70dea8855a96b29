#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seeds of value_file_fuzz (tests/corpus/value_file_fuzz) with the onnx package; see the fuzzer for the first
byte: the container in it modulo 6, the element type in its high half, maps of texts from 8 on in its low half."""
from pathlib import Path

import numpy as np
from onnx import MapProto, TensorProto, helper, numpy_helper

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "value_file_fuzz"
TENSOR, SEQUENCE, OPTIONAL, OPTIONAL_SEQUENCE, MAP, MAPS = range(6)
F32, STRING, I64, BF16, U4, C64 = range(6)


def first(container, element, texts=False):
    for low in range(8, 16) if texts else range(8):
        if (element * 16 + low) % 6 == container:
            return bytes([element * 16 + low])
    raise ValueError("there is no such byte")


def main():
    row = np.array([1, 2], np.float32)
    texts = np.array(["a", "\u00e4"], object)
    numbers = numpy_helper.from_dict({1: np.float32(2), 300: np.float32(3)})
    named = MapProto(key_type=TensorProto.STRING, string_keys=[b"cat"], values=numpy_helper.from_list([row[:1]]))
    seeds = {
        "tensor": first(TENSOR, F32) + numpy_helper.from_array(row).SerializeToString(),
        "listed": first(TENSOR, I64) + helper.make_tensor("x", TensorProto.INT64, [3], [1, -2, 3]).SerializeToString(),
        "texts": first(TENSOR, STRING) + numpy_helper.from_array(texts).SerializeToString(),
        "half": first(TENSOR, BF16) + helper.make_tensor("x", TensorProto.BFLOAT16, [2], [1, 2]).SerializeToString(),
        "nibbles": first(TENSOR, U4) + helper.make_tensor("x", TensorProto.UINT4, [3], [1, 2, 3]).SerializeToString(),
        "complex": first(TENSOR, C64) + numpy_helper.from_array(row.astype(np.complex64)).SerializeToString(),
        "sequence": first(SEQUENCE, F32) + numpy_helper.from_list([row, row[:1]]).SerializeToString(),
        "empty_sequence": first(SEQUENCE, F32) + numpy_helper.from_list([], dtype=1).SerializeToString(),
        "optional": first(OPTIONAL, F32) + numpy_helper.from_optional(row).SerializeToString(),
        "nothing": first(OPTIONAL, F32),
        "optional_sequence": first(OPTIONAL_SEQUENCE, F32) + numpy_helper.from_optional([row]).SerializeToString(),
        "map": first(MAP, F32) + numbers.SerializeToString(),
        "map_of_texts": first(MAP, F32, True) + named.SerializeToString(),
        "maps": first(MAPS, F32) + numpy_helper.from_list([{1: np.float32(2)}]).SerializeToString(),
        "huge": first(TENSOR, F32) + b"\x08\x80\x80\x80\x80\x80\x20\x10\x01",
        "cut": first(SEQUENCE, F32) + numpy_helper.from_list([row]).SerializeToString()[:-3],
    }
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        (CORPUS / name).write_bytes(content)


if __name__ == "__main__":
    main()
