# SPDX-License-Identifier: Apache-2.0
"""Traces: files like those of a real server (tests/golden/kserve/trace_file_*.txt), spans at a collector, JSON logs."""
import http.server
import json
import tempfile
import threading
import time
import unittest
from pathlib import Path

import twins
from served import ROOT, Served

J = {"Content-Type": "application/json"}
X16 = {"name": "INPUT0", "shape": [1, 16], "datatype": "FP32", "data": list(range(16))}


def ask_all(served, between=lambda: None):
    """What record.py asks for a file of traces, without gRPC."""
    post = lambda model, data, verb="infer": served.ask("POST", f"/v2/models/{model}/{verb}", json.dumps(data), J)
    for one in (lambda: post("identity_fp32", {"id": "r1", "inputs": [X16]}),
                lambda: post("identity_fp32", {"inputs": [{**X16, "shape": [1, 8], "data": list(range(8))}]}),
                lambda: post("failing", {"inputs": [{"name": "INPUT0", "shape": [1], "datatype": "FP32", "data": [1]}]}),
                lambda: post("ens", {"inputs": [{**X16, "name": "IN"}]}),
                lambda: post("decoupled", {"COUNT": 2}, "generate_stream"),
                lambda: post("seq", {"inputs": [{"name": "INPUT0", "shape": [1, 1], "datatype": "INT32", "data": [5]}],
                                     "parameters": {"sequence_id": 9, "sequence_start": True, "sequence_end": True}})):
        one()
        between()


def outline(trace):
    """[(model, has a parent, request id, [names of timestamps], [(activity, tensor...)])], without times and numbers."""
    models = {}
    for one in trace:
        model = models.setdefault(one["id"], {"marks": [], "tensors": []})
        if "model_name" in one:
            model.update(name=one["model_name"], child="parent_id" in one, request=one.get("request_id"))
        model["marks"] += [(t["ns"], t["name"]) for t in one.get("timestamps", ())]
        if "tensor" in one:
            model["tensors"].append((one["activity"], *(one["tensor"][k] for k in ("name", "shape", "dtype", "data"))))
    return [(m.get("name"), m.get("child"), m.get("request"), [n for _, n in sorted(m["marks"], key=lambda t: t[0])], m["tensors"])
            for _, m in sorted(models.items())]


def recorded(level):
    lines = (ROOT / "tests/golden/kserve" / f"trace_file_{level}.txt").read_text().splitlines()
    return [outline(json.loads(line.split(": ", 1)[1])) for line in lines]


class Collector(http.server.BaseHTTPRequestHandler):
    got = []

    def log_message(self, *args):
        pass

    def do_POST(self):
        type(self).got.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


