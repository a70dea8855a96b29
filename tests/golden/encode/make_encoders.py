# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/encoders/: tiny seeded models that encode, as Hugging Face directories, and what they give.

    python -m venv v && v/bin/pip install torch==2.15 transformers==5.24 sentence-transformers==6.2.0
    v/bin/python tests/golden/encode/make_encoders.py [NAME...]

Each model gets config.json, model.safetensors, tokenizer.json, tokenizer_config.json and the files of
sentence-transformers that it is about; NAME.expected.json holds texts with their tokens (the model's own tokenizer) and
vectors (SentenceTransformer.encode), or pairs of texts with their tokens and scores (CrossEncoder.predict). Everything is
computed in f32, text by text.
"""

import json
import pathlib
import shutil
import sys

import numpy as np
import torch
import transformers
from sentence_transformers import CrossEncoder, SentenceTransformer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

OUT = pathlib.Path(__file__).resolve().parents[2] / "data" / "encoders"
LONGEST = 32
SIZES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
TEXTS = [
    "the inn",
    "Then our hero, in the house of the other inn, ate soup without heat.",
    "a",
    "12 hours? ünïcode! tune",
    "",
    "soup soup soup the hero's house is in the inner tune; no other inn heats thin soup in the hours of the house. " * 2,
]
QUERY = "where is the hero?"
WORDS = ("the inn our hero then thin hours soup without heat house of other inner tune in a is no ate where at an to "
         "t h e i n o u r s a d l w . , ? ; ' ! 1 2").split()


def wordpiece():
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list(dict.fromkeys(WORDS)) + ["##" + w for w in "t h e i n o u r s a d l c".split()]
    t = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]", max_input_chars_per_word=20))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    t.add_special_tokens(vocab[:5])
    return t, dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")


def unigram():
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = ["▁" + w for w in WORDS[:24]] + list("▁thinourseadlwc.,?;'!12") + ["he", "in", "ou", "ü"]
    vocab = [(s, 0.0) for s in special] + [(p, -2.0 - 0.05 * i) for i, p in enumerate(dict.fromkeys(pieces))]
    t = Tokenizer(models.Unigram(vocab, unk_id=3))
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    t.add_special_tokens(special)
    return t, dict(bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>", cls_token="<s>",
                   sep_token="</s>")


def byte_level(special, post, names):
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("h", "e"), ("t", "he"), ("i", "n"), ("o", "u"), ("Ġ", "the")]
    vocab = special + letters + ["".join(m) for m in merges]
    t = Tokenizer(models.BPE({w: i for i, w in enumerate(vocab)}, merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.post_processor = post
    t.add_special_tokens(special)
    return t, names


def roberta_tokens():
    return byte_level(["<s>", "<pad>", "</s>", "<unk>"],
                      processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False),
                      dict(bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>", cls_token="<s>",
                           sep_token="</s>"))


def qwen_tokens():
    return byte_level(["<|end|>"], processors.TemplateProcessing(single="$A <|end|>", special_tokens=[("<|end|>", 0)]),
                      dict(pad_token="<|end|>", eos_token="<|end|>"))


ST = "sentence_transformers.models."
MEAN, CLS, LAST = "pooling_mode_mean_tokens", "pooling_mode_cls_token", "pooling_mode_lasttoken"
CASES = {
    # all-MiniLM-L6-v2
    "bert-mean": dict(config=("bert", "BertModel", {}), tokens=wordpiece, pooling={MEAN: True}, normalize=True),
    # BGE; heads of 12
    "bert-cls": dict(config=("bert", "BertModel", {"num_attention_heads": 3, "hidden_size": 36}), tokens=wordpiece,
                     pooling={CLS: True, MEAN: False}, normalize=True, half=True),
    # ms-marco-MiniLM
    "bert-cross": dict(config=("bert", "BertForSequenceClassification", {"num_labels": 1}), tokens=wordpiece,
                       cross=True, extra={"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"},
                       inputs={"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}),
    # a tokenizer that does not tell the two texts apart
    "bert-cross-untyped": dict(config=("bert", "BertForSequenceClassification", {"num_labels": 1}), tokens=wordpiece,
                               cross=True, inputs={"model_input_names": ["input_ids", "attention_mask"]}),
    # bge-reranker
    "xlm-roberta-cross": dict(config=("xlm-roberta", "XLMRobertaForSequenceClassification", {"num_labels": 1}),
                              tokens=unigram, cross=True),
    "distilbert-cross": dict(config=("distilbert", "DistilBertForSequenceClassification", {"num_labels": 1}),
                             tokens=wordpiece, cross=True),
    "mpnet-cross": dict(config=("mpnet", "MPNetForSequenceClassification", {"num_labels": 1}), tokens=unigram,
                        cross=True),
    "roberta-max-mean": dict(config=("roberta", "RobertaModel", {}), tokens=roberta_tokens,
                             pooling={"pooling_mode_max_tokens": True, MEAN: True}, normalize=False),
    # a directory that says nothing
    "distilbert": dict(config=("distilbert", "DistilBertModel", {}), tokens=wordpiece),
    # all-mpnet-base-v2
    "mpnet-mean": dict(config=("mpnet", "MPNetModel", {}), tokens=unigram, pooling={MEAN: True}, normalize=True),
    # Qwen3-Embedding
    "qwen3-last": dict(config=("qwen3", "Qwen3Model", {"num_key_value_heads": 2, "head_dim": 16}), tokens=qwen_tokens,
                       pooling={LAST: True, MEAN: False}, normalize=True,
                       prompts={"prompts": {"query": "find: ", "document": ""}, "default_prompt_name": "query"}),
    # E5-Mistral's way of a decoder, with a mean that weighs later tokens more
    "llama-weighted": dict(config=("llama", "LlamaModel", {"num_key_value_heads": 4}), tokens=qwen_tokens,
                           pooling={"pooling_mode_weightedmean_tokens": True, MEAN: False}, normalize=False),
}


def seeded(model, name):
    random = np.random.default_rng(sum(name.encode()))
    for key, value in model.state_dict().items():
        if not value.is_floating_point():
            continue
        drawn = random.standard_normal(value.shape).astype(np.float32)
        if value.ndim == 1:
            drawn = drawn * 0.2 + (1.0 if "norm" in key.lower() and key.endswith("weight") else 0.0)
        elif "embedding" in key or "embed_tokens" in key or "relative_attention_bias" in key:
            drawn = drawn * 0.7
        else:
            drawn = drawn * (1.3 / np.sqrt(value.shape[1]))
        with torch.no_grad():
            value.copy_(torch.from_numpy(np.asarray(drawn, dtype=np.float32)))


def make_model(name, case, vocab, padding):
    kind, cls, sizes = case["config"]
    sizes = SIZES | sizes
    places = {"max_position_embeddings": LONGEST + 8 + (padding + 1 if kind in ("roberta", "xlm-roberta", "mpnet") else 0)}
    if kind == "distilbert":
        renamed = {"hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads",
                   "intermediate_size": "hidden_dim"}
        sizes = {renamed.get(k, k): v for k, v in sizes.items()}
    if kind in ("roberta", "xlm-roberta"):
        places["type_vocab_size"] = 1
    config = transformers.AutoConfig.for_model(kind, vocab_size=vocab, pad_token_id=padding, **places, **sizes)
    config._attn_implementation = "eager"
    model = getattr(transformers, cls)(config).eval().float()
    seeded(model, name)
    return model.half().float() if case.get("half") else model


def write_st_files(folder, case, width):
    def write(name, value):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(value, indent=1) + "\n")

    if "pooling" in case:
        modules = [("", "Transformer"), ("1_Pooling", "Pooling")] + ([("2_Normalize", "Normalize")] if case["normalize"] else [])
        write("modules.json", [{"idx": i, "name": str(i), "path": p, "type": ST + t} for i, (p, t) in enumerate(modules)])
        write("1_Pooling/config.json", {"word_embedding_dimension": width, MEAN: False} | case["pooling"])
        write("sentence_bert_config.json", {"max_seq_length": LONGEST, "do_lower_case": False})
    if "prompts" in case:
        write("config_sentence_transformers.json", case["prompts"])


def write(name, case):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer, names = case["tokens"]()
    padding = tokenizer.token_to_id(names["pad_token"])
    model = make_model(name, case, tokenizer.get_vocab_size(), padding)
    if case.get("half"):
        model.half().save_pretrained(folder)
    else:
        model.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text()) | case.get("extra", {})
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LONGEST} | names | case.get("inputs", {}),
        indent=1) + "\n")
    write_st_files(folder, case, getattr(model.config, "hidden_size", None) or model.config.dim)

    expected = {"max_tokens": LONGEST, "texts": []}
    if case.get("cross"):
        judge = CrossEncoder(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
        for text in TEXTS:
            encoded = judge.tokenizer([(QUERY, text)], truncation="longest_first", max_length=LONGEST)
            score = float(judge.predict([(QUERY, text)], batch_size=1)[0])
            expected["texts"].append({"query": QUERY, "text": text, "tokens": encoded["input_ids"][0], "score": score})
    else:
        encoder = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
        prompt = encoder.prompts.get(encoder.default_prompt_name, "") if encoder.default_prompt_name else ""
        for text in TEXTS:
            ids = encoder.tokenizer(prompt + text, truncation=True, max_length=LONGEST)["input_ids"]
            vector = encoder.encode([text], batch_size=1)[0] if ids else []
            expected["texts"].append({"text": text, "tokens": ids, "vector": [float(f"{v:.8g}") for v in vector]})
    (OUT / f"{name}.expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n")
    print(name, [t.get("score", t.get("vector", [])[:3]) for t in expected["texts"]], [len(t["tokens"]) for t in expected["texts"]])


def main():
    torch.set_num_threads(1)
    for name, case in CASES.items():
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            write(name, case)


if __name__ == "__main__":
    main()
