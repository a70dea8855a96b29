// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/response_answer.h"

#include <fmt/format.h>

#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(&out, text);
  return out;
}

// A message, a call of a tool, or what was thought.
struct Item {
  enum class Kind : uint8_t { kMessage, kCall, kThought };
  Kind kind = Kind::kMessage;
  bool is_call() const { return kind == Kind::kCall; }
  std::string id;
  std::string call_id, name;
  std::string text;  // what is said, or the arguments

  std::string part() const {
    if (kind == Kind::kThought) return fmt::format(R"({{"type":"reasoning_text","text":{}}})", json_string(text));
    return fmt::format(R"({{"type":"output_text","text":{},"annotations":[],"logprobs":[]}})", json_string(text));
  }
  std::string json(std::string_view status, bool with_text = true) const {
    if (kind == Kind::kThought) {
      return fmt::format(R"({{"id":"{}","type":"reasoning","status":"{}","summary":[],"content":[{}]}})", id, status,
                         with_text ? part() : "");
    }
    if (is_call()) {
      return fmt::format(
          R"({{"id":"{}","type":"function_call","status":"{}","call_id":"{}","name":{},"arguments":{}}})", id, status,
          call_id, json_string(name), json_string(text));
    }
    return fmt::format(R"({{"id":"{}","type":"message","status":"{}","role":"assistant","content":[{}]}})", id, status,
                       with_text ? part() : "");
  }
};

class ResponseAnswer final : public AnswerText {
 public:
  explicit ResponseAnswer(ResponseAnswerOptions options) : options_(std::move(options)) {}

  void add(size_t, TextOutput&& output, std::string* stream) override {
    stream_ = stream;
    if (!std::exchange(has_begun_, true)) {
      for (const std::string_view name : {"response.created", "response.in_progress"})
        event(name, fmt::format(R"("response":{})", response("in_progress", nullptr)));
    }
    ToolEvents events;
    options_.reader.read(output, options_.markers, &events);
    for (const ToolEvent& one : events) tool_event(one);
    if (!output.is_last) return;
    if (items_.empty()) open(Item::Kind::kMessage, "");
    close();
    is_cut_ = output.finish == TextFinish::kLength;
  }

  void end(const Usage& usage, std::string* out) override {
    const std::string_view status = is_cut_ ? "incomplete" : "completed";
    if (!options_.is_stream) {
      *out += response(status, &usage);
      return;
    }
    stream_ = out;
    event(fmt::format("response.{}", status), fmt::format(R"("response":{})", response(status, &usage)));
  }

 private:
  void event(std::string_view name, std::string_view members) {
    if (!options_.is_stream) return;
    fmt::format_to(std::back_inserter(*stream_),
                   "event: {0}\ndata: {{\"type\":\"{0}\",\"sequence_number\":{1},{2}}}\n\n", name, sequence_++,
                   members);
  }
  // What an event of the item at hand begins with.
  std::string place() const {
    const Item& item = items_.back();
    const std::string_view content = item.is_call() ? "" : R"(,"content_index":0)";
    return fmt::format(R"("item_id":"{}","output_index":{}{})", item.id, items_.size() - 1, content);
  }

  void open(Item::Kind kind, std::string_view name) {
    close();
    Item& item = items_.emplace_back();
    item.kind = kind;
    const std::string_view prefix = kind == Item::Kind::kMessage ? "msg_" : kind == Item::Kind::kCall ? "fc_" : "rs_";
    item.id = random_id(prefix, 24, options_.random);
    item.name = name;
    if (item.is_call()) item.call_id = random_id(options_.id_prefix, options_.id_letters, options_.random);
    is_open_ = true;
    event("response.output_item.added",
          fmt::format(R"("output_index":{},"item":{})", items_.size() - 1, item.json("in_progress", false)));
    if (kind == Item::Kind::kMessage)
      event("response.content_part.added", fmt::format(R"({},"part":{})", place(), item.part()));
  }

