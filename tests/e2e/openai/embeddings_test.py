# SPDX-License-Identifier: Apache-2.0
"""/v1/embeddings, /v1/rerank and /v1/score of the tiny models that encode, by openai-python and plain requests."""
import json
import math
import threading
import unittest

from served import ROOT, Served, ServedTest, needs_openai, openai

ENCODERS = ROOT / "tests/data/encoders"
VECTORS = json.loads((ENCODERS / "bert-mean.expected.json").read_text())["texts"]
SCORES = json.loads((ENCODERS / "xlm-roberta-cross.expected.json").read_text())["texts"]


class EncodersServed(ServedTest):
    """Vectors and scores, each by a model of its own."""

    @classmethod
    def setUpClass(cls):
        cls.served = Served(models=[ENCODERS / "bert-mean", ENCODERS / "xlm-roberta-cross"])
        cls.addClassCleanup(cls.stop_server)
        if openai:
            cls.client = openai.OpenAI(base_url=cls.served.url + "/v1", api_key="none", max_retries=0, timeout=120)
            cls.addClassCleanup(cls.client.close)

    def assert_near(self, got, want, tolerance=3e-5):
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertAlmostEqual(a, b, delta=tolerance)


@needs_openai
class EmbeddingsTest(EncodersServed):
    def embed(self, texts, **more):
        return self.client.embeddings.create(model="bert-mean", input=texts, **more)

    def test_one_text(self):
        done = self.embed(VECTORS[0]["text"])
        self.assertEqual((done.object, done.model, len(done.data), done.data[0].index), ("list", "bert-mean", 1, 0))
        self.assert_near(done.data[0].embedding, VECTORS[0]["vector"])
        self.assertEqual((done.usage.prompt_tokens, done.usage.total_tokens), (len(VECTORS[0]["tokens"]),) * 2)

    def test_many_texts_keep_their_order(self):
        texts = [one["text"] for one in VECTORS[:4]] * 25
        done = self.embed(texts)
        self.assertEqual([one.index for one in done.data], list(range(100)))
        for i, one in enumerate(done.data):
            self.assert_near(one.embedding, VECTORS[i % 4]["vector"])

    def test_base64_holds_the_same_numbers(self):
        # openai-python asks for base64 by itself and reads it.
        plain = json.loads(self.post("/v1/embeddings", {"model": "bert-mean", "input": "the inn"})[2])["data"][0]["embedding"]
        self.assert_near(self.embed("the inn").data[0].embedding, plain, 1e-7)

    def test_tokens_and_lists_of_them(self):
        want = VECTORS[1]
        self.assert_near(self.embed(want["tokens"]).data[0].embedding, want["vector"])
        two = self.embed([want["tokens"], VECTORS[0]["tokens"]])
        self.assert_near(two.data[1].embedding, VECTORS[0]["vector"])

    def test_fewer_dimensions_have_length_1_again(self):
        done = self.embed("the inn", dimensions=8, encoding_format="float").data[0].embedding
        self.assertEqual(len(done), 8)
        self.assertAlmostEqual(math.hypot(*done), 1, places=5)
        whole = VECTORS[0]["vector"][:8]
        self.assert_near(done, [v / math.hypot(*whole) for v in whole])

    def test_a_text_that_is_too_long_is_refused_or_cut(self):
        long = VECTORS[5]
        with self.assertRaises(openai.BadRequestError) as caught:
            self.embed(long["text"])
        self.assertIn("but the model reads at most 32", caught.exception.message)
        self.assertEqual(caught.exception.param, "input")
        for body in ({"truncate": True}, {"truncate": "END"}, {"truncate_prompt_tokens": -1}):
            self.assert_near(self.embed(long["text"], extra_body=body).data[0].embedding, long["vector"])
        with self.assertRaises(openai.BadRequestError):
            self.embed(long["text"], extra_body={"truncate": "START"})

    def test_wrong_inputs_are_told_apart(self):
        for wrong in ([], "", [""], 7, [1.5], [[]], ["a", 3], {"text": "a"}, [-1], [62], ["a"] * 2049, [[1] * 33]):
            with self.subTest(wrong=str(wrong)[:40]):
                with self.assertRaises(openai.BadRequestError) as caught:
                    self.embed(wrong)
                self.assertEqual(caught.exception.param, "input")
        for wrong in (0, 33, "8"):
            with self.assertRaises(openai.BadRequestError):
                self.embed("a", dimensions=wrong)

    def test_a_million_inputs_are_refused_soon(self):
        status, _, text = self.post("/v1/embeddings", {"model": "bert-mean", "input": ["a"] * 10**6})
        self.assertIn(status, (400, 413))
        self.assertIn("error", json.loads(text))
        self.assert_near(self.embed("the inn").data[0].embedding, VECTORS[0]["vector"])

    def test_a_model_that_ranks_gives_no_vectors(self):
        with self.assertRaises(openai.NotFoundError):
            self.client.embeddings.create(model="xlm-roberta-cross", input="Hi")

    def test_a_model_of_vectors_does_not_chat(self):
        with self.assertRaises(openai.APIStatusError):
            self.client.chat.completions.create(model="bert-mean", messages=[{"role": "user", "content": "Hi"}])
        with self.assertRaises(openai.APIStatusError):
            self.client.completions.create(model="bert-mean", prompt="Hi")

    def test_clients_at_the_same_time_get_their_own(self):
        failures = []

        def ask(which):
            try:
                for _ in range(5):
                    self.assert_near(self.embed(VECTORS[which]["text"]).data[0].embedding, VECTORS[which]["vector"])
            except Exception as error:  # told in the test's own thread
                failures.append(error)

        threads = [threading.Thread(target=ask, args=(i % 4,)) for i in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_the_models_say_what_they_can(self):
        said = {one["id"]: one["capabilities"] for one in json.loads(self.get("/v1/models")[2])["data"]}
        self.assertEqual(said, {"bert-mean": ["embeddings"], "xlm-roberta-cross": ["rerank"]})

    def test_texts_are_counted(self):
        before = self.count()
        self.embed("the inn")
        self.assertEqual(self.count(), before + 4)

    def count(self):
        lines = [line for line in self.get("/metrics")[2].splitlines()
                 if line.startswith("nereid_") and "prompt_tokens_total" in line and "bert-mean" in line]
        self.assertEqual(len(lines), 1, lines)
        return float(lines[0].rsplit(" ", 1)[1])


class RerankTest(EncodersServed):
    documents = [one["text"] for one in SCORES]

    def rank(self, path="/v1/rerank", **more):
        status, _, text = self.post(path, {"model": "xlm-roberta-cross", "query": SCORES[0]["query"],
                                           "documents": self.documents, **more})
        return status, json.loads(text)

    def test_documents_come_in_the_order_of_their_scores(self):
        status, said = self.rank()
        self.assertEqual(status, 200)
        want = sorted(range(len(SCORES)), key=lambda i: -SCORES[i]["score"])
        self.assertEqual([one["index"] for one in said["results"]], want)
        self.assert_near([one["relevance_score"] for one in said["results"]], [SCORES[i]["score"] for i in want])
        self.assertEqual(said["results"][0]["document"]["text"], self.documents[want[0]])
        self.assertEqual(said["usage"]["total_tokens"], sum(len(one["tokens"]) for one in SCORES))

    def test_the_best_alone_without_documents(self):
        status, said = self.rank(top_n=2, return_documents=False)
        self.assertEqual((status, len(said["results"]), "document" in said["results"][0]), (200, 2, False))

    def test_documents_may_be_objects_and_cohere_asks_at_its_own_address(self):
        documents = [{"text": text} for text in self.documents]
        self.assertEqual([one["index"] for one in self.rank("/v2/rerank", documents=documents)[1]["results"]],
                         [one["index"] for one in self.rank()[1]["results"]])

    def test_wrong_requests(self):
        for wrong in ({"documents": []}, {"documents": "text"}, {"documents": [3]}, {"query": None}, {"query": 5}, {"top_n": 0},
                      {"documents": ["a"] * 3000}, {"truncate": False}):
            with self.subTest(wrong=str(wrong)[:40]):
                self.assertEqual(self.rank(**wrong)[0], 400)

    def test_vectors_rank_by_their_angle(self):
        status, _, text = self.post("/v1/rerank", {"model": "bert-mean", "query": VECTORS[0]["text"],
                                                   "documents": [one["text"] for one in VECTORS[:4]]})
        said = json.loads(text)["results"]
        self.assertEqual((status, said[0]["index"]), (200, 0))
        want = [sum(a * b for a, b in zip(VECTORS[0]["vector"], VECTORS[one["index"]]["vector"])) for one in said]
        self.assert_near([one["relevance_score"] for one in said], want)

    def test_scores_of_pairs(self):
        body = {"model": "xlm-roberta-cross", "text_1": SCORES[0]["query"], "text_2": self.documents}
        status, _, text = self.post("/v1/score", body)
        said = json.loads(text)
        self.assertEqual((status, said["object"]), (200, "list"))
        self.assert_near([one["score"] for one in said["data"]], [one["score"] for one in SCORES])
        pairs = {**body, "text_1": [SCORES[0]["query"]] * 2, "text_2": self.documents[:2]}
        self.assert_near([one["score"] for one in json.loads(self.post("/score", pairs)[2])["data"]],
                         [one["score"] for one in SCORES[:2]])
        for wrong in ({"text_2": []}, {"text_1": ["a", "b"], "text_2": ["c"]}, {"text_1": 3}):
            self.assertEqual(self.post("/v1/score", {**body, **wrong})[0], 400)


if __name__ == "__main__":
    unittest.main()
