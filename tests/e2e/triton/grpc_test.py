# SPDX-License-Identifier: Apache-2.0
"""tritonclient's gRPC client, unchanged, and every recorded call (tests/golden/kserve/grpc_*.json) again."""
import json
import queue
import struct
import tempfile
import time
import unittest
from pathlib import Path

import twins
from differences import CAUSE, DECOUPLED, LATER, NO_SETTING
from replay import NUMBERS, region_of_recordings
from served import ROOT, Served

try:
    import grpc
    import numpy as np
    import tritonclient.grpc as triton
    from google.protobuf import json_format
    from tritonclient.grpc import service_pb2, service_pb2_grpc
except ImportError:  # scripts/bootstrap test brings them
    triton = None

CUDA = "there is no memory of a GPU here"
DIFFERENCES = {
    ("basic", "server_metadata"): "the version is this program's own",
    ("basic", "cuda_shm_register"): CUDA,
    ("shm", "register_too_big"): "the sentence says the sizes as well",
    ("settings", "count_minus_two"): "one sentence for both protocols",
    **{("settings", name): NO_SETTING for name in ("level_unknown", "unknown", "log_unknown")},
    **{("explicit", f"load_{name}"): CAUSE for name in ("missing", "bad_syntax")},
    ("streams", "error_ends_it"): "the header asks for it, and later servers do it",
    ("headers", "reserved"): LATER,
    ("headers", "reserved_triton"): LATER,
    ("explicit", "index"): "the recorded server had been asked for more before",
    ("infer", "decoupled_unary"): DECOUPLED,
    ("infer", "negative_shape"): "a negative size is refused as such",
}


def without_numbers(value):
    """Without the members that count or time, which are not printed when they are 0."""
    if isinstance(value, dict):
        return {k: without_numbers(v) for k, v in value.items() if k not in NUMBERS}
    return [without_numbers(v) for v in value] if isinstance(value, list) else value


def serve(test, options=(), bad=False, write=twins.write_repository):
    folder = tempfile.TemporaryDirectory()
    test.addClassCleanup(folder.cleanup) if isinstance(test, type) else test.addCleanup(folder.cleanup)
    good = Path(folder.name) / "good"
    write(good)
    folders = [good]
    if bad:
        folders.append(Path(folder.name) / "bad")
        twins.write_bad_repository(folders[1])
    served = Served(*folders, options=options)
    test.addClassCleanup(served.stop) if isinstance(test, type) else test.addCleanup(served.stop)
    return served


@unittest.skipUnless(triton, "tritonclient with gRPC is not installed")
class RecordedTest(unittest.TestCase):
    def replay(self, group, options=(), bad=False, write=twins.write_repository):
        served = serve(self, options, bad, write)
        channel = grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}")
        self.addCleanup(channel.close)
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        wrong = []
        if group == "basic":  # the statistics were recorded after requests
            served.infer_once("identity_fp32", "INPUT0")
            served.infer_once("ens", "IN")
        for record in json.loads((ROOT / "tests/golden/kserve" / f"grpc_{group}.json").read_text()):
            if not hasattr(stub, record["method"]):
                continue
            metadata = [tuple(one) for one in record.get("metadata", ())]
            if record["method"] == "ModelStreamInfer":
                found = self.stream_differs(stub, record, metadata)
                if bool(found) != bool(DIFFERENCES.get((group, record["name"]))):
                    wrong.append(f"{record['name']}: {found or 'agrees though it should not'}")
                continue
            request = json_format.ParseDict(record["request"], getattr(service_pb2, record["method"] + "Request")())
            try:
                answer = getattr(stub, record["method"])(request, timeout=30, metadata=metadata)
                have = {"response": json_format.MessageToDict(answer, preserving_proto_field_name=True)}
            except grpc.RpcError as error:
                have = {"error": {"code": error.code().name, "details": error.details()}}
            want = {key: twins.twin_of(record[key]) for key in ("response", "error") if key in record}
            if "error" in want:
                want["error"] = {"code": want["error"]["code"],
                                 "details": twins.twin_of({"error": want["error"]["details"]})["error"]}
            if record["method"] == "ModelStatistics":
                have, want = without_numbers(have), without_numbers(want)
            if record["method"] == "ModelConfig" and "response" in want:  # an empty text is not printed
                want["response"]["config"] = {k: v for k, v in want["response"]["config"].items() if v != ""}
            agrees = want == have
            reason = DIFFERENCES.get((group, record["name"]))
            if agrees == bool(reason):
                wrong.append(f"{record['name']}: {'agrees though it should not' if agrees else ''}\n  {have}\n  recorded\n  {want}")
        self.assertEqual(wrong, [], "\n".join(wrong))

    def stream_differs(self, stub, record, metadata):
        """What a recorded stream and ours say, where that is not the same; None where it is."""
        have, error = [], None
        try:
            messages = [json_format.ParseDict(one, service_pb2.ModelInferRequest()) for one in record["requests"]]
            for one in stub.ModelStreamInfer(iter(messages), timeout=30, metadata=metadata):
                have.append(json_format.MessageToDict(one, preserving_proto_field_name=True))
        except grpc.RpcError as e:
            error = {"code": e.code().name, "details": e.details()}
        want = [dict(one) for one in record["responses"]]
        for one, other in zip(want, have):  # the words of the models are Python's there
            if one.get("error_message", "").startswith("Failed to process the request(s) for model 'failing") and "error_message" in other:
                one["error_message"] = other["error_message"]
        return None if (want, record.get("error")) == (have, error) else f"\n  {have} {error}\n  recorded\n  {want} {record.get('error')}"

    def test_settings_of_traces_and_of_the_log(self):
        self.replay("settings")

    def test_tensors_in_shared_memory(self):
        with region_of_recordings():
            self.replay("shm", ["--allow-client-shm=true"])

    def test_streams(self):
        self.replay("streams")

    def test_metadata_that_becomes_parameters(self):
        self.replay("headers", ["--grpc-header-forward-pattern=my_.*|^priority$|triton_"], write=twins.write_parameters_model)

    def test_groups_that_need_metadata(self):
        self.replay("restricted", ["--grpc-restricted-protocol=health,metadata:key-a=value-a",
                                   "--grpc-restricted-protocol=inference,trace:key-b=value-b"])

    def test_health_metadata_and_settings(self):
        self.replay("basic", ["--allow-client-shm=true"])

    def test_inference(self):
        self.replay("infer")

    def test_repository_in_explicit_mode(self):
        self.replay("explicit", ["--model-control-mode=explicit"], bad=True)


