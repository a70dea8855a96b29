# SPDX-License-Identifier: Apache-2.0
"""How scripts/count_tests adds up a run: GoogleTest cases, plain tests, crashes, skips."""
import contextlib
import io
import tempfile
import unittest

from load_script import load_script, write_tree

count_tests = load_script("scripts/count_tests")


def ctest(*tests):
    return "<testsuite>" + "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in tests) + "</testsuite>"


def gtest(*cases):
    body = {"passed": "", "failed": '<failure message="x"/>', "skipped": '<skipped message="here&#10;no model"/>'}
    rows = "".join(f'<testcase classname="S" name="{name}" status="run">{body[outcome]}</testcase>' for name, outcome in cases)
    return f"<testsuites><testsuite>{rows}</testsuite></testsuites>"


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, files)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = count_tests.main([folder])
        return code, out.getvalue().splitlines()


class Counting(unittest.TestCase):
    def test_cases_of_programs_and_plain_tests_are_added(self):
        code, lines = run({"ctest.junit": ctest(("base", "run"), ("layers", "run")),
                           "base_test.xml": gtest(("a", "passed"), ("b", "passed"))})
        self.assertEqual((code, lines), (0, ["3 passed, 0 failed"]))

    def test_a_failed_case_is_named(self):
        code, lines = run({"ctest.junit": ctest(("base", "fail")), "base_test.xml": gtest(("a", "passed"), ("b", "failed"))})
        self.assertEqual((code, lines), (1, ["failed: base: S.b", "1 passed, 1 failed"]))

    def test_a_program_that_died_counts_as_a_failure(self):
        self.assertEqual(run({"ctest.junit": ctest(("base", "fail"))}), (1, ["failed: base", "0 passed, 1 failed"]))
        code, lines = run({"ctest.junit": ctest(("base", "fail")), "base_test.xml": gtest(("a", "passed"))})
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))

    def test_a_skipped_case_is_told_with_its_reason(self):
        code, lines = run({"ctest.junit": ctest(("base", "run")), "base_test.xml": gtest(("a", "passed"), ("b", "skipped"))})
        self.assertEqual((code, lines), (0, ["skipped: base: S.b: no model", "1 passed, 0 failed, 1 skipped"]))

    def test_nothing_ran_is_a_failure(self):
        self.assertEqual(run({"ctest.junit": ctest()}), (1, ["0 passed, 0 failed"]))


if __name__ == "__main__":
    unittest.main()
