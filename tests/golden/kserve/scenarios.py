# SPDX-License-Identifier: Apache-2.0
"""What is asked in the recorded scenarios (record.py), in order: requests, some of them at one time."""
import json

OPTIONS = {  # of the server, the same for the recorded one and for ours
    "sequence": [],
    "cache": ["--cache-config=local,size=65536", "--model-control-mode=explicit", "--load-model=cached",
              "--load-model=batching", "--load-model=wide", "--load-model=square", "--load-model=failing",
              "--load-model=joined"],
    "queue": ["--model-control-mode=explicit", "--load-model=short", "--load-model=late", "--load-model=told",
              "--load-model=fixed", "--load-model=delayed", "--load-model=levels"],
    "warmup": ["--model-control-mode=explicit"],
    "instances": ["--model-control-mode=explicit", "--rate-limit=execution_count", "--rate-limit-resource=R:2",
                  "--host-policy=other,cpu-cores=0-0"],
    "iterative": [],
    "batches": [],
}


def request(name, method, path, body=None, after_ms=0):
    one = {"name": name, "method": method, "path": path}
    if body is not None:
        one["body"] = json.dumps(body)
    if after_ms:
        one["after_ms"] = after_ms
    return one


def infer(name, model, data, shape=(1, 1), after_ms=0, type_="INT32", outputs=None, **parameters):
    body = {"inputs": [{"name": "INPUT0", "shape": list(shape), "datatype": type_, "data": data}]}
    if "id" in parameters:
        body["id"] = parameters.pop("id")
    if parameters:
        body["parameters"] = parameters
    if outputs:
        body["outputs"] = [{"name": one} for one in outputs]
    return request(name, "POST", f"/v2/models/{model}/infer", body, after_ms)


def load(name, model):
    return request(name, "POST", f"/v2/repository/models/{model}/load", {})


def stats(name, model):
    return request(name, "GET", f"/v2/models/{model}/stats")


def wait(ms):
    return {"wait_ms": ms}


def together(name, *requests, any_order=False):
    """Each begins its own time after the first; how they end is recorded, and in which order unless `any_order`."""
    return {"name": name, "together": list(requests), **({"any_order": True} if any_order else {})}


def part(name, model, value, id_, start=None, end=None, **more):
    if start is not None:
        more["sequence_start"] = start
    if end is not None:
        more["sequence_end"] = end
    return infer(name, model, [value], sequence_id=id_, **more)


def sequence():
    for model, a, b in (("direct", 7, 8), ("oldest", 7, 8), ("texts", "ab", "cd")):
        def one(name, *arguments, **more):
            return part(f"{model}_{name}", model, *arguments, **more)
        yield one("without_start", 1, a)
        yield infer(f"{model}_without_id", model, [1])
        yield infer(f"{model}_start_without_id", model, [1], sequence_start=True)
        yield one("first", 5, a, True)
        yield one("second", 3, a)
        yield one("both_false", 3, a, False, False)
        yield one("other", 100, b, True)
        yield one("other_again", 1, b)
        yield one("third", 3, a)
        yield one("start_again", 1, a, True)
        yield one("end", 2, a, end=True)
        yield one("after_end", 2, a)
        yield one("end_after_end", 2, a, end=True)
        yield one("start_and_end", 9, a, True, True)
        yield one("after_both", 9, a)
        yield one("other_end", 1, b, end=True)
        yield infer(f"{model}_batch_of_two", model, [1, 2], (2, 1), sequence_id=a, sequence_start=True)
        yield stats(f"{model}_stats", model)
    yield part("direct_text_id", "direct", 1, "ab", True)
    yield part("direct_zero_id", "direct", 1, 0, True)
    yield part("direct_empty_text_id", "direct", 1, "", True)
    yield part("direct_large_id", "direct", 1, 2**64 - 1, True, True)
    yield part("direct_too_large_id", "direct", 1, 2**64, True, True)
    yield part("direct_negative_id", "direct", 1, -1, True, True)
    yield part("direct_float_id", "direct", 1, 1.5, True, True)
    yield part("direct_start_text", "direct", 1, 9, "yes")
    yield part("direct_end_number", "direct", 1, 9, end=1)
    yield part("texts_number_id", "texts", 1, 9, True, True)
    yield part("texts_long_id", "texts", 1, "x" * 128, True, True)
    yield part("texts_too_long_id", "texts", 1, "x" * 129, True, True)
    yield part("plain_sequence", "plain", 1, 9, True)
    yield part("oldest_a", "oldest", 1, 21, True)
    yield part("oldest_b", "oldest", 1, 22, True)
    yield together("oldest_third_waits",
                   part("c", "oldest", 1, 23, True, True),
                   part("a_end", "oldest", 2, 21, end=True, after_ms=300), any_order=True)
    yield part("oldest_b_end", "oldest", 2, 22, end=True)
    yield part("short_a", "short", 1, 31, True)
    yield together("short_idle_gives_way", part("b", "short", 1, 32, True, True))
    yield wait(600)
    yield part("short_a_is_gone", "short", 1, 31)
    yield part("short_c", "short", 1, 33, True)
    yield together("short_timeout", part("d", "short", 1, 34, True, True, timeout=50000))


