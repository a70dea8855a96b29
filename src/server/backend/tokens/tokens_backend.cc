// SPDX-License-Identifier: Apache-2.0
#include "server/backend/tokens/tokens_backend.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/clock.h"
#include "compile/tokenizer_source.h"
#include "llm/token/tokenizer.h"
#include "server/backend/tokens/word_ids.h"

namespace nereid::server {
namespace {

using TokenizerPtr = std::shared_ptr<const token::Tokenizer>;
using Ids = std::vector<int32_t>;

std::string parameter(const ModelConfig& config, const std::string& name) {
  const auto it = config.parameters.find(name);
  return it == config.parameters.end() ? std::string() : it->second;
}

Result<TokenizerPtr> open_tokenizer(const ModelConfig& config, const ModelPlace& place) {
  namespace fs = std::filesystem;
  const std::string named = parameter(config, "tokenizer_dir");
  if (named.empty() || named.starts_with("${"))
    return invalid_argument(
        "the model '{}' needs the parameter 'tokenizer_dir': a folder, a file or a model with a tokenizer{}",
        config.name, named.empty() ? "" : "; it is '" + named + "', a template that nobody has filled in");
  std::error_code error;
  std::string path = named;
  if (fs::path(named).is_relative() && fs::exists(place.version_folder + "/" + named, error))
    path = place.version_folder + "/" + named;
  NEREID_TRY(token::TokenizerSpec spec, compile::open_tokenizer(path).with("tokenizer_dir of '" + config.name + "'"));
  NEREID_TRY(std::unique_ptr<token::Tokenizer> made, token::make_tokenizer(std::move(spec)));
  return TokenizerPtr(std::move(made));
}

// ---- tensors

std::vector<std::string> texts_of(const InferTensor* tensor) {
  std::vector<std::string> out;
  if (tensor == nullptr) return out;
  for (size_t at = 0; at + 4 <= tensor->bytes.size();) {
    uint32_t length = 0;
    std::memcpy(&length, tensor->bytes.data() + at, sizeof length);
    at += sizeof length;
    out.emplace_back(reinterpret_cast<const char*>(tensor->bytes.data() + at), length);
    at += length;
  }
  return out;
}

Ids integers_of(const InferTensor* tensor) {
  Ids out(tensor == nullptr ? 0 : tensor->bytes.size() / sizeof(int32_t));
  if (!out.empty()) std::memcpy(out.data(), tensor->bytes.data(), out.size() * sizeof(int32_t));
  return out;
}

// The part of a list that is the i-th row's.
template <typename T>
std::vector<T> row(const std::vector<T>& all, size_t i, size_t rows) {
  const size_t n = rows == 0 ? 0 : all.size() / rows;
  return {all.begin() + static_cast<std::ptrdiff_t>(i * n), all.begin() + static_cast<std::ptrdiff_t>((i + 1) * n)};
}

// ---- texts to tokens

struct Tokenized {
  const token::Tokenizer& tokenizer;
  const Execution& one;
  std::vector<Ids> prompts;
  size_t longest = 0;
  int32_t end = 0, pad = 0;

