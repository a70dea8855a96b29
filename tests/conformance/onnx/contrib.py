#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares operators of com.microsoft, one at a time, with onnxruntime.

  tests/conformance/onnx/contrib.py --nereid build/bin/nereid      with a Python that has numpy, onnx and onnxruntime

Inputs are random but always the same. An operator passes if its largest difference is at most 1e-4 of the output's
range. Those that onnxruntime has for GPUs alone (GroupNorm, BiasAdd, BiasSplitGelu) have unit tests instead.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(7)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def codes(*shape):
    return RANDOM.integers(0, 256, shape, dtype=np.uint8)


def n_bits(bits, n, k, block, zeros=None, bias=False):
    blocks = -(-k // block)
    constants = {"b": codes(n, blocks, block * bits // 8), "s": np.abs(normal(n, blocks)) * 0.1 + 0.01}
    if zeros == "packed":
        constants["z"] = codes(n, -(-blocks * bits // 8))
    elif zeros == "real":
        constants["z"] = normal(n, blocks) + 2 ** (bits - 1)
    if bias:
        constants["c"] = normal(n)
    names = ["a", "b", "s", "z" if zeros else "", "", "c" if bias else ""]
    return "MatMulNBits", names, {"a": normal(3, k)}, constants, {"N": n, "K": k, "block_size": block, "bits": bits}


def gather(bits, rows, width, block, zeros, indices):
    blocks = -(-width // block)
    constants = {"d": codes(rows, width * bits // 8), "s": np.abs(normal(rows, blocks)) + 0.01}
    if zeros:
        constants["z"] = codes(rows, -(-blocks * bits // 8))
    attrs = {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1}
    return "GatherBlockQuantized", ["d", "i", "s"] + ["z"] * zeros, {"i": np.array(indices, np.int64)}, constants, attrs


def gemm(activation, **attrs):
    return ("FusedGemm", ["a", "b", "c"], {"a": normal(5, 7), "b": normal(7, 9), "c": normal(9)}, {},
            {"activation": activation, **attrs})


CASES = [
    n_bits(4, 24, 64, 32), n_bits(4, 24, 64, 32, "packed", True), n_bits(4, 5, 96, 32, "packed"),
    n_bits(4, 8, 50, 16, "real"), n_bits(8, 8, 64, 32, "packed"), n_bits(2, 8, 64, 16, "packed"),
    gather(4, 11, 64, 32, True, [[0, 3], [10, 10]]), gather(8, 11, 64, 32, True, [-1]),
    gather(4, 6, 32, 16, False, [5, 0, 1]),
    gemm("Relu"), gemm("LeakyRelu", activation_alpha=0.3, alpha=0.5, beta=2.0),
    ("CDist", ["x", "w"], {"x": normal(5, 9), "w": normal(7, 9)}, {}, {"metric": "euclidean"}),
    ("Inverse", ["x"], {"x": normal(3, 6, 6)}, {}, {}),
    ("QuickGelu", ["x"], {"x": normal(4, 9)}, {}, {"alpha": 1.5}),
    ("BiasGelu", ["x", "b"], {"x": normal(4, 9), "b": normal(9)}, {}, {}),
    ("FastGelu", ["x", "b"], {"x": normal(4, 9), "b": normal(9)}, {}, {}),
    ("FusedMatMul", ["x", "w"], {"x": normal(2, 5, 4), "w": normal(2, 3, 5)}, {},
     {"transA": 1, "transB": 1, "alpha": 0.25}),
]


def model_of(op, names, given, constants, attrs):
    node = helper.make_node(op, names, ["y"], domain="com.microsoft", **attrs)
    inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
              for n, v in given.items()]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21),
                                                                  helper.make_opsetid("com.microsoft", 1)])


def check(nereid, case, folder):
    model = model_of(*case)
    path = folder / "m.onnx"
    onnx.save(model, path)
    given = case[2]
    want = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, given)
    specs = []
    for name, value in given.items():
        np.save(folder / f"{name}.npy", value)
        specs.append(f"{name}={folder / name}.npy")
    done = subprocess.run([nereid, "infer", path, "--inputs", ",".join(specs), "--outputs", folder / "out"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"nereid ended with {done.returncode}: {done.stderr.strip()}"
    got = np.load(folder / "out" / "y.npy")
    if got.shape != want[0].shape:
        return f"the shape is {got.shape}, onnxruntime's {want[0].shape}"
    error = np.abs(got - want[0]).max() / max(np.ptp(want[0]), 1e-30)
    return None if error <= 1e-4 else f"differs by {error:.1e} of the range"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nereid", default="build/bin/nereid")
    args = parser.parse_args()
    failed = 0
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(args.nereid, case, Path(folder))
        failed += wrong is not None
        print(f"{'FAIL' if wrong else 'ok  '} {case[0]} {case[4]}{': ' + wrong if wrong else ''}")
    print(f"contrib {len(CASES) - failed}/{len(CASES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
