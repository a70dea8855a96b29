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
constexpr std::string_view kDigitsFromRight = R"(\d{1,3}(?=(?:\d{3})*\b))";
constexpr std::string_view kQwen35 =
    NEREID_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" NEREID_SPACES;
constexpr std::string_view kDeepSeekLetters =
    "\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-"
    "ὗὙὛὝὟ-ώᾀ-ᾴᾶ-"
    "ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-"
    "𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+";
constexpr std::string_view kDeepSeekSymbols = "\\s?[!-/:-~！-／：-～‘-‟　-。]+";
constexpr std::string_view kDeepSeekCjk = "[一-龥ࠀ-一가-퟿]+";
constexpr std::string_view kCjkRuns = "[一-龥぀-ゟ゠-ヿ]+";
constexpr std::string_view kDeepSeek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" NEREID_SPACES;
constexpr std::string_view kSpark =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|)"
    R"(\s+(?!\S)|\s+)";
constexpr std::string_view kYoutuScripts =
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+";
constexpr std::string_view kYoutu =
    NEREID_LEAD NEREID_UPPER "*" NEREID_LOWER "+" NEREID_CONTRACTIONS "?|" NEREID_LEAD NEREID_UPPER "+" NEREID_LOWER
                             "*" NEREID_CONTRACTIONS R"(?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" NEREID_SPACES;
constexpr std::string_view kMiniCpm5 =
    NEREID_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|)" NEREID_SPACES;
constexpr std::string_view kBloom = " ?[^(\\s|.,!?…。，、।۔،)]+";
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
    "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+";
constexpr std::string_view kExaoneMoe =
    NEREID_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|)"
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
    {"tiny_aya", {kDigitsFromRight, kGpt4o}},
    {"cohere2moe", {kDigitsFromRight, kGpt4o}},
    {"kimi-k2", {kKimi}},
    {"superbpe", {kNumberRuns, R"((?=(\d{3})+(?!\d)))"}},
    {"bailingmoe", {kBailing}},
    {"bailingmoe2", {kBailing}},
    {"llada-moe", {kBailing}},
    {"seed-coder", {kSeedCoder}},
    {"ufakzeka", {kUfakzeka}},
    {"afmoe", {kDigitsFromRight, kAfmoeScripts, kDeepSeek3}},
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
