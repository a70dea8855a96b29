# SPDX-License-Identifier: Apache-2.0
"""Where Nereid answers otherwise than the recorded server, and why; docs/reference/differences.md has it in prose."""

HEAD = "HEAD is answered like GET, as HTTP has it"
OPTIONS = "OPTIONS says which methods there are, which web pages need"
SMALL = "answers of less than --gzip-bytes (4096) are sent as they are"
SHARED_PORT = "the HTTP port has the API of OpenAI, a page and the metrics as well"
DECOUPLED = "decoupled models answer here as well, where they answer once or as events"
CAUSE = "the cause is told behind the words that clients know"
NO_SETTING = "a setting or a level that there is not is told, not dropped"
NEGATIVE = "a negative number is refused, not taken for the one of 32 bits that has its bits"
UNCHANGED = "so the settings are those of before"
LATER = "servers later than the recorded one refuse such names"

DIFFERENCES = {
    ("meta", "live_head"): HEAD,
    ("meta", "options"): OPTIONS,
    ("meta", "v1"): SHARED_PORT,
    ("meta", "root"): SHARED_PORT,
    ("meta", "metrics_on_http_port"): SHARED_PORT,
    ("meta", "server_metadata"): "the version is this program's own",
    ("config", "config_ens"): "max_inflight_requests is newer than the recorded server",
    ("infer", "gzip_response"): SMALL,
    ("infer", "deflate_response"): SMALL,
    ("infer", "gzip_deflate_accept"): SMALL,
    ("infer", "unknown_content_encoding"): "415 is HTTP's status for it",
    ("infer", "gzip_corrupt"): "what is no gzip is told as such, not taken for a raw tensor",
    ("generate", "generate_stream_failing"): "the sentence is the native model's, not Python's",
    ("infer", "decoupled_infer_one"): DECOUPLED,
    ("infer", "decoupled_infer_three"): DECOUPLED,
    ("infer", "decoupled_infer_zero"): DECOUPLED,
    ("infer", "binary_header_length_nonnumeric"): "a length that is no number is told, not taken for 0",
    ("infer", "fp16_json"): "FP16 may be sent as JSON; the type is wrong for the model all the same",
    ("infer", "bf16_json"): "BF16 may be sent as JSON; the type is wrong for the model all the same",
    ("infer", "int_overflow"): "a number that the type has not is refused, not computed with after its upper bits are cut off",
    ("infer", "input_shape_overflow"): "a batch of 2^62 is refused as such, not taken for 0",
    ("settings", "log_after_half_wrong"): "a change with a mistake changes nothing",
    **{("settings", f"{name}_negative"): NEGATIVE for name in ("rate", "frequency")},
    **{("settings", name): NO_SETTING
       for name in ("level_unknown", "level_lower", "level_min", "level_max", "mode", "unknown", "log_unknown")},
    **{("settings", name): UNCHANGED for name in ("after_numbers", "level_empty", "level_off", "after_levels", "after_half_wrong")},
    **{("repo_explicit", f"load_{name}"): CAUSE
       for name in ("missing", "bad_syntax", "bad_name", "bad_unknown_field", "bad_config_override", "file_without_config")},
    ("shm", "register_too_big"): "the sentence says the sizes as well",
    ("shm", "register_offset_too_big"): "the sentence says the sizes as well",
    ("shm", "no_size"): "what is missing is named",
    ("shm", "cuda_register"): "there is no memory of a GPU here",
    ("headers", "reserved"): LATER,
    ("headers", "reserved_sequence"): LATER,
    ("headers", "reserved_triton"): LATER,
    ("headers", "generate"): "headers reach models by generate as well",
}
NOT_REPLAYED = {}

TEXT_ID = "the recorded server hands a text of less than 128 bytes over as two, which its own check refuses"
KEY = "everything that may change an answer makes another request: shapes and parameters, too"
COUNTS = "the counts follow from those of the requests before"
ERRORS = "an error is not kept"
SAYS_WHY = "what is wrong with the configuration is told, not only that it could not be read"
SAMPLE = "the sentence names the sample, and the file by the input it is for"
FULL = "a request that a full queue refuses counts as failed, so that overload is seen"

# Of the scenarios (scenario_replay.py): (group, request).
SCENARIO_DIFFERENCES = {
    **{("sequence", f"texts_{name}"): TEXT_ID
       for name in ("first", "second", "both_false", "other", "other_again", "third", "start_again", "end", "start_and_end",
                    "other_end", "stats", "number_id")},
    **{("cache", name): KEY for name in ("a_parameter", "another_parameter", "four_in_a_row", "square_other_shape")},
    **{("cache", name): COUNTS for name in ("two_rows", "stats", "square_stats")},
    ("cache", "failing_again"): ERRORS,
    ("cache", "failing_stats"): ERRORS,
    ("cache", "joined_again"): "an answer that is found has the parameters that it had",
    ("cache", "joined_stats"): "an ensemble that was asked counts as asked, whether a cache stands before it or not",
    ("cache", "load_with_sequences"): SAYS_WHY,
    ("cache", "load_decoupled"): SAYS_WHY,
    ("queue", "told_override.order"): "a request is refused when it is late, not when the instance is free",
    ("queue", "delayed_late.order"): "a delayed request runs when the instance is free, not when the next one comes",
    ("queue", "short_stats"): FULL,
    ("queue", "levels_stats"): FULL,
    **{("queue", f"load_bad_{name}"): SAYS_WHY for name in ("level", "policy", "size")},
    **{("warmup", f"load_bad_{name}"): SAMPLE for name in ("file", "file_size", "name", "type", "batch", "dims")},
    ("warmup", "index"): SAMPLE,
    ("instances", "load_gpu"): "the sentence says what to do",
    ("instances", "load_only_passive"): "a model without an instance that runs would let requests wait for ever",
    ("instances", "index"): "as the two before",
    ("iterative", "stats"): "a request counts once, however often it runs, and not as failed",
    ("iterative", "stream_3"): "each response is sent, where the recorded server loses one",
}
