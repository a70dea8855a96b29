# SPDX-License-Identifier: Apache-2.0
"""`nereid view`, `explain` and `build --report`: pages that a headless Chromium draws, tables, bad input."""
import html
import json
import os
import re
import shutil
import struct
import subprocess
import unittest
import zlib

import onnx_bytes as onnx
from program import TINY, ProgramTest

HOSTILE = '</script><img src=x onerror="document.title=1"><!-- & %s " \''
ROW = onnx.tensor_type(onnx.FLOAT, ["n", 4])
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


# What a hand would do, and what it led to: [x, y, scale] of the view, names of what is selected.
ACTIONS = """
(async () => {
  const pause = () => new Promise(done => setTimeout(done, 60)), body = document.body, root = canvas.root, said = {};
  while (body.dataset.ready !== "yes") await pause();
  body.dataset.ready = "acting";
  const place = () => [canvas.view.x, canvas.view.y, canvas.view.scale];
  const key = name => body.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
  const point = (to, kind, x, y) => to.dispatchEvent(new PointerEvent(kind, {button: 0, pointerId: 1, clientX: x, clientY: y, bubbles: true}));
  said.begin = place();
  root.dispatchEvent(new WheelEvent("wheel", {deltaY: -200, clientX: 400, clientY: 300, bubbles: true, cancelable: true}));
  said.wheel = place();
  key("-");
  said.minus = place();
  point(root, "pointerdown", 100, 100);
  point(root, "pointermove", 160, 150);
  point(root, "pointerup", 160, 150);
  said.drag = place();
  key("ArrowDown");
  said.down = place();
  key("0");
  const dense = view().picture.boxes.findIndex(box => box.node && box.node.op === "dense");
  const card = root.querySelector(`[data-box="${dense}"]`);
  point(card, "pointerdown", 0, 0);
  point(card, "pointerup", 0, 0);
  said.clicked = body.dataset.selected;
  document.querySelector("[data-stage=before]").click();
  await pause();
  said.followed = [body.dataset.stage, body.dataset.selected];
  key("ArrowDown");
  said.next = body.dataset.selected;
  key("Escape");
  said.closed = body.dataset.selected;
  body.dataset.said = JSON.stringify(said);
  body.dataset.ready = "yes";
})();
"""


def graph_attribute(name, graph):
    return onnx.field(1, name) + onnx.field(6, graph) + onnx.field(20, 5)


def branch(name, op):
    out = onnx.field(12, onnx.value_info(f"{name}_out", ROW))
    return onnx.field(1, onnx.node(op, ["b"], [f"{name}_out"])) + onnx.field(2, name) + out


def small_model():
    """Six nodes, one of them with graphs inside, one with a hostile name."""
    weights = onnx.tensor("w", onnx.FLOAT, [4, 32], onnx.floats(*[0.01 * i for i in range(128)]))
    condition = onnx.tensor("large", onnx.FLOAT, [], onnx.floats(100.0))
    axes = onnx.attribute("keepdims", 0)
    return onnx.model(
        [onnx.node("MatMul", ["x", "w"], ["a"]), onnx.node("Relu", ["a"], [HOSTILE]),
         onnx.node("ReduceSum", [HOSTILE], ["total"], [axes]), onnx.node("Greater", ["total", "large"], ["which"]),
         onnx.node("Identity", ["x"], ["b"]),
         onnx.node("If", ["which"], ["y"], [graph_attribute("then_branch", branch("then", "Exp")),
                                            graph_attribute("else_branch", branch("else", "Neg"))])],
        [("x", ROW)], [("y", ROW), (HOSTILE, onnx.tensor_type(onnx.FLOAT, ["n", 32]))], [weights, condition])


