// SPDX-License-Identifier: Apache-2.0
// POST /v1/rerank, /v2/rerank and /rerank, in the shape that Jina, Cohere and vLLM share.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "server/protocol/openai/answer_text.h"
#include "server/protocol/openai/endpoints/handlers.h"
#include "server/protocol/openai/fields.h"
#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

constexpr size_t kMaxDocuments = 2048;

// Strings, or objects with a "text".
std::vector<std::string> read_documents(Fields& fields) {
  fields.require("documents");
  std::vector<std::string> documents;
  const Json* list = fields.array("documents");
  if (!list) return documents;
  if (list->empty()) fields.fail("documents", "empty_array", "Invalid 'documents': expected at least one document.");
  if (list->size() > kMaxDocuments) {
    fields.fail("documents", "array_above_max_length",
                fmt::format("Invalid 'documents': array too long. Expected an array with maximum length {}, but got an "
                            "array with length {} instead.",
                            kMaxDocuments, list->size()));
    return documents;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const Json* text = (*list)[i].is_object() ? json_find((*list)[i], "text") : &(*list)[i];
    if (!text || !text->is_string()) {
      fields.fail_type(fmt::format("documents[{}]", i), "a string or an object with a 'text'", (*list)[i]);
      return documents;
    }
    documents.push_back(text->get<std::string>());
  }
  return documents;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double product = 0, square_a = 0, square_b = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    product += static_cast<double>(a[i]) * b[i];
    square_a += static_cast<double>(a[i]) * a[i];
    square_b += static_cast<double>(b[i]) * b[i];
  }
  return square_a > 0 && square_b > 0 ? product / std::sqrt(square_a * square_b) : 0;
}

// By the model's own judgement, or how near the vectors lie where it only gives vectors.
Result<std::vector<float>> scores(TextModel& model, const std::string& query,
                                  const std::vector<std::string>& documents) {
  if (model.card().reranks) return model.rerank(query, documents);
  std::vector<std::string> texts = {query};
  texts.insert(texts.end(), documents.begin(), documents.end());
  NEREID_TRY(const std::vector<Embedding> vectors, model.embed(texts));
  std::vector<float> found;
  for (size_t i = 1; i < vectors.size(); ++i)
    found.push_back(static_cast<float>(cosine(vectors[0].values, vectors[i].values)));
  return found;
}

}  // namespace

void rerank(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  Fields fields(body, &error);
  const std::string name = fields.text("model").value_or("");
  const std::string query = fields.required_text("query").value_or("");
  const std::vector<std::string> documents = read_documents(fields);
  const auto most = static_cast<size_t>(fields.integer("top_n", 1, INT32_MAX).value_or(INT32_MAX));
  // Cohere's second version never returns them, the others do unless told not to.
  const bool with_documents = fields.boolean("return_documents").value_or(request.path != "/v2/rerank");
  fields.ignore(
      {"max_tokens_per_doc", "max_chunks_per_doc", "rank_fields", "truncate_prompt_tokens", "user", "priority"});
  fields.log_unknown("/v1/rerank");
  if (error.is_set()) return send_error(*responder, error.get());
  const FoundModel found = find_model(service, name, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  const ModelCard& card = found.model->card();
  if (!card.reranks && !card.embeds) {
    return send_error(
        *responder,
        {.http = 404,
         .message = fmt::format("The model `{}` cannot rank documents; /v1/models lists what each can do.", found.name),
         .param = "model"});
  }
  const Result<std::vector<float>> score = scores(*found.model, query, documents);
  if (!score.is_ok()) return send_error(*responder, api_error(score.status(), "documents"));

  std::vector<size_t> order(documents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return (*score)[a] > (*score)[b]; });
  order.resize(std::min(order.size(), most));
  size_t tokens = found.model->tokenize(query, false, false).size() * documents.size();
  for (const std::string& document : documents) tokens += found.model->tokenize(document, false, false).size();

  std::string out = R"({"id":)";
  append_json_string(&out, random_id("rerank-", 24, service.random));
  out += R"(,"model":)";
  append_json_string(&out, found.name);
  out += fmt::format(R"(,"usage":{{"prompt_tokens":{0},"total_tokens":{0}}},"results":[)", tokens);
  for (const size_t at : order) {
    if (at != order[0]) out += ',';
    out += fmt::format(R"({{"index":{},"relevance_score":)", at);
    append_float(&out, (*score)[at]);
    if (with_documents) {
      out += R"(,"document":{"text":)";
      append_json_string(&out, documents[at]);
      out += '}';
    }
    out += '}';
  }
  responder->send(net::json_response(200, out += "]}"));
}

}  // namespace nereid::server::openai
