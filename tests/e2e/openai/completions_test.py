# SPDX-License-Identifier: Apache-2.0
"""/v1/completions over every parameter, by openai-python."""
import math
import re
import unittest

from served import MODEL, ServedTest, needs_openai, openai


@needs_openai
class CompletionsTest(ServedTest):
    def test_one_prompt(self):
        done = self.complete()
        self.assertEqual((done.object, done.model, len(done.choices)), ("text_completion", MODEL, 1))
        self.assertRegex(done.id, r"^cmpl-\w{24}$")
        self.assertEqual(done.choices[0].finish_reason, "length")
        self.assertEqual(done.usage.completion_tokens, 12)
        self.assertEqual(done.usage.total_tokens, done.usage.prompt_tokens + 12)
        self.assertTrue(done._request_id)

    def test_the_same_prompt_gives_the_same_answer(self):
        self.assertEqual(self.complete().choices[0].text, self.complete().choices[0].text)

    def test_max_tokens_defaults_to_16(self):
        done = self.client.completions.create(model=MODEL, prompt="Once upon a time", temperature=0)
        self.assertEqual(done.usage.completion_tokens, 16)

    def test_many_prompts_are_answered_as_each_by_itself(self):
        prompts = ["The sky is", "Two and two are", "In the beginning"]
        together = self.complete(prompts)
        self.assertEqual([choice.index for choice in together.choices], [0, 1, 2])
        self.assertEqual([choice.text for choice in together.choices], [self.complete(one).choices[0].text for one in prompts])

    def tokens(self, text):
        import json
        return json.loads(self.post("/tokenize", {"prompt": text})[2])["tokens"]

    def test_ids_of_tokens_are_answered_as_their_text(self):
        self.assertEqual(self.complete(self.tokens("The sky is")).choices[0].text, self.complete("The sky is").choices[0].text)

    def test_lists_of_ids(self):
        done = self.complete([self.tokens("The sky is"), self.tokens("Two and two are")])
        self.assertEqual(done.choices[1].text, self.complete("Two and two are").choices[0].text)

    def test_echo(self):
        plain, echo = self.complete(), self.complete(echo=True)
        self.assertEqual(echo.choices[0].text, "Once upon a time" + plain.choices[0].text)

    def test_echo_alone_with_log_probabilities(self):
        done = self.complete("The sky is blue", echo=True, logprobs=2, max_tokens=0)
        found = done.choices[0].logprobs
        self.assertEqual(done.choices[0].text, "The sky is blue")
        self.assertEqual("".join(found.tokens), "The sky is blue")
        self.assertIsNone(found.token_logprobs[0])
        self.assertTrue(all(value < 0 for value in found.token_logprobs[1:]))
        self.assertEqual(found.text_offset, [0, 3, 7, 10])
        self.assertEqual(done.usage.completion_tokens, 0)

    def test_log_probabilities(self):
        done = self.complete(logprobs=3)
        found = done.choices[0].logprobs
        self.assertEqual("".join(found.tokens), done.choices[0].text)
        self.assertEqual(len(found.token_logprobs), 12)
        for token, value, top in zip(found.tokens, found.token_logprobs, found.top_logprobs):
            self.assertEqual(len(top), 3)
            self.assertEqual(max(top, key=top.get), token)  # greedy
            self.assertAlmostEqual(top[token], value, places=5)
            self.assertLessEqual(sum(math.exp(one) for one in top.values()), 1 + 1e-4)

    def test_n(self):
        done = self.complete(n=3, temperature=1.5, seed=5)
        self.assertEqual([choice.index for choice in done.choices], [0, 1, 2])
        self.assertEqual(len({choice.text for choice in done.choices}), 3)
        self.assertEqual(done.usage.completion_tokens, 36)

    def test_best_of_gives_the_likeliest(self):
        drawn = self.complete(n=4, temperature=1.2, seed=9, logprobs=0)
        best = self.complete(n=1, best_of=4, temperature=1.2, seed=9, logprobs=0)
        mean = {choice.text: sum(choice.logprobs.token_logprobs) / len(choice.logprobs.tokens) for choice in drawn.choices}
        self.assertEqual(best.choices[0].text, max(mean, key=mean.get))
        self.assertEqual(len(best.choices), 1)

    def test_a_seed_draws_the_same_and_another_draws_others(self):
        one, same, other = (self.complete(temperature=1, seed=seed, max_tokens=24).choices[0].text for seed in (7, 7, 8))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    def test_without_a_seed_answers_differ(self):
        self.assertEqual(len({self.complete(temperature=1.3, max_tokens=24).choices[0].text for _ in range(4)}), 4)

    def test_stop_text(self):
        whole = self.complete(max_tokens=24).choices[0].text
        stop = whole[len(whole) // 2:][:5]
        done = self.complete(max_tokens=24, stop=stop)
        self.assertEqual(done.choices[0].text, whole[:whole.index(stop)])
        self.assertEqual(done.choices[0].finish_reason, "stop")

    def test_stop_texts(self):
        done = self.complete(max_tokens=40, stop=["never comes up", " the", ","])
        self.assertFalse(re.search(r" the|,", done.choices[0].text))

    def test_logit_bias_bans_and_forces(self):
        first = self.tokens(self.complete(max_tokens=1).choices[0].text)[0]
        self.assertNotEqual(self.tokens(self.complete(max_tokens=1, logit_bias={str(first): -100}).choices[0].text), [first])
        other = self.tokens(" banana")[0]
        self.assertEqual(self.complete(max_tokens=1, logit_bias={str(other): 100}).choices[0].text, " banana")

    def test_penalties_change_what_repeats(self):
        prompt = "one two one two one two one two one two"
        plain = self.complete(prompt, max_tokens=20).choices[0].text
        self.assertNotEqual(plain, self.complete(prompt, max_tokens=20, frequency_penalty=2).choices[0].text)
        self.assertNotEqual(plain, self.complete(prompt, max_tokens=20, presence_penalty=2, extra_body={"repetition_penalty": 1.5}).choices[0].text)

    def test_samplers_of_other_servers(self):
        for more in ({"top_k": 1}, {"top_k": -1, "min_p": 0.99}, {"typical_p": 0.01}, {"top_n_sigma": 0.01}, {"repeat_penalty": 1.1},
                     {"mirostat": 2, "mirostat_tau": 3}, {"xtc_probability": 0.5}, {"dry_multiplier": 0.8}, {"no_repeat_ngram_size": 2}):
            with self.subTest(more):
                self.assertTrue(self.complete(temperature=1, extra_body=more).choices[0].text)

    def test_top_k_of_one_is_greedy(self):
        self.assertEqual(self.complete(temperature=1, extra_body={"top_k": 1}).choices[0].text, self.complete().choices[0].text)

    def test_top_p_of_nothing_is_greedy(self):
        self.assertEqual(self.complete(temperature=1, top_p=0.0001).choices[0].text, self.complete().choices[0].text)

    def test_ignore_eos_and_min_tokens(self):
        done = self.complete("<|im_start|>user\nSay yes.<|im_end|>\n<|im_start|>assistant\n", max_tokens=60, extra_body={"ignore_eos": True})
        self.assertEqual(done.usage.completion_tokens, 60)
        done = self.complete("<|im_start|>user\nSay yes.<|im_end|>\n<|im_start|>assistant\n", max_tokens=60, extra_body={"min_tokens": 40})
        self.assertGreaterEqual(done.usage.completion_tokens, 40)

    def test_stop_token_ids(self):
        token = self.tokens(self.complete(max_tokens=6).choices[0].text)[3]
        done = self.complete(extra_body={"stop_token_ids": [token]})
        self.assertEqual(done.choices[0].finish_reason, "stop")

    def test_guided_choice(self):
        done = self.complete("Is the sky blue? Answer:", extra_body={"guided_choice": ["maybe", "perhaps"]})
        self.assertIn(done.choices[0].text, ("maybe", "perhaps"))
        self.assertEqual(done.choices[0].finish_reason, "stop")

    def test_guided_regex(self):
        done = self.complete("A date:", max_tokens=30, extra_body={"guided_regex": r"\d{4}-\d{2}-\d{2}"})
        self.assertRegex(done.choices[0].text, r"^\d{4}-\d{2}-\d{2}$")

    def test_guided_grammar(self):
        done = self.complete("A sum:", max_tokens=30, extra_body={"guided_grammar": 'root ::= [0-9] " + " [0-9] " = " [0-9]+'})
        self.assertRegex(done.choices[0].text, r"^\d \+ \d = \d+$")

    def test_suffix_is_refused_where_the_model_cannot(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.complete(suffix=" the end.")
        self.assertEqual(caught.exception.param, "suffix")

    def test_usage_counts_what_was_cached(self):
        prompt = "A prefix that two requests share, long enough to fill pages. " * 12
        self.complete(prompt)
        self.assertGreater(self.complete(prompt).usage.prompt_tokens_details.cached_tokens, 64)

    def test_truncate_prompt_tokens(self):
        done = self.complete("word " * 50, extra_body={"truncate_prompt_tokens": 7})
        self.assertEqual(done.usage.prompt_tokens, 7)

    def test_a_user_and_unknown_members_are_taken(self):
        self.assertTrue(self.complete(user="ada", extra_body={"no_such_member": [1, {"a": None}]}).choices)


if __name__ == "__main__":
    unittest.main()
