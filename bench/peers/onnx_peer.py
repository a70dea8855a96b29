# SPDX-License-Identifier: Apache-2.0
"""The part of bench/peers/onnx that needs packages (numpy, onnxruntime, openvino): it runs in a Python of its own.

  onnx_peer.py versions
  onnx_peer.py inputs SPEC.json DIR                  writes NAME.npy for {"NAME": {"dtype", "shape", "fill"}}
  onnx_peer.py run ENGINE MODEL INPUTS.json THREADS WARMUP_MS SECONDS RUNS f32|bf16 [OUTDIR]
      loads the model, runs it, prints one JSON object; INPUTS.json holds {"NAME": "FILE.npy"}; onnxruntime has f32 only
  onnx_peer.py compare DIR DIR                       the largest error of each output both folders have
"""
import json
import os
import re
import sys
import time
from pathlib import Path

import numpy


def resident(field):
    found = re.search(rf"^{field}:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    return int(found.group(1)) / 1024 if found else 0.0


def versions():
    import onnxruntime
    import openvino
    return {"onnxruntime": onnxruntime.__version__, "openvino": openvino.__version__.split("-")[0]}


def make_inputs(spec, folder):
    """fill: "normal", a number, or [least, beyond the most] for whole numbers."""
    random = numpy.random.default_rng(1)
    for name, one in spec.items():
        fill, shape = one["fill"], one["shape"]
        if fill == "normal":
            array = random.standard_normal(shape)
        elif isinstance(fill, list):
            array = random.integers(fill[0], fill[1], shape)
        else:
            array = numpy.full(shape, fill)
        numpy.save(Path(folder) / f"{name}.npy", numpy.asarray(array, dtype=one["dtype"]))


class OnnxRuntime:
    def __init__(self, model, inputs, threads, _precision):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        start = time.perf_counter()
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.load_ms = (time.perf_counter() - start) * 1e3
        self.inputs = inputs

    def run(self):
        return self.session.run(None, self.inputs)

    def outputs(self):
        return dict(zip((o.name for o in self.session.get_outputs()), self.run()))


class OpenVino:
    def __init__(self, model, inputs, threads, precision):
        import openvino
        core = openvino.Core()
        start = time.perf_counter()
        read = core.read_model(model)
        read.reshape({name: list(array.shape) for name, array in inputs.items()})
        compiled = core.compile_model(read, "CPU", {
            "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": 1})
        self.load_ms = (time.perf_counter() - start) * 1e3
        self.request, self.compiled = compiled.create_infer_request(), compiled
        for name, array in inputs.items():
            self.request.set_tensor(name, openvino.Tensor(array))
        self.run = self.request.infer

    def outputs(self):
        self.run()
        return {next(iter(o.get_names())): self.request.get_tensor(o).data.copy() for o in self.compiled.outputs}


ENGINES = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}


def run(engine, model, inputs, threads, warmup_ms, seconds, runs, precision, folder):
    arrays = {name: numpy.load(path) for name, path in json.loads(Path(inputs).read_text()).items()}
    before = resident("VmRSS")  # the interpreter and numpy are not the peer's
    one = ENGINES[engine](model, arrays, int(threads), precision)
    first = time.perf_counter()
    one.run()
    first_ms = (time.perf_counter() - first) * 1e3
    until = time.perf_counter() + float(warmup_ms) / 1e3
    while time.perf_counter() < until:
        one.run()
    times = []
    begin, cpu = time.perf_counter(), time.process_time()
    while len(times) < int(runs) or time.perf_counter() - begin < float(seconds):
        start = time.perf_counter()
        one.run()
        times.append((time.perf_counter() - start) * 1e3)
    cpu_ms = (time.process_time() - cpu) * 1e3 / len(times)
    said = {"load_ms": one.load_ms + first_ms, "runs": len(times), "min_ms": min(times), "cpu_ms": cpu_ms,
            "median_ms": float(numpy.median(times)), "rss_mib": resident("VmHWM") - before}
    if folder:
        os.makedirs(folder, exist_ok=True)
        names = {}
        for i, (name, array) in enumerate(one.outputs().items()):
            numpy.save(Path(folder) / f"{i}.npy", array)
            names[name] = f"{i}.npy"
        (Path(folder) / "names.json").write_text(json.dumps(names))
    return said


def read_outputs(folder):
    """What `run` or `nereid infer` left: arrays by the outputs' names."""
    folder = Path(folder)
    if (folder / "outputs.json").exists():
        names = {one["name"]: one["file"] for one in json.loads((folder / "outputs.json").read_text())}
    else:
        names = json.loads((folder / "names.json").read_text())
    return {name: numpy.load(folder / file) for name, file in names.items() if file.endswith(".npy")}


def compare(wanted, found):
    """The largest difference as a share of the wanted output's range (of its size where it has one value); 1 where
    shapes differ."""
    worst = {}
    wanted, found = read_outputs(wanted), read_outputs(found)
    for name in wanted.keys() & found.keys():
        a, b = wanted[name].astype(numpy.float64), found[name].astype(numpy.float64)
        if a.shape != b.shape:
            worst[name] = 1.0
        elif a.size:
            spread = a.max() - a.min() or numpy.abs(a).max() or 1.0
            worst[name] = float(numpy.abs(a - b).max() / spread)
    return {"outputs": worst, "missing": sorted(wanted.keys() - found.keys())}


def main(argv):
    command, rest = argv[0], argv[1:]
    if command == "versions":
        said = versions()
    elif command == "inputs":
        said = make_inputs(json.loads(Path(rest[0]).read_text()), rest[1])
    elif command == "run":
        said = run(*rest[:8], rest[8] if len(rest) > 8 else None)
    else:
        said = compare(*rest)
    print(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1:])
