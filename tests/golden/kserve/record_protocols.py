#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a real Triton Inference Server about what its protocols do besides inference, and writes what it answers: the
groups below, as files beside this script; those in JSON in the form of convert.py.

  record_protocols.py GROUP START --repository FOLDER

START is a program that serves a repository in the foreground: START REPOSITORY LOG HTTP_PORT GRPC_PORT METRICS_PORT and
options of tritonserver. FOLDER is the repository that the other recordings were made with (identity_fp32, ens, decoupled,
failing, seq, ... with Python models). Needs tritonclient[grpc].
"""
import argparse
import base64
import http.client
import json
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from multiprocessing import shared_memory
from pathlib import Path

HERE = Path(__file__).resolve().parent
J = {"Content-Type": "application/json"}
F16 = list(range(16))
MODEL = "/v2/models/identity_fp32"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Triton:
    """A server that is there until the block ends. FOLDER in an option is a folder of its own."""
    def __init__(self, start, repository, options):
        self.start, self.repository, self.options = start, repository, options

    def __enter__(self):
        self.holder = tempfile.TemporaryDirectory(prefix="record-")
        self.folder = Path(self.holder.name)
        shutil.copytree(self.repository, self.folder / "models")
        subprocess.run(["chmod", "-R", "u+w", str(self.folder)], check=True)
        self.http, self.grpc, self.metrics = free_ports(3)
        log = self.folder / "log"
        options = [o.replace("FOLDER", str(self.folder)) for o in self.options]
        self.process = subprocess.Popen([self.start, str(self.folder / "models"), str(log), str(self.http), str(self.grpc),
                                         str(self.metrics), *options])
        for _ in range(400):
            time.sleep(0.25)
            if self.process.poll() is not None:
                raise SystemExit("the server ended:\n" + log.read_text()[-3000:])
            if log.exists() and "Started Metrics Service" in log.read_text():
                return self
        raise SystemExit("the server did not start:\n" + log.read_text()[-3000:])

    def __exit__(self, *_):
        self.end()
        self.holder.cleanup()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)

    def ask(self, method, path, headers, body=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.http, timeout=30)
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None or method == "POST":
            connection.putheader("Content-Length", str(len(body or b"")))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def post(self, model, data, verb="infer"):
        return self.ask("POST", f"/v2/models/{model}/{verb}", J, json.dumps(data).encode())


def write(group, records):
    text = "[\n" + ",\n".join(json.dumps(one, ensure_ascii=True) for one in records) + "\n]\n"
    (HERE / f"{group}.json").write_text(re.sub(r'/[^\s"]*/record-\w+', "<FOLDER>", text))
    print(f"{group}: {len(records)} records")


class Http:
    def __init__(self, triton):
        self.triton, self.records = triton, []

    def __call__(self, name, method, path, body=None, headers=None):
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        headers = headers if headers is not None else J if text is not None else {}
        status, _, got = self.triton.ask(method, path, headers, None if text is None else text.encode())
        request = {"method": method, "path": path, **({"headers": headers} if headers else {}), **({} if text is None else {"body": text})}
        answer = {"status": status}
        try:
            answer["json"] = json.loads(got)
        except ValueError:
            if got:
                answer["text"] = got.decode("utf-8", "replace")
        self.records.append({"name": name, "request": request, "answer": answer})


class Grpc:
    def __init__(self, triton):
        import grpc
        from google.protobuf import json_format
        from tritonclient.grpc import service_pb2, service_pb2_grpc
        self.error, self.format, self.pb, self.records = grpc.RpcError, json_format, service_pb2, []
        self.stub = service_pb2_grpc.GRPCInferenceServiceStub(grpc.insecure_channel(f"127.0.0.1:{triton.grpc}"))

    def dict_of(self, message):
        return self.format.MessageToDict(message, preserving_proto_field_name=True)

    def run(self, record, metadata, work):
        if metadata:
            record["metadata"] = [list(one) for one in metadata]
        try:
            work()
        except self.error as error:
            record["error"] = {"code": error.code().name, "details": error.details()}
        self.records.append(record)

    def __call__(self, name, method, request, metadata=()):
        record = {"name": name, "method": method, "request": request}
        message = self.format.ParseDict(request, getattr(self.pb, method + "Request")())

        def work():
            record["response"] = self.dict_of(getattr(self.stub, method)(message, timeout=30, metadata=metadata))
        self.run(record, metadata, work)

    def stream(self, name, requests, metadata=()):
        record = {"name": name, "method": "ModelStreamInfer", "requests": requests, "responses": []}
        messages = [self.format.ParseDict(one, self.pb.ModelInferRequest()) for one in requests]

        def work():
            for response in self.stub.ModelStreamInfer(iter(messages), timeout=15, metadata=metadata):
                record["responses"].append(self.dict_of(response))
        self.run(record, metadata, work)


def input_of(**more):
    return {"name": "INPUT0", "shape": [1, 16], "datatype": "FP32", **more}


def grpc_infer(model="identity_fp32", name="INPUT0", shape=("1", "16"), datatype="FP32", content=struct.pack("<16f", *F16), **more):
    return {"model_name": model, "inputs": [{"name": name, "datatype": datatype, "shape": list(shape)}],
            "raw_input_contents": [base64.b64encode(content).decode()], **more}


def settings(args):
    """Settings of traces and of the log."""
    with Triton(args.start, args.repository, []) as triton:
        ask = Http(triton)
        trace, model = "/v2/trace/setting", MODEL + "/trace/setting"

        def get(name, path=trace):
            ask(name, "GET", path)

        def post(name, body, path=trace):
            ask(name, "POST", path, body)
        get("trace_get")
        get("trace_model_get", model)
        get("trace_model_missing", "/v2/models/nope/trace/setting")
        get("trace_version_get", MODEL + "/versions/1/trace/setting")
        post("trace_model_missing_post", {"trace_rate": "1"}, "/v2/models/nope/trace/setting")
        post("trace_empty_body", None)
        post("trace_empty_object", {})
        post("trace_array", [])
        post("trace_bad_json", "{")
        post("rate", {"trace_rate": "2000"})
        for name, value in (("number", 2000), ("word", "x"), ("tail", "20x"), ("negative", "-1"), ("zero", "0"), ("large", "4294967296"),
                            ("empty", ""), ("list", ["5"]), ("float", "1.5")):
            post("rate_" + name, {"trace_rate": value})
        get("after_rates")
        for name, value in (("five", "5"), ("minus_one", "-1"), ("minus_two", "-2"), ("word", "x"), ("number", 5), ("large", "4294967296")):
            post("count_" + name, {"trace_count": value})
        for name, value in (("ten", "10"), ("word", "x"), ("negative", "-1"), ("number", 1)):
            post("frequency_" + name, {"log_frequency": value})
        get("after_numbers")
        for name, value in (("timestamps", ["TIMESTAMPS"]), ("both", ["TENSORS", "TIMESTAMPS"]), ("unknown", ["FOO"]), ("text", "TIMESTAMPS"),
                            ("off_and", ["OFF", "TIMESTAMPS"]), ("and_off", ["TIMESTAMPS", "OFF"]), ("empty", []), ("number", [1]),
                            ("off", ["OFF"]), ("lower", ["timestamps"]), ("min", ["MIN"]), ("max", ["MAX"])):
            post("level_" + name, {"trace_level": value})
        get("after_levels")
        post("file", {"trace_file": "x"})
        post("file_null", {"trace_file": None})
        post("mode", {"trace_mode": "opentelemetry"})
        post("unknown", {"foo": "1"})
        post("half_wrong", {"trace_rate": "7", "trace_count": "x"})
        get("after_half_wrong")
        post("reset", {"trace_rate": None, "trace_level": None, "trace_count": None, "log_frequency": None})
        post("model_rate", {"trace_rate": "5"}, model)
        get("global_after_model")
        post("global_rate", {"trace_rate": "9", "trace_count": "4"})
        get("model_after_global", model)
        post("model_reset", {"trace_rate": None}, model)
        post("global_reset", {"trace_rate": None, "trace_count": None})
        get("model_after_reset", model)
        get("log_get", "/v2/logging")

        def log(name, body):
            ask(name, "POST", "/v2/logging", body)
        log("log_empty_body", None)
        log("log_empty_object", {})
        log("log_bad_json", "{")
        for name, value in (("on", 1), ("off", 0), ("negative", -1), ("text", "1")):
            log("log_verbose_" + name, {"log_verbose_level": value})
        log("log_info_off", {"log_info": False})
        log("log_info_on", {"log_info": True})
        log("log_warning_off", {"log_warning": False})
        log("log_error_off", {"log_error": False})
        log("log_both_on", {"log_warning": True, "log_error": True})
        for name, value in (("default", "default"), ("iso", "ISO8601"), ("wrong", "foo"), ("number", 1), ("back", "default")):
            log("log_format_" + name, {"log_format": value})
        log("log_unknown", {"foo": 1})
        log("log_bad_type", {"log_info": 5})
        log("log_file", {"log_file": "x"})
        log("log_half_wrong", {"log_info": False, "log_warning": 5})
        get("log_after_half_wrong", "/v2/logging")
        write("settings", ask.records)

        call = Grpc(triton)

        def trace_call(name, model=None, **given):
            call(name, "TraceSetting", {**({"model_name": model} if model else {}), **({"settings": {
                k: {"value": v} if v else {} for k, v in given.items()}} if given else {})})

        def log_call(name, **given):
            kinds = {bool: "bool_param", int: "uint32_param", str: "string_param"}
            call(name, "LogSettings", {"settings": {k: {kinds[type(v)]: v} for k, v in given.items()}})
        log_call("log_on", log_info=True)
        trace_call("trace_get")
        trace_call("rate", trace_rate=["2000"])
        trace_call("rate_word", trace_rate=["x"])
        trace_call("rate_two", trace_rate=["1", "2"])
        trace_call("rate_large", trace_rate=["4294967296"])
        trace_call("count_minus_two", trace_count=["-2"])
        trace_call("frequency", log_frequency=["3"])
        trace_call("level", trace_level=["TIMESTAMPS", "TENSORS"])
        trace_call("level_off_and", trace_level=["OFF", "TENSORS"])
        trace_call("level_unknown", trace_level=["FOO"])
        trace_call("file", trace_file=["x"])
        trace_call("unknown", foo=["x"])
        trace_call("model_rate", "identity_fp32", trace_rate=["5"])
        trace_call("model_missing", "nope", trace_rate=["5"])
        trace_call("reset", trace_rate=None, trace_level=None, log_frequency=None, trace_count=None)
        trace_call("model_reset", "identity_fp32", trace_rate=None)
        log_call("log_verbose", log_verbose_level=1)
        log_call("log_verbose_text", log_verbose_level="1")
        log_call("log_info_number", log_info=1)
        log_call("log_format_iso", log_format="ISO8601")
        log_call("log_format_wrong", log_format="foo")
        log_call("log_file", log_file="x")
        log_call("log_unknown", foo="x")
        log_call("log_back", log_format="default", log_verbose_level=0)
        write("grpc_settings", call.records)


def shm(args):
    """Tensors in shared memory."""
    region = shared_memory.SharedMemory(name="nereid_golden", create=True, size=256)
    region.buf[:64] = struct.pack("<16f", *F16)
    try:
        with Triton(args.start, args.repository, []) as triton:
            ask = Http(triton)
            base, at, key = "/v2/systemsharedmemory", "/v2/systemsharedmemory/region/r0", "/nereid_golden"
            register = lambda name, body: ask(name, "POST", at + "/register", body)
            ask("status_empty", "GET", base + "/status")
            register("register_missing_key", {"key": "/does_not_exist", "offset": 0, "byte_size": 64})
            register("register_no_key", {"offset": 0, "byte_size": 64})
            register("register_no_size", {"key": key})
            register("register_bad_json", "{")
            register("register_size_text", {"key": key, "byte_size": "64"})
            register("register_too_big", {"key": key, "offset": 0, "byte_size": 100000000})
            register("register_offset_too_big", {"key": key, "offset": 100000000, "byte_size": 64})
            ask("unregister_unknown", "POST", at + "/unregister")
            register("register", {"key": key, "offset": 0, "byte_size": 256})
            register("register_again", {"key": key, "offset": 0, "byte_size": 256})
            ask("status", "GET", base + "/status")
            ask("region_status", "GET", at + "/status")
            ask("region_status_missing", "GET", base + "/region/nope/status")
            place = lambda offset, size, region="r0": {"shared_memory_region": region, "shared_memory_byte_size": size, "shared_memory_offset": offset}

            def infer(name, parameters, output=None, **more):
                body = {"inputs": [input_of(parameters=parameters, **more)]}
                if output:
                    body["outputs"] = [{"name": "OUTPUT0", "parameters": output}]
                ask(name, "POST", MODEL + "/infer", body)
            infer("in_and_out", place(0, 64), place(64, 64))
            infer("in", place(0, 64))
            infer("in_from_out", place(64, 64))
            infer("unknown_region", place(0, 64, "nope"))
            infer("out_of_range", place(224, 64))
            infer("offset_beyond", place(1000, 64))
            infer("size_mismatch", place(0, 60))
            infer("out_too_small", place(0, 64), place(64, 32))
            infer("out_unknown_region", place(0, 64), place(64, 64, "nope"))
            infer("out_and_binary", place(0, 64), {**place(64, 64), "binary_data": True})
            infer("out_and_classes", place(0, 64), {**place(64, 64), "classification": 1})
            infer("and_data", place(0, 64), data=F16)
            infer("no_size", {"shared_memory_region": "r0"})
            infer("negative_offset", place(-1, 64))
            ask("unregister", "POST", at + "/unregister")
            ask("unregister_again", "POST", at + "/unregister")
            ask("unregister_all", "POST", base + "/unregister")
            cuda = "/v2/cudasharedmemory"
            handle = {"raw_handle": {"b64": base64.b64encode(bytes(64)).decode()}, "device_id": 0, "byte_size": 64}
            ask("cuda_status", "GET", cuda + "/status")
            ask("cuda_status_missing", "GET", cuda + "/region/c0/status")
            ask("cuda_register", "POST", cuda + "/region/c0/register", handle)
            ask("cuda_register_no_handle", "POST", cuda + "/region/c0/register", {"device_id": 0, "byte_size": 64})
            ask("cuda_unregister", "POST", cuda + "/unregister")
            ask("cuda_unregister_one", "POST", cuda + "/region/c0/unregister")
            write("shm", ask.records)

            call = Grpc(triton)
            register = lambda name, **more: call(name, "SystemSharedMemoryRegister", {"name": "r0", "key": key, "byte_size": "256", **more})
            region.buf[64:128] = bytes(64)
            register("register_too_big", byte_size="100000000")
            register("register_missing_key", key="/does_not_exist")
            register("register")
            register("register_again")
            call("status", "SystemSharedMemoryStatus", {})
            call("status_missing", "SystemSharedMemoryStatus", {"name": "nope"})

            def place_of(offset, size, name="r0"):
                return {"shared_memory_region": {"string_param": name}, "shared_memory_byte_size": {"int64_param": str(size)},
                        **({"shared_memory_offset": {"int64_param": str(offset)}} if offset else {})}

            def infer_call(name, given, wanted=None, **more):
                one = {"model_name": "identity_fp32", "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": ["1", "16"], "parameters": given}], **more}
                if wanted:
                    one["outputs"] = [{"name": "OUTPUT0", "parameters": wanted}]
                call(name, "ModelInfer", one)
            infer_call("in_and_out", place_of(0, 64), place_of(64, 64))
            infer_call("in_from_out", place_of(64, 64))
            infer_call("unknown_region", place_of(0, 64, "nope"))
            infer_call("out_of_range", place_of(224, 64))
            infer_call("offset_beyond", place_of(1000, 64))
            infer_call("size_mismatch", place_of(0, 60))
            infer_call("out_too_small", place_of(0, 64), place_of(64, 32))
            infer_call("out_unknown_region", place_of(0, 64), place_of(64, 64, "nope"))
            infer_call("no_size", {"shared_memory_region": {"string_param": "r0"}})
            infer_call("and_raw", place_of(0, 64), raw_input_contents=[base64.b64encode(struct.pack("<16f", *F16)).decode()])
            call("unregister", "SystemSharedMemoryUnregister", {"name": "r0"})
            call("unregister_again", "SystemSharedMemoryUnregister", {"name": "r0"})
            call("unregister_all", "SystemSharedMemoryUnregister", {})
            write("grpc_shm", call.records)
    finally:
        region.close()
        region.unlink()


def streams(args):
    """Streams over gRPC."""
    with Triton(args.start, args.repository, []) as triton:
        call = Grpc(triton)
        count = lambda n, **more: grpc_infer("decoupled", "COUNT", ["1"], "INT32", struct.pack("<i", n), **more)
        step = lambda v, *flags: grpc_infer("seq", "INPUT0", ["1", "1"], "INT32", struct.pack("<i", v), id=str(v), parameters={
            "sequence_id": {"int64_param": "88"}, **{k: {"bool_param": True} for k in flags}})
        final = {"triton_enable_empty_final_response": {"bool_param": True}}
        call.stream("two", [grpc_infer(id="a"), grpc_infer(id="b")])
        call.stream("no_id", [grpc_infer()])
        call.stream("decoupled_three", [count(3, id="d")])
        call.stream("decoupled_zero", [count(0, id="z")])
        call.stream("decoupled_zero_empty_final", [count(0, id="z", parameters=final)])
        call.stream("decoupled_empty_final", [count(2, id="f", parameters=final)])
        call.stream("empty_final_of_one_answer", [grpc_infer(id="p", parameters=final)])
        call.stream("empty_final_of_wrong_type", [grpc_infer(id="p", parameters={"triton_enable_empty_final_response": {"int64_param": "1"}})])
        call.stream("unknown_model", [grpc_infer("nope", id="u"), grpc_infer(id="after")])
        call.stream("unknown_version", [grpc_infer(id="v", model_version="9"), grpc_infer(id="after")])
        call.stream("wrong_shape", [grpc_infer(shape=["1", "8"], content=bytes(32), id="w"), grpc_infer(id="after")])
        call.stream("failing", [grpc_infer("failing", shape=["1"], content=struct.pack("<f", 1), id="x"), grpc_infer(id="after")])
        call.stream("error_ends_it", [grpc_infer("nope", id="u")], [("triton_grpc_error", "true")])
        call.stream("no_error_ends_nothing", [grpc_infer(id="a"), grpc_infer(id="b")], [("triton_grpc_error", "true")])
        call.stream("sequence", [step(1, "sequence_start"), step(2), step(3, "sequence_end")])
        call.stream("ensemble", [grpc_infer("ens", "IN", id="e")])
        call.stream("nothing", [])
        write("grpc_streams", call.records)


PARAMETERS_CONFIG = '''name: "parameters" backend: "python" max_batch_size: 0
input [ { name: "IN" data_type: TYPE_STRING dims: [ 1 ] } ]
output [ { name: "OUT" data_type: TYPE_STRING dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU count: 1 } ]
'''
PARAMETERS_MODEL = '''import json
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        texts = [json.dumps(json.loads(one.parameters() or "{}"), sort_keys=True) for one in requests]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([t.encode()], dtype=np.object_))]) for t in texts]
'''


def headers(args):
    """Headers that become parameters."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "parameters"
        (model / "1").mkdir(parents=True)
        (model / "config.pbtxt").write_text(PARAMETERS_CONFIG)
        (model / "1" / "model.py").write_text(PARAMETERS_MODEL)
        options = ["--http-header-forward-pattern=my_.*|^priority$|sequence_id|triton_", "--grpc-header-forward-pattern=my_.*|^priority$|triton_"]
        with Triton(args.start, folder, options) as triton:
            ask = Http(triton)
            body = {"inputs": [{"name": "IN", "shape": [1], "datatype": "BYTES", "data": ["x"]}]}
            infer = lambda name, given, more=None: ask(name, "POST", "/v2/models/parameters/infer", {**body, **(more or {})}, {**J, **given})
            infer("none", {})
            infer("one", {"my_header": "a"})
            infer("case", {"My_Header": "A", "MY_OTHER": "b"})
            infer("inside", {"x-my_header": "a"})
            infer("others", {"X-Other": "a"})
            infer("twice", {"my_a": "1", "my_A": "2"})
            infer("parameter_too", {"my_a": "header"}, {"parameters": {"my_a": "body", "n": 3}})
            infer("reserved", {"priority": "3"})
            infer("reserved_sequence", {"sequence_id": "3"})
            infer("reserved_triton", {"triton_x": "3"})
            ask("generate", "POST", "/v2/models/parameters/generate", {"IN": "x", "p": 1}, {**J, "my_header": "a"})
            write("headers", ask.records)
            call = Grpc(triton)
            one = lambda **more: grpc_infer("parameters", "IN", ["1"], "BYTES", struct.pack("<I", 1) + b"x", **more)
            call("none", "ModelInfer", one())
            call("one", "ModelInfer", one(), [("my_header", "a")])
            call("inside", "ModelInfer", one(), [("x-my_header", "a")])
            call("parameter_too", "ModelInfer", one(parameters={"my_a": {"string_param": "body"}}), [("my_a", "header")])
            call("reserved", "ModelInfer", one(), [("priority", "3")])
            call("reserved_triton", "ModelInfer", one(), [("triton_x", "3")])
            call.stream("stream", [one(id="1"), one(id="2")], [("my_header", "a")])
            write("grpc_headers", call.records)