  auto rows() const { return static_cast<int64_t>(prompts.size()); }
};

InferTensor integers(const std::string& name, std::vector<int64_t> shape, Ids values) {
  return tensor_of(name, InferType::kInt32, std::move(shape), std::move(values));
}

InferTensor every_row(const std::string& name, const Tokenized& t, int32_t value) {
  return integers(name, {t.rows(), 1}, Ids(t.prompts.size(), value));
}

InferTensor words(const std::string& name, const Tokenized& t, std::string_view input) {
  const std::vector<std::string> all = texts_of(t.one.input(input));
  std::vector<std::vector<Ids>> of_rows;
  size_t columns = 1;
  for (size_t i = 0; i < t.prompts.size(); ++i) {
    std::vector<Ids>& ids = of_rows.emplace_back();
    for (const std::string& word : row(all, i, t.prompts.size()))
      if (!word.empty()) ids.push_back(t.tokenizer.encode(word, {.add_special = false, .parse_special = true}));
    columns = std::max(columns, word_columns(ids));
  }
  Ids values;
  for (const std::vector<Ids>& ids : of_rows) {
    const Ids flat = word_ids(ids, columns);
    values.insert(values.end(), flat.begin(), flat.end());
  }
  return integers(name, {t.rows(), 2, static_cast<int64_t>(columns)}, std::move(values));
}

using MakeTokens = InferTensor (*)(const std::string& name, const Tokenized& t);
struct TokenRow {
  std::string_view name;
  MakeTokens make;
};

constexpr TokenRow kTokenRows[] = {
    {"INPUT_ID",
     [](const std::string& name, const Tokenized& t) {
       Ids values;
       for (const Ids& prompt : t.prompts) {
         values.insert(values.end(), prompt.begin(), prompt.end());
         values.insert(values.end(), t.longest - prompt.size(), t.pad);
       }
       return integers(name, {t.rows(), static_cast<int64_t>(t.longest)}, std::move(values));
     }},
    {"REQUEST_INPUT_LEN",
     [](const std::string& name, const Tokenized& t) {
       Ids values;
       for (const Ids& prompt : t.prompts) values.push_back(static_cast<int32_t>(prompt.size()));
       return integers(name, {t.rows(), 1}, std::move(values));
     }},
    {"REQUEST_OUTPUT_LEN",
     [](const std::string& name, const Tokenized& t) {
       Ids values = integers_of(t.one.input("REQUEST_OUTPUT_LEN"));
       values.resize(t.prompts.size(), values.empty() ? 16 : values[0]);
       return integers(name, {t.rows(), 1}, std::move(values));
     }},
    {"STOP_WORDS_IDS", [](const std::string& n, const Tokenized& t) { return words(n, t, "STOP_WORDS_DICT"); }},
    {"BAD_WORDS_IDS", [](const std::string& n, const Tokenized& t) { return words(n, t, "BAD_WORDS_DICT"); }},
    {"OUT_END_ID", [](const std::string& n, const Tokenized& t) { return every_row(n, t, t.end); }},
    {"OUT_PAD_ID", [](const std::string& n, const Tokenized& t) { return every_row(n, t, t.pad); }},
    // Of models with an encoder, and of prompts that are tables: nothing, in the shape that is expected.
    {"DECODER_INPUT_ID", [](const std::string& n, const Tokenized& t) { return every_row(n, t, t.pad); }},
    {"REQUEST_DECODER_INPUT_LEN", [](const std::string& n, const Tokenized& t) { return every_row(n, t, 1); }},
    {"EMBEDDING_BIAS",
     [](const std::string& n, const Tokenized& t) {
       return tensor_of(n, InferType::kFp32, {t.rows(), 0}, std::vector<float>());
     }},
    {"OUT_PROMPT_TABLE_EXTRA_IDS",
     [](const std::string& n, const Tokenized& t) {
       return tensor_of(n, InferType::kUint64, {t.rows(), 0}, std::vector<uint64_t>());
     }},
};

MakeTokens find_token_row(std::string_view name) {
  for (const TokenRow& one : kTokenRows)
    if (one.name == name) return one.make;
  return nullptr;
}

InferResponse tokenize(const ModelConfig& config, const token::Tokenizer& tokenizer, const Execution& one) {
  Tokenized t{.tokenizer = tokenizer, .one = one, .prompts = {}, .longest = 0, .end = 0, .pad = 0};
  const bool adds_special =
      parameter(config, "add_special_tokens") != "false" && parameter(config, "add_special_tokens") != "False";
  for (const std::string& text : texts_of(one.input("QUERY"))) {
    Ids ids = tokenizer.encode(text, {.add_special = adds_special, .parse_special = true});
    // What ends a text would end the answer before it begins.
    if (adds_special) ids.resize(ids.size() - std::min(ids.size(), tokenizer.spec().suffix_ids.size()));
    t.longest = std::max(t.longest, ids.size());
    t.prompts.push_back(std::move(ids));
  }
  const Ids end = integers_of(one.input("END_ID")), pad = integers_of(one.input("PAD_ID"));
  t.end = end.empty() ? tokenizer.eos_id() : end[0];
  t.pad = !pad.empty() ? pad[0] : std::max(0, tokenizer.padding_id() >= 0 ? tokenizer.padding_id() : t.end);
  InferResponse response;
  for (const TensorConfig& output : config.outputs)
    if (one.wants(output.name)) response.outputs.push_back(find_token_row(output.name)(output.name, t));
  return response;
}

// ---- tokens to texts

InferResponse detokenize(const ModelConfig& config, const token::Tokenizer& tokenizer, const Execution& one) {
  const Ids tokens = integers_of(one.input("TOKENS_BATCH")), lengths = integers_of(one.input("SEQUENCE_LENGTH"));
  const size_t width = lengths.empty() ? 0 : tokens.size() / lengths.size();
  const std::string skips = parameter(config, "skip_special_tokens");
  const bool skips_special = skips.empty() || skips.starts_with("${") || skips.starts_with('t') ||
                             skips.starts_with('T') || skips == "1" || skips.starts_with('y');
  std::string bytes;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const size_t length = std::min(width, static_cast<size_t>(std::max(0, lengths[i])));
    const std::string text =
        tokenizer.decode(std::span(tokens).subspan(i * width, length), {.skip_special = skips_special});
    const auto size = static_cast<uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes += text;
  }
  InferResponse response;
  const auto count = static_cast<int64_t>(lengths.size());
  if (one.wants("OUTPUT"))
    response.outputs.push_back(tensor_of("OUTPUT", InferType::kBytes, {count}, std::move(bytes)));
  return response;
}

// ---- the backends

using Work = InferResponse (*)(const ModelConfig& config, const token::Tokenizer& tokenizer, const Execution& one);

class TokensInstance final : public BackendInstance {
 public:
  TokensInstance(const ModelConfig& config, TokenizerPtr tokenizer, Work work)
      : config_(config), tokenizer_(std::move(tokenizer)), work_(work) {}
  ExecutionTimes execute(std::span<const std::shared_ptr<Execution>> batch) override {
    const int64_t begin_ns = now_ns();
    for (const std::shared_ptr<Execution>& one : batch) one->send(work_(config_, *tokenizer_, *one));
    return {.input_end_ns = begin_ns, .infer_end_ns = now_ns()};
  }

