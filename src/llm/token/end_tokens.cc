// SPDX-License-Identifier: Apache-2.0
#include "llm/token/end_tokens.h"

#include <algorithm>
#include <iterator>

namespace nereid::token {
namespace {

enum class Role : uint8_t {
  kTurn,   // ends an assistant's turn: may be eot_id
  kOther,  // ends generation for another reason
  kPlain,  // an end only where the vocabulary marks it special: elsewhere the text is ordinary
};
struct EndText {
  std::string_view text;
  Role role;
};

constexpr EndText kEndTexts[] = {
    {"<|eot_id|>", Role::kTurn},       // Llama 3
    {"<|im_end|>", Role::kTurn},       // ChatML
    {"<|end|>", Role::kTurn},          // Phi-3
    {"<end_of_turn>", Role::kTurn},    // Gemma
    {"<|endoftext|>", Role::kTurn},    // GPT-2
    {"<|end_of_text|>", Role::kTurn},  // Granite, Llama 3
    {"<EOT>", Role::kTurn},            // CodeLlama
    {"_<EOT>", Role::kTurn},
    {"[EOT]", Role::kTurn},                  // Kimi K2
    {"<｜end▁of▁sentence｜>", Role::kTurn},  // DeepSeek
    {"<end_of_utterance>", Role::kTurn},     // SmolDocling
    {"<|eom_id|>", Role::kOther},            // Llama 3: expects a tool's answer
    {"<|return|>", Role::kOther},            // harmony
    {"<|call|>", Role::kOther},
    {"<|flush|>", Role::kOther},  // Solar Open
    {"<|calls|>", Role::kOther},
    {"[EOS]", Role::kOther},
    {"<eos>", Role::kPlain},
    {"</s>", Role::kPlain},
    {"<turn|>", Role::kOther},  // Gemma 4
    {"<|tool_response>", Role::kOther},
    {"[e~[", Role::kOther},         // MiniMax
    {"<|fim_pad|>", Role::kOther},  // fill-in-the-middle: nothing sensible follows
    {"<fim-pad>", Role::kOther},
    {"<fim_pad>", Role::kOther},
    {"<|fim_repo|>", Role::kOther},
    {"<|repo_name|>", Role::kOther},
    {"<fim-repo>", Role::kOther},
    {"<reponame>", Role::kOther},
    {"<|file_sep|>", Role::kOther},
};

class Finder {
 public:
  explicit Finder(const TokenizerSpec& spec) : spec_(spec) {}
  // The token that is marked special or is user-defined and has this text.
  int32_t find(std::string_view text) const {
    for (const AddedToken& t : spec_.added)
      if (t.text == text) return t.id;
    return kNoToken;
  }
  bool is_special(int32_t id) const {
    for (const AddedToken& t : spec_.added)
      if (t.id == id) return t.special;
    return false;
  }

 private:
  const TokenizerSpec& spec_;
};

void remove(std::vector<int32_t>& ids, int32_t id) {
  ids.erase(std::remove(ids.begin(), ids.end(), id), ids.end());
}

}  // namespace

void collect_end_tokens(TokenizerSpec& spec) {
  const Finder finder(spec);
  std::vector<int32_t>& ends = spec.end_of_generation;
  for (const EndText& end : kEndTexts) {
    const int32_t id = finder.find(end.text);
    if (id == kNoToken || (end.role == Role::kPlain && !finder.is_special(id))) continue;
    ends.push_back(id);
    if (end.role == Role::kTurn && spec.eot_id == kNoToken) spec.eot_id = id;
  }
  // In the harmony format <|end|> closes a message, not the turn.
  const auto has = [&](std::string_view text) { return finder.find(text) != kNoToken; };
  if (has("<|call|>") && has("<|end|>") && (has("<|return|>") || has("<|flush|>"))) {
    remove(ends, finder.find("<|end|>"));
    if (spec.eot_id == finder.find("<|end|>")) spec.eot_id = kNoToken;
  }
  // Gemma 4 keeps an ordinary </s>.
  if (has("<|tool_response>") && has("</s>")) remove(ends, finder.find("</s>"));
  for (const int32_t id : {spec.eos_id, spec.eot_id})
    if (id != kNoToken) ends.push_back(id);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
}

}  // namespace nereid::token
