# SPDX-License-Identifier: Apache-2.0
"""Makes classifier.onnx, a small network of images, and classifier.json, what onnxruntime says of six images.

Needs the packages onnx, numpy and onnxruntime (1.23.2, any, 1.32.0 when the files were made):  make_classifier.py
An image is value(i) = (((i + shift) * 37) % 101) / 101, as in examples/.
"""
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
random = np.random.default_rng(20261130)


def weight(name, *sizes, scale=1.0):
    return numpy_helper.from_array((random.standard_normal(sizes) * scale).astype(np.float32), name)


def model():
    weights = [
        weight("conv1.weight", 8, 3, 3, 3, scale=0.3), weight("conv1.bias", 8, scale=0.1),
        weight("bn1.scale", 8), weight("bn1.bias", 8), weight("bn1.mean", 8, scale=0.1),
        numpy_helper.from_array(np.abs(random.standard_normal(8)).astype(np.float32) + 0.5, "bn1.var"),
        weight("conv2.weight", 16, 8, 3, 3, scale=0.2), weight("conv2.bias", 16, scale=0.1),
        weight("fc.weight", 10, 16, scale=0.8), weight("fc.bias", 10, scale=0.2),
    ]
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c1", "bn1.scale", "bn1.bias", "bn1.mean", "bn1.var"], ["n1"]),
        helper.make_node("Relu", ["n1"], ["r1"]),
        helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "conv2.weight", "conv2.bias"], ["c2"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("GlobalAveragePool", ["r2"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "fc.weight", "fc.bias"], ["logits"], transB=1),
        helper.make_node("Softmax", ["logits"], ["scores"], axis=1),
    ]
    graph = helper.make_graph(nodes, "classifier",
                              [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 16, 16])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 10])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def image(shift):
    i = np.arange(3 * 16 * 16, dtype=np.int64) + shift
    return (((i * 37) % 101).astype(np.float32) / np.float32(101)).reshape(1, 3, 16, 16)


def main():
    net = model()
    onnx.checker.check_model(net)
    (HERE / "classifier.onnx").write_bytes(net.SerializeToString())
    session = onnxruntime.InferenceSession(net.SerializeToString(), providers=["CPUExecutionProvider"])
    scores = {str(shift): [float(v) for v in session.run(None, {"image": image(shift)})[0][0]] for shift in range(6)}
    (HERE / "classifier.json").write_text(json.dumps(scores, indent=1) + "\n")


if __name__ == "__main__":
    main()
