#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/corpus/grpc_messages_fuzz: the requests of the recorded calls (tests/golden/kserve/grpc_*.json) as bytes, and
some that no client sends. Needs tritonclient[grpc]."""
import json
import struct
from pathlib import Path

from google.protobuf import json_format
from tritonclient.grpc import service_pb2 as pb

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "kserve"


def write(name, message):
    (HERE / "grpc_messages_fuzz" / name).write_bytes(message if isinstance(message, bytes) else message.SerializeToString(deterministic=True))


def main():
    (HERE / "grpc_messages_fuzz").mkdir(exist_ok=True)
    for file in ("grpc_infer", "grpc_streams"):
        path = GOLDEN / f"{file}.json"
        for record in json.loads(path.read_text()) if path.exists() else ():
            for i, request in enumerate(record.get("requests", [record.get("request")])):
                if record["method"] in ("ModelInfer", "ModelStreamInfer"):
                    write(f"{record['name']}_{i}", json_format.ParseDict(request, pb.ModelInferRequest()))
    huge = pb.ModelInferRequest(model_name="m")
    huge.inputs.add(name="INPUT0", datatype="FP32", shape=[2**62, 2**62])
    huge.raw_input_contents.append(b"1234")
    write("shape_overflow", huge)
    texts = pb.ModelInferRequest(model_name="m")
    texts.inputs.add(name="INPUT0", datatype="FP32", shape=[1, 1])
    texts.inputs.add(name="T", datatype="BYTES", shape=[1, 2])
    texts.raw_input_contents.extend([bytes(4), struct.pack("<I", 0xFFFFFFFF) + b"ab"])
    output = texts.outputs.add(name="INPUT0")
    output.parameters["classification"].int64_param = -1
    write("length_of_text_beyond_the_end", texts)
    good = pb.ModelInferRequest(model_name="m", id="1")
    good.inputs.add(name="INPUT0", datatype="FP32", shape=[2, 3])
    good.raw_input_contents.append(struct.pack("<6f", *range(6)))
    good.outputs.add(name="INPUT0").parameters["classification"].int64_param = 2**62
    write("classes_of_a_batch", good)
    write("no_message", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")


if __name__ == "__main__":
    main()
