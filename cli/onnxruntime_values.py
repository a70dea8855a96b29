# SPDX-License-Identifier: Apache-2.0
"""Runs a model with onnxruntime, its optimisations off, and writes values from inside it as .npy files.

Called by `nereid check --against onnxruntime`: python onnxruntime_values.py MODEL REQUEST.json FOLDER
REQUEST.json: {"inputs": {name: file.npy}, "values": [names]}; FOLDER gets index.json ({name: file}) and the files.
Exit codes: 3 there is no onnxruntime here, 4 it does not take the model; the reason on stderr.
"""
import json
import os
import sys


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def with_outputs(model, names):
    """The model with further outputs: messages of the format that follow each other are merged into one."""
    outputs = b"".join(field(12, field(1, name.encode())) for name in names)  # GraphProto.output, ValueInfoProto.name
    return model + field(7, outputs)  # ModelProto.graph


def main():
    path, request_path, folder = sys.argv[1:4]
    try:
        import numpy
        import onnxruntime
    except ImportError as problem:
        print(problem, file=sys.stderr)
        return 3
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    with open(path, "rb") as file:
        model = file.read()
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.add_session_config_entry("session.model_external_initializers_file_folder_path",
                                     os.path.dirname(os.path.abspath(path)))

    def open_session(content):
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    try:
        declared = [output.name for output in open_session(model).get_outputs()]
        wanted = [name for name in request["values"] if name not in declared]
        session = open_session(with_outputs(model, wanted))
        feeds = {name: numpy.load(file) for name, file in request["inputs"].items()}
        names = declared + wanted
        values = session.run(names, feeds)
    except Exception as problem:  # onnxruntime has an exception type for each of its codes
        print(str(problem).replace("\n", " "), file=sys.stderr)
        return 4
    index = {}
    for i, (name, value) in enumerate(zip(names, values)):
        if name not in request["values"] or not isinstance(value, numpy.ndarray) or value.dtype == object:
            continue
        index[name] = f"{i}.npy"
        numpy.save(os.path.join(folder, index[name]), value)
    with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)
    return 0


sys.exit(main())
