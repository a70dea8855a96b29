# SPDX-License-Identifier: Apache-2.0
"""Where Nereid answers otherwise than the recorded server, and why; docs/reference/differences.md has it in prose."""

HEAD = "HEAD is answered like GET, as HTTP has it"
OPTIONS = "OPTIONS says which methods there are, which web pages need"
SMALL = "answers of less than --gzip-bytes (4096) are sent as they are"
SHARED_PORT = "the HTTP port has the API of OpenAI, a page and the metrics as well"

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
    ("infer", "fp16_json"): "FP16 may be sent as JSON; the type is wrong for the model all the same",
    ("infer", "bf16_json"): "BF16 may be sent as JSON; the type is wrong for the model all the same",
    ("infer", "input_shape_overflow"): "a batch of 2^62 is refused as such, not taken for 0",
}
NOT_REPLAYED = {}
