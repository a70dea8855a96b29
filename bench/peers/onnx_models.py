# SPDX-License-Identifier: Apache-2.0
"""Makes ResNet-50 and MobileNetV2 as ONNX files, as an exporter from a training framework writes them: a convolution
without bias, BatchNormalization and an activation for each layer, weights drawn from a seed. Needs the onnx package.

  python onnx_models.py resnet50|mobilenet_v2 OUT.onnx
  python onnx_models.py resnet50|mobilenet_v2 OUT.onnx u8|s8     quantised: QuantizeLinear and DequantizeLinear around
                                                                 every layer, int8 weights with a scale a channel,
                                                                 activations of that type; needs onnxruntime too
  python onnx_models.py MODEL.onnx OUT.onnx dynamic              a text encoder with its products quantised as they run
"""
import math
import os
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 13
CLASSES = 1000


class Net:
    def __init__(self, name, seed, folded=False):
        self.name, self.nodes, self.weights = name, [], []
        self.folded = folded  # normalisation inside the weights, as a network is before it is quantised
        self.random = numpy.random.default_rng(seed)
        self.count = 0

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(array.astype(numpy.float32), name))
        return name

    def node(self, op, inputs, **attributes):
        self.count += 1
        out = f"{op.lower()}_{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [out], name=f"{op}_{self.count}", **attributes))
        return out

    def conv(self, x, into, out, kernel, stride=1, groups=1):
        """Convolution and normalisation, scaled so that values neither grow nor vanish with the depth."""
        fan = into // groups * kernel * kernel
        name = f"layer{self.count}"
        values = self.random.normal(0, math.sqrt(2 / fan), (out, into // groups, kernel, kernel))
        pad = kernel // 2
        window = {"kernel_shape": [kernel, kernel], "strides": [stride, stride], "pads": [pad] * 4, "dilations": [1, 1]}
        vectors = {"gamma": self.random.uniform(0.8, 1.2, out), "beta": self.random.normal(0, 0.1, out),
                   "mean": self.random.normal(0, 0.1, out), "var": self.random.uniform(0.8, 1.2, out)}
        if self.folded:
            scale = vectors["gamma"] / numpy.sqrt(vectors["var"] + 1e-5)
            w = self.weight(f"{name}.weight", values * scale[:, None, None, None])
            b = self.weight(f"{name}.bias", vectors["beta"] - vectors["mean"] * scale)
            return self.node("Conv", [x, w, b], group=groups, **window)
        x = self.node("Conv", [x, self.weight(f"{name}.weight", values)], group=groups, **window)
        return self.node("BatchNormalization", [x, *(self.weight(f"{name}.{k}", v) for k, v in vectors.items())],
                         epsilon=1e-5, momentum=0.9)

    def classifier(self, x, width):
        x = self.node("GlobalAveragePool", [x])
        x = self.node("Flatten", [x], axis=1)
        w = self.weight("fc.weight", self.random.normal(0, math.sqrt(1 / width), (CLASSES, width)))
        b = self.weight("fc.bias", self.random.normal(0, 0.01, CLASSES))
        self.nodes.append(helper.make_node("Gemm", [x, w, b], ["logits"], name="fc", alpha=1.0, beta=1.0, transB=1))

    def model(self):
        graph = helper.make_graph(
            self.nodes, self.name, [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", 3, 224, 224])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8,
                                  producer_name="nereid-bench")
        onnx.checker.check_model(model)
        return model


def resnet50(seed=1, folded=False):
    net = Net("resnet50", seed, folded)
    x = net.node("Relu", [net.conv("input", 3, 64, 7, 2)])
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    into = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            y = net.node("Relu", [net.conv(x, into, width, 1)])
            y = net.node("Relu", [net.conv(y, width, width, 3, stride)])
            y = net.conv(y, width, 4 * width, 1)
            skip = net.conv(x, into, 4 * width, 1, stride) if block == 0 else x
            x = net.node("Relu", [net.node("Add", [y, skip])])
            into = 4 * width
    net.classifier(x, into)
    return net.model()


def mobilenet_v2(seed=1, folded=False):
    net = Net("mobilenet_v2", seed, folded)
    low, high = (net.weight(n, numpy.array(v)) for n, v in (("clip.min", 0.0), ("clip.max", 6.0)))

    def relu6(x):
        return net.node("Clip", [x, low, high])

    x = relu6(net.conv("input", 3, 32, 3, 2))
    into = 32
    # Of each stage: how much wider the middle is, channels, blocks, stride of the first.
    for expand, out, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                        (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            step, hidden = stride if block == 0 else 1, into * expand
            y = relu6(net.conv(x, into, hidden, 1)) if expand > 1 else x
            y = net.conv(relu6(net.conv(y, hidden, hidden, 3, step, groups=hidden)), hidden, out, 1)
            x = net.node("Add", [x, y]) if step == 1 and into == out else y
            into = out
    net.classifier(relu6(net.conv(x, into, 1280, 1)), 1280)
    return net.model()


MODELS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2}


def quantised(model, activations, out):
    """Static: ranges from four random images."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Images(CalibrationDataReader):
        def __init__(self):
            random = numpy.random.default_rng(7)
            self.left = iter([{"input": random.normal(0, 1, (1, 3, 224, 224)).astype(numpy.float32)} for _ in range(4)])

        def get_next(self):
            return next(self.left, None)

    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "plain.onnx")
        onnx.save(model, plain)
        quantize_static(plain, out, Images(), quant_format=QuantFormat.QDQ, per_channel=True,
                        weight_type=QuantType.QInt8,
                        activation_type=QuantType.QUInt8 if activations == "u8" else QuantType.QInt8,
                        extra_options={"ActivationSymmetric": activations == "s8"})


def main(arguments):
    if len(arguments) == 3 and arguments[2] == "dynamic":
        from onnxruntime.quantization import QuantType, quantize_dynamic
        quantize_dynamic(arguments[0], arguments[1], per_channel=True, weight_type=QuantType.QInt8)
    elif len(arguments) == 3 and arguments[0] in MODELS and arguments[2] in ("u8", "s8"):
        quantised(MODELS[arguments[0]](folded=True), arguments[2], arguments[1])
    elif len(arguments) == 2 and arguments[0] in MODELS:
        onnx.save(MODELS[arguments[0]](), arguments[1])
    else:
        sys.exit(__doc__.strip())


if __name__ == "__main__":
    main(sys.argv[1:])
