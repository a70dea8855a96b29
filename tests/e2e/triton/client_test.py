# SPDX-License-Identifier: Apache-2.0
"""tritonclient's HTTP client, unchanged, against models of its users' kinds."""
import tempfile
import unittest
from pathlib import Path

import twins
from served import Served

try:
    import numpy as np
    import tritonclient.http as triton
    import tritonclient.utils.shared_memory as shared_memory
    from tritonclient.utils import InferenceServerException
except ImportError:  # scripts/bootstrap test brings them
    triton = None


@unittest.skipUnless(triton, "tritonclient is not installed (scripts/bootstrap build test installs it)")
class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        repository = Path(cls.folder.name) / "models"
        twins.write_repository(repository)
        cls.served = Served(repository, options=["--model-control-mode=explicit", "--load-model=*", "--allow-client-shm=true"])
        cls.addClassCleanup(cls.served.stop)
        cls.client = triton.InferenceServerClient(f"127.0.0.1:{cls.served.port}")
        cls.addClassCleanup(cls.client.close)

    def infer(self, model, name, values, datatype, output, binary=True, **more):
        given = triton.InferInput(name, list(values.shape), datatype)
        given.set_data_from_numpy(values, binary_data=binary)
        wanted = triton.InferRequestedOutput(output, binary_data=binary)
        return self.client.infer(model, [given], outputs=[wanted], **more)

    def test_health_metadata_and_config(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        self.assertTrue(self.client.is_model_ready("identity_fp32"))
        self.assertEqual(self.client.get_model_metadata("autocomplete")["inputs"],
                         [{"name": "INPUT0", "datatype": "INT32", "shape": [-1, 4]}])
        self.assertEqual(self.client.get_model_config("identity_dyn")["max_batch_size"], 64)

    def test_identity_gives_back_what_it_got(self):
        values = np.arange(32, dtype=np.float32).reshape(2, 16) / 3
        for binary in (True, False):
            result = self.infer("identity_fp32", "INPUT0", values, "FP32", "OUTPUT0", binary, request_id="a")
            np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), values)
            self.assertEqual(result.get_response()["id"], "a")

    def test_texts(self):
        values = np.array([b"", "größe".encode(), b"\xff\x00x"], dtype=np.object_)
        result = self.infer("identity_bytes", "INPUT0", values, "BYTES", "OUTPUT0")
        self.assertEqual(list(result.as_numpy("OUTPUT0")), list(values))

    def test_an_onnx_network_multiplies(self):
        values = np.array([[1, -2, 3, 2**30]], dtype=np.int32)
        for binary in (True, False):
            result = self.infer("autocomplete", "INPUT0", values, "INT32", "OUTPUT0", binary)
            np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), values * np.int32(2))

    def test_many_at_once_get_each_their_own(self):
        futures = []
        client = triton.InferenceServerClient(f"127.0.0.1:{self.served.port}", concurrency=8)
        self.addCleanup(client.close)
        for i in range(64):
            values = np.full((1 + i % 4, 4), i, dtype=np.int32)
            given = triton.InferInput("INPUT0", list(values.shape), "INT32")
            given.set_data_from_numpy(values)
            futures.append((values, client.async_infer("autocomplete", [given])))
        for values, future in futures:
            np.testing.assert_array_equal(future.get_result().as_numpy("OUTPUT0"), values * 2)

    def test_compression(self):
        values = np.zeros((1, 262144), dtype=np.float32)[0]
        given = triton.InferInput("INPUT0", list(values.shape), "FP32")
        given.set_data_from_numpy(values)
        for coding in ("gzip", "deflate"):
            result = self.client.infer("identity_1mib", [given], request_compression_algorithm=coding,
                                       response_compression_algorithm=coding)
            np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), values)

    def test_classification(self):
        values = np.array([[3, 1, 2, 9] + [0] * 12], dtype=np.float32)
        given = triton.InferInput("INPUT0", [1, 16], "FP32")
        given.set_data_from_numpy(values)
        result = self.client.infer("identity_fp32", [given], outputs=[triton.InferRequestedOutput("OUTPUT0", class_count=2)])
        self.assertEqual(result.as_numpy("OUTPUT0").tolist(), [[b"9.000000:3", b"3.000000:0"]])

    def test_tensors_in_shared_memory(self):
        values = np.arange(16, dtype=np.float32).reshape(1, 16)
        region = shared_memory.create_shared_memory_region("both", "/nereid_test_both", 128)
        self.addCleanup(shared_memory.destroy_shared_memory_region, region)
        shared_memory.set_shared_memory_region(region, [values])
        self.client.register_system_shared_memory("both", "/nereid_test_both", 128)
        self.assertEqual(self.client.get_system_shared_memory_status()[0]["byte_size"], 128)
        given = triton.InferInput("INPUT0", [1, 16], "FP32")
        given.set_shared_memory("both", 64)
        wanted = triton.InferRequestedOutput("OUTPUT0")
        wanted.set_shared_memory("both", 64, offset=64)
        self.client.infer("identity_fp32", [given], outputs=[wanted])
        np.testing.assert_array_equal(shared_memory.get_contents_as_numpy(region, np.float32, [1, 16], 64), values)
        for size, offset, what in ((64, 65, "Invalid offset"), (32, 64, "should be at least 64")):
            wanted.set_shared_memory("both", size, offset=offset)
            with self.assertRaisesRegex(InferenceServerException, what):
                self.client.infer("identity_fp32", [given], outputs=[wanted])
        with self.assertRaisesRegex(InferenceServerException, "already in manager"):
            self.client.register_system_shared_memory("both", "/nereid_test_both", 128)
        self.client.unregister_system_shared_memory("both")
        self.assertEqual(self.client.get_system_shared_memory_status(), [])
        with self.assertRaisesRegex(InferenceServerException, "Unable to find shared memory region: 'both'"):
            self.client.infer("identity_fp32", [given])
        with self.assertRaises(InferenceServerException):
            self.client.register_system_shared_memory("file", "/../etc/passwd", 8)

    def test_what_is_wrong_is_told(self):
        with self.assertRaisesRegex(InferenceServerException, "unknown model: 'none' is not found"):
            self.infer("none", "INPUT0", np.zeros((1, 16), np.float32), "FP32", "OUTPUT0")
        with self.assertRaisesRegex(InferenceServerException, r"Expected \[-1,16\], got \[1,8\]"):
            self.infer("identity_fp32", "INPUT0", np.zeros((1, 8), np.float32), "FP32", "OUTPUT0")

    def test_a_network_is_told_where_a_sequence_begins(self):
        config = ('{"backend":"onnxruntime","max_batch_size":4,'
                  '"input":[{"name":"INPUT0","data_type":"TYPE_INT32","dims":[1]}],'
                  '"output":[{"name":"OUTPUT0","data_type":"TYPE_INT32","dims":[1]}],'
                  '"sequence_batching":{"control_input":[{"name":"START","control":'
                  '[{"kind":"CONTROL_SEQUENCE_START","int32_false_true":[0,1]}]}]}}')
        self.client.load_model("told", config=config, files={"file:1/model.onnx": twins.onnx_select()})
        values = np.array([[5]], dtype=np.int32)
        first = self.infer("told", "INPUT0", values, "INT32", "OUTPUT0", sequence_id=3, sequence_start=True)
        second = self.infer("told", "INPUT0", values, "INT32", "OUTPUT0", sequence_id=3, sequence_end=True)
        self.assertEqual([first.as_numpy("OUTPUT0").item(), second.as_numpy("OUTPUT0").item()], [105, 5])
        self.client.unload_model("told")

    def test_models_come_and_go(self):
        self.client.unload_model("identity_1mib")
        self.assertFalse(self.client.is_model_ready("identity_1mib"))
        self.client.load_model("identity_1mib")
        self.assertTrue(self.client.is_model_ready("identity_1mib"))
        self.client.load_model("made", config='{"backend":"onnxruntime"}', files={"file:1/model.onnx": twins.add_model(1)})
        values = np.zeros((1, 16), np.float32)
        np.testing.assert_array_equal(self.infer("made", "INPUT0", values, "FP32", "OUTPUT0").as_numpy("OUTPUT0"), values + 1)
        self.client.unload_model("made")
        for path in ("file:../x", "file:/tmp/x", "file:1/../../x"):
            with self.assertRaises(InferenceServerException):
                self.client.load_model("bad", config='{"backend":"identity"}', files={path: b"x"})
        for name in ("..", "a/../b", ""):
            with self.assertRaises(Exception):
                self.client.load_model(name)

    def test_statistics_and_metrics_count(self):
        before = self.client.get_inference_statistics("identity_fp32")["model_stats"][0]
        self.infer("identity_fp32", "INPUT0", np.zeros((3, 16), np.float32), "FP32", "OUTPUT0")
        after = self.client.get_inference_statistics("identity_fp32")["model_stats"][0]
        self.assertEqual(after["inference_count"] - before["inference_count"], 3)
        self.assertEqual(after["execution_count"] - before["execution_count"], 1)
        self.assertEqual(after["inference_stats"]["success"]["count"] - before["inference_stats"]["success"]["count"], 1)
        _, headers, text = self.served.ask("GET", "/metrics", port=self.served.metrics_port)
        self.assertIn(f'nv_inference_count{{model="identity_fp32",version="1"}} {after["inference_count"]}\n', text.decode())
        self.assertTrue(headers["content-type"].startswith("text/plain"))


if __name__ == "__main__":
    unittest.main()
