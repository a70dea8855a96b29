# SPDX-License-Identifier: Apache-2.0
"""Sequences, the cache of responses, queue policies, instances and warm-up, as a real server was recorded (scenario_replay.py)."""
import unittest

import scenario_replay


class ScenarioTest(unittest.TestCase):
    def check(self, group):
        agreed, _, wrong = scenario_replay.replay(group)
        self.assertEqual(wrong, [], "\n".join(wrong))
        self.assertGreater(agreed, 0)

    def test_sequences(self):
        self.check("sequence")

    def test_the_cache_of_responses(self):
        self.check("cache")

    def test_queue_policies(self):
        self.check("queue")

    def test_instances_and_what_they_share(self):
        self.check("instances")

    def test_iterative_sequences(self):
        self.check("iterative")

    def test_batches(self):
        self.check("batches")

    def test_warm_up(self):
        self.check("warmup")


if __name__ == "__main__":
    unittest.main()
