#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the arrays beside it and the fuzzer's seeds (tests/corpus/npy_fuzz); needs NumPy."""
import io
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parents[1] / "corpus" / "npy_fuzz"
WHEN = (1980, 1, 1, 0, 0, 0)


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(entries, method, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in entries:
            info = zipfile.ZipInfo(name, WHEN)
            info.compress_type = method
            with archive.open(info, "w", force_zip64=True) as file:
                file.write(npy(array))
        archive.comment = comment
    return out.getvalue()


def main():
    files = {}
    numbers = np.arange(6).reshape(2, 3)
    for name in "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split():
        values = numbers % 2 if name == "b1" else numbers * (1 - 1j) if name[0] == "c" else numbers
        array = values.astype(name)
        files[f"{name}.npy"] = npy(array)
        files[f"{name}_fortran.npy"] = npy(np.asfortranarray(array))
        files[f"{name}_big.npy"] = npy(array.astype(array.dtype.newbyteorder(">")))
    files["scalar.npy"] = npy(np.float32(7))
    files["vector.npy"] = npy(np.array([1, 2], np.int16))
    files["empty.npy"] = npy(np.zeros((0, 4), np.float64))
    cube = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    files["cube_columns_as_rows.npy"] = npy(cube)
    files["cube_columns.npy"] = npy(np.asfortranarray(cube))
    entries = [("x.npy", np.array([1, 2, 3], np.float32)), ("folder/y:0.npy", np.zeros((0, 4), np.int64))]
    files["stored.npz"] = npz(entries, zipfile.ZIP_STORED)
    files["deflated.npz"] = npz(entries, zipfile.ZIP_DEFLATED)
    files["commented.npz"] = npz(entries, zipfile.ZIP_STORED, b"a comment, PK\5\6 and all")
    for name, content in files.items():
        (HERE / name).write_bytes(content)
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name in "b1 f4_big c8_fortran f2 scalar empty cube_columns stored deflated commented".split():
        source = name + (".npz" if name in ("stored", "deflated", "commented") else ".npy")
        (CORPUS / name).write_bytes(files[source])
    whole = files["f4.npy"]
    for size in (0, 7, 9, 64, len(whole) - 1):
        (CORPUS / f"cut_at_{size}").write_bytes(whole[:size])
    (CORPUS / "huge_shape").write_bytes(whole.replace(b"(2, 3), }        ", b"(9999999999, 3),}"))
    (CORPUS / "objects").write_bytes(whole.replace(b"'<f4'", b"'|O' "))
    (CORPUS / "cut_npz").write_bytes(files["deflated.npz"][:-10])


if __name__ == "__main__":
    main()
