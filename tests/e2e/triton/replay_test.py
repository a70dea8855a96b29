# SPDX-License-Identifier: Apache-2.0
"""Every recorded exchange, against twins of the recorded models (replay.py)."""
import unittest

import replay


class ReplayTest(unittest.TestCase):
    def check(self, group):
        agreed, _, wrong = replay.replay(group)
        self.assertEqual(wrong, [], "\n".join(wrong))
        self.assertGreater(agreed, 0)

    def test_metadata_and_health(self):
        self.check("meta")

    def test_configurations(self):
        self.check("config")

    def test_inference(self):
        self.check("infer")

    def test_generate(self):
        self.check("generate")

    def test_statistics(self):
        self.check("stats")

    def test_repository_in_mode_none(self):
        self.check("repo_none")

    def test_repository_in_explicit_mode(self):
        self.check("repo_explicit")

    def test_settings_of_traces_and_of_the_log(self):
        self.check("settings")

    def test_tensors_in_shared_memory(self):
        self.check("shm")

    def test_headers_that_become_parameters(self):
        self.check("headers")

    def test_groups_that_need_a_header(self):
        self.check("restricted")


if __name__ == "__main__":
    unittest.main()
