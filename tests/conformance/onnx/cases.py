# SPDX-License-Identifier: Apache-2.0
"""The backend test cases of the onnx package as files: a model, its inputs and the outputs the package expects.

build/conformance/onnx-VERSION/GROUP/CASE/ holds model.onnx, case.json (tolerances) and a folder set_N for each data set:
inputs.json as `nereid infer` reads it, the input files (.npy where the type fits, else .pb) and expected_N.pb. The
package makes the node cases with code, which takes a while; they are kept, and made once however many runs start.
"""
import contextlib
import fcntl
import json
import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

VERSION = "1.23.2"
GROUPS = ("node", "simple", "pytorch-operator", "pytorch-converted", "real")
FORMAT = 1  # of the files below; another number makes them anew
NPY_TYPES = {np.dtype(t) for t in "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()}


@dataclass
class Case:
    group: str
    name: str
    folder: Path
    rtol: float
    atol: float
    sets: list  # folders

    @property
    def model(self):
        return self.folder / "model.onnx"

    @property
    def label(self):
        return f"{self.group}/{self.name}"


def kind_of(type_proto):
    for kind in ("sequence", "optional", "map"):
        if type_proto.HasField(f"{kind}_type"):
            return kind
    return "tensor"


def to_message(value, kind):
    """What the package gives (arrays, lists, None, or messages already) as the message of that kind."""
    if hasattr(value, "SerializeToString"):
        return value
    if kind == "sequence":
        return numpy_helper.from_list(value)
    if kind == "optional":
        return numpy_helper.from_optional(value)
    if kind == "map":
        return numpy_helper.from_dict(value)
    return numpy_helper.from_array(np.asarray(value))


def from_file(path, kind):
    """The value of a file: an array, a list of values, a dict, or None."""
    if path.suffix == ".npy":
        return np.load(path)
    message = {"sequence": onnx.SequenceProto, "optional": onnx.OptionalProto, "map": onnx.MapProto,
               "tensor": onnx.TensorProto}[kind]()
    message.ParseFromString(path.read_bytes())
    read = {"sequence": numpy_helper.to_list, "optional": numpy_helper.to_optional, "map": numpy_helper.to_dict,
            "tensor": numpy_helper.to_array}[kind]
    return read(message)


def write_set(folder, model, inputs, outputs):
    """One data set; `inputs` and `outputs` in the order of the model's."""
    folder.mkdir(parents=True)
    initialized = {one.name for one in model.graph.initializer}
    declared = [one for one in model.graph.input if one.name not in initialized]
    # A case that gives more values than inputs without a default gives them all.
    if len(inputs) > len(declared):
        declared = list(model.graph.input)
    files = {}
    for i, (value, info) in enumerate(zip(inputs, declared)):
        kind = kind_of(info.type)
        message = to_message(value, kind)
        array = numpy_helper.to_array(message) if kind == "tensor" else None
        if array is not None and array.dtype in NPY_TYPES:
            path = folder / f"input_{i}.npy"
            np.save(path, array)
        else:
            path = folder / f"input_{i}.pb"
            path.write_bytes(message.SerializeToString())
        files[info.name] = str(path.name)
    (folder / "inputs.json").write_text(json.dumps(files))
    for i, (value, info) in enumerate(zip(outputs, model.graph.output)):
        message = to_message(value, kind_of(info.type))
        (folder / f"expected_{i}.pb").write_bytes(message.SerializeToString())


def data_of_folder(folder, model):
    """The values of a data set as the package stores it."""
    for what, infos in (("input", model.graph.input), ("output", model.graph.output)):
        count = len(list(folder.glob(f"{what}_*.pb")))
        yield [from_file(folder / f"{what}_{i}.pb", kind_of(infos[i].type)) for i in range(count)]


def dummy_inputs(model):
    """For models that come without data: rising floats from 0 to 1, as the package itself feeds them."""
    initialized = {one.name for one in model.graph.initializer}
    for info in model.graph.input:
        if info.name not in initialized:
            shape = [d.dim_value or 1 for d in info.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            yield (np.arange(count).reshape(shape) / count).astype(np.float32)


def data_sets(test, model, package):
    """The model's data sets: (inputs, outputs) of values."""
    if test.data_sets is not None:
        yield from test.data_sets
    elif test.model_dir is not None:
        for folder in sorted(Path(test.model_dir).glob("test_data_set_*")):
            yield tuple(data_of_folder(folder, model))
    else:
        stem = str(package / test.url)[:-len(".onnx")]
        count = len(model.graph.output)
        yield list(dummy_inputs(model)), [from_file(Path(f"{stem}_output_{i}.pb"), "tensor") for i in range(count)]


def write_case(folder, test, package):
    folder.mkdir(parents=True)
    if test.model is not None:
        (folder / "model.onnx").write_bytes(test.model.SerializeToString())
        model = test.model
    else:
        source = Path(test.model_dir) / "model.onnx" if test.model_dir else package / test.url
        shutil.copyfile(source, folder / "model.onnx")
        model = onnx.load(source, load_external_data=False)
    sets = 0
    for inputs, outputs in data_sets(test, model, package):
        write_set(folder / f"set_{sets}", model, inputs, outputs)
        sets += 1
    (folder / "case.json").write_text(json.dumps({"rtol": test.rtol, "atol": test.atol, "sets": sets}))


def write_all(root, say):
    from onnx.backend.test.loader import load_model_tests

    say(f"making the cases of onnx {VERSION} (once)")
    package = Path(onnx.__file__).resolve().parent.parent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for group in GROUPS:
            for test in load_model_tests(kind=group):
                write_case(root / group / test.name, test, package)


def load_cases(build, say, remake=False):
    """All cases, in order of group and name; they are made first if they are not there."""
    root = build / f"onnx-{VERSION}"
    root.parent.mkdir(parents=True, exist_ok=True)
    with open(build / "lock", "w") as lock, contextlib.suppress(FileNotFoundError):
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = root / "format"
        if remake or not stamp.exists() or stamp.read_text() != str(FORMAT):
            shutil.rmtree(root, ignore_errors=True)
            making = build / f"making-{os.getpid()}"
            shutil.rmtree(making, ignore_errors=True)
            write_all(making, say)
            (making / "format").write_text(str(FORMAT))
            making.rename(root)
    cases = []
    for group in GROUPS:
        for folder in sorted((root / group).iterdir()):
            about = json.loads((folder / "case.json").read_text())
            sets = [folder / f"set_{i}" for i in range(about["sets"])]
            cases.append(Case(group, folder.name, folder, about["rtol"], about["atol"], sets))
    return cases
