# SPDX-License-Identifier: Apache-2.0
"""What tools/check_size fails, warns about and lets pass, on small trees."""
import tempfile
import unittest

from load_script import load_script, write_tree

check_size = load_script("tools/check_size")
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


def check(files):
    with tempfile.TemporaryDirectory() as root:
        write_tree(root, files)
        return check_size.check(root)


class Sizes(unittest.TestCase):
    def test_a_file_of_800_lines_passes_and_one_of_801_fails(self):
        failures, warnings, _ = check({"src/a.cc": LICENCE + "\n" * 799})
        self.assertEqual(failures, [])
        self.assertEqual(len(warnings), 1)
        failures, _, _ = check({"src/a.cc": LICENCE + "\n" * 800})
        self.assertEqual(len(failures), 1)
        self.assertIn("src/a.cc:1: 801 lines, over 800", failures[0])

    def test_a_listed_file_with_a_reason_may_be_long(self):
        long_file = {"src/a.cc": LICENCE + "\n" * 900}
        failures, warnings, _ = check({**long_file, "tools/size_exceptions.txt": "# why\nsrc/a.cc: a generated table\n"})
        self.assertEqual((failures, warnings), ([], []))
        failures, _, _ = check({**long_file, "tools/size_exceptions.txt": "src/a.cc:\n"})
        self.assertEqual(len(failures), 1)

    def test_a_stale_exception_fails(self):
        failures, _, _ = check({"src/a.cc": LICENCE, "tools/size_exceptions.txt": "src/a.cc: once long\n"})
        self.assertIn("remove the exception", failures[0])

    def test_400_lines_are_quiet_and_401_warn(self):
        self.assertEqual(check({"src/a.cc": LICENCE + "\n" * 399})[1], [])
        self.assertEqual(len(check({"src/a.cc": LICENCE + "\n" * 400})[1]), 1)

    def test_sources_without_a_licence_line_fail(self):
        failures, _, _ = check({"src/a.h": "#pragma once\n", "scripts/run": "#!/bin/sh\n", "src/CMakeLists.txt": "x()\n"})
        self.assertEqual(len(failures), 2)
        self.assertIn("scripts/run:1: ", failures[0])

    def test_registry_hosts_and_machine_paths_fail_anywhere(self):
        host = "p" + "ypi.org"
        for line in (f"see {host}", "files.python" + "hosted.org", "open('/ro" + "ot/x')", "cd /ho" + "me/me/src"):
            failures, _, _ = check({"docs/a.md": f"\n{line}\n"})
            self.assertEqual(len(failures), 1, line)
            self.assertTrue(failures[0].startswith("docs/a.md:2: "), failures)

    def test_ordinary_paths_pass(self):
        for line in ("build/work/x", "$HOME/x", "my.d/work/x", "src/ro" + "ot/x", "/usr/lib/x", "the work/life"):
            self.assertEqual(check({"docs/a.md": line + "\n"})[0], [], line)

    def test_merge_markers_fail(self):
        self.assertEqual(len(check({"docs/a.md": "<" * 7 + " HEAD\n"})[0]), 1)

    def test_binary_files_and_corpora_are_left_alone(self):
        self.assertEqual(check({"tests/corpus/x_fuzz/a": "/ro" + "ot/x\n", "a.dat": "\0/ro" + "ot/x"})[0], [])


if __name__ == "__main__":
    unittest.main()
