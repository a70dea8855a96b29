# SPDX-License-Identifier: Apache-2.0
"""The models of the recorded scenarios: each with a configuration, a Python model for the recorded server, and the native
model that does the same in ours."""
from pathlib import Path

HEADER = """import time
import numpy as np
import triton_python_backend_utils as pb


def value(request, name):
    return pb.get_input_tensor_by_name(request, name).as_numpy()


def answer(array):
    return pb.InferenceResponse(output_tensors=[pb.Tensor("OUTPUT0", array)])


class TritonPythonModel:
"""
# What each says of a request; the native ones are in src/server/backend/{identity,example}.
PYTHON = {
    "identity": """
    def execute(self, requests):
        return [answer(value(r, "INPUT0")) for r in requests]
""",
    "slow": """
    def execute(self, requests):
        time.sleep(0.3)
        return [answer(value(r, "INPUT0")) for r in requests]
""",
    "accumulate": """
    def initialize(self, args):
        self.sums = {}

    def execute(self, requests):
        out = []
        for r in requests:
            key = value(r, "CORRID").flatten()[0]
            if value(r, "START").flatten()[0]:
                self.sums[key] = 0
            self.sums[key] = self.sums.get(key, 0) + int(value(r, "INPUT0").flatten()[0])
            out.append(answer(np.array([[self.sums[key]]], dtype=np.int32)))
        return out
""",
    "tally": """
    def initialize(self, args):
        self.requests, self.first = 0, 0

    def execute(self, requests):
        out = []
        for r in requests:
            array = value(r, "INPUT0")
            first = int(array.flatten()[0]) if array.size else 0
            self.requests += 1
            if self.requests == 1:
                self.first = first
            row = [self.requests, self.first, array.size, first]
            out.append(answer(np.array([row] * array.shape[0], dtype=np.int32)))
        return out
""",
    "fail": """
    def execute(self, requests):
        return [pb.InferenceResponse(error=pb.TritonError("deliberate response error", pb.TritonError.INVALID_ARG))
                for r in requests]
""",
    "countdown": """
    def initialize(self, args):
        self.left = {}

    def execute(self, requests):
        out = []
        for r in requests:
            key = r.correlation_id()
            if value(r, "START").flatten()[0]:
                self.left[key] = int(value(r, "INPUT0").flatten()[0])
            left = self.left[key]
            if left > 1:
                self.left[key] = left - 1
                r.set_release_flags(pb.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
                out.append(None)
            else:
                out.append(answer(np.array([[left]], dtype=np.int32)))
        return out
""",
    "countdown_stream": """
    def execute(self, requests):
        for r in requests:  # one at a time
            if value(r, "START").flatten()[0]:
                self.left = int(value(r, "INPUT0").flatten()[0])
            r.get_response_sender().send(answer(np.array([[self.left]], dtype=np.int32)))
            self.left -= 1
            if self.left > 0:
                r.set_release_flags(pb.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
            else:
                r.get_response_sender().send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
""",
    "count": """
    def execute(self, requests):
        for r in requests:
            sender = r.get_response_sender()
            for i in range(int(value(r, "INPUT0").flatten()[0])):
                sender.send(answer(np.array([i], dtype=np.int32)))
            sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
""",
}
NATIVE = {"countdown_stream": 'backend: "countdown"', "slow": 'backend: "identity" parameters { key: "execute_delay_ms" value { string_value: "300" } }'}


def tensors(type_, dims, outputs=None):
    return (f'input [ {{ name: "INPUT0" data_type: {type_} dims: [ {dims} ] }} ]\n'
            f'output [ {{ name: "OUTPUT0" data_type: {type_} dims: [ {outputs or dims} ] }} ]\n')


def model(kind, config, files=None, native=""):
    """`native`: what only the native model's configuration says."""
    return {"kind": kind, "config": config, "files": files or {}, "native": native}


def controls(corrid):
    def one(name, kind):
        return f'{{ name: "{name}" control [ {{ kind: CONTROL_SEQUENCE_{kind} int32_false_true: [ 0, 1 ] }} ] }}'
    return (f'control_input [ {one("START", "START")}, {one("END", "END")}, {one("READY", "READY")}, '
            f'{{ name: "CORRID" control [ {{ kind: CONTROL_SEQUENCE_CORRID data_type: {corrid} }} ] }} ]')


CPU = "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
TALLY = tensors("TYPE_INT32", "-1", "4") + CPU


def sequence_model(corrid, rules, batch):
    return model("accumulate", f"max_batch_size: {batch}\n" + tensors("TYPE_INT32", "1") + CPU +
                 f"sequence_batching {{ {rules} {controls(corrid)} }}\n")


