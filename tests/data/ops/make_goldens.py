# SPDX-License-Identifier: Apache-2.0
"""Writes goldens.txt beside itself: small random inputs of ops and what PyTorch computes from them in f64.

    python -m venv v && v/bin/pip install torch==2.15 numpy
    v/bin/python tests/data/ops/make_goldens.py

A case is `case NAME`, `op NAME`, one `attr NAME TEXT` an attribute, one `in` or `state NAME DTYPE SIZES... : NUMBERS` or
`absent` an argument in order, and one `out` a result; `after` gives what a state holds afterwards. Inputs are rounded to
f32 before PyTorch sees them, so that results differ only by the ops' own rounding.
"""

import pathlib

import torch
import torch.nn.functional as F

torch.manual_seed(20)
f64 = torch.float64


def random(*sizes, scale=1.0):
    return (torch.randn(*sizes, dtype=f64) * scale).to(torch.float32).to(f64)


def tensor_line(kind, name, t):
    dtype = "i32" if t.dtype in (torch.int64, torch.int32) else "f32"
    numbers = " ".join(str(int(v)) if dtype == "i32" else f"{v:.9g}" for v in t.flatten().tolist())
    return f"{kind} {name} {dtype} {' '.join(map(str, t.shape))} : {numbers}"


LINES = []


def case(name, op, inputs, outputs, attrs=None, states=(), after=None):
    LINES.extend([f"case {name}", f"op {op}"])
    LINES.extend(f"attr {key} {value}" for key, value in (attrs or {}).items())
    for key, value in inputs.items():
        LINES.append("absent" if value is None else tensor_line("state" if key in states else "in", key, value))
    LINES.extend(tensor_line("out", f"y{i}", y) for i, y in enumerate(outputs))
    LINES.extend(tensor_line("after", key, value) for key, value in (after or {}).items())
    LINES.append("")


def unary_ops():
    x = random(3, 7, scale=2)
    for name, f in {
        "silu": F.silu, "gelu": F.gelu, "gelu_tanh": lambda v: F.gelu(v, approximate="tanh"), "relu": F.relu,
        "sigmoid": torch.sigmoid, "tanh": torch.tanh, "exp": torch.exp, "neg": torch.neg,
    }.items():
        case(name, name, {"x": x}, [f(x)])
    case("sqrt", "sqrt", {"x": x.abs()}, [x.abs().sqrt()])
    case("softmax_last", "softmax", {"x": x}, [x.softmax(-1)])
    case("softmax_first", "softmax", {"x": x}, [x.softmax(0)], {"axis": 0})


def norms():
    x, w, b, r = random(3, 16), random(16), random(16), random(3, 16)
    case("rms_norm", "rms_norm", {"x": x, "weight": w, "residual": r}, [F.rms_norm(x, [16], w, 1e-6) + r], {"eps": 1e-6})
    w4 = random(4)
    grouped = F.rms_norm(x.reshape(3, 4, 4), [4], w4, 1e-5).reshape(3, 16)
    case("rms_norm_groups", "rms_norm", {"x": x, "weight": w4}, [grouped], {"group": 4})
    case("layer_norm", "layer_norm", {"x": x, "weight": w, "bias": b}, [F.layer_norm(x, [16], w, b, 1e-5)])


def linears():
    x, w, b, r, n = random(3, 16), random(8, 16), random(8), random(3, 8), random(16)
    case("linear", "linear", {"x": x, "w": w}, [F.linear(x, w)])
    fused = F.linear(F.rms_norm(x, [16], n, 1e-6), w, b) + r
    case("linear_with_everything", "linear", {"x": x, "w": w, "bias": b, "residual": r, "norm_weight": n}, [fused],
         {"norm_eps": 1e-6})
    up = random(8, 16)
    h = F.rms_norm(x, [16], n, 1e-5)
    case("gated_linear", "gated_linear", {"x": x, "w_gate": w, "w_up": up, "norm_weight": n},
         [F.silu(F.linear(h, w)) * F.linear(h, up)])
    case("gated_linear_gelu", "gated_linear", {"x": x, "w_gate": w, "w_up": up},
         [F.gelu(F.linear(x, w), approximate="tanh") * F.linear(x, up)], {"activation": "gelu_tanh"})
    a, c = random(2, 1, 3, 4), random(5, 4, 2)
    case("matmul", "matmul", {"a": a, "b": c}, [a @ c])


def turn(x, positions, inv_freq, interleaved, scale=1.0):
    """x [T, H, hd]: pairs as complex numbers, times e^(i * angle); the angle in f32, as models are trained."""
    n = inv_freq.numel()
    angle = (positions[:, None].to(torch.float32) * inv_freq.to(torch.float32)[None, :]).to(f64)
    factor = torch.polar(torch.full_like(angle, scale), angle)[:, None, :]
    head, rest = x[..., : 2 * n], x[..., 2 * n :]
    pairs = head.unflatten(-1, (n, 2)) if interleaved else torch.stack([head[..., :n], head[..., n:]], -1)
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * factor)
    head = turned.flatten(-2) if interleaved else torch.cat([turned[..., 0], turned[..., 1]], -1)
    return torch.cat([head, rest], -1)