def long_model(layers):
    """A chain of scopes, four nodes each."""
    nodes, last = [], "x"
    for layer in range(layers):
        scope = f"/block{layer // 10}/layer{layer}"
        for i, op in enumerate(("Exp", "Neg", "Sigmoid")):
            nodes.append(onnx.node(op, [last], [f"{scope}/{op}"]))
            last = f"{scope}/{op}"
        nodes.append(onnx.node("Mul", [last, f"{scope}/Neg"], [f"{scope}/out"]))
        last = f"{scope}/out"
    return onnx.model(nodes, [("x", ROW)], [(last, ROW)])


def png_facts(path):
    """(width, height, number of different rows of pixels)."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    pixels = zlib.decompress(packed)
    stride = len(pixels) // height
    return width, height, len({pixels[i * stride:(i + 1) * stride] for i in range(height)})


class ViewTest(ProgramTest):
    def write(self, name, content):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def test_a_page_holds_both_graphs_and_its_data_survives_any_name(self):
        page = self.dir / "net.html"
        self.nereid("view", self.write("net.onnx", small_model()), "-o", page)
        text = page.read_text()
        self.assertFalse("<img" in text)
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
        before, after = data["graphs"]["before"], data["graphs"]["after"]
        self.assertEqual(len(before[0]["nodes"]), data["nodes_imported"])
        self.assertEqual(len(after[0]["nodes"]), data["nodes_optimised"])
        self.assertIn(HOSTILE, [value["name"] for value in before[0]["values"]])
        self.assertEqual([graph["path"] for graph in before], ["", "y/0/", "y/1/"])
        self.assertIn("--shapes", data["not_run"])
        self.assertIn(["", "MatMul"], data["sources"])

    def test_a_page_asks_the_network_for_nothing(self):
        page = self.dir / "net.html"
        self.nereid("view", self.write("net.onnx", small_model()), "-o", page, "--quiet")
        text = page.read_text()
        self.assertTrue("default-src 'none'" in text)
        self.assertFalse(re.search(r"""<(script|link|img|iframe)[^>]*(src|href)=""", text))

    def test_the_page_is_named_after_the_model_where_nothing_is_said(self):
        model = self.write("net.onnx", small_model())
        done = subprocess.run([os.environ["NEREID"], "view", model], cwd=self.dir, capture_output=True, text=True, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.dir / "net.onnx.html").exists())
        self.assertIn("net.onnx.html", done.stdout)

    def test_an_engine_has_the_graph_after_the_passes_and_its_kernels(self):
        engine, page = self.dir / "net.engine", self.dir / "engine.html"
        self.nereid("build", self.write("net.onnx", small_model()), "-o", engine, "--quiet")
        self.nereid("view", engine, "--shapes", "x:3x4", "-o", page)
        data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
        self.assertNotIn("before", data["graphs"])
        self.assertIn("gemm", [layer["kernel"] for layer in data["layers"]])
        self.assertIn("lower_dense", [one["name"] for one in data["passes"] if one["fired"]])

    def test_a_language_model_shows_its_graph(self):
        page = self.dir / "lm.html"
        model = next(iter(sorted(TINY.glob("*.gguf"))))
        self.nereid("view", model, "-o", page)
        data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
        self.assertGreater(len(data["graphs"]["after"][0]["nodes"]), 5)

    def test_explain_tells_kernels_and_passes(self):
        model = self.write("net.onnx", small_model())
        out, _ = self.nereid("explain", model, "--shapes", "x:3x4")
        self.assertIn("# Passes", out)
        self.assertIn("gemm", out)
        said = self.nereid_json("explain", model, "--shapes", "x:3x4", "--profile", "--runs", "3")
        self.assertEqual(said["times"]["runs"], 3)
        dense = next(layer for layer in said["layers"] if layer["kernel"] == "gemm")
        self.assertEqual(dense["outputs"], ["f32[3, 32]"])
        self.assertEqual(dense["flops"], 2 * 3 * 4 * 32)
        self.assertGreater(dense["ms"], 0)
        self.assertGreater(said["roof"]["flops_per_second"], 1e8)
        self.assertNotIn("graphs", said)
        self.assertIn("lower_dense", [one["name"] for one in said["passes"] if one["fired"]])

    def test_a_report_of_a_build_has_times_and_the_roof(self):
        engine, page = self.dir / "net.engine", self.dir / "report.html"
        model = self.write("net.onnx", small_model())
        self.nereid("build", model, "-o", engine, "--shapes", "x:3x4", "--report", page)
        data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
        self.assertEqual(sorted(data["graphs"]), ["after", "before"])
        dense = next(layer for layer in data["layers"] if layer["kernel"] == "gemm")
        self.assertGreater(dense["roof_ms"], 0)
        self.assertAlmostEqual(dense["roof_share"], dense["roof_ms"] / dense["ms"], places=3)

    def test_a_report_that_cannot_be_written_costs_no_build(self):
        engine = self.dir / "net.engine"
        _, err = self.nereid("build", self.write("net.onnx", small_model()), "-o", engine,
                             "--report", self.dir / "absent" / "report.html", code=2)
        self.assert_sentence(err, "absent")
        self.assertFalse(engine.exists())

    def test_what_is_no_model_is_refused_and_leaves_no_page(self):
        page = self.dir / "no.html"
        whole = small_model()
        for content in (b"hello", b"", whole[:len(whole) // 2], os.urandom(300)):
            for command in (("view", "-o", page), ("explain",)):
                out, err = self.nereid(command[0], self.write("no.onnx", content), *command[1:], code=2)
                self.assertEqual(out, "")
                self.assert_sentence(err, "no.onnx")
        self.nereid("view", self.dir / "absent.onnx", "-o", page, code=2)
        self.nereid("view", self.write("some.txt", b"some text"), "-o", page, code=2)
        self.assertFalse(page.exists())

    def test_a_page_that_cannot_be_written_is_an_error(self):
        model = self.write("net.onnx", small_model())
        _, err = self.nereid("view", model, "-o", self.dir / "absent" / "net.html", code=2)
        self.assert_sentence(err, "absent")
        _, err = self.nereid("view", model, "-o", self.dir, code=2)
        self.assert_sentence(err, str(self.dir))


@unittest.skipUnless(BROWSER, "there is no Chromium here (scripts/bootstrap build test installs it)")
class PageTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.pages = self.dir / "pages"
        self.pages.mkdir()

    def view(self, name, content, *options):
        model, page = self.dir / f"{name}.onnx", self.pages / f"{name}.html"
        model.write_bytes(content)
        self.nereid("view", model, "-o", page, *options)
        return page

    def browse(self, page, fragment, *options, size="1280,800"):
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   f"--user-data-dir={self.dir / 'browser'}", "--virtual-time-budget=10000", f"--window-size={size}",
                   "--enable-logging=stderr", *options, f"{page.as_uri()}#{fragment}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": str(self.dir)})
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(said, [], "the page writes to the console")
        return done.stdout

    def assert_shows(self, text, *words):
        """Of a whole page, which no message should repeat."""
        body = text[text.index("<body"):]
        for script in re.findall(r"<script.*?</script>", body, re.S):
            body = body.replace(script, "")
        for word in words:
            self.assertTrue(word in text if word.startswith("<title") else word in body, f"the page does not show {word!r}")

    def dom(self, page, fragment=""):
        """What the page says of itself on its body, and its whole text."""
        text = self.browse(page, fragment, "--dump-dom")
        body = re.search(r"<body([^>]*)>", text)[1]
        facts = {name: html.unescape(value) for name, value in re.findall(r'data-([a-z-]+)="([^"]*)"', body)}
        self.assertEqual(facts.get("ready"), "yes", body)
        self.assertNotIn("errors", facts)
        return facts, text

    def test_every_node_is_drawn_and_both_stages_can_be_seen(self):
        page = self.view("net", small_model(), "--shapes", "x:3x4")
        data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
        for stage, count in (("before", data["nodes_imported"]), ("after", data["nodes_optimised"])):
            facts, text = self.dom(page, f"stage={stage}&fit=1")
            self.assertEqual((facts["stage"], facts["nodes"]), (stage, str(count)))
            self.assertEqual(len(re.findall(r'class="node [^"]*" data-box=', text)), int(facts["boxes"]))
        self.assert_shows(text, "<title>net.onnx")

    def test_search_and_selection_find_a_node_with_its_origin(self):
        page = self.view("net", small_model(), "--shapes", "x:3x4", "--profile", "--runs", "3")
        facts, text = self.dom(page, "search=gemm")
        self.assertEqual(facts["found"], "1")
        self.assertEqual(facts["selected"], HOSTILE)
        self.assert_shows(text, "Kernel", "gemm", "FLOP", "Made from 2 nodes", "MatMul", "Relu")
        self.assertFalse("<img" in text)

    def test_wheel_keys_clicks_and_drags_do_what_they_say(self):
        page = self.view("net", small_model(), "--shapes", "x:3x4")
        acting = page.with_name("acting.html")
        acting.write_text(page.read_text().replace("</body>", f"<script>{ACTIONS}</script></body>"))
        facts, _ = self.dom(acting)
        said = json.loads(facts["said"])
        self.assertGreater(said["wheel"][2], said["begin"][2])
        self.assertLess(said["minus"][2], said["wheel"][2])
        self.assertEqual([round(b - a) for a, b in zip(said["minus"][:2], said["drag"][:2])], [60, 50])
        self.assertEqual(round(said["down"][1] - said["drag"][1]), -90)
        self.assertEqual(said["clicked"], HOSTILE)
        self.assertEqual(said["followed"], ["before", HOSTILE])
        self.assertEqual(said["next"], "total")
        self.assertEqual(said["closed"], "")

    def test_graphs_inside_nodes_open(self):
        page = self.view("net", small_model())
        facts, text = self.dom(page, "stage=before&graph=y/0/")
        self.assertEqual(facts["nodes"], "1")
        self.assert_shows(text, ">exp<")

    def test_the_sheets_have_a_row_a_layer_and_a_row_a_pass(self):
        page = self.view("net", small_model(), "--shapes", "x:3x4", "--profile", "--runs", "3")
        data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
        _, text = self.dom(page, "tab=layers")
        self.assertEqual(text.count("<tr>") - 1, len(data["layers"]))
        _, text = self.dom(page, "tab=passes")
        self.assertEqual(text.count("<summary>"), sum(bool(one["records"]) or one["nodes_before"] != one["nodes_after"] for one in data["passes"]))
        self.assertEqual(self.dom(page, "tab=notes")[0]["tab"], "notes")

    def test_thousands_of_nodes_are_grouped_by_their_names_until_one_is_looked_for(self):
        page = self.view("long", long_model(1000))
        facts, _ = self.dom(page, "stage=before")
        self.assertEqual(facts["nodes"], "4000")
        self.assertLess(int(facts["boxes"]), 400)
        facts, _ = self.dom(page, "stage=before&search=layer777/Sigmoid")
        self.assertEqual(facts["selected"], "/block77/layer777/Sigmoid")
        facts, _ = self.dom(page, "stage=before&grouped=no")
        self.assertEqual(facts["boxes"], "4002")

    def test_pictures_at_two_sizes_and_in_the_dark(self):
        page = self.view("net", small_model(), "--shapes", "x:3x4", "--profile", "--runs", "3")
        for width, height, more in ((1280, 800, []), (1920, 1080, []), (1280, 800, ["--blink-settings=preferredColorScheme=0"])):
            picture = self.dir / f"{width}{len(more)}.png"
            self.browse(page, "", f"--screenshot={picture}", *more, size=f"{width},{height}")
            found = png_facts(picture)
            self.assertEqual(found[:2], (width, height))
            self.assertGreater(found[2], 100, "the picture is nearly empty")


if __name__ == "__main__":
    unittest.main()