 private:
  const ModelConfig& config_;
  const TokenizerPtr tokenizer_;
  const Work work_;
};

class TokensModel final : public BackendModel {
 public:
  TokensModel(ModelConfig config, TokenizerPtr tokenizer, Work work)
      : config_(std::move(config)), tokenizer_(std::move(tokenizer)), work_(work) {}
  Result<std::unique_ptr<BackendInstance>> make_instance(const std::string&) override {
    return std::unique_ptr<BackendInstance>(std::make_unique<TokensInstance>(config_, tokenizer_, work_));
  }

 private:
  const ModelConfig config_;
  const TokenizerPtr tokenizer_;
  const Work work_;
};

struct Needs {
  std::string_view backend;
  std::vector<std::string_view> inputs;
  bool (*knows)(std::string_view output);
  Work work;
};

class TokensBackend final : public Backend {
 public:
  explicit TokensBackend(Needs needs) : needs_(std::move(needs)) {}
  Result<ConfigCompletion> complete(const ModelConfig&, const ModelPlace&) override { return ConfigCompletion{}; }

  Result<std::unique_ptr<BackendModel>> open(const ModelConfig& config, const ModelPlace& place) override {
    for (const std::string_view name : needs_.inputs)
      if (std::none_of(config.inputs.begin(), config.inputs.end(), [&](const auto& one) { return one.name == name; }))
        return invalid_argument("a model of the backend '{}' has the input '{}'; the configuration of '{}' names none",
                                needs_.backend, name, config.name);
    for (const TensorConfig& output : config.outputs)
      if (!needs_.knows(output.name))
        return invalid_argument(
            "the backend '{}' gives no output '{}', which the configuration of '{}' names; take it out", needs_.backend,
            output.name, config.name);
    NEREID_TRY(TokenizerPtr tokenizer, open_tokenizer(config, place));
    return std::unique_ptr<BackendModel>(std::make_unique<TokensModel>(config, std::move(tokenizer), needs_.work));
  }

 private:
  const Needs needs_;
};

}  // namespace

std::unique_ptr<Backend> make_tokenize_backend() {
  return std::make_unique<TokensBackend>(
      Needs{.backend = "tokenize",
            .inputs = {"QUERY"},
            .knows = [](std::string_view output) { return find_token_row(output) != nullptr; },
            .work = tokenize});
}

std::unique_ptr<Backend> make_detokenize_backend() {
  return std::make_unique<TokensBackend>(Needs{.backend = "detokenize",
                                               .inputs = {"TOKENS_BATCH", "SEQUENCE_LENGTH"},
                                               .knows = [](std::string_view output) { return output == "OUTPUT"; },
                                               .work = detokenize});
}

}  // namespace nereid::server
