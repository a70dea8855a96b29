# SPDX-License-Identifier: Apache-2.0
"""What tools/check_layers allows and refuses, on small trees of sources."""
import contextlib
import io
import tempfile
import unittest

from load_script import load_script, write_tree

check_layers = load_script("tools/check_layers")


def run(files, *arguments):
    """(exit code, output) of check_layers over a tree."""
    with tempfile.TemporaryDirectory() as root:
        write_tree(root, files)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = check_layers.main(["--root", root, *arguments])
        return code, out.getvalue()


class Layers(unittest.TestCase):
    def refused(self, path, line, sentence):
        code, out = run({path: f"// first\n{line}\n"})
        self.assertEqual(code, 1, out)
        self.assertIn(f"{path}:2: ", out)
        self.assertIn(sentence, out)

    def allowed(self, path, line):
        code, out = run({path: line + "\n"})
        self.assertEqual(code, 0, out)

    def test_a_module_may_include_itself_and_its_row(self):
        self.allowed("src/ops/add.cc", '#include "ops/add.h"')
        self.allowed("src/ops/add.cc", '#include "base/shape.h"')
        self.allowed("src/ops/add.cc", '#include "quant/q4_0.h"')
        self.allowed("src/import/gguf/reader.cc", '#include "import/format_table.h"')
        self.allowed("src/import/hf/reader.cc", '#include "import/safetensors/reader.h"')

    def test_the_refusal_names_line_rule_and_row(self):
        self.refused("src/ops/add.cc", '#include "graph/graph.h"', "ops may include itself and: quant image base")
        self.refused("src/base/shape.cc", '#include "quant/q4_0.h"', "base may include itself and: nothing but itself")

    def test_kernels_do_not_know_the_graph(self):
        self.refused("src/kernels/cpu/gemm.cc", '#include "graph/graph.h"', "kernels do not know the graph")
        self.refused("src/kernels/cpu/gemm_test.cc", '#include "graph/graph.h"', "kernels do not know the graph")

    def test_passes_do_not_know_devices(self):
        self.refused("src/passes/fuse.cc", '#include "kernels/cpu/gemm.h"', "passes do not know devices")
        self.refused("src/passes/fuse.cc", "#include <cuda_runtime.h>", "passes do not know devices")

    def test_protocols_do_not_know_backends(self):
        self.refused("src/server/protocol/http/infer.cc", '#include "server/backend/llm/llm.h"',
                     "protocols do not know backends")

    def test_schedulers_know_neither_threads_nor_time(self):
        for line in ("#include <thread>", "#include <chrono>", '#include "base/thread_pool.h"', "#  include <mutex>"):
            self.refused("src/llm/schedule/planner.cc", line, "neither threads nor time")
        self.refused("src/server/batch/dynamic.cc", "#include <atomic>", "neither threads nor time")
        self.allowed("src/llm/run/loop.cc", "#include <thread>")

    def test_a_test_may_also_include_what_stands_higher_in_the_table(self):
        self.allowed("src/llm/arch/llama_test.cc", '#include "runtime/context.h"')
        self.refused("src/llm/arch/llama.cc", '#include "runtime/context.h"', "llm/arch may include itself and")
        self.refused("src/import/gguf/reader_test.cc", '#include "llm/run/session.h"', "its tests also")

    def test_chat_templates_know_only_base(self):
        self.allowed("src/llm/chat/render.cc", '#include "base/status.h"')
        self.refused("src/llm/chat/render.cc", '#include "llm/token/tokenizer.h"', "llm/chat may include itself and: base")

    def test_includes_are_rooted_at_src(self):
        code, out = run({"src/base/a.h": "", "src/base/a.cc": '#include "a.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("src/base/a.cc:1: \"a.h\" is written relative to its folder", out)

    def test_a_folder_without_a_row_is_an_error(self):
        code, out = run({"src/misc/a.cc": "int x;\n"})
        self.assertEqual(code, 1)
        self.assertIn("the folder src/misc has no row", out)

    def test_other_libraries_are_nobodys_business(self):
        self.allowed("src/base/json.cc", "#include <nlohmann/json.hpp>")
        self.allowed("src/base/json_test.cc", '#include "gtest/gtest.h"')

    def test_only_the_named_files_are_read(self):
        files = {"src/ops/bad.cc": '#include "graph/graph.h"\n', "src/ops/good.cc": "int x;\n"}
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, files)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = check_layers.main(["--root", root, "--quiet", f"{root}/src/ops/good.cc"])
        self.assertEqual((code, out.getvalue()), (0, ""))

    def test_the_table_has_no_cycle(self):
        layers = check_layers.Layers(check_layers.parse_table(check_layers.TABLE))
        for module, allowed in layers.table.items():
            for other in allowed:
                self.assertLess(layers.rank[other], layers.rank[module], f"{module} stands above {other}")


if __name__ == "__main__":
    unittest.main()
