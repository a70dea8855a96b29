// SPDX-License-Identifier: Apache-2.0
// The rows. Patterns are the ones the models' own tokenizer files carry.
#include "llm/token/pre_table.h"

namespace nereid::token {
namespace {

#define NEREID_CONTRACTIONS R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define NEREID_SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
// Words of cased and uncased letters: upper case then lower case, or upper case alone.
#define NEREID_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define NEREID_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define NEREID_LEAD R"([^\r\n\p{L}\p{N}]?)"

constexpr std::string_view kAsciiSymbolRuns = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kFalconSymbolRuns = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr std::string_view kNumberRuns = R"(\p{N}+)";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kUpToThreeNumbers = R"(\p{N}{1,3})";
constexpr std::string_view kLineBreak = R"([\r\n])";
constexpr std::string_view kLines = R"([^\n]+|[\n]+)";
constexpr std::string_view kQwen35 =
    NEREID_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" NEREID_SPACES;
constexpr std::string_view kDeepSeekLetters =
    R"(\s?[A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293}\x{295}-\x{2af})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386}\x{388}-\x{38a}\x{38c}\x{38e}-\x{3a1})"
    R"(\x{3a3}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556}\x{10a0}-\x{10c5}\x{13a0}-\x{13f5})"
    R"(\x{13f8}-\x{13fd}\x{1c90}-\x{1cba}\x{1cbd}-\x{1cbf}\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a})"
    R"(\x{1e00}-\x{1f15}\x{1f18}-\x{1f1d}\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b})"
    R"(\x{1f5d}\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4}\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4}\x{1fc6}-\x{1fcc})"
    R"(\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb}\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4}\x{1ff6}-\x{1ffc}\x{2102}\x{2107})"
    R"(\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d}\x{2124}\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134})"
    R"(\x{2139}\x{213c}-\x{213f}\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4})"
    R"(\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f}\x{a771}-\x{a787})"
    R"(\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06}\x{fb13}-\x{fb17}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a})"
    R"(\x{10400}-\x{1044f}\x{104b0}-\x{104d3}\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2})"
    R"(\x{118a0}-\x{118df}\x{1e900}-\x{1e943}]+)";
constexpr std::string_view kDeepSeekSymbols =
    R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)";
constexpr std::string_view kDeepSeekCjk = R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)";
constexpr std::string_view kCjkRuns = R"([\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)";
constexpr std::string_view kDeepSeek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" NEREID_SPACES;
constexpr std::string_view kSpark =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|)"
    R"(\s+(?!\S)|\s+)";
constexpr std::string_view kYoutuScripts =
    R"([\x{ac00}-\x{d7a3}\x{3131}-\x{318e}]+|[\x{ff01}\x{2026}\x{201c}\x{201d}\x{2018}\x{2019}\x{2014}\x{ff1a})"
    R"(\x{ff1b}\x{ff0c}\x{3001}-\x{303f}\x{fe30}-\x{fe4f}]+|[\x{3105}-\x{312f}]+|[\x{4e00}-\x{9fa5})"
    R"(\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)";
constexpr std::string_view kYoutu =
    NEREID_LEAD NEREID_UPPER "*" NEREID_LOWER "+" NEREID_CONTRACTIONS "?|" NEREID_LEAD NEREID_UPPER "+" NEREID_LOWER
                             "*" NEREID_CONTRACTIONS R"(?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" NEREID_SPACES;
constexpr std::string_view kMiniCpm5 =
    NEREID_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|)" NEREID_SPACES;
constexpr std::string_view kBloom = R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{ff0c}\x{3001}\x{964}\x{6d4}\x{60c})]+)";
constexpr std::string_view kTekken =
    NEREID_LEAD NEREID_UPPER "*" NEREID_LOWER "+|" NEREID_LEAD NEREID_UPPER "+" NEREID_LOWER
                             R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" NEREID_SPACES;
constexpr std::string_view kGpt4o =
    NEREID_LEAD NEREID_UPPER "*" NEREID_LOWER "+" NEREID_CONTRACTIONS "?|" NEREID_LEAD NEREID_UPPER "+" NEREID_LOWER
                             "*" NEREID_CONTRACTIONS R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" NEREID_SPACES;
