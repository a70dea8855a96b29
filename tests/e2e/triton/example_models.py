# SPDX-License-Identifier: Apache-2.0
"""Models of the kinds in Triton's own example repository (simple, simple_int8, simple_string, simple_sequence,
simple_dyna_sequence, simple_identity, densenet_onnx, inception_onnx) and repeat_int32, which one of its clients asks
besides: the same names, tensors and sums, made here. Pictures are classified by their mean colours alone.

  example_models.py FOLDER      writes them
"""
import json
import struct
import sys
from pathlib import Path

from twins import IO, onnx, write

INT32, INT8, STRING, UINT64 = 6, 3, 8, 13
CONTROLS = {
    "START": "kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]",
    "END": "kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ]",
    "READY": "kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ]",
    "CORRID": "kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_{}",
}


def cast(name, out, element):
    return onnx.node("Cast", [name], [out], [onnx.attribute("to", element)])


def sum_and_difference(element):
    """OUTPUT0 = INPUT0 + INPUT1, OUTPUT1 = INPUT0 - INPUT1; texts as the numbers they are."""
    kind = onnx.tensor_type(element, ["batch", 16])
    if element == STRING:
        nodes = [cast("INPUT0", "a", INT32), cast("INPUT1", "b", INT32), onnx.node("Add", ["a", "b"], ["sum"]),
                 onnx.node("Sub", ["a", "b"], ["difference"]), cast("sum", "OUTPUT0", STRING), cast("difference", "OUTPUT1", STRING)]
    else:
        nodes = [onnx.node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"]), onnx.node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"])]
    return onnx.model(nodes, [("INPUT0", kind), ("INPUT1", kind)], [("OUTPUT0", kind), ("OUTPUT1", kind)])


def sequence_sum(corrid=None):
    """OUTPUT = READY * (INPUT + START), and with CORRID: + END * CORRID."""
    kind = onnx.tensor_type(INT32, ["batch", 1])
    names = ["INPUT", "START", "READY"]
    nodes = [onnx.node("Add", ["INPUT", "START"], ["begun"])]
    inputs = [(name, kind) for name in names]
    if corrid is not None:
        inputs += [("END", kind), ("CORRID", onnx.tensor_type(corrid, ["batch", 1]))]
        nodes += [cast("CORRID", "id", INT32), onnx.node("Mul", ["END", "id"], ["last"]), onnx.node("Add", ["begun", "last"], ["sum"])]
    nodes.append(onnx.node("Mul", ["READY", "begun" if corrid is None else "sum"], ["OUTPUT"]))
    return onnx.model(nodes, inputs, [("OUTPUT", kind)])


def pair(type_):
    return "".join(IO.format(what=what, name=f"{what.upper()}{i}", type=type_, dims=16) for what in ("input", "output") for i in (0, 1))


def controls(names, corrid="UINT64"):
    rows = ", ".join(f'{{ name: "{name}" control [ {{ {CONTROLS[name].format(corrid)} }} ] }}' for name in names)
    return f"control_input [ {rows} ]"


def write_repository(folder):
    onnx_8 = 'platform: "onnxruntime_onnx" max_batch_size: 8\n'
    one = IO.format(what="input", name="INPUT", type="TYPE_INT32", dims=1) + IO.format(what="output", name="OUTPUT", type="TYPE_INT32", dims=1)
    cpu = "instance_group [ { kind: KIND_CPU } ]\n"
    for name, element, type_ in (("simple", INT32, "TYPE_INT32"), ("simple_int8", INT8, "TYPE_INT8"), ("simple_string", STRING, "TYPE_STRING")):
        write(folder / name, f'name: "{name}"\n' + onnx_8 + pair(type_), files=[("1/model.onnx", sum_and_difference(element))])
    write(folder / "simple_sequence", onnx_8 + "sequence_batching { " + controls(["START", "READY"]) + " }\n" + one + cpu,
          files=[("1/model.onnx", sequence_sum())])
    write(folder / "simple_dyna_sequence", onnx_8 + "sequence_batching { max_sequence_idle_microseconds: 10000000 oldest { "
          "max_candidate_sequences: 1024 max_queue_delay_microseconds: 10000 } " + controls(["START", "END", "READY", "CORRID"]) + " }\n" + one +
          'parameters [ { key: "execute_delay_ms" value: { string_value: "3" } } ]\ninstance_group [ { count: 2 kind: KIND_CPU } ]\n',
          files=[("1/model.onnx", sequence_sum(UINT64))])
    write(folder / "simple_identity", 'backend: "identity" max_batch_size: 8\n' +
          IO.format(what="input", name="INPUT0", type="TYPE_STRING", dims=-1) + IO.format(what="output", name="OUTPUT0", type="TYPE_STRING", dims=-1))
    write(folder / "repeat_int32", 'backend: "repeat" model_transaction_policy { decoupled: true }\n' + cpu +
          IO.format(what="input", name="IN", type="TYPE_INT32", dims=-1) + IO.format(what="input", name="DELAY", type="TYPE_UINT32", dims=-1) +
          IO.format(what="input", name="WAIT", type="TYPE_UINT32", dims=1) + IO.format(what="output", name="OUT", type="TYPE_INT32", dims=1) +
          IO.format(what="output", name="IDX", type="TYPE_UINT32", dims=1))
    write_picture_models(folder)


def write_picture_models(folder):
    for name, file, (source, form, given, inner), (target, classes, made), axes in (
            ("densenet_onnx", "densenet_labels.txt", ("data_0", "NCHW", "3, 224, 224", [1, 3, 224, 224]), ("fc6_1", 1000, [1, 1000, 1, 1]), (2, 3)),
            ("inception_onnx", "inception_labels.txt", ("input:0", "NHWC", "299, 299, 3", [1, 299, 299, 3]),
             ("InceptionV3/Predictions/Softmax:0", 1001, [1, 1001]), (1, 2))):
        def shape(sizes):
            return f"reshape {{ shape: {json.dumps(sizes)} }}"
        config = (f'platform: "onnxruntime_onnx" max_batch_size : 0\n'
                  f'input [ {{ name: "{source}" data_type: TYPE_FP32 format: FORMAT_{form} dims: [ {given} ] {shape(inner)} }} ]\n'
                  f'output [ {{ name: "{target}" data_type: TYPE_FP32 dims: [ {classes} ] {shape(made)} label_filename: "{file}" }} ]\n')
        labels = "".join(f"CLASS {i}\n" for i in range(classes)).encode()
        write(folder / name, config, files=[("1/model.onnx", mean_colours((source, inner), (target, made), axes, classes)), (file, labels)])


def mean_colours(source, target, axes, classes):
    """The mean of each colour, times a matrix of small integers that is the same each time."""
    weights = struct.pack(f"<{3 * classes}f", *((7 * i * i + 3 * i) % 101 for i in range(3 * classes)))
    reduce = onnx.node("ReduceMean", [source[0]], ["mean"], [onnx.integers_attribute("axes", axes), onnx.attribute("keepdims", 0)])
    nodes = [reduce, onnx.node("MatMul", ["mean", "w"], ["classes"]), onnx.node("Reshape", ["classes", "shape"], [target[0]])]
    return onnx.model(nodes, [(source[0], onnx.tensor_type(onnx.FLOAT, source[1]))], [(target[0], onnx.tensor_type(onnx.FLOAT, target[1]))],
                      [onnx.tensor("w", onnx.FLOAT, [3, classes], weights),
                       onnx.tensor("shape", onnx.INT64, [len(target[1])], struct.pack(f"<{len(target[1])}q", *target[1]))])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_repository(Path(sys.argv[1]))
