// SPDX-License-Identifier: Apache-2.0
// POST /v1/embeddings
#include <bit>
#include <cmath>
#include <cstring>

#include "server/protocol/openai/completion_request.h"
#include "server/protocol/openai/endpoints/judge.h"
#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

static_assert(std::endian::native == std::endian::little, "base64 holds floats with their low byte first");

void append_base64(std::string* out, const std::vector<float>& values) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const unsigned group = unsigned{bytes[i]} << 16 | (left > 1 ? unsigned{bytes[i + 1]} << 8 : 0U) |
                           (left > 2 ? unsigned{bytes[i + 2]} : 0U);
    *out += kDigits[group >> 18];
    *out += kDigits[group >> 12 & 63];
    *out += left > 1 ? kDigits[group >> 6 & 63] : '=';
    *out += left > 2 ? kDigits[group & 63] : '=';
  }
}

// The first so many, of length 1 again: models that were trained for it say as much with fewer.
void shorten(std::vector<float>* values, size_t dimensions) {
  values->resize(dimensions);
  double sum = 0;
  for (const float v : *values) sum += static_cast<double>(v) * v;
  const auto scale = static_cast<float>(sum > 0 ? 1 / std::sqrt(sum) : 0);
  for (float& v : *values) v *= scale;
}

// What of a text's error is the member's: "input[3]".
std::vector<EncodeText> texts_of(std::vector<Prompt> prompts, Fields& fields) {
  std::vector<EncodeText> texts;
  for (size_t i = 0; i < prompts.size(); ++i) {
    EncodeText one;
    if (auto* text = std::get_if<std::string>(&prompts[i])) {
      one.text = std::move(*text);
    } else {
      one.tokens = std::move(std::get<std::vector<int32_t>>(prompts[i]));
    }
    if (one.text.empty() && one.tokens.empty())
      fields.fail("input", "invalid_value", fmt::format("Invalid 'input[{}]': it must not be empty.", i));
    texts.push_back(std::move(one));
  }
  return texts;
}

struct Wanted {
  std::string model;
  bool is_base64 = false;
  std::optional<int64_t> dimensions;
};

net::Response answer(const Wanted& wanted, std::vector<Encoded>&& vectors) {
  std::string out = R"({"object":"list","data":[)";
  int64_t tokens = 0;
  for (size_t i = 0; i < vectors.size(); ++i) {
    std::vector<float>& values = vectors[i].values;
    tokens += vectors[i].tokens;
    if (wanted.dimensions && static_cast<size_t>(*wanted.dimensions) > values.size())
      return json_error({.message = fmt::format("Invalid 'dimensions': the model `{}` has {} of them, but got {}.",
                                                wanted.model, values.size(), *wanted.dimensions),
                         .param = "dimensions",
                         .code = "integer_above_max_value"});
    if (wanted.dimensions && static_cast<size_t>(*wanted.dimensions) < values.size())
      shorten(&values, static_cast<size_t>(*wanted.dimensions));
    if (i > 0) out += ',';
    out += fmt::format(R"({{"object":"embedding","index":{},"embedding":)", i);
    out += wanted.is_base64 ? '"' : '[';
    if (wanted.is_base64) {
      append_base64(&out, values);
    } else {
      for (size_t k = 0; k < values.size(); ++k) {
        if (k > 0) out += ',';
        append_float(&out, values[k]);
      }
    }
    out += wanted.is_base64 ? "\"}" : "]}";
  }
  out += R"(],"model":)";
  append_json_string(&out, wanted.model);
  out += fmt::format(R"(,"usage":{{"prompt_tokens":{0},"total_tokens":{0}}}}})", tokens);
  return net::json_response(200, std::move(out));
}

}  // namespace

void embeddings(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  Fields fields(body, &error);
  static constexpr std::string_view kEncodings[] = {"float", "base64"};
  const std::string name = fields.text("model").value_or("");
  std::vector<EncodeText> texts = texts_of(read_prompts(fields, "input"), fields);
  Wanted wanted;
  wanted.is_base64 = fields.word("encoding_format", kEncodings).value_or("float") == "base64";
  wanted.dimensions = fields.integer("dimensions", 1, INT32_MAX);
  const bool truncates = read_truncate(fields, false);
  fields.ignore({"user", "priority"});
  fields.log_unknown("/v1/embeddings");
  if (error.is_set()) return send_error(*responder, error.get());
  const FoundModel found = find_model(service, name, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  if (!found.model->card().embeds) {
    return send_error(
        *responder,
        {.http = 404,
         .message = fmt::format("The model `{}` gives no embeddings; /v1/models lists what each can do.", found.name),
         .param = "model"});
  }
  wanted.model = found.name;
  encode_and_send(
      found, {.texts = std::move(texts), .truncates = truncates}, responder, "input",
      [wanted = std::move(wanted)](std::vector<Encoded>&& vectors) { return answer(wanted, std::move(vectors)); });
}

}  // namespace nereid::server::openai