// As kGpt4o, but Han characters are words of their own.
constexpr std::string_view kKimi =
    R"(\p{Han}+|)" NEREID_LEAD "(?:(?!\\p{Han})" NEREID_UPPER ")*(?:(?!\\p{Han})" NEREID_LOWER ")+" NEREID_CONTRACTIONS
    "?|" NEREID_LEAD "(?:(?!\\p{Han})" NEREID_UPPER ")+(?:(?!\\p{Han})" NEREID_LOWER ")*" NEREID_CONTRACTIONS
    R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" NEREID_SPACES;
constexpr std::string_view kBailing =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kSeedCoder =
    NEREID_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" NEREID_SPACES;
constexpr std::string_view kUfakzeka = R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" NEREID_SPACES;
constexpr std::string_view kAfmoeScripts =
    R"([\x{4e00}-\x{9fff}\x{3400}-\x{4dbf}\x{f900}-\x{faff}\x{3040}-\x{309f}\x{30a0}-\x{30ff}\x{ff65}-\x{ff9f})"
    R"(\x{2f00}-\x{2fdf}\x{e40}-\x{e7f}\x{e80}-\x{eff}\x{1780}-\x{17ff}\x{1000}-\x{109f}\x{aa60}-\x{aa7f})"
    R"(\x{a9e0}-\x{a9ff}\x{ac00}-\x{d7af}\x{1100}-\x{11ff}]+)";
// Letters with their marks, single spaces between them included. The model's file nests repeats; this says the same and
// never goes back.
constexpr std::string_view kExaoneMoe =
    NEREID_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}(?:[\p{L}\p{M}]++| \p{L})*+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|)"
                        R"(\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kJais2 = NEREID_CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
    R"(\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|)"
    R"(\s{1,2}(?!\S)|\s{1})";

#undef NEREID_CONTRACTIONS
#undef NEREID_SPACES
#undef NEREID_UPPER
#undef NEREID_LOWER
#undef NEREID_LEAD