def restricted(args):
    """Groups of endpoints that need a header."""
    options = ["--http-restricted-api=health,metadata:key-a=value-a", "--http-restricted-api=inference,logging:key-b=value-b",
               "--grpc-restricted-protocol=health,metadata:key-a=value-a", "--grpc-restricted-protocol=inference,trace:key-b=value-b"]
    with Triton(args.start, args.repository, options) as triton:
        ask = Http(triton)
        for name, given in (("without", {}), ("wrong", {"key-a": "x"}), ("right", {"key-a": "value-a"}), ("case", {"Key-A": "value-a"})):
            for what, path in (("live", "/v2/health/live"), ("ready", "/v2/health/ready"), ("model", MODEL), ("model_ready", MODEL + "/ready"),
                               ("config", MODEL + "/config")):
                ask(f"{what}_{name}", "GET", path, headers=given)
        ask("metadata_without", "GET", "/v2")
        body = {"inputs": [input_of(data=F16)]}
        ask("infer_without", "POST", MODEL + "/infer", body)
        ask("infer_with_another", "POST", MODEL + "/infer", body, {**J, "key-a": "value-a"})
        ask("infer_right", "POST", MODEL + "/infer", body, {**J, "key-b": "value-b"})
        ask("generate_without", "POST", "/v2/models/decoupled/generate_stream", {"COUNT": 1})
        ask("log_without", "GET", "/v2/logging")
        ask("trace_open", "GET", "/v2/trace/setting")
        ask("index_open", "POST", "/v2/repository/index")
        write("restricted", ask.records)
        call = Grpc(triton)
        for name, metadata in (("without", []), ("wrong", [("triton-grpc-protocol-key-a", "x")]), ("plain", [("key-a", "value-a")]),
                               ("right", [("triton-grpc-protocol-key-a", "value-a")])):
            call("live_" + name, "ServerLive", {}, metadata)
            call("model_" + name, "ModelMetadata", {"name": "identity_fp32"}, metadata)
        key = [("triton-grpc-protocol-key-b", "value-b")]
        call("infer_without", "ModelInfer", grpc_infer())
        call("infer_right", "ModelInfer", grpc_infer(), key)
        call.stream("stream_without", [grpc_infer()])
        call.stream("stream_right", [grpc_infer()], key)
        call("trace_without", "TraceSetting", {})
        call("log_open", "LogSettings", {})
        write("grpc_restricted", call.records)


