# SPDX-License-Identifier: Apache-2.0
"""Model repositories like those that the recordings in tests/golden/kserve were made with: the same names, tensors and
sizes, with native models instead of Python ones; and what of the recorded answers is different by that alone."""
import base64
import json
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import onnx_bytes as onnx  # noqa: E402

FLOAT, INT32 = onnx.FLOAT, 6
IO = '{what} [ {{ name: "{name}" data_type: {type} dims: [ {dims} ] }} ]\n'


def tensors(type_, dims, inputs=("INPUT0",), outputs=("OUTPUT0",)):
    return "".join(IO.format(what="input", name=n, type=type_, dims=dims) for n in inputs) + \
        "".join(IO.format(what="output", name=n, type=type_, dims=dims) for n in outputs)


def onnx_binary(operator, element, raw, size):
    """OUTPUT0 = INPUT0 operator constant, for a batch of any size."""
    kind = onnx.tensor_type(element, ["batch", size])
    return onnx.model([onnx.node(operator, ["INPUT0", "c"], ["OUTPUT0"])], [("INPUT0", kind)], [("OUTPUT0", kind)],
                      [onnx.tensor("c", element, [], raw)])


def add_model(number):
    return onnx_binary("Add", FLOAT, struct.pack("<f", number), 16)


def onnx_select():
    """OUTPUT0 = INPUT0 + START * 100, for a batch of any size: a model that is told where a sequence begins."""
    kind = onnx.tensor_type(INT32, ["batch", 1])
    return onnx.model([onnx.node("Mul", ["START", "c"], ["hundreds"]), onnx.node("Add", ["INPUT0", "hundreds"], ["OUTPUT0"])],
                      [("INPUT0", kind), ("START", kind)], [("OUTPUT0", kind)],
                      [onnx.tensor("c", INT32, [], struct.pack("<i", 100))])


def write(folder, config=None, versions=(1,), files=()):
    folder.mkdir(parents=True)
    for version in versions:
        (folder / str(version)).mkdir()
    if config is not None:
        (folder / "config.pbtxt").write_text(config)
    for name, content in files:
        (folder / name).write_bytes(content)


ENSEMBLE = '''name: "ens" platform: "ensemble" max_batch_size: 8
input [ { name: "IN" data_type: TYPE_FP32 dims: [ 16 ] } ]
output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 16 ] } ]
ensemble_scheduling { step [
  { model_name: "identity_fp32" model_version: -1
    input_map { key: "INPUT0" value: "IN" } output_map { key: "OUTPUT0" value: "mid" } },
  { model_name: "identity_dyn" model_version: -1
    input_map { key: "INPUT0" value: "mid" } output_map { key: "OUTPUT0" value: "OUT" } } ] }
'''
SEQUENCE = '''sequence_batching { max_sequence_idle_microseconds: 5000000 control_input [
    { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
    { name: "END" control [ { kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ] } ] },
    { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } ] },
    { name: "CORRID" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } ] } ] }
'''


def write_repository(folder):
    cpu = "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
    identity = 'backend: "identity"\n' + cpu
    write(folder / "identity_fp32", 'name: "identity_fp32" max_batch_size: 8\n' + identity + tensors("TYPE_FP32", 16))
    write(folder / "identity_dyn", 'name: "identity_dyn" max_batch_size: 64\n' + identity + tensors("TYPE_FP32", 16) +
          "dynamic_batching { preferred_batch_size: [ 8, 16 ] max_queue_delay_microseconds: 500 }\n")
    write(folder / "identity_1mib", 'name: "identity_1mib"\n' + identity + tensors("TYPE_FP32", 262144))
    write(folder / "identity_bytes", 'name: "identity_bytes"\n' + identity + tensors("TYPE_STRING", -1))
    write(folder / "autocomplete",
          files=[("1/model.onnx", onnx_binary("Mul", INT32, struct.pack("<i", 2), 4))])
    write(folder / "ens", ENSEMBLE)
    write(folder / "decoupled", 'name: "decoupled" backend: "count" model_transaction_policy { decoupled: true }\n' + cpu +
          IO.format(what="input", name="COUNT", type="TYPE_INT32", dims=1) +
          IO.format(what="output", name="OUT", type="TYPE_INT32", dims=1) +
          'parameters { key: "greeting" value { string_value: "hello" } }\n')
    write(folder / "failing", 'name: "failing" backend: "fail"\n' + cpu + tensors("TYPE_FP32", 1))
    write(folder / "seq", 'name: "seq" backend: "accumulate" max_batch_size: 4\n' + cpu + tensors("TYPE_INT32", 1) + SEQUENCE)


