# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models and .npy files as bytes, without any package: just enough of the formats for these tests."""
import struct

FLOAT, INT64, STRING, BFLOAT16 = 1, 7, 8, 16


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A number, or bytes (text, a message)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, element, sizes, raw):
    return b"".join(field(1, size) for size in sizes) + field(2, element) + field(8, name) + field(9, raw)


def text_tensor(sizes, texts):
    return b"".join(field(1, s) for s in sizes) + field(2, STRING) + b"".join(field(6, t) for t in texts)


def tensor_type(element, dims):
    """Dims are sizes or names."""
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, field(1, element) + field(2, shape))


def sequence_type(of):
    return field(4, field(1, of))


def optional_type(of):
    return field(9, field(1, of))


def value_info(name, type_bytes):
    return field(1, name) + field(2, type_bytes)


def attribute(name, value):
    kind, number = (2, 3) if isinstance(value, int) else (3, 4)
    return field(1, name) + field(number, value) + field(20, kind)


def integers_attribute(name, values):
    return field(1, name) + b"".join(field(8, value) for value in values) + field(20, 7)


def node(op, inputs, outputs, attributes=()):
    return (b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(4, op) +
            b"".join(field(5, a) for a in attributes))


def model(nodes, inputs, outputs, initializers=(), opset=17):
    """Inputs and outputs: (name, type)."""
    graph = (b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, i) for i in initializers) +
             b"".join(field(11, value_info(*i)) for i in inputs) + b"".join(field(12, value_info(*o)) for o in outputs))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, opset))


def npy(descr, sizes, raw):
    shape = ", ".join(map(str, sizes)) + ("," if len(sizes) == 1 else "")
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + raw


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def npy_floats(sizes, values):
    return npy("<f4", sizes, floats(*values))


def read_npy(content):
    """(descr, sizes, bytes)"""
    size = struct.unpack("<H", content[8:10])[0]
    header = eval(content[10:10 + size])  # what the program under test wrote: a literal
    return header["descr"], list(header["shape"]), content[10 + size:]