SEQUENCE = {
    "direct": sequence_model("TYPE_UINT64", "max_sequence_idle_microseconds: 10000000", 4),
    "texts": sequence_model("TYPE_STRING", "max_sequence_idle_microseconds: 10000000", 4),
    "oldest": sequence_model("TYPE_UINT64", "max_sequence_idle_microseconds: 10000000 oldest { max_candidate_sequences: 2 }", 2),
    "short": sequence_model("TYPE_UINT64", "max_sequence_idle_microseconds: 200000", 1),
    "plain": model("identity", "max_batch_size: 4\n" + tensors("TYPE_INT32", "1") + CPU),
}

CACHE_ENSEMBLE = '''platform: "ensemble" max_batch_size: 4
input [ { name: "INPUT0" data_type: TYPE_INT32 dims: [ -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 4 ] } ]
ensemble_scheduling { step [ { model_name: "uncached" model_version: -1
  input_map { key: "INPUT0" value: "INPUT0" } output_map { key: "OUTPUT0" value: "OUTPUT0" } } ] }
response_cache { enable: true }
'''
KEPT = "response_cache { enable: true }\n"
CACHE = {
    "cached": model("tally", "max_batch_size: 4\n" + TALLY + KEPT),
    "uncached": model("tally", "max_batch_size: 4\n" + TALLY),
    "batching": model("tally", "max_batch_size: 4\ndynamic_batching { max_queue_delay_microseconds: 1000 }\n" + TALLY + KEPT),
    "wide": model("identity", tensors("TYPE_INT32", "-1") + CPU + KEPT),
    "square": model("identity", tensors("TYPE_INT32", "-1, -1") + CPU + KEPT),
    "failing": model("fail", tensors("TYPE_FP32", "1") + CPU + KEPT),
    "joined": model("ensemble", CACHE_ENSEMBLE),
    "of_sequences": model("accumulate", SEQUENCE["direct"]["config"] + KEPT),
    "of_many": model("count", tensors("TYPE_INT32", "1") + CPU + "model_transaction_policy { decoupled: true }\n" + KEPT),
}


def queue_model(policy):
    return model("slow", "max_batch_size: 1\n" + tensors("TYPE_INT32", "1") + CPU + f"dynamic_batching {{ {policy} }}\n")


QUEUE = {
    "short": queue_model("default_queue_policy { max_queue_size: 2 }"),
    "late": queue_model("default_queue_policy { default_timeout_microseconds: 100000 }"),
    "told": queue_model("default_queue_policy { default_timeout_microseconds: 10000000 allow_timeout_override: true }"),
    "fixed": queue_model("default_queue_policy { default_timeout_microseconds: 10000000 }"),
    "delayed": queue_model("default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 100000 }"),
    "levels": queue_model("priority_levels: 2 default_priority_level: 2 "
                          "priority_queue_policy { key: 1 value { max_queue_size: 1 } }"),
    "bad_order": queue_model("preserve_ordering: true default_queue_policy { timeout_action: DELAY }"),
    "bad_level": queue_model("priority_levels: 2 default_priority_level: 3"),
    "bad_policy": queue_model("priority_levels: 2 default_priority_level: 1 "
                              "priority_queue_policy { key: 3 value { max_queue_size: 1 } }"),
    "bad_size": queue_model("preferred_batch_size: [ 2 ]"),
}


def warm(batch, data, count=0, dims="3", type_="TYPE_INT32", name="INPUT0", sample="sample"):
    return (f'model_warmup [ {{ name: "{sample}" batch_size: {batch} count: {count} inputs {{ key: "{name}" '
            f'value {{ data_type: {type_} dims: [ {dims} ] {data} }} }} }} ]\n')


def warm_model(warmups, kind="tally", batch=4, files=None, io=TALLY):
    return model(kind, f"max_batch_size: {batch}\n" + io + warmups, files)


FILE = {"warmup/three": bytes([7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0])}
WARMUP = {
    "zeros": warm_model(warm(1, "zero_data: true")),
    "twice": warm_model(warm(1, "zero_data: true", 2)),
    "batch": warm_model(warm(3, "zero_data: true")),
    "file": warm_model(warm(1, 'input_data_file: "three"'), files=FILE),
    "several": warm_model(warm(1, "zero_data: true", 2) + warm(2, 'input_data_file: "three"', sample="other"), files=FILE),
    "bad_file": warm_model(warm(1, 'input_data_file: "none"')),
    "bad_file_size": warm_model(warm(1, 'input_data_file: "three"', dims="4"), files=FILE),
    "bad_name": warm_model(warm(1, "zero_data: true", name="OTHER")),
    "bad_type": warm_model(warm(1, "zero_data: true", type_="TYPE_FP32")),
    "bad_batch": warm_model(warm(9, "zero_data: true")),
    "bad_dims": warm_model(warm(1, "zero_data: true", dims="-1")),
    "no_batch": model("identity", tensors("TYPE_INT32", "3") + CPU + warm(0, "random_data: true")),
}