// clang-format off
constexpr PreTokenizerRow kRows[] = {
    {"default", {kAsciiSymbolRuns, kGpt2Pattern, kNumberRuns, kThreeDigits}},
    {"gpt-2", {kGpt2Pattern}},
    {"phi-2", {kGpt2Pattern}},
    {"jina-es", {kGpt2Pattern}},
    {"jina-de", {kGpt2Pattern}},
    {"gigachat", {kGpt2Pattern}},
    {"jina-v2-es", {kGpt2Pattern}},
    {"jina-v2-de", {kGpt2Pattern}},
    {"a.x-4.0", {kGpt2Pattern}},
    {"mellum", {kGpt2Pattern}},
    {"modern-bert", {kGpt2Pattern}},
    {"exaone4", {kGpt2Pattern}},
    {"mpt", {kGpt2Pattern}},
    {"olmo", {kGpt2Pattern}},
    {"jais", {kGpt2Pattern}},
    {"trillion", {kGpt2Pattern}},
    {"granite-docling", {kGpt2Pattern}},
    {.name = "jina-v1-en", .patterns = {kGpt2Pattern}, .add_separator = true},
    {.name = "jina-v2-code", .patterns = {kGpt2Pattern}, .add_separator = true},
    {.name = "roberta-bpe", .patterns = {kGpt2Pattern}, .add_separator = true},
    {.name = "llama-bpe", .patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true},
    {.name = "llama3", .patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true},
    {.name = "llama-v3", .patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true},
    {.name = "falcon3", .patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true},
    {.name = "falcon-h1", .patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true},
    {.name = "pixtral", .patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true},
    {.name = "midm-2.0", .patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true},
    {.name = "lfm2", .patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true},
    {.name = "jina-v5-nano", .patterns = {kLlama3Pattern}, .ignore_merges = true, .add_bos = true},
    {"dbrx", {kLlama3Pattern}},
    {"smaug-bpe", {kLlama3Pattern}},
    {"chatglm-bpe", {kLlama3Pattern}},
    {.name = "glm4", .patterns = {kLlama3Pattern}, .ignore_merges = true},
    {.name = "glm5", .patterns = {kLlama3Pattern}, .ignore_merges = true},
    {"qwen2", {kQwen2Pattern}},
    {"deepseek-r1-qwen", {kQwen2Pattern}},
    {"kormo", {kQwen2Pattern}},
    {"f2llmv2", {kQwen2Pattern}},
    {"megrez", {kQwen2Pattern}},
    {"stablelm2", {kQwen2Pattern}},
    {"hunyuan", {kQwen2Pattern}},
    {"solar-open", {kQwen2Pattern}},
    {"grok-2", {kQwen2Pattern}},
    {"qwen35", {kQwen35}},
    {"starcoder", {kDigitPattern, kGpt2Pattern}},
    {"refact", {kDigitPattern, kGpt2Pattern}},
    {"command-r", {kDigitPattern, kGpt2Pattern}},
    {"smollm", {kDigitPattern, kGpt2Pattern}},
    {"codeshell", {kDigitPattern, kGpt2Pattern}},
    {"exaone", {kDigitPattern, kGpt2Pattern}},
    {"minerva-7b", {kDigitPattern, kGpt2Pattern}},
    {"mellum2", {kDigitPattern, kGpt2Pattern}},
    {"falcon", {kFalconSymbolRuns, kGpt2Pattern, kThreeDigits}},
    {"deepseek-llm", {kLineBreak, kDeepSeekLetters, kDeepSeekSymbols, R"(\s+$)", kDeepSeekCjk, kNumberRuns}},
    {"deepseek-coder", {kLineBreak, R"(\s?\p{L}+)", R"(\s?\p{P}+)", kDeepSeekCjk, kDigitPattern}},
    {"deepseek-v3", {kUpToThreeNumbers, kCjkRuns, kDeepSeek3}},
    {"hunyuan-dense", {kUpToThreeNumbers, kCjkRuns, kDeepSeek3}},
    {"joyai-llm", {kUpToThreeNumbers, kCjkRuns, kDeepSeek3}},
    {"hy_v4", {kUpToThreeNumbers, kCjkRuns, kDeepSeek3}},
    {"spark2_5", {kUpToThreeNumbers, kCjkRuns, kSpark, kDigitPattern}},
    {.name = "youtu", .patterns = {kYoutuScripts, kYoutu}, .ignore_merges = true},
    {.name = "minicpm5", .patterns = {kUpToThreeNumbers, kMiniCpm5}, .ignore_merges = true},
    {"poro-chat", {kBloom}},
    {"bloom", {kBloom}},
    {"gpt3-finnish", {kBloom}},
    {"viking", {kBloom, kDigitPattern}},
    {.name = "tekken", .patterns = {kTekken}, .ignore_merges = true, .add_bos = true},
    {"gpt-4o", {kGpt4o}},
    {"llama4", {kGpt4o}},
    {"kanana2", {kGpt4o}},
    {"talkie", {kGpt4o}},
    {"minimax-m2", {kGpt4o}},
    {.name = "granite-embed-multi-97m", .patterns = {kGpt4o}, .ignore_merges = true},
    {"tiny_aya", {kDigitsFromRightPattern, kGpt4o}},
    {"cohere2moe", {kDigitsFromRightPattern, kGpt4o}},
    {"kimi-k2", {kKimi}},
    {"superbpe", {kNumberRuns, kBeforeThreeDigitsPattern}},
    {"bailingmoe", {kBailing}},
    {"bailingmoe2", {kBailing}},
    {"llada-moe", {kBailing}},
    {"seed-coder", {kSeedCoder}},
    {"ufakzeka", {kUfakzeka}},
    {"afmoe", {kDigitsFromRightPattern, kAfmoeScripts, kDeepSeek3}},
    {"laguna", {kLines, kQwen2Pattern}},
    {"exaone-moe", {kExaoneMoe}},
    {"jais-2", {kJais2}},
    {.name = "chameleon", .patterns = {R"(<sentinel:[0-9]+>)", R"((IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z)", R"([\t\n]|    |  )", kDigitPattern, R"([\p{P}!-/:-@\[-`{-~])", kGpt2Pattern}, .add_bos = true},
    {.name = "gemma4", .patterns = {kLines}, .byte_level = false, .add_bos = true, .escape_spaces = true},
    {.name = "granite-embed-multi-311m", .patterns = {kLines}, .byte_level = false, .escape_spaces = true},
    {.name = "sarvam-moe", .patterns = {kLines}, .byte_level = false, .escape_spaces = true},
    {.name = "whitespace", .patterns = {R"(\S+)"}, .byte_level = false},
};
// clang-format on

}  // namespace

std::span<const PreTokenizerRow> pre_tokenizer_table() {
  return kRows;
}

const PreTokenizerRow* find_pre_tokenizer(std::string_view name) {
  for (const PreTokenizerRow& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

const PreTokenizerRow& default_pre_tokenizer() {
  return kRows[0];
}

}  // namespace nereid::token
