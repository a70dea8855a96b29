#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seeds of the tokenizer fuzzers, tests/corpus/<fuzzer>/: small, sound inputs of our own.

    python3 make_corpus.py

Needs nothing but Python. Inputs that a fuzzer found and that were mended stay there under their own names.
"""
import base64
import json
import struct
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent.parent / "corpus"


def save(folder, name, data):
    path = CORPUS / (folder + "_fuzz") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def small_json():
    vocabulary = {c: i for i, c in enumerate("abcdefghijklmnopqrstuvwxyz\u0120")}
    for word in ("th", "the", "\u0120a", "##s", "\u2581the"):
        vocabulary[word] = len(vocabulary)
    added = [{"id": 40, "content": "<s>", "single_word": False, "lstrip": True, "rstrip": True, "normalized": False,
              "special": True}, {"id": 41, "content": "ship", "single_word": True, "normalized": True, "special": False}]
    bpe = {"type": "BPE", "vocab": vocabulary, "merges": ["t h", ["th", "e"], "\u0120 a"], "byte_fallback": True,
           "unk_token": "a", "fuse_unk": True, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    wordpiece = {"type": "WordPiece", "vocab": vocabulary, "unk_token": "a", "max_input_chars_per_word": 10}
    unigram = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["\u2581", -2.0], ["\u2581the", -1.5], ["e", -3]]}
    charsmap = base64.b64encode(struct.pack("<II", 4, 0) + b"x\0").decode()
    normalizer = {"type": "Sequence", "normalizers": [
        {"type": "NFC"}, {"type": "NFKD"}, {"type": "Lowercase"}, {"type": "StripAccents"}, {"type": "Nmt"},
        {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Prepend", "prepend": "\u2581"},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        {"type": "Precompiled", "precompiled_charsmap": charsmap},
        {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}]}
    splits = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "\\w+|[^\\w\\s]+"}, "behavior": "MergedWithNext", "invert": False},
        {"type": "Digits", "individual_digits": True}, {"type": "Punctuation", "behavior": "Contiguous"},
        {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True},
        {"type": "FixedLength", "length": 4}]}
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                          {"Sequence": {"id": "A", "type_id": 0}}],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [40], "tokens": ["<s>"]}}}
    decoder = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    whole = lambda model, pre, dec, norm=None: json.dumps(
        {"version": "1.0", "added_tokens": added, "normalizer": norm, "pre_tokenizer": pre, "post_processor": template,
         "decoder": dec, "model": model}, ensure_ascii=False).encode()
    config = json.dumps({"bos_token": "<s>", "eos_token": {"content": "ship"}, "add_bos_token": True,
                         "chat_template": [{"name": "default", "template": "{{ x }}"}]}).encode()
    save("tokenizer_json", "bpe_byte_level", whole(bpe, byte_level, {"type": "ByteLevel"}) + b"\0" + config)
    save("tokenizer_json", "bpe_characters", whole(bpe, splits, decoder, normalizer))
    save("tokenizer_json", "wordpiece", whole(wordpiece, {"type": "BertPreTokenizer"}, {"type": "WordPiece"}, normalizer))
    save("tokenizer_json", "unigram", whole(unigram, {"type": "Metaspace"}, {"type": "Metaspace"}))


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, kind, data):
    return varint(number << 3 | kind) + (varint(len(data)) + data if kind == 2 else data)


def sentencepiece(model_type, byte_fallback):
    pieces = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3), ("\u2581", -1, 1), ("\u2581the", -2, 1), ("th", -3, 1),
              ("t", -4, 1), ("h", -4, 1), ("e", -4, 1), ("ship", -1, 4), ("x", -5, 5)]
    pieces += [(f"<0x{b:02X}>", 0, 6) for b in range(256)] if byte_fallback else []
    out = b"".join(field(1, 2, field(1, 2, t.encode()) + field(2, 5, struct.pack("<f", s)) + field(3, 0, varint(k)))
                   for t, s, k in pieces)
    out += field(2, 2, field(3, 0, varint(model_type)) + field(35, 0, varint(byte_fallback)))
    charsmap = struct.pack("<II", 4, 0) + b"x\0"
    return out + field(3, 2, field(1, 2, b"nfkc") + field(2, 2, charsmap) + field(3, 0, varint(1)) + field(4, 0, varint(1)))


def metadata(pairs):
    """The serialized form of base/metadata.h, version 1."""
    text = lambda s: struct.pack("<Q", len(s)) + s
    out = b"NMD1" + struct.pack("<Q", len(pairs))
    for key, value in pairs:
        out += text(key.encode())
        if isinstance(value, bool):
            out += b"\0" + bytes([value])
        elif isinstance(value, int):
            out += b"\1" + struct.pack("<q", value)
        elif isinstance(value, bytes):
            out += b"\3" + text(value)
        elif isinstance(value[0], int):
            out += b"\4" + struct.pack("<Q", len(value)) + struct.pack(f"<{len(value)}q", *value)
        elif isinstance(value[0], float):
            out += b"\5" + struct.pack("<Q", len(value)) + struct.pack(f"<{len(value)}d", *value)
        else:
            out += b"\6" + struct.pack("<Q", len(value)) + b"".join(text(v) for v in value)
    return out


def gguf_vocabulary(kind, pre, tokens, types, scores=None, merges=None):
    pairs = [("tokenizer.ggml.model", kind), ("tokenizer.ggml.pre", pre),
             ("tokenizer.ggml.tokens", [t.encode() for t in tokens]), ("tokenizer.ggml.token_type", types),
             ("tokenizer.ggml.bos_token_id", 1), ("tokenizer.ggml.eos_token_id", 2), ("tokenizer.ggml.add_bos_token", True)]
    if scores:
        pairs.append(("tokenizer.ggml.scores", scores))
    if merges:
        pairs.append(("tokenizer.ggml.merges", [m.encode() for m in merges]))
    return metadata(pairs)


def stored_tokenizer():
    tokens = [bytes([b]) for b in range(256)] + [b"th", b"<s>"]
    blob = lambda fmt, values: struct.pack(f"<{len(values)}{fmt}", *values)
    steps = json.dumps({"kind": 0, "model": 0, "byte_level": True, "normalizer": [{"kind": 0}],
                        "pre_tokenizer": [{"kind": 0, "pattern": "\\w+|\\s+", "regex": True}, {"kind": 1}],
                        "decoder": [{"kind": 0}]}).encode()
    key = "nereid.tokenizer."
    return metadata([(key + "version", 1), (key + "steps", steps), (key + "token_bytes", b"".join(tokens)),
                     (key + "token_sizes", blob("I", [len(t) for t in tokens])),
                     (key + "types", bytes([1] * 257 + [3])), (key + "scores", b""),
                     (key + "merges", blob("i", [ord("t"), ord("h"), 256])), (key + "added_texts", [b"<s>"]),
                     (key + "added", [257, 1]), (key + "charsmaps", [b""]), (key + "prefix_ids", [257]),
                     (key + "end_of_generation", [257]), (key + "chat_template", b"{{ x }}")])


def main():
    small_json()
    save("tokenizer_metadata", "stored", stored_tokenizer())
    save("tokenizer_metadata", "gguf_gpt2", gguf_vocabulary(
        b"gpt2", b"smollm", list("abcdefghtu\u0120") + ["th", "the", "<|im_end|>"], [1] * 13 + [3], merges=["t h", "th e"]))
    words = ["<unk>", "<s>", "</s>", "\u2581", "\u2581the", "th", "t", "h", "e", "<0x41>", "ship"]
    types, scores = [2, 3, 3, 1, 1, 1, 1, 1, 1, 6, 4], [0.0, 0.0, 0.0, -1.0, -2.0, -3.0, -4.0, -4.0, -4.0, 0.0, -1.0]
    save("tokenizer_metadata", "gguf_llama", gguf_vocabulary(b"llama", b"", words, types, scores))
    save("tokenizer_metadata", "gguf_t5", gguf_vocabulary(b"t5", b"", words, types, scores))
    save("tokenizer_metadata", "gguf_bert", gguf_vocabulary(b"bert", b"", ["[PAD]", "[CLS]", "\u2581the", "s"], [3, 3, 1, 1]))
    save("sentencepiece_model", "unigram", sentencepiece(1, False))
    save("sentencepiece_model", "bpe_byte_fallback", sentencepiece(2, True))
    tokens = [bytes([b]) for b in range(97, 123)] + [b"th", b"the", b" a", b"\xc3\xa9"]
    save("tiktoken", "small", b"".join(base64.b64encode(t) + b" %d\n" % i for i, t in enumerate(tokens)))
    for i, text in enumerate(("Hello, world! I've 123 caf\u00e9s.\n\n", "   \t\r\n\n  a", "\u4f60\u597d \U0001f999\u200d1234567",
                              "'s'S'ta the  aaaaaaaa")):
        save("encode", f"text{i}", bytes([i]) + text.encode())
    save("encode", "ill_formed", b"\x05\xff\xfe\xc3\xe4\xbd \xf0\x9f a")


if __name__ == "__main__":
    main()