  void close() {
    if (!std::exchange(is_open_, false)) return;
    const Item& item = items_.back();
    if (item.kind == Item::Kind::kThought) {
      event("response.reasoning_text.done", fmt::format(R"({},"text":{})", place(), json_string(item.text)));
    } else if (item.is_call()) {
      event("response.function_call_arguments.done",
            fmt::format(R"({},"name":{},"arguments":{})", place(), json_string(item.name), json_string(item.text)));
    } else {
      event("response.output_text.done", fmt::format(R"({},"text":{},"logprobs":[])", place(), json_string(item.text)));
      event("response.content_part.done", fmt::format(R"({},"part":{})", place(), item.part()));
    }
    event("response.output_item.done",
          fmt::format(R"("output_index":{},"item":{})", items_.size() - 1, item.json("completed")));
  }

  void thought(std::string_view text) {
    if (!is_open_ || items_.back().kind != Item::Kind::kThought) open(Item::Kind::kThought, "");
    items_.back().text += text;
    event("response.reasoning_text.delta", fmt::format(R"({},"delta":{})", place(), json_string(text)));
  }

  void content(std::string_view text) {
    if (text.empty()) return;
    if (!is_open_ || items_.back().kind != Item::Kind::kMessage) open(Item::Kind::kMessage, "");
    items_.back().text += text;
    event("response.output_text.delta", fmt::format(R"({},"delta":{},"logprobs":[])", place(), json_string(text)));
  }

  void tool_event(const ToolEvent& one) {
    switch (one.kind) {
      case ToolEvent::Kind::kContent:
        if (!ignores_call_) content(one.text);
        return;
      case ToolEvent::Kind::kCall:
        ignores_call_ = calls_ >= options_.max_calls;
        if (ignores_call_) return;
        ++calls_;
        open(Item::Kind::kCall, one.text);
        return;
      case ToolEvent::Kind::kThought:
        thought(one.text);
        return;
      case ToolEvent::Kind::kArguments:
        if (ignores_call_) return;
        items_.back().text += one.text;
        event("response.function_call_arguments.delta",
              fmt::format(R"({},"delta":{})", place(), json_string(one.text)));
        return;
    }
  }

  std::string response(std::string_view status, const Usage* usage) const {
    const ResponseRequest& request = options_.request;
    const CommonRequest& common = request.chat.common;
    std::string out =
        fmt::format(R"({{"id":"{}","object":"response","created_at":{},"status":"{}","background":false,"error":null,)"
                    R"("incomplete_details":{},"instructions":{},"max_output_tokens":{},"model":{},"output":[)",
                    options_.head.id, options_.head.created_s, status,
                    status == "incomplete" ? R"({"reason":"max_output_tokens"})" : "null", request.instructions,
                    request.chat.has_max_tokens ? fmt::to_string(common.params.max_tokens) : "null",
                    json_string(options_.head.model));
    for (size_t i = 0; usage && i < items_.size(); ++i) out += (i > 0 ? "," : "") + items_[i].json("completed");
    out += fmt::format(R"(],"parallel_tool_calls":{},"previous_response_id":null,"store":false,"temperature":{},)"
                       R"("text":{},"tool_choice":{},"tools":{},"top_p":{},"truncation":"disabled","metadata":{},)",
                       request.chat.tools.parallel, common.params.temperature, request.format, request.tool_choice,
                       request.tools, common.params.top_p, request.metadata);
    if (!usage) return out += R"("usage":null})";
    return out +=
           fmt::format(R"("usage":{{"input_tokens":{},"input_tokens_details":{{"cached_tokens":{}}},)"
                       R"("output_tokens":{},"output_tokens_details":{{"reasoning_tokens":{}}},"total_tokens":{}}}}})",
                       usage->prompt_tokens, usage->reused_tokens, usage->answer_tokens,
                       options_.reader.thought_tokens(), usage->prompt_tokens + usage->answer_tokens);
  }

  ResponseAnswerOptions options_;
  std::vector<Item> items_;
  bool has_begun_ = false, is_open_ = false, is_cut_ = false, ignores_call_ = false;
  size_t calls_ = 0;
  int64_t sequence_ = 0;
  std::string* stream_ = nullptr;  // while add() or end() runs
};

}  // namespace

std::unique_ptr<AnswerText> make_response_answer(ResponseAnswerOptions options) {
  return std::make_unique<ResponseAnswer>(std::move(options));
}

}  // namespace nereid::server::openai