class TraceTest(unittest.TestCase):
    def serve(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        repository = Path(folder.name) / "models"
        twins.write_repository(repository)
        served = Served(repository, options=[o.replace("FOLDER", folder.name) for o in options])
        self.addCleanup(lambda: served.process.poll() is None and served.stop())
        return served, Path(folder.name)

    def files(self, level, *more):
        served, folder = self.serve(f"--trace-config=level={level}", "--trace-config=rate=1", "--trace-config=triton,file=FOLDER/trace.json", *more)
        ask_all(served, lambda: time.sleep(0.1))
        self.assertEqual(served.stop(), 0)
        return {p.name: json.loads(p.read_text()) for p in folder.glob("trace.json*")}

    def compare(self, level):
        files = self.files(level, "--trace-config=triton,log-frequency=1")
        ours = [outline(files[f"trace.json.{i}"]) for i in range(len(files))]
        theirs = [one for one in recorded(level.lower()) if not any("GRPC_WAITREAD_START" in m[3] for m in one)]
        return ours, theirs

    def test_files_have_what_those_of_a_real_server_have(self):
        ours, theirs = self.compare("TIMESTAMPS")
        self.assertEqual(len(ours), len(theirs))
        for have, want in zip(ours, theirs):
            self.assertEqual([m[:3] for m in have], [m[:3] for m in want])
            for (name, *_, marks, _), (*_, recorded_marks, _) in zip(have, want):
                self.assertEqual(sorted(set(marks)), sorted(set(recorded_marks)), name)

    def test_files_have_the_tensors_of_a_real_server(self):
        ours, theirs = self.compare("TENSORS")
        self.assertEqual(len(ours), len(theirs))
        for have, want in zip(ours, theirs):
            # Python's backend does not tell what it gets, and the sequence batcher not what waits.
            told = lambda m: sorted(t for t in m[4] if t[0] in {w[0] for n in want for w in n[4]})
            self.assertEqual([told(m) for m in have], [sorted(m[4]) for m in want])

    def test_calls_over_grpc_leave_what_they_leave_at_a_real_server(self):
        try:
            import grpc
            from tritonclient.grpc import service_pb2, service_pb2_grpc
        except ImportError:
            self.skipTest("tritonclient with gRPC is not installed")
        served, folder = self.serve("--trace-config=level=TIMESTAMPS", "--trace-config=rate=1", "--trace-config=triton,file=FOLDER/trace.json",
                                    "--trace-config=triton,log-frequency=1")
        if served.grpc_port is None:
            self.skipTest("the program was built without gRPC")
        request = service_pb2.ModelInferRequest(model_name="identity_fp32")
        request.inputs.add(name="INPUT0", datatype="FP32", shape=[1, 16])
        request.raw_input_contents.append(bytes(64))
        with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            stub.ModelInfer(request)
            time.sleep(0.2)
            request.id = "s"
            self.assertEqual(len(list(stub.ModelStreamInfer(iter([request])))), 1)
        served.stop()
        ours = [outline(json.loads((folder / f"trace.json.{i}").read_text())) for i in range(2)]
        theirs = [one for one in recorded("timestamps") if any("GRPC_WAITREAD_START" in m[3] for m in one)]
        self.assertEqual([[(*m[:3], sorted(set(m[3]))) for m in one] for one in ours], [[(*m[:3], sorted(set(m[3]))) for m in one] for one in theirs])

    def test_times_are_in_the_order_in_which_things_happen(self):
        trace, = self.files("TIMESTAMPS").values()
        first = outline(trace)[0]
        order = [n for n in first[3] if n in ("HTTP_RECV_START", "HTTP_RECV_END", "REQUEST_START", "COMPUTE_START", "COMPUTE_INPUT_END",
                                               "COMPUTE_OUTPUT_START", "COMPUTE_END")]
        self.assertEqual(order, ["HTTP_RECV_START", "HTTP_RECV_END", "REQUEST_START", "COMPUTE_START", "COMPUTE_INPUT_END",
                                 "COMPUTE_OUTPUT_START", "COMPUTE_END"])

    def test_clients_turn_traces_of_one_model_on_and_off(self):
        served, folder = self.serve("--trace-config=triton,file=FOLDER/trace.json")
        path = "/v2/models/identity_fp32/trace/setting"
        status, _, text = served.ask("POST", path, json.dumps({"trace_level": ["TIMESTAMPS"], "trace_rate": "1", "trace_count": "2"}), J)
        self.assertEqual(status, 200, text)
        for _ in range(4):
            served.infer_once("identity_fp32", "INPUT0")
            served.infer_once("identity_dyn", "INPUT0")
        self.assertEqual(json.loads(served.ask("GET", path)[2])["trace_count"], "0")
        self.assertEqual(served.stop(), 0)
        traces = json.loads((folder / "trace.json").read_text())
        self.assertEqual([m[0] for m in outline(traces)], ["identity_fp32"] * 2)

    def test_spans_reach_a_collector_and_go_on_with_a_clients_trace(self):
        Collector.got = []
        collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        self.addCleanup(collector.server_close)
        self.addCleanup(collector.shutdown)
        served, _ = self.serve("--trace-config=mode=opentelemetry", "--trace-config=level=TIMESTAMPS", "--trace-config=rate=1000",
                               f"--trace-config=opentelemetry,url=http://127.0.0.1:{collector.server_port}/v1/traces",
                               "--trace-config=opentelemetry,resource=service.name=here", "--trace-config=opentelemetry,bsp_schedule_delay=50")
        parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        body = json.dumps({"id": "r1", "inputs": [{**X16, "name": "IN"}]})
        self.assertEqual(served.ask("POST", "/v2/models/ens/infer", body, {**J, "traceparent": parent})[0], 200)
        self.assertEqual(served.ask("POST", "/v2/models/ens/infer", body, J)[0], 200)  # one of a thousand: not traced
        self.assertEqual(served.stop(), 0)
        spans = [s for _, body in Collector.got for r in body["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]
        self.assertEqual({path for path, _ in Collector.got}, {"/v1/traces"})
        self.assertEqual({s["traceId"] for s in spans}, {"0af7651916cd43dd8448eb211c80319c"})
        by_id = {s["spanId"]: s for s in spans}
        root, = [s for s in spans if s["parentSpanId"] == "b7ad6b7169203331"]
        self.assertEqual(root["name"], "InferRequest")
        self.assertEqual(sorted(s["name"] for s in spans), ["InferRequest", "compute", "compute", "ens", "identity_dyn", "identity_fp32"])
        for span in spans:
            self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))
            self.assertLess(abs(int(span["endTimeUnixNano"]) / 1e9 - time.time()), 60)
            if span is not root:
                parent = by_id[span["parentSpanId"]]
                self.assertLessEqual(int(span["endTimeUnixNano"]), int(parent["endTimeUnixNano"]), span["name"])

    def test_a_collector_that_is_not_there_stops_nothing(self):
        served, _ = self.serve("--trace-config=mode=opentelemetry", "--trace-config=level=TIMESTAMPS", "--trace-config=rate=1",
                               "--trace-config=opentelemetry,url=http://127.0.0.1:9/v1/traces", "--trace-config=opentelemetry,bsp_schedule_delay=50")
        for _ in range(5):
            served.infer_once("identity_fp32", "INPUT0")
        self.assertEqual(served.stop(), 0)

    def test_a_wrong_setting_ends_the_program_with_what_there_is(self):
        for option, said in (("--trace-config=speed=1", "there are rate, level, count and mode"), ("--metrics-config=x=1", "counter_latencies"),
                             ("--http-header-forward-pattern=(", "is no regular expression"), ("--http-restricted-api=all:a=b", "there are health"),
                             ("--grpc-use-ssl=true", "--grpc-server-cert")):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            (Path(folder.name) / "models").mkdir()
            served = Served(Path(folder.name) / "models", options=[option], ready=False)
            self.assertEqual(served.process.wait(30), 2, option)
            time.sleep(0.2)
            self.assertIn(said, "".join(served.said), option)

    def test_lines_of_the_log_are_objects_or_like_a_real_servers(self):
        for form, pattern in (("json", None), ("default", r'^[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ [^\]]*\] ".*"$'),
                              ("ISO8601", r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [IWE] \d+ [^\]]*\] ".*"$')):
            served, folder = self.serve(f"--log-format={form}", "--log-file=FOLDER/log.txt", "--log-requests")
            served.infer_once("identity_fp32", "INPUT0")
            served.ask("GET", "/v2/models/a%0AI1130%20forged")
            served.stop()
            lines = (folder / "log.txt").read_text().splitlines()
            self.assertGreater(len(lines), 3)
            for line in lines:
                if pattern:
                    self.assertRegex(line, pattern)
                else:
                    self.assertLessEqual({"time", "level", "message"}, json.loads(line).keys())


if __name__ == "__main__":
    unittest.main()
