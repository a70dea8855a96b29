# SPDX-License-Identifier: Apache-2.0
"""What Triton's example clients ask of its example repository, by the same calls of tritonclient: HTTP and gRPC, awaited,
asynchronous, streamed, through shared memory. docs/reference/example-clients.md says which of them run unchanged."""
import asyncio
import queue
import tempfile
import unittest
from pathlib import Path

import example_models
from served import Served

try:
    import numpy as np
    import tritonclient.http as over_http
    import tritonclient.utils.shared_memory as shared_memory
    from tritonclient.utils import InferenceServerException, serialize_byte_tensor
except ImportError:  # scripts/bootstrap test brings them
    np = None
try:
    import tritonclient.grpc as over_grpc
    import tritonclient.grpc.aio as grpc_aio
except (ImportError, RuntimeError):  # tritonclient says so by a RuntimeError
    over_grpc = None
try:
    import tritonclient.http.aio as http_aio
except (ImportError, RuntimeError):
    http_aio = None

needs_grpc = unittest.skipUnless(over_grpc, "tritonclient is installed without its gRPC part")
VALUES = [11, 7, 5, 3, 2, 0, 1]


@unittest.skipUnless(np, "tritonclient is not installed (scripts/bootstrap build test installs it)")
class ExamplesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        example_models.write_repository(Path(folder.name) / "models")
        cls.served = Served(Path(folder.name) / "models", options=["--model-control-mode=explicit", "--load-model=*", "--allow-client-shm=true"])
        cls.addClassCleanup(cls.served.stop)
        cls.urls = {over_http: f"127.0.0.1:{cls.served.port}"}
        if over_grpc:
            cls.urls[over_grpc] = f"127.0.0.1:{cls.served.grpc_port}"

    def clients(self, **more):
        for library, url in self.urls.items():
            with library.InferenceServerClient(url, **more) as client, self.subTest(library.__name__):
                yield library, client

    def pair(self, library, kind="INT32"):
        """Inputs 0..15 and ones, and what the model makes of them."""
        left, right = np.arange(16).reshape(1, 16), np.ones((1, 16), int)
        if kind == "BYTES":
            sent = [np.array([[str(n).encode() for n in row[0]]], np.object_) for row in (left, right)]
        else:
            sent = [row.astype(np.int8 if kind == "INT8" else np.int32) for row in (left, right)]
        inputs = [library.InferInput(f"INPUT{i}", [1, 16], kind) for i in (0, 1)]
        for one, values in zip(inputs, sent):
            one.set_data_from_numpy(values)
        return inputs, (left + right, left - right)

    def check(self, result, expected):
        for i, values in enumerate(expected):
            np.testing.assert_array_equal(result.as_numpy(f"OUTPUT{i}").astype(int), values)

    def test_sums_of_numbers_and_texts(self):
        for library, client in self.clients():
            for model, kind in (("simple", "INT32"), ("simple_int8", "INT8"), ("simple_string", "BYTES")):
                inputs, expected = self.pair(library, kind)
                outputs = [library.InferRequestedOutput(f"OUTPUT{i}") for i in (0, 1)]
                self.check(client.infer(model, inputs, outputs=outputs, headers={"test": "1"}), expected)
                self.check(client.infer(model, inputs), expected)
            with self.assertRaisesRegex(InferenceServerException, "unknown model: 'wrong_model_name' is not found"):
                client.infer("wrong_model_name", inputs)

    def test_packed_and_with_a_query(self):
        inputs, expected = self.pair(over_http)
        with over_http.InferenceServerClient(self.urls[over_http]) as client:
            for coding in ("gzip", "deflate"):
                self.check(client.infer("simple", inputs, query_params={"test_1": 1, "test_2": 2}, request_compression_algorithm=coding,
                                        response_compression_algorithm=coding), expected)

    @needs_grpc
    def test_packed_over_grpc(self):
        inputs, expected = self.pair(over_grpc)
        with over_grpc.InferenceServerClient(self.urls[over_grpc]) as client:
            for coding in ("gzip", "deflate"):
                self.check(client.infer("simple", inputs, compression_algorithm=coding), expected)

    def test_asynchronous(self):
        for library, client in self.clients():
            inputs, expected = self.pair(library)
            if library is over_http:
                for one in [client.async_infer("simple", inputs) for _ in range(4)]:
                    self.check(one.get_result(), expected)
                continue
            done = queue.Queue()
            for _ in range(4):
                client.async_infer("simple", inputs, lambda result, error: done.put((result, error)))
            for _ in range(4):
                result, error = done.get(timeout=30)
                self.assertIsNone(error)
                self.check(result, expected)

    @unittest.skipUnless(http_aio or over_grpc, "tritonclient is installed without what can be awaited")
    def test_awaited(self):
        async def ask(library, aio):
            async with aio.InferenceServerClient(self.urls[library]) as client:
                self.assertTrue(await client.is_server_live())
                inputs, expected = self.pair(library)
                for result in await asyncio.gather(*(client.infer("simple", inputs) for _ in range(4))):
                    self.check(result, expected)
                statistics = await client.get_inference_statistics("simple")
                stats = statistics["model_stats"] if library is over_http else statistics.model_stats
                self.assertEqual(len(stats), 1)
        if http_aio:
            asyncio.run(ask(over_http, http_aio))
        if over_grpc:
            asyncio.run(ask(over_grpc, grpc_aio))

    def test_health_metadata_and_what_is_not_there(self):
        for library, client in self.clients():
            self.assertTrue(client.is_server_live() and client.is_server_ready() and client.is_model_ready("simple"))
            metadata, config = client.get_server_metadata(), client.get_model_config("simple")
            self.assertEqual(metadata["name"] if library is over_http else metadata.name, "triton")
            self.assertEqual(config["max_batch_size"] if library is over_http else config.config.max_batch_size, 8)
            with self.assertRaisesRegex(InferenceServerException, "unknown model: 'wrong_model_name' is not found"):
                client.get_model_metadata("wrong_model_name")

    @needs_grpc
    def test_kept_alive(self):
        options = over_grpc.KeepAliveOptions(keepalive_time_ms=2**31 - 1, keepalive_timeout_ms=20000, keepalive_permit_without_calls=True,
                                             http2_max_pings_without_data=2)
        arguments = [("grpc.max_send_message_length", 1 << 20), ("grpc.max_receive_message_length", 1 << 20), ("grpc.dns_enable_srv_queries", 1)]
        inputs, expected = self.pair(over_grpc)
        for more in ({"keepalive_options": options}, {"channel_args": arguments}):
            with over_grpc.InferenceServerClient(self.urls[over_grpc], **more) as client:
                self.check(client.infer("simple", inputs), expected)

    def test_sequences(self):
        """Each answer is the number sent, one more where the sequence begins, its name more where it ends."""
        for library, client in self.clients():
            for model, ends_with_name in (("simple_sequence", False), ("simple_dyna_sequence", True)):
                for name in (1000, 1001) if ends_with_name else (1000, "b6c1f1a2-a name of a sequence"):
                    got = []
                    for i, value in enumerate([0] + VALUES):
                        given = library.InferInput("INPUT", [1, 1], "INT32")
                        given.set_data_from_numpy(np.array([[value]], np.int32))
                        result = client.infer(model, [given], sequence_id=name, sequence_start=i == 0, sequence_end=i == len(VALUES))
                        got.append(result.as_numpy("OUTPUT").item())
                    self.assertEqual(got, [1] + VALUES[:-1] + [VALUES[-1] + (name if ends_with_name else 0)])

    def requests_of_sequences(self, aio):
        for name, sign, first in ((1000, 1, 0), (1001, -1, 100)):
            for i, value in enumerate([first] + [sign * v for v in VALUES]):
                given = aio.InferInput("INPUT", [1, 1], "INT32")
                given.set_data_from_numpy(np.array([[value]], np.int32))
                yield {"model_name": "simple_sequence", "inputs": [given], "request_id": f"{name}_{i}", "sequence_id": name,
                       "sequence_start": i == 0, "sequence_end": i == len(VALUES)}

    def check_stream(self, results):
        got = {}
        for result, error in results:
            self.assertIsNone(error)
            got.setdefault(result.get_response().id.split("_")[0], []).append(result.as_numpy("OUTPUT").item())
        self.assertEqual(got, {"1000": [1] + VALUES, "1001": [101] + [-v for v in VALUES]})

    @needs_grpc
    def test_sequences_in_a_stream(self):
        done = queue.Queue()
        with over_grpc.InferenceServerClient(self.urls[over_grpc]) as client:
            client.start_stream(lambda result, error: done.put((result, error)))
            for request in self.requests_of_sequences(over_grpc):
                client.async_stream_infer(**request)
            self.check_stream([done.get(timeout=30) for _ in range(16)])

        async def ask():
            async def requests():
                for request in self.requests_of_sequences(grpc_aio):
                    yield request
            async with grpc_aio.InferenceServerClient(self.urls[over_grpc]) as client:
                return [one async for one in client.stream_infer(requests())]
        self.check_stream(asyncio.run(ask()))

    @needs_grpc
    def test_one_request_is_answered_many_times(self):
        done = queue.Queue()
        inputs = []
        for name, values in (("IN", np.arange(100, 105, dtype=np.int32)), ("DELAY", np.full(5, 20, np.uint32)), ("WAIT", np.array([200], np.uint32))):
            inputs.append(over_grpc.InferInput(name, list(values.shape), "INT32" if name == "IN" else "UINT32"))
            inputs[-1].set_data_from_numpy(values)
        with over_grpc.InferenceServerClient(self.urls[over_grpc]) as client:
            client.start_stream(lambda result, error: done.put((result, error)))
            client.async_stream_infer("repeat_int32", inputs, outputs=[over_grpc.InferRequestedOutput("OUT")])
            got = [done.get(timeout=30) for _ in range(5)]
        self.assertEqual([r.as_numpy("OUT").item() for r, _ in got], [100, 101, 102, 103, 104])

    def test_numbers_and_texts_in_shared_memory(self):
        for library, client in self.clients():
            for model, kind in (("simple", "INT32"), ("simple_string", "BYTES")):
                inputs, expected = self.pair(library, kind)
                arrays = [np.arange(16), np.ones(16, int)]
                if kind == "BYTES":
                    sent = [serialize_byte_tensor(np.array([str(n).encode() for n in a], np.object_)) for a in arrays]
                    sizes = [one.item().__len__() for one in sent]
                else:
                    sent, sizes = [a.astype(np.int32) for a in arrays], [64, 64]
                region = shared_memory.create_shared_memory_region("input_data", "/nereid_examples", sum(sizes) + 1024)
                try:
                    shared_memory.set_shared_memory_region(region, sent[:1])
                    shared_memory.set_shared_memory_region(region, sent[1:], offset=sizes[0])
                    client.register_system_shared_memory("input_data", "/nereid_examples", sum(sizes) + 1024)
                    inputs[0].set_shared_memory("input_data", sizes[0])
                    inputs[1].set_shared_memory("input_data", sizes[1], offset=sizes[0])
                    outputs = [library.InferRequestedOutput(f"OUTPUT{i}") for i in (0, 1)]
                    for i, one in enumerate(outputs):
                        one.set_shared_memory("input_data", 512, offset=sum(sizes) + 512 * i)
                    client.infer(model, inputs, outputs=outputs)
                    for i, values in enumerate(expected):
                        got = shared_memory.get_contents_as_numpy(region, np.object_ if kind == "BYTES" else np.int32, [1, 16], sum(sizes) + 512 * i)
                        np.testing.assert_array_equal(got.astype(int), values)
                finally:
                    client.unregister_system_shared_memory("input_data")
                    shared_memory.destroy_shared_memory_region(region)

    def test_models_are_loaded_with_another_configuration_and_taken_away(self):
        for library, client in self.clients():
            rows = client.get_model_repository_index()
            self.assertEqual(len(rows if library is over_http else rows.models), 9)
            with self.assertRaisesRegex(InferenceServerException, "failed to load"):
                client.load_model("simple", config='"parameters": {"config": {{"max_batch_size": "16"}}}')
            client.load_model("simple", config='{"max_batch_size":"16"}')
            config = client.get_model_config("simple")
            self.assertEqual(config["max_batch_size"] if library is over_http else config.config.max_batch_size, 16)
            client.unload_model("simple")
            self.assertFalse(client.is_model_ready("simple"))
            with self.assertRaisesRegex(InferenceServerException, "failed to poll from model repository"):
                client.load_model("simple", config="{}", files={"file:" + "A" * 256: b"a"})
            with self.assertRaisesRegex(InferenceServerException, "failed to load"):
                client.load_model("wrong_model_name")
            client.load_model("simple")
            self.assertTrue(client.is_model_ready("simple"))

    def test_pictures_are_classified_with_labels(self):
        picture = np.random.default_rng(1).random((3, 224, 224), np.float32)
        weights = np.array([(7 * i * i + 3 * i) % 101 for i in range(3000)], np.float32).reshape(3, 1000)
        scores = picture.mean(axis=(1, 2)) @ weights
        for library, client in self.clients():
            given = library.InferInput("data_0", [3, 224, 224], "FP32")
            given.set_data_from_numpy(picture)
            result = client.infer("densenet_onnx", [given], outputs=[library.InferRequestedOutput("fc6_1", class_count=3)])
            found = [text.decode().split(":") for text in result.as_numpy("fc6_1").flatten()]
            self.assertEqual([text[1] for text in found], [str(i) for i in np.argsort(-scores, kind="stable")[:3]])
            self.assertTrue(all(text[2] == f"CLASS {text[1]}" for text in found))


if __name__ == "__main__":
    unittest.main()