def cache():
    def ask(name, data, model="cached", **more):
        return infer(name, model, data, more.pop("shape", (1, len(data))), **more)
    yield ask("first", [1, 2, 3])
    yield ask("again", [1, 2, 3])
    yield ask("with_id", [1, 2, 3], id="x")
    yield ask("other_values", [1, 2, 4])
    yield ask("named_output", [1, 2, 3], outputs=["OUTPUT0"])
    yield ask("a_parameter", [1, 2, 3], my_parameter=1)
    yield ask("another_parameter", [1, 2, 3], my_parameter=2)
    yield ask("priority_and_timeout", [1, 2, 3], priority=1, timeout=1000000)
    yield ask("two_rows", [1, 2, 3, 4], shape=(2, 2))
    yield ask("four_in_a_row", [1, 2, 3, 4], shape=(1, 4))
    yield stats("stats", "cached")
    yield ask("square_first", [1, 2, 3, 4, 5, 6], "square", shape=(2, 3))
    yield ask("square_other_shape", [1, 2, 3, 4, 5, 6], "square", shape=(3, 2))
    yield stats("square_stats", "square")
    yield ask("batching_first", [1, 2, 3], "batching")
    yield ask("batching_again", [1, 2, 3], "batching")
    yield stats("batching_stats", "batching")
    yield infer("failing_first", "failing", [5], [1], type_="FP32")
    yield infer("failing_again", "failing", [5], [1], type_="FP32")
    yield stats("failing_stats", "failing")
    yield ask("joined_first", [1, 2, 3], "joined")
    yield ask("joined_again", [1, 2, 3], "joined")
    yield stats("joined_stats", "joined")
    yield ask("wide_too_large", [3] * 40000, "wide", shape=[40000])
    yield ask("wide_too_large_again", [3] * 40000, "wide", shape=[40000])
    yield stats("wide_stats", "wide")
    for i in range(5):
        yield ask(f"wide_{i}", [i] * 4000, "wide", shape=[4000])
    yield ask("wide_first_again", [0] * 4000, "wide", shape=[4000])
    yield ask("wide_last_again", [4] * 4000, "wide", shape=[4000])
    yield stats("wide_stats_after_evictions", "wide")
    yield load("load_with_sequences", "of_sequences")
    yield load("load_decoupled", "of_many")


def queue():
    def at(name, model, after_ms=0, value=1, **more):
        return infer(name, model, [value], after_ms=after_ms, **more)
    yield together("short_full", *[at(f"r{i}", "short", 40 * i, i) for i in range(6)])
    yield together("late_waits", at("runs", "late"), at("waits", "late", 60), at("waits_too", "late", 90), any_order=True)
    yield together("told_override", at("runs", "told"), at("hasty", "told", 60, timeout=100000), at("patient", "told", 90))
    yield together("fixed_override", at("runs", "fixed"), at("hasty", "fixed", 60, timeout=100000))
    yield together("delayed_late", at("runs", "delayed"), at("late", "delayed", 40), at("later", "delayed", 580))
    yield together("levels_order", at("runs", "levels"), at("waits", "levels", 60), at("low", "levels", 90, priority=2),
                   at("high", "levels", 120, priority=1), at("none", "levels", 150, priority=0),
                   at("unknown", "levels", 180, priority=7))
    yield together("levels_full", at("runs", "levels"), at("waits", "levels", 60, priority=1), at("one", "levels", 90, priority=1),
                   at("two", "levels", 120, priority=1), at("other", "levels", 150, priority=2))
    for model in ("short", "late", "told", "levels"):
        yield stats(f"{model}_stats", model)
    for model in ("bad_order", "bad_level", "bad_policy", "bad_size"):
        yield load(f"load_{model}", model)