def write_parameters_model(folder):
    """A model that answers with the parameters of its request."""
    write(folder / "parameters", 'name: "parameters" backend: "parameters"\ninstance_group [ { kind: KIND_CPU count: 1 } ]\n' +
          tensors("TYPE_STRING", 1, ["IN"], ["OUT"]))


def write_bad_repository(folder):
    identity = 'backend: "identity" max_batch_size: 8\n' + tensors("TYPE_FP32", 16)
    write(folder / "bad_backend", identity.replace("identity", "nosuchbackend"))
    write(folder / "bad_dims", identity.replace("[ 16 ]", "[ 0 ]", 1))
    write(folder / "bad_ens", 'platform: "ensemble" max_batch_size: 8\n' + tensors("TYPE_FP32", 16, ["IN"], ["OUT"]) +
          'ensemble_scheduling { step [ { model_name: "nosuch" model_version: -1 '
          'input_map { key: "INPUT0" value: "IN" } output_map { key: "OUTPUT0" value: "OUT" } } ] }')
    write(folder / "bad_init", files=[("1/model.onnx", b"this is no model")])
    write(folder / "bad_name", 'name: "other_name" ' + identity)
    write(folder / "bad_no_version", identity, versions=())
    write(folder / "bad_syntax", 'name: "bad_syntax" backend: "identity" max_batch_size: 8 input [ { name: ')
    write(folder / "bad_unknown_field", "foo: 3 " + identity)
    write(folder / "multi", 'max_batch_size: 8 version_policy { all { } }\n' + tensors("TYPE_FP32", 16), (1, 2),
          [("1/model.onnx", add_model(0)), ("2/model.onnx", add_model(100))])


# What the twins are, where the recorded server had Python models.
ONNX_TWINS = ("autocomplete", "multi")
OTHER_BACKENDS = {"decoupled": "count", "failing": "fail", "seq": "accumulate"}


def twin_of(answer):
    """The recorded answer, as the twin's must be."""
    if isinstance(answer, list):
        return [twin_of(one) for one in answer]
    if not isinstance(answer, dict):
        return answer
    answer = {key: twin_of(value) for key, value in answer.items()}
    name = answer.get("name")
    backend = OTHER_BACKENDS.get(name, "identity")
    if answer.get("platform") == "python":
        answer["platform"] = "onnxruntime_onnx" if name in ONNX_TWINS else backend
    if answer.get("backend") == "python":
        answer["backend"] = "onnxruntime" if name in ONNX_TWINS else backend
        answer["default_model_filename"] = "model.onnx" if name in ONNX_TWINS else ""
        if name in ONNX_TWINS:
            answer["platform"] = "onnxruntime_onnx"
    if answer.get("error", "").startswith(("Failed to process the request(s) for model 'failing",
                                           "load failed for model 'bad_init'")):
        answer["error"] = ANY
    if name == "bad_init" and "reason" in answer:
        answer["reason"] = ANY
    return answer


class Any:
    """Equal to everything: where the texts are those of Python."""
    def __eq__(self, other):
        return True

    def __repr__(self):
        return "<anything>"


ANY = Any()


def twin_request(record):
    """The request, with files and configurations of the twins."""
    request = dict(record["request"])
    if "/repository/" not in request["path"] or "body" not in request:
        return request
    try:
        body = json.loads(request["body"])
        parameters = body["parameters"]
    except (ValueError, KeyError, TypeError):
        return request
    config = parameters.get("config")
    if isinstance(config, str) and "python" in config:
        backend = "onnxruntime" if "fromfile" in config else "identity"
        parameters["config"] = config.replace('"python"', f'"{backend}"')
    if "file:1/model.py" in parameters:
        del parameters["file:1/model.py"]
        parameters["file:1/model.onnx"] = base64.b64encode(add_model(1)).decode()
    request["body"] = json.dumps(body)
    return request
