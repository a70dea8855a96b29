# SPDX-License-Identifier: Apache-2.0
"""Whether outputs are those expected, as the onnx package's own runner compares: shape and element type exactly, numbers
within atol + rtol * |expected| (bfloat16: at least two of its steps), texts, sequences and nothings exactly."""
import numpy as np

BFLOAT16_RTOL = 2**-6


def describe(value):
    if value is None:
        return "nothing"
    if isinstance(value, (list, tuple)):
        return f"a sequence of {len(value)}"
    if isinstance(value, dict):
        return f"a map of {len(value)}"
    return f"{value.dtype.name}{list(value.shape)}"


def is_number_of_another_library(dtype):
    """bfloat16, float8, int4, ...: NumPy does not compute with them by itself."""
    return dtype.isbuiltin == 2


def numbers_differ(found, expected, rtol, atol):
    if found.dtype.name == "bfloat16":
        rtol = max(rtol, BFLOAT16_RTOL)
    if is_number_of_another_library(found.dtype):
        found, expected = found.astype(np.float32), expected.astype(np.float32)
    if found.dtype.kind == "b":
        return found != expected
    return ~np.isclose(found, expected, rtol=rtol, atol=atol, equal_nan=True)


def difference(found, expected, rtol, atol):
    """Why `found` is not what is expected, or None."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(found) != len(expected):
            return f"it is {describe(found)}, expected {describe(expected)}"
        for i, (one, other) in enumerate(zip(found, expected)):
            why = difference(one, other, rtol, atol)
            if why:
                return f"item {i}: {why}"
        return None
    if isinstance(expected, dict):
        if not isinstance(found, dict) or list(found) != list(expected):
            return f"it is {describe(found)} with the keys {list(found)[:5]}, expected {list(expected)[:5]}"
        return difference([np.asarray(v) for v in found.values()], [np.asarray(v) for v in expected.values()], rtol, atol)
    if expected is None or found is None or isinstance(found, (list, tuple, dict)):
        return None if found is expected else f"it is {describe(found)}, expected {describe(expected)}"
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"it is {describe(found)}, expected {describe(expected)}"
    if expected.dtype == object:
        wrong = np.array([a != b for a, b in zip(found.ravel(), expected.ravel())], bool).reshape(expected.shape)
    else:
        with np.errstate(all="ignore"):
            wrong = numbers_differ(found, expected, rtol, atol)
    if not wrong.any():
        return None
    place = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
    at = (found[place], expected[place]) if found.ndim else (found[()], expected[()])
    return (f"{int(wrong.sum())} of {wrong.size} elements differ; at {list(place)} found {at[0]!s}, expected {at[1]!s}")
