#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/corpus/onnx_model_fuzz: small ONNX files of every construction the reader knows. Needs the onnx package."""
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OUT = Path(__file__).resolve().parents[2] / "corpus" / "onnx_model_fuzz"
F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, kind=F, shape=("n", 4)):
    return helper.make_tensor_value_info(name, kind, shape)


def tensor(name, values, dtype=np.float32):
    return numpy_helper.from_array(np.array(values, dtype), name)


def write(name, nodes, inputs, outputs, initializers=(), opset=17, **more):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("own", 1)], **more)
    (OUT / f"{name}.onnx").write_bytes(model.SerializeToString())


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    node = helper.make_node
    write("chain", [node("MatMul", ["x", "w"], ["a"]), node("Add", ["a", "b"], ["c"]), node("Relu", ["c"], ["y"])],
          [info("x")], [info("y")], [tensor("w", np.eye(4)), tensor("b", [1, 2, 3, 4])])
    write("shapes", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"]), node("Unsqueeze", ["n", "zero1"], ["u"]),
                     node("Concat", ["u", "two"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
          [info("x")], [info("y", F, ("n", 2, 2))],
          [tensor("zero", 0, np.int64), tensor("zero1", [0], np.int64), tensor("two", [2, 2], np.int64)])
    then = helper.make_graph([node("Neg", ["x"], ["t"])], "then", [], [info("t")])
    other = helper.make_graph([node("Abs", ["x"], ["e"])], "else", [], [info("e")])
    write("branch", [node("If", ["c"], ["y"], then_branch=then, else_branch=other)], [info("x"), info("c", B, ())], [info("y")])
    body = helper.make_graph([node("Add", ["v", "x"], ["w"]), node("Identity", ["go"], ["more"]), node("Identity", ["w"], ["z"])],
                             "body", [info("i", I, ()), info("go", B, ()), info("v")], [info("more", B, ()), info("w"), info("z")])
    write("loop", [node("Loop", ["trips", "", "x"], ["y", "all"], body=body)], [info("x"), info("trips", I, ())],
          [info("y"), info("all", F, ("t", "n", 4))])
    own = helper.make_function("own", "Twice", ["a"], ["b"],
                               [node("Add", ["a", "a"], ["c"]), helper.make_node("Clip", ["c"], ["b"])],
                               [helper.make_opsetid("", 17)])
    write("function", [node("Twice", ["x"], ["y"], domain="own")], [info("x")], [info("y")], functions=[own])
    write("old", [node("Clip", ["x"], ["a"], min=0.0, max=1.0), node("Reshape", ["a"], ["y"], shape=[-1, 2])], [info("x")],
          [info("y", F, ("m", 2))], opset=4)
    sequence = helper.make_tensor_sequence_value_info("s", F, ("n", 4))
    write("sequence", [node("SequenceConstruct", ["x", "x"], ["s"])], [info("x")], [sequence])
    sparse = helper.make_sparse_tensor(tensor("sv", [3.0]), tensor("si", [5], np.int64), [2, 4])
    write("constant", [node("Constant", [], ["k"], sparse_value=sparse), node("Add", ["x", "k"], ["y"])], [info("x", F, (2, 4))],
          [info("y", F, (2, 4))])


if __name__ == "__main__":
    main()