def placed(groups, kind="identity", more=""):
    return model(kind, "max_batch_size: 4\n" + tensors("TYPE_INT32", "1") + (f"instance_group [ {groups} ]\n" if groups else "") + more)


def taking(count, more="", kind="slow"):
    limits = f'rate_limiter {{ resources [ {{ name: "R" count: {count} {more} }} ] }}'
    return placed(f"{{ kind: KIND_CPU count: 1 {limits} }}", kind)


INSTANCES = {
    "silent": placed(""),
    "two": placed("{ kind: KIND_CPU count: 2 }"),
    "groups": placed('{ kind: KIND_CPU count: 1 }, { name: "named" kind: KIND_CPU count: 2 }'),
    "of_model": placed("{ kind: KIND_MODEL count: 1 }"),
    "auto": placed("{ kind: KIND_AUTO count: 2 }"),
    "counted_0": placed("{ kind: KIND_CPU count: 0 }"),
    "counted_below_0": placed("{ kind: KIND_CPU count: -1 }"),
    "gpu": placed("{ kind: KIND_GPU count: 1 }"),
    "cpu_with_gpus": placed("{ kind: KIND_CPU count: 1 gpus: [ 0 ] }"),
    "with_passive": placed("{ kind: KIND_CPU count: 1 }, { kind: KIND_CPU count: 1 passive: true }"),
    "only_passive": placed("{ kind: KIND_CPU count: 1 passive: true }"),
    "policy": placed('{ kind: KIND_CPU count: 1 host_policy: "other" }'),
    "unknown_policy": placed('{ kind: KIND_CPU count: 1 host_policy: "unknown" }'),
    "takes_one": taking(1),
    "takes_two": taking(2),
    "takes_three": taking(3, kind="identity"),
    "takes_global": taking(1, "global: true", "identity"),
    "ordered": placed("{ kind: KIND_CPU count: 2 }", "slow", "dynamic_batching { preserve_ordering: true }\n"),
}
START = ('control_input [ { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] } ]')
COUNTDOWN = "max_batch_size: 4\n" + tensors("TYPE_INT32", "1") + CPU
LEFT = ' state [ { input_name: "LEFT" output_name: "REST" data_type: TYPE_INT32 dims: [ 1 ] } ]'


def countdown(kind, more=""):
    return model(kind, COUNTDOWN + more + "sequence_batching { iterative_sequence: true " + START + "NATIVE }\n", native=LEFT)


ITERATIVE = {
    "countdown": countdown("countdown"),
    "countdown_stream": countdown("countdown_stream", "model_transaction_policy { decoupled: true }\n"),
}


def batching(rules, batch=8, ragged=False):
    io = TALLY.replace('dims: [ -1 ] }', 'dims: [ -1 ] allow_ragged_batch: true }', 1) if ragged else TALLY
    return model("tally", f"max_batch_size: {batch}\n" + io + f"dynamic_batching {{ {rules} }}\n")


SECOND = "max_queue_delay_microseconds: 1000000"
BATCHES = {
    "ragged": batching(f"preferred_batch_size: [ 4 ] {SECOND}", ragged=True),
    "alike": batching(f"preferred_batch_size: [ 4 ] {SECOND}"),
    "patient": batching(SECOND),
    "small": batching("max_queue_delay_microseconds: 30000000", 2),
    "preferred": batching("preferred_batch_size: [ 2, 3 ] max_queue_delay_microseconds: 30000000"),
}
GROUPS = {"sequence": SEQUENCE, "cache": CACHE, "queue": QUEUE, "warmup": WARMUP,
          "instances": INSTANCES, "iterative": ITERATIVE, "batches": BATCHES}


def write(models, folder, is_python):
    """The repository, of Python models for the recorded server or of native ones."""
    for name, one in models.items():
        version = Path(folder) / name / "1"
        version.mkdir(parents=True)
        kind = one["kind"]
        config = one["config"].replace("NATIVE", "" if is_python else one["native"])
        if kind != "ensemble":
            config = ('backend: "python"' if is_python else NATIVE.get(kind, f'backend: "{kind}"')) + "\n" + config
            if is_python:
                (version / "model.py").write_text(HEADER + PYTHON[kind])
        (version.parent / "config.pbtxt").write_text(config)
        for path, content in one["files"].items():
            (version.parent / path).parent.mkdir(exist_ok=True)
            (version.parent / path).write_bytes(content)