@unittest.skipUnless(triton, "tritonclient with gRPC is not installed")
class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.served = serve(cls)
        cls.client = triton.InferenceServerClient(f"127.0.0.1:{cls.served.grpc_port}")
        cls.addClassCleanup(cls.client.close)

    def given(self, name, values, datatype):
        tensor = triton.InferInput(name, list(values.shape), datatype)
        tensor.set_data_from_numpy(values)
        return [tensor]

    def test_identity_gives_back_what_it_got(self):
        values = np.arange(32, dtype=np.float32).reshape(2, 16) / 3
        result = self.client.infer("identity_fp32", self.given("INPUT0", values, "FP32"), request_id="a")
        np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), values)
        self.assertEqual(result.get_response().id, "a")

    def test_a_mebibyte_and_a_network(self):
        values = np.random.default_rng(1).standard_normal(262144).astype(np.float32)
        result = self.client.infer("identity_1mib", self.given("INPUT0", values, "FP32"))
        np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), values)
        values = np.array([[1, -2, 3, 4]], dtype=np.int32)
        result = self.client.infer("autocomplete", self.given("INPUT0", values, "INT32"))
        np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), values * 2)

    def stream(self, requests, count, **more):
        """The first `count` of (result, error) that a stream gives for these (model, inputs, options)."""
        got = queue.Queue()
        client = triton.InferenceServerClient(f"127.0.0.1:{self.served.grpc_port}")
        client.start_stream(lambda result, error: got.put((result, error)))
        for model, inputs, options in requests:
            client.async_stream_infer(model, inputs, **options)
        answers = [got.get(timeout=30) for _ in range(count)]
        client.stop_stream()
        client.close()
        return answers

    def test_a_decoupled_model_answers_as_often_as_it_likes(self):
        count = np.array([3], dtype=np.int32)
        answers = self.stream([("decoupled", self.given("COUNT", count, "INT32"),
                                {"enable_empty_final_response": True, "request_id": "r"})], 4)
        self.assertEqual([int(r.as_numpy("OUT")[0]) for r, _ in answers[:3]], [0, 1, 2])
        final = [r.get_response().parameters["triton_final_response"].bool_param for r, _ in answers]
        self.assertEqual(final, [False, False, False, True])

    def test_a_client_that_does_not_read_is_told_at_last(self):
        from tritonclient.grpc import service_pb2, service_pb2_grpc
        request = service_pb2.ModelInferRequest(model_name="decoupled", raw_input_contents=[struct.pack("<i", 2**31 - 1)])
        request.inputs.add(name="COUNT", datatype="INT32", shape=[1])
        with grpc.insecure_channel(f"127.0.0.1:{self.served.grpc_port}") as channel:
            answers = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelStreamInfer(iter([request]))
            next(answers)
            time.sleep(8)  # a quarter of a million answers come sooner
            with self.assertRaises(grpc.RpcError) as told:
                for _ in range(1_000_000):
                    next(answers)
            self.assertEqual(told.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertIn("does not read", told.exception.details())
        self.assertTrue(self.client.is_server_live())

    def test_a_stream_keeps_the_order_and_outlives_an_error(self):
        requests = []
        for i in range(20):
            values = np.full((1, 16), i, dtype=np.float32)
            model = "none" if i == 7 else "identity_dyn" if i % 2 else "identity_fp32"
            requests.append((model, self.given("INPUT0", values, "FP32"), {"request_id": str(i)}))
        answers = self.stream(requests, 20)
        self.assertIn("unknown model: 'none'", str(answers[7][1]))
        self.assertEqual([int(r.as_numpy("OUTPUT0")[0, 0]) for r, e in answers if e is None],
                         [i for i in range(20) if i != 7])

    def test_sequences_keep_their_sums(self):
        def send(value, **more):
            values = np.array([[value]], dtype=np.int32)
            return int(self.client.infer("seq", self.given("INPUT0", values, "INT32"), **more).as_numpy("OUTPUT0")[0, 0])
        self.assertEqual(send(5, sequence_id=9, sequence_start=True), 5)
        self.assertEqual(send(1, sequence_id=10, sequence_start=True), 1)
        self.assertEqual(send(6, sequence_id=9), 11)
        self.assertEqual(send(7, sequence_id=9, sequence_end=True), 18)
        with self.assertRaisesRegex(Exception, "must specify the START flag"):
            send(1, sequence_id=9)


if __name__ == "__main__":
    unittest.main()