def warmup():
    for model in ("zeros", "twice", "batch", "file", "several"):
        yield load(f"load_{model}", model)
        yield stats(f"{model}_stats", model)
        yield infer(f"{model}_told", model, [5, 6], (1, 2))
    yield load("load_no_batch", "no_batch")
    for model in ("bad_file", "bad_file_size", "bad_name", "bad_type", "bad_batch", "bad_dims"):
        yield load(f"load_{model}", model)
    yield request("index", "POST", "/v2/repository/index", {})


def instances():
    for model in ("silent", "two", "groups", "of_model", "auto", "counted_0", "with_passive", "policy", "unknown_policy", "ordered"):
        yield load(f"load_{model}", model)
        yield request(f"config_{model}", "GET", f"/v2/models/{model}/config")
        yield infer(f"infer_{model}", model, [4])
    for model in ("counted_below_0", "gpu", "cpu_with_gpus", "only_passive", "takes_one", "takes_two", "takes_three", "takes_global"):
        yield load(f"load_{model}", model)
    yield together("one_resource", infer("first", "takes_two", [1]), infer("second", "takes_one", [2], after_ms=100),
                   infer("third", "takes_two", [3], after_ms=150))
    yield together("in_order", infer("first", "ordered", [1]), infer("second", "ordered", [2], after_ms=100))
    yield request("index", "POST", "/v2/repository/index", {})


def iterative():
    for n in (1, 2, 5):
        yield infer(f"runs_{n}", "countdown", [n])
    yield infer("with_id", "countdown", [2], sequence_id=5)
    yield infer("with_id_and_start", "countdown", [2], sequence_id=5, sequence_start=True)
    yield infer("two_rows", "countdown", [2, 3], (2, 1))
    yield together("beside_each_other", infer("three", "countdown", [3]), infer("four", "countdown", [4], after_ms=5),
                   any_order=True)
    yield stats("stats", "countdown")
    for n in (1, 3):
        yield request(f"stream_{n}", "POST", "/v2/models/countdown_stream/generate_stream", {"INPUT0": n})


def batches():
    def row(name, model, count, after_ms=0, rows=1):
        return infer(name, model, [7] * count * rows, (rows, count), after_ms)
    yield together("ragged_four", *[row(f"r{i}", "ragged", n, 50 * i) for i, n in enumerate((3, 1, 5, 2))], any_order=True)
    yield stats("ragged_stats", "ragged")
    yield together("alike_four", *[row(f"r{i}", "alike", n, 50 * i) for i, n in enumerate((3, 3, 2, 2))], any_order=True)
    yield stats("alike_stats", "alike")
    yield together("patient_two", row("r0", "patient", 1), row("r1", "patient", 1, 300), any_order=True)
    yield stats("patient_stats", "patient")
    yield together("small_full", row("r0", "small", 1), row("r1", "small", 1, 100), any_order=True)
    yield together("small_whole", row("r0", "small", 1, rows=2), any_order=True)
    yield stats("small_stats", "small")
    yield together("preferred_two", row("r0", "preferred", 1), row("r1", "preferred", 1, 100), any_order=True)
    yield together("preferred_three", row("r0", "preferred", 1), row("r1", "preferred", 1, 100, rows=2), any_order=True)
    yield stats("preferred_stats", "preferred")


GROUPS = {"sequence": sequence, "cache": cache, "queue": queue, "warmup": warmup,
          "instances": instances, "iterative": iterative, "batches": batches}
