# SPDX-License-Identifier: Apache-2.0
"""What a repository's configurations say of batches, sequences, states, limits and caches, through the whole server."""
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from served import PROGRAM, Served
from twins import INT32, onnx, write

CPU = "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
INT64 = 7


def int32_tensor(name, values, shape=None):
    return {"name": name, "shape": list(shape or [1, len(values)]), "datatype": "INT32", "data": list(values)}


def io(inputs, outputs, type_="TYPE_INT32"):
    def tensors(what, all_):
        return "".join(f'{what} [ {{ name: "{name}" data_type: {type_} dims: [ {dims} ] {more} }} ]\n' for name, dims, more in all_)
    return tensors("input", inputs) + tensors("output", outputs)


def ragged_sums():
    """OUT = the sum of a request's elements, from all requests' laid end to end and where each ends."""
    node = onnx.node
    return onnx.model(
        [node("CumSum", ["IN", "axis"], ["sums"]), node("Concat", ["zero", "sums"], ["padded"], [onnx.attribute("axis", 0)]),
         node("Sub", ["ENDS", "COUNTS"], ["begins"]), node("Gather", ["padded", "ENDS"], ["upto"]),
         node("Gather", ["padded", "begins"], ["before"]), node("Sub", ["upto", "before"], ["flat"]),
         node("Reshape", ["flat", "column"], ["OUT"]), node("Mul", ["IN", "two"], ["TWICE"])],
        [("IN", onnx.tensor_type(INT32, ["all"])), ("ENDS", onnx.tensor_type(INT32, ["requests"])),
         ("COUNTS", onnx.tensor_type(INT32, ["requests"]))],
        [("OUT", onnx.tensor_type(INT32, ["requests", 1])), ("TWICE", onnx.tensor_type(INT32, ["all"]))],
        [onnx.tensor("axis", INT32, [], struct.pack("<i", 0)), onnx.tensor("zero", INT32, [1], struct.pack("<i", 0)),
         onnx.tensor("two", INT32, [], struct.pack("<i", 2)), onnx.tensor("column", INT64, [2], struct.pack("<2q", -1, 1))])


def running_sum():
    """AFTER = BEFORE + IN, which is also the answer."""
    kind = onnx.tensor_type(INT32, ["batch", 1])
    return onnx.model([onnx.node("Add", ["IN", "BEFORE"], ["AFTER"]), onnx.node("Identity", ["AFTER"], ["OUT"])],
                      [("IN", kind), ("BEFORE", kind)], [("OUT", kind), ("AFTER", kind)], [])


RAGGED = "max_batch_size: 8 dynamic_batching { max_queue_delay_microseconds: 3000000 preferred_batch_size: [ 4 ] }\n" + CPU + \
    io([("IN", "-1", "allow_ragged_batch: true")], [("OUT", "1", ""), ("TWICE", "-1", "")]) + '''
batch_input [ { kind: BATCH_ACCUMULATED_ELEMENT_COUNT target_name: "ENDS" data_type: TYPE_INT32 source_input: "IN" },
              { kind: BATCH_ELEMENT_COUNT target_name: "COUNTS" data_type: TYPE_INT32 source_input: "IN" } ]
batch_output [ { kind: BATCH_SCATTER_WITH_INPUT_SHAPE target_name: "TWICE" source_input: "IN" } ]
'''
STATEFUL = "max_batch_size: 4\n" + CPU + io([("IN", "1", "")], [("OUT", "1", "")]) + '''
sequence_batching { oldest { max_candidate_sequences: 4 } state [ { input_name: "BEFORE" output_name: "AFTER"
  data_type: TYPE_INT32 dims: [ 1 ] initial_state: { name: "begin" data_type: TYPE_INT32 dims: [ 1 ] data_file: "begin" } } ] }
'''
COUNTDOWN = 'backend: "countdown" max_batch_size: 4\n' + CPU + io([("IN", "1", "")], [("OUT", "1", "")]) + '''
sequence_batching { iterative_sequence: true
  control_input [ { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] } ]
  state [ { input_name: "LEFT" output_name: "REST" data_type: TYPE_INT32 dims: [ 1 ] } ] }
'''


