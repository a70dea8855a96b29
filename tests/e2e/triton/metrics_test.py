# SPDX-License-Identifier: Apache-2.0
"""Metrics as those who watch Triton read them: families and labels of a real server's, every metric that the board and the
rules of deploy/ name, and a real Prometheus."""
import json
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import prometheus
import twins
from served import ROOT, Served

DEPLOY = ROOT / "deploy"
SETTINGS = ["--metrics-config=summary_latencies=true", "--metrics-config=histogram_latencies=true", "--metrics-interval-ms=100",
            "--cache-config=local,size=1048576"]


def families(text):
    """name -> type"""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))


def samples(text):
    """[(name, {label: value}, value)]"""
    out = []
    for name, labels, value in re.findall(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$", text, re.M):
        out.append((name, dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)), float(value)))
    return out


def names_in(expression):
    return set(re.findall(r"\b(?:nv|nereid|vllm)_[a-z_0-9]+\b", re.sub(r'"[^"]*"', '""', expression)))


class MetricsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        repository = Path(folder.name) / "models"
        twins.write_repository(repository)
        config = (repository / "identity_fp32" / "config.pbtxt").read_text().replace("identity_fp32", "cached")
        twins.write(repository / "cached", config + 'response_cache { enable: true }\nmetric_tags { key: "team" value: "x" }\n')
        cls.served = Served(repository, options=SETTINGS)
        cls.addClassCleanup(cls.served.stop)
        for _ in range(3):
            cls.served.infer_once("identity_fp32", "INPUT0")
            cls.served.infer_once("cached", "INPUT0")
        cls.served.infer_once("ens", "IN")
        cls.text = cls.read()

    @classmethod
    def read(cls, port=None):
        status, headers, text = cls.served.ask("GET", "/metrics", port=port or cls.served.metrics_port)
        assert status == 200 and headers["content-type"].startswith("text/plain"), (status, headers)
        return text.decode()

    def values(self, name, **labels):
        return [value for n, l, value in samples(self.text) if n == name and labels.items() <= l.items()]

    def test_every_family_of_a_real_server_is_there_with_its_type_and_labels(self):
        for file in ("metrics.txt",):
            recorded = (ROOT / "tests/golden/kserve" / file).read_text()
            ours, theirs = families(self.text), families(recorded)
            self.assertEqual({n: t for n, t in theirs.items() if ours.get(n) != t}, {})
            labels = lambda text: {(n, tuple(sorted(set(l) - {"le", "quantile", "_team"}))) for n, l, _ in samples(text)}
            self.assertEqual(labels(recorded) - labels(self.text), set())

    def test_quantiles_and_buckets_are_those_of_a_real_server(self):
        recorded = (ROOT / "tests/golden/kserve/metrics.txt").read_text()
        for key in ("quantile", "le"):
            theirs = {(n, float(l[key])) for n, l, _ in samples(recorded) if key in l}
            ours = {(n, float(l[key])) for n, l, _ in samples(self.text) if key in l}
            self.assertEqual(theirs - ours, set())

    def test_counts_are_those_of_the_requests(self):
        self.assertEqual(self.values("nv_inference_request_success", model="identity_fp32"), [4])  # one by the ensemble
        self.assertEqual(self.values("nv_inference_request_summary_us_count", model="identity_fp32"), [4])
        self.assertEqual(self.values("nereid_inference_request_duration_seconds_count", model="identity_fp32"), [4])
        self.assertEqual(self.values("nereid_inference_request_duration_seconds_bucket", model="identity_fp32", le="+Inf"), [4])
        self.assertEqual(self.values("nv_cache_num_hits_per_model", model="cached"), [2])
        self.assertEqual(self.values("nv_cache_hit_summary_per_model_count", model="cached"), [2])
        self.assertEqual(self.values("nv_cache_miss_summary_per_model_count", model="cached"), [1])
        self.assertEqual(self.values("nereid_inference_request_duration_seconds_count", model="cached"), [3])
        self.assertEqual(self.values("nv_inference_request_success", model="cached", _team="x"), [3])
        p50, = self.values("nv_inference_request_summary_us", model="identity_fp32", quantile="0.5")
        sum_us, = self.values("nv_inference_request_duration_us", model="identity_fp32")
        self.assertGreater(p50, 0)
        self.assertLess(p50, sum_us)

    def test_buckets_never_fall(self):
        rows = {}
        for name, labels, value in samples(self.text):
            if "le" in labels:
                rows.setdefault((name, labels["model"], labels["version"]), []).append((float(labels["le"]), value))
        self.assertGreater(len(rows), 10)
        for key, buckets in rows.items():
            self.assertEqual(buckets, sorted(buckets), key)
            self.assertEqual([v for _, v in buckets], sorted(v for _, v in buckets), key)

    def test_the_machine_is_measured(self):
        total, = self.values("nv_cpu_memory_total_bytes")
        used, = self.values("nv_cpu_memory_used_bytes")
        self.assertTrue(0 < used < total)
        self.assertEqual(int(total), int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) * 1024)
        busy, = self.values("nv_cpu_utilization")
        self.assertTrue(0 <= busy <= 1)

    def test_what_boards_made_for_triton_show_is_there(self):
        names = ["nv_inference_" + one for one in (
            "request_success", "request_failure", "count", "exec_count", "request_duration_us", "queue_duration_us",
            "compute_input_duration_us", "compute_infer_duration_us", "compute_output_duration_us", "pending_request_count",
            "first_response_histogram_ms_bucket", "request_summary_us", "queue_summary_us", "compute_input_summary_us",
            "compute_infer_summary_us", "compute_output_summary_us")]
        names += ["nv_cache_" + one for one in ("num_hits_per_model", "num_misses_per_model", "hit_duration_per_model",
                                                "miss_duration_per_model", "hit_summary_per_model", "miss_summary_per_model", "util", "num_entries", "num_lookups", "num_hits",
                                                "num_misses", "num_evictions", "lookup_duration", "insertion_duration")]
        names += ["nv_cpu_utilization", "nv_cpu_memory_total_bytes", "nv_cpu_memory_used_bytes", "nv_pinned_memory_pool_total_bytes",
                  "nv_pinned_memory_pool_used_bytes", "nv_model_load_duration_secs"]
        self.assertEqual(set(names) - {n for n, _, _ in samples(self.text)}, set())

    def test_every_metric_that_the_board_shows_is_there(self):
        board = json.loads((DEPLOY / "grafana/nereid-models.json").read_text())
        there = {n for n, _, _ in samples(self.text)}
        expressions = [t["expr"] for p in board["panels"] for t in p["targets"]]
        self.assertGreater(len(expressions), 15)
        self.assertEqual({n for e in expressions for n in names_in(e)} - there, set())

    def test_every_metric_that_the_rules_name_is_there(self):
        rules = (DEPLOY / "prometheus/rules.yml").read_text()
        expressions = re.findall(r"expr: (.*(?:\n {10,}.*)*)", rules)
        self.assertGreater(len(expressions), 5)
        there = {n for n, _, _ in samples(self.text)}
        self.assertEqual({n for e in expressions for n in names_in(e)} - there, set())

    def test_families_can_be_turned_off(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        twins.write(Path(folder.name) / "models/identity_fp32", 'backend: "identity" max_batch_size: 8\n' + twins.tensors("TYPE_FP32", 16))
        served = Served(Path(folder.name) / "models", options=["--metrics-config=counter_latencies=false", "--allow-cpu-metrics=false"])
        self.addCleanup(served.stop)
        served.infer_once("identity_fp32", "INPUT0")
        there = families(served.ask("GET", "/metrics", port=served.metrics_port)[2].decode())
        self.assertNotIn("nv_cpu_utilization", there)
        self.assertNotIn("nv_inference_request_summary_us", there)
        recorded = families((ROOT / "tests/golden/kserve/metrics_no_counters.txt").read_text())
        self.assertEqual({n for n in there if n.startswith("nv_inference")} - {"nv_model_load_duration_secs"},
                         {n for n in recorded if n.startswith("nv_inference")})

    @unittest.skipUnless(prometheus.IS_HERE, "there is no Prometheus here (Debian: apt-get install prometheus)")
    def test_a_real_prometheus_scrapes_it(self):
        real = prometheus.Prometheus(self.served.port, self.served.metrics_port)
        self.addCleanup(real.stop)
        query = real.query
        if promtool := shutil.which("promtool"):
            subprocess.run([promtool, "check", "config", "prometheus.yml"], cwd=real.folder.name, check=True, capture_output=True)
            subprocess.run([promtool, "check", "metrics"], input=self.text, text=True, capture_output=True, timeout=60)
        end = time.monotonic() + 60
        while True:
            try:
                if len(query("up == 1")) == 2 and len(query("count_over_time(nv_inference_count[1m]) > 3")) > 0:
                    break
            except OSError:
                pass
            self.assertLess(time.monotonic(), end, "Prometheus has not scraped both ports")
            time.sleep(0.5)
        self.served.infer_once("identity_fp32", "INPUT0")
        time.sleep(2.5)
        row, = query('nv_inference_request_success{job="nereid",model="identity_fp32"}')
        self.assertEqual(row["value"][1], "5")
        board = json.loads((DEPLOY / "grafana/nereid-models.json").read_text())
        for panel in board["panels"]:
            for target in panel["targets"]:
                expression = target["expr"].replace("$__rate_interval", "30s").replace('"$model"', '".*"')
                if "failure" in expression or "cache_num" in expression:
                    continue  # rates of nothing
                self.assertTrue(query(expression), f"{panel['title']}: {expression}")


if __name__ == "__main__":
    unittest.main()
