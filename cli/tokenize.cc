// SPDX-License-Identifier: Apache-2.0
// nereid tokenize, nereid detokenize: text to ids and back, a line at a time or a whole file.

#include "base/json.h"
#include "base/log.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/model_path.h"
#include "cli/options.h"
#include "compile/tokenizer_source.h"

namespace nereid::cli {
namespace {

struct TokenizeArguments {
  std::string tokenizer;
  std::string file = "-";
  std::string pattern;
  bool jsonl = false;
  token::EncodeOptions encode{.add_special = false, .parse_special = false};
  token::DecodeOptions decode{.skip_special = false};
};

void add_source_options(CommandLine& app, TokenizeArguments& a) {
  app.add_option("TOKENIZER", a.tokenizer,
                 "a model (GGUF, engine, Hugging Face folder, or a name), a tokenizer.json, a SentencePiece model or a "
                 "tiktoken file")
      ->required();
  app.add_option("--file", a.file, "what to read; - is stdin")->capture_default_str();
  app.add_option("--pattern", a.pattern,
                 "how a tiktoken file's text is split: a pre-tokenizer's name (qwen2, llama-bpe, gpt-4o ...) or a "
                 "regular expression");
}

Result<std::unique_ptr<token::Tokenizer>> open_tokenizer(const TokenizeArguments& a) {
  NEREID_TRY(const std::string path, resolve_model(a.tokenizer));
  std::string warning;
  NEREID_TRY(token::TokenizerSpec spec, compile::open_tokenizer(path, {.pattern = a.pattern}, &warning));
  if (!warning.empty()) log_warn("{}", warning);
  return token::make_tokenizer(std::move(spec));
}

// Calls `convert` with each line and writes what it gives, a line each, in order.
template <typename Convert>
Status convert_lines(std::string_view text, const Convert& convert) {
  std::string out;
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    Result<std::string> line = convert(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.is_ok()) return line.status().with(fmt::format("line {}", number));
    out += *line + "\n";
    if (out.size() < (size_t{1} << 16) && !text.empty()) continue;
    NEREID_RETURN_IF_ERROR(write_out(out));
    out.clear();
  }
  return Status::ok();
}

// One command's output is the other's input: {"text":...} is taken as its text, {"ids":[...]} as its ids.
const Json& inner(const Json& json, std::string_view key) {
  const Json* member = json_find(json, key);
  return member ? *member : json;
}

std::string ids_json(const token::Tokenizer& tokenizer, std::string_view text, const token::EncodeOptions& options) {
  return Json{{"ids", tokenizer.encode(text, options)}}.dump();
}

Result<std::string> encode_line(const token::Tokenizer& tokenizer, std::string_view line,
                                const token::EncodeOptions& options) {
  NEREID_TRY(const Json json, parse_json(line));
  const Json& text = inner(json, "text");
  if (!text.is_string()) return invalid_argument("expected a JSON string, found a JSON {}", text.type_name());
  return ids_json(tokenizer, text.get_ref<const std::string&>(), options);
}

Result<std::vector<int32_t>> parse_ids(std::string_view line) {
  NEREID_TRY(const Json json, parse_json(line));
  const Json& list = inner(json, "ids");
  if (!list.is_array())
    return invalid_argument("expected a JSON array of token ids, found a JSON {}", list.type_name());
  std::vector<int32_t> ids;
  for (const Json& id : list) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() > std::numeric_limits<int32_t>::max())
      return invalid_argument("a token id is a whole number of 0 or more, found {}", id.dump(-1, ' ', true));
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

Result<std::string> decode_line(const token::Tokenizer& tokenizer, std::string_view line,
                                const token::DecodeOptions& options) {
  NEREID_TRY(const std::vector<int32_t> ids, parse_ids(line));
  for (int32_t id : ids)
    if (id >= tokenizer.vocab_size())
      return invalid_argument("token {} is outside the vocabulary of {}", id, tokenizer.vocab_size());
  return Json{{"text", tokenizer.decode(ids, options)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status tokenize(const TokenizeArguments& a) {
  NEREID_TRY(const auto tokenizer, open_tokenizer(a));
  NEREID_TRY(const std::string text, read_input(a.file, "the text"));
  if (!a.jsonl) return write_out(ids_json(*tokenizer, text, a.encode) + "\n");
  return convert_lines(text, [&](std::string_view line) { return encode_line(*tokenizer, line, a.encode); })
      .with(a.file);
}

Status detokenize(const TokenizeArguments& a) {
  NEREID_TRY(const auto tokenizer, open_tokenizer(a));
  NEREID_TRY(const std::string text, read_input(a.file, "the token ids"));
  if (a.jsonl)
    return convert_lines(text, [&](std::string_view line) { return decode_line(*tokenizer, line, a.decode); })
        .with(a.file);
  NEREID_TRY(const std::vector<int32_t> ids, parse_ids(text).with(a.file));
  return write_out(tokenizer->decode(ids, a.decode));
}

}  // namespace

int tokenize_command(Arguments args) {
  CommandLine app("Turns text into token ids: {\"ids\":[...]}.", "nereid tokenize");
  TokenizeArguments a;
  add_source_options(app, a);
  app.add_flag("--jsonl", a.jsonl, "the file holds one JSON string a line, and each becomes one line of output");
  app.add_flag("--add-special", a.encode.add_special, "also the tokens that the model wants around a text");
  app.add_flag("--parse-special", a.encode.parse_special, "texts such as <|im_end|> become their special token");
  if (const auto code = parse(app, args)) return *code;
  const Status s = tokenize(a);
  return s.is_ok() ? kDone : fail(s);
}

int detokenize_command(Arguments args) {
  CommandLine app(
      "Turns token ids into text: a JSON array into the text itself, or with --jsonl into {\"text\":\"...\"}.",
      "nereid detokenize");
  TokenizeArguments a;
  add_source_options(app, a);
  app.add_flag("--jsonl", a.jsonl, "the file holds one JSON array a line, and each becomes one line of output");
  app.add_flag("--skip-special", a.decode.skip_special, "special tokens give no text");
  if (const auto code = parse(app, args)) return *code;
  const Status s = detokenize(a);
  return s.is_ok() ? kDone : fail(s);
}

}  // namespace nereid::cli