def slow(more, count=1, batch=1, delay=100):
    return f'backend: "identity" max_batch_size: {batch}\n' + io([("IN", "1", "")], [("OUT", "1", "")]) + \
        f'instance_group [ {{ kind: KIND_CPU count: {count} {more} }} ]\n' + \
        f'parameters {{ key: "execute_delay_ms" value {{ string_value: "{delay}" }} }}\n'


LIMITED = 'rate_limiter { resources [ { name: "R" global: true count: 1 } ] }'


class SchedulingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.models = Path(folder.name) / "models"
        write(cls.models / "ragged", RAGGED, files=[("1/model.onnx", ragged_sums())])
        write(cls.models / "stateful", STATEFUL, files=[("1/model.onnx", running_sum())])
        (cls.models / "stateful" / "initial_state").mkdir()
        (cls.models / "stateful" / "initial_state" / "begin").write_bytes(struct.pack("<i", 100))
        write(cls.models / "countdown", COUNTDOWN)
        write(cls.models / "countdown_stream", COUNTDOWN + "model_transaction_policy { decoupled: true }\n")
        write(cls.models / "limited_a", slow(LIMITED))
        write(cls.models / "limited_b", slow(LIMITED))
        write(cls.models / "free", slow("", 2) + "dynamic_batching { preserve_ordering: true }\n")
        write(cls.models / "placed", slow('host_policy: "first"', delay=0))
        write(cls.models / "busy", slow("", delay=1500) +
              "dynamic_batching { default_queue_policy { default_timeout_microseconds: 50000 } }\n")
        cls.served = Served(cls.models, options=["--rate-limit=execution_count", "--rate-limit-resource=R:1",
                                                 f"--host-policy=first,cpu-cores={min(os.sched_getaffinity(0))}"])
        cls.addClassCleanup(cls.served.stop)

    def infer(self, model, *inputs, path="infer", **parameters):
        body = {"inputs": list(inputs), "parameters": parameters}
        status, _, text = self.served.ask("POST", f"/v2/models/{model}/{path}", json.dumps(body))
        answer = json.loads(text)
        if status != 200:
            return status, answer["error"]
        return status, {one["name"]: (one["shape"], one["data"]) for one in answer["outputs"]}

    def at_once(self, *calls):
        """Their results, in order, and for each how long it took."""
        results = [None] * len(calls)

        def run(i, call):
            begin = time.monotonic()
            results[i] = (call(), time.monotonic() - begin)
        threads = [threading.Thread(target=run, args=(i, call)) for i, call in enumerate(calls)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def statistics(self, model):
        return json.loads(self.served.ask("GET", f"/v2/models/{model}/stats")[2])["model_stats"][0]

    def test_requests_of_different_sizes_run_in_one_batch_and_get_their_own_back(self):
        rows = [[1, 2, 3], [10], [4, 5, 6, 7, 8], [100, 200]]
        done = self.at_once(*[lambda row=row: self.infer("ragged", int32_tensor("IN", row)) for row in rows])
        for row, ((status, outputs), _) in zip(rows, done):
            self.assertEqual(status, 200, outputs)
            self.assertEqual(outputs["OUT"], ([1, 1], [sum(row)]))
            self.assertEqual(outputs["TWICE"], ([1, len(row)], [2 * v for v in row]))
        self.assertEqual(self.statistics("ragged")["execution_count"], 1)

    def test_states_go_with_their_sequence_and_begin_with_their_file(self):
        sums = {1: 100, 2: 100, 3: 100}
        for step in range(5):
            def call(sequence):
                return lambda: self.infer("stateful", int32_tensor("IN", [sequence * step]), sequence_id=sequence,
                                          sequence_start=step == 0, sequence_end=step == 4)
            for sequence, ((status, outputs), _) in zip(sums, self.at_once(*[call(s) for s in sums])):
                sums[sequence] += sequence * step
                self.assertEqual(status, 200, outputs)
                self.assertEqual(outputs, {"OUT": ([1, 1], [sums[sequence]])})
        self.assertEqual(self.infer("stateful", int32_tensor("IN", [1]), sequence_id=1)[0], 400)

    def test_an_iterative_model_runs_a_request_until_it_is_done(self):
        self.assertEqual(self.infer("countdown", int32_tensor("IN", [5])), (200, {"OUT": ([1, 1], [1])}))
        self.assertEqual(self.statistics("countdown")["execution_count"], 5)
        status, headers, text = self.served.ask("POST", "/v2/models/countdown_stream/generate_stream", json.dumps({"IN": 4}))
        self.assertEqual(status, 200, text)
        self.assertEqual([json.loads(line[6:])["OUT"] for line in text.decode().split("\n") if line.startswith("data: ")],
                         [4, 3, 2, 1])

    def test_models_that_share_a_resource_do_not_run_at_the_same_time(self):
        begin = time.monotonic()
        done = self.at_once(*[lambda m=m: self.infer(m, int32_tensor("IN", [1])) for m in ("limited_a", "limited_b") * 2])
        for (status, outputs), _ in done:
            self.assertEqual(status, 200, outputs)
        self.assertGreaterEqual(time.monotonic() - begin, 0.4)

    def test_instances_answer_in_order_and_side_by_side(self):
        done = self.at_once(*[lambda i=i: self.infer("free", int32_tensor("IN", [i])) for i in range(6)])
        self.assertEqual([outputs["OUT"][1] for (_, outputs), _ in done], [[i] for i in range(6)])

    def test_a_model_that_is_placed_answers(self):
        self.assertEqual(self.infer("placed", int32_tensor("IN", [3])), (200, {"OUT": ([1, 1], [3])}))

    def test_a_request_is_late_on_time_though_the_only_instance_is_busy(self):
        def later():
            time.sleep(0.2)
            return self.infer("busy", int32_tensor("IN", [2]))
        (first, _), (second, seconds) = self.at_once(lambda: self.infer("busy", int32_tensor("IN", [1])), later)
        self.assertEqual(first[0], 200)
        self.assertEqual(second[0], 503)
        self.assertIn("Request timeout expired", second[1])
        self.assertLess(seconds, 1.0)


class CacheTest(unittest.TestCase):
    def serve(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.models = Path(folder.name) / "models"
        write(self.models / "seen", 'backend: "tally" max_batch_size: 4\n' + CPU + "response_cache { enable: true }\n" +
              io([("IN", "-1", "")], [("OUT", "4", "")]))
        self.served = Served(self.models, options=["--model-control-mode=explicit", "--load-model=*", *options])
        self.addCleanup(self.served.stop)

    def ask(self, *values):
        status, _, text = self.served.ask("POST", "/v2/models/seen/infer", json.dumps({"inputs": [int32_tensor("IN", values)]}))
        self.assertEqual(status, 200, text)
        return json.loads(text)["outputs"][0]["data"][0]

    def metrics(self):
        text = self.served.ask("GET", "/metrics", port=self.served.metrics_port)[2].decode()
        return {m[1]: float(m[2]) for m in re.finditer(r"^(nv_cache_\w+)(?:\{[^}]*\})? (\S+)$", text, re.M)}

    def test_answers_are_found_counted_and_forgotten_with_a_new_load(self):
        self.serve("--cache-config=local,size=65536")
        self.assertEqual([self.ask(1), self.ask(1), self.ask(2), self.ask(1)], [1, 1, 2, 1])
        found = self.metrics()
        self.assertEqual((found["nv_cache_num_lookups"], found["nv_cache_num_hits"], found["nv_cache_num_misses"],
                          found["nv_cache_num_entries"], found["nv_cache_num_evictions"]), (4, 2, 2, 2, 0))
        self.assertEqual((found["nv_cache_num_hits_per_model"], found["nv_cache_num_misses_per_model"]), (2, 2))
        self.assertGreater(found["nv_cache_util"], 0)
        config = self.models / "seen" / "config.pbtxt"
        config.write_text(config.read_text() + 'parameters { key: "a" value { string_value: "b" } }\n')
        self.assertEqual(self.served.ask("POST", "/v2/repository/models/seen/load", "{}")[0], 200)
        self.assertEqual(self.ask(1), 1)
        self.assertEqual(self.ask(2), 2)
        self.assertEqual(self.ask(3), 3)

    def test_files_that_are_not_there_are_found_before_a_load(self):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "cold", 'backend: "identity" max_batch_size: 1\n' + CPU + io([("IN", "1", "")], [("OUT", "1", "")]) +
                  'model_warmup [ { name: "first" batch_size: 1 inputs { key: "IN" value '
                  '{ data_type: TYPE_INT32 dims: [ 1 ] input_data_file: "none" } } } ]')
            done = subprocess.run([PROGRAM, "check", folder], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("cold/warmup/none is not there", done.stdout + done.stderr)

    def test_servers_share_a_redis(self):
        program = shutil.which("redis-server") or shutil.which("redis-check-rdb")
        if program is None:
            self.skipTest("redis-server is not installed (Debian: redis-tools has it)")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        redis = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""], executable=program,
                                 stdout=subprocess.DEVNULL)
        self.addCleanup(redis.wait, 30)
        self.addCleanup(redis.terminate)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.025)
        options = ["--cache-config=redis,host=127.0.0.1", f"--cache-config=redis,port={port}"]
        self.serve(*options)
        self.assertEqual([self.ask(1), self.ask(2), self.ask(2)], [1, 2, 2])
        first = self.served
        self.served = Served(self.models, options=["--model-control-mode=explicit", "--load-model=*", *options])
        self.addCleanup(self.served.stop)
        self.assertEqual([self.ask(2), self.ask(1), self.ask(3), self.ask(3)], [2, 1, 1, 1])
        self.assertEqual(self.metrics(), {"nv_cache_num_hits_per_model": 3, "nv_cache_num_misses_per_model": 1,
                                          "nv_cache_hit_duration_per_model": self.metrics()["nv_cache_hit_duration_per_model"],
                                          "nv_cache_miss_duration_per_model": self.metrics()["nv_cache_miss_duration_per_model"]})
        redis.terminate()
        redis.wait(30)
        self.assertEqual(self.ask(1), 2)
        self.served = first
        self.assertEqual(self.ask(1), 3)

    def test_a_cache_that_cannot_be_is_told(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for text in ("disk,size=1", "local", "redis,port=1", "local,size=1k"):
            done = subprocess.run([PROGRAM, "serve", f"--model-repository={folder.name}", "--http-port=0", f"--cache-config={text}"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--cache-config", done.stderr)

    def test_a_model_that_fails_its_warm_up_is_not_served_and_the_server_is(self):
        # The recorded server ends with a segmentation fault here.
        self.serve()
        config = 'backend: "fail" max_batch_size: 1\n' + CPU + io([("IN", "1", "")], [("OUT", "1", "")], "TYPE_FP32") + \
            'model_warmup [ { name: "first" batch_size: 1 inputs { key: "IN" value { data_type: TYPE_FP32 dims: [ 1 ] zero_data: true } } } ]'
        write(self.models / "cold", config)
        status, _, text = self.served.ask("POST", "/v2/repository/models/cold/load", "{}")
        self.assertEqual(status, 400)
        self.assertIn("failed to run warmup sample 'first': deliberate response error", json.loads(text)["error"])
        self.assertEqual(self.served.ask("GET", "/v2/models/cold/ready")[0], 400)
        self.assertEqual(self.ask(1), 1)

    def test_without_the_option_nothing_is_kept(self):
        self.serve()
        self.assertEqual([self.ask(1), self.ask(1)], [1, 2])
        self.assertEqual(self.metrics(), {})


if __name__ == "__main__":
    unittest.main()