def traces(args):
    """Files of traces, one a request: trace_file_LEVEL.txt has a line a file."""
    for level in ("TIMESTAMPS", "TENSORS"):
        options = ["--trace-config=rate=1", f"--trace-config=level={level}", "--trace-config=triton,file=FOLDER/trace.json",
                   "--trace-config=triton,log-frequency=1"]
        with Triton(args.start, args.repository, options) as triton:
            asked = [lambda: triton.post("identity_fp32", {"id": "r1", "inputs": [input_of(data=F16)]}),
                     lambda: triton.post("identity_fp32", {"inputs": [{**input_of(data=F16[:8]), "shape": [1, 8]}]}),
                     lambda: triton.post("failing", {"inputs": [{"name": "INPUT0", "shape": [1], "datatype": "FP32", "data": [1]}]}),
                     lambda: triton.post("ens", {"inputs": [{**input_of(data=F16), "name": "IN"}]}),
                     lambda: triton.post("decoupled", {"COUNT": 2}, "generate_stream"),
                     lambda: triton.post("seq", {"inputs": [{"name": "INPUT0", "shape": [1, 1], "datatype": "INT32", "data": [5]}],
                                                 "parameters": {"sequence_id": 9, "sequence_start": True, "sequence_end": True}})]
            if level == "TIMESTAMPS":
                call = Grpc(triton)
                asked += [lambda: call("x", "ModelInfer", grpc_infer()), lambda: call.stream("x", [grpc_infer(id="s")])]
            for one in asked:
                one()
                time.sleep(0.5)
            triton.end()
            files = sorted(triton.folder.glob("trace.json*"), key=lambda p: (len(p.name), p.name))
            (HERE / f"trace_file_{level.lower()}.txt").write_text("".join(f"{p.name}: {p.read_text()}\n" for p in files))
            print(f"trace_file_{level.lower()}: {len(files)} files")


def metrics(args):
    """What /metrics says, with all families and without sums of durations."""
    all_of_them = ["--metrics-config=summary_latencies=true", "--metrics-config=histogram_latencies=true", "--cache-config=local,size=1048576"]
    for name, options in (("metrics", all_of_them), ("metrics_no_counters", ["--metrics-config=counter_latencies=false"])):
        with Triton(args.start, args.repository, options) as triton:
            triton.post("identity_fp32", {"inputs": [input_of(data=F16)]})
            triton.post("ens", {"inputs": [{**input_of(data=F16), "name": "IN"}]})
            (HERE / f"{name}.txt").write_bytes(triton.ask("GET", "/metrics", {}, port=triton.metrics)[2])
            print(name)


GROUPS = {one.__name__: one for one in (settings, shm, streams, headers, restricted, traces, metrics)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", choices=[*GROUPS, "all"])
    parser.add_argument("start")
    parser.add_argument("--repository", required=True)
    args = parser.parse_args()
    for name, group in GROUPS.items():
        if args.group in (name, "all"):
            group(args)


if __name__ == "__main__":
    main()