def ropes():
    positions = torch.tensor([0, 3, 1000])
    x = random(3, 2, 8)
    for interleaved in (False, True):
        for pairs in (4, 3):
            inv_freq = (10000.0 ** (-torch.arange(pairs, dtype=f64) / pairs)).to(torch.float32).to(f64)
            y = turn(x, positions, inv_freq, interleaved, 1.25)
            case(f"rope_{'interleaved' if interleaved else 'halves'}_{pairs}", "rope",
                 {"x": x.reshape(3, 16), "positions": positions, "inv_freq": inv_freq}, [y.reshape(3, 16)],
                 {"head_dim": 8, "interleaved": str(interleaved).lower(), "scale": 1.25})


def attend(name, steps, heads, kv_heads, head_dim, window=0, softcap=0.0, inv_freq=None, interleaved=False, scale=0.3):
    """steps: lists of (sequence, position). Each step becomes a case that starts from the cache the last one left."""
    page_tokens, pages = 2, 6
    table = torch.tensor([[4, 1, 3], [0, 5, 2]])
    k_cache = torch.zeros(pages, kv_heads, page_tokens, head_dim, dtype=f64)
    v_cache = torch.zeros_like(k_cache)
    keys, values = {}, {}
    attrs = {"heads": heads, "kv_heads": kv_heads, "head_dim": head_dim, "scale": scale}
    if window:
        attrs["window"] = window
    if softcap:
        attrs["softcap"] = softcap
    if interleaved:
        attrs["rope_interleaved"] = "true"
    for number, step in enumerate(steps):
        sequence = torch.tensor([s for s, _ in step])
        positions = torch.tensor([p for _, p in step])
        tokens = len(step)
        q, k, v = random(tokens, heads, head_dim), random(tokens, kv_heads, head_dim), random(tokens, kv_heads, head_dim)
        inputs = {"q": q.flatten(1), "k": k.flatten(1), "v": v.flatten(1), "k_cache": k_cache.clone(), "v_cache": v_cache.clone(),
                  "positions": positions, "sequence": sequence, "page_table": table}
        qt, kt = q, k
        if inv_freq is not None:
            inputs["inv_freq"] = inv_freq
            qt, kt = turn(q, positions, inv_freq, interleaved), turn(k, positions, inv_freq, interleaved)
        for t, (s, p) in enumerate(step):
            # The next step starts from what an f32 cache holds.
            kt32, v32 = kt[t].to(torch.float32).to(f64), v[t]
            keys[s, p], values[s, p] = kt32, v32
            page = table[s, p // page_tokens]
            k_cache[page, :, p % page_tokens], v_cache[page, :, p % page_tokens] = kt32, v32
        out = []
        for t, (s, p) in enumerate(step):
            seen = [at for at in range(p + 1) if not window or at > p - window]
            ks = torch.stack([keys[s, at] for at in seen], 1).repeat_interleave(heads // kv_heads, 0)
            vs = torch.stack([values[s, at] for at in seen], 1).repeat_interleave(heads // kv_heads, 0)
            if softcap:
                scores = softcap * torch.tanh((ks @ qt[t][:, :, None]).squeeze(-1) * scale / softcap)
                y = (scores.softmax(-1)[:, None, :] @ vs).squeeze(1)
            else:
                y = F.scaled_dot_product_attention(qt[t][:, None, :], ks, vs, scale=scale).squeeze(1)
            out.append(y.flatten())
        case(f"{name}_step_{number}", "attention", inputs, [torch.stack(out)], attrs, ("k_cache", "v_cache"),
             {"k_cache": k_cache, "v_cache": v_cache})


def attentions():
    both = [[(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)], [(1, 2), (0, 3)], [(0, 4), (0, 5), (1, 3)]]
    inv_freq = torch.tensor([1.0, 0.25, 0.0625, 0.015625], dtype=f64)
    attend("attention", both, 4, 2, 8)
    attend("attention_window", both, 2, 2, 8, window=2)
    attend("attention_softcap", both[:2], 2, 1, 8, softcap=0.5)
    attend("attention_rope", both[:2], 4, 1, 8, inv_freq=inv_freq)
    attend("attention_rope_interleaved_partial", both[:2], 2, 1, 8, inv_freq=inv_freq[:3], interleaved=True, window=3)


if __name__ == "__main__":
    unary_ops()
    norms()
    linears()
    ropes()
    attentions()
    path = pathlib.Path(__file__).with_name("goldens.txt")
    path.write_text("# Written by make_goldens.py with PyTorch " + torch.__version__.split("+")[0] + "; do not edit.\n\n" + "\n".join(LINES))
    print(f"{path.name}: {path.stat().st_size} bytes")
