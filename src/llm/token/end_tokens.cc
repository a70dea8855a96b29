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

AddedToken* find_added(TokenizerSpec& spec, std::string_view text) {
  for (AddedToken& t : spec.added)
    if (t.text == text) return &t;
  return nullptr;
}

void mark_special(TokenizerSpec& spec, AddedToken& token) {
  token.special = true;
  spec.types[static_cast<size_t>(token.id)] = TokenType::kControl;
}

}  // namespace

void collect_end_tokens(TokenizerSpec& spec, EndTokenTrust trust) {
  std::vector<int32_t>& ends = spec.end_of_generation;
  const auto has = [&](std::string_view text) { return find_added(spec, text) != nullptr; };
  // In the harmony format <|end|> closes a message, not the turn; Gemma 4 keeps an ordinary </s>.
  const bool harmony = has("<|call|>") && (has("<|return|>") || has("<|flush|>"));
  const bool gemma4 = has("<|tool_response>");
  for (const EndText& end : kEndTexts) {
    AddedToken* token = find_added(spec, end.text);
    if (token == nullptr || (harmony && end.text == "<|end|>") || (gemma4 && end.text == "</s>")) continue;
    if (trust == EndTokenTrust::kTextDecides) mark_special(spec, *token);
    if (end.role == Role::kPlain && !token->special) continue;
    ends.push_back(token->id);
    if (end.role == Role::kTurn && spec.eot_id == kNoToken) spec.eot_id = token->id;
  }
  for (const int32_t id : {spec.eos_id, spec.eot_id})
    if (id != kNoToken) ends.push_back(id);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
}

}  // namespace nereid::token
