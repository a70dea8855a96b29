// SPDX-License-Identifier: Apache-2.0
// Models that think before they answer write their thoughts between marks: told apart from the answer while it comes.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nereid::server::openai {

struct ThoughtFormat {
  std::string_view name;  // as ModelCard::thought_format
  std::string_view begin, end;
};
std::span<const ThoughtFormat> thought_format_table();
// nullptr: there is none of that name.
const ThoughtFormat* find_thought_format(std::string_view name);

// Whether a prompt that ends so leaves the model within its thoughts: its template has written the mark that begins
// them.
bool ends_in_thought(const ThoughtFormat& format, std::string_view prompt_end);

// Takes an answer piece by piece, however it was cut. Thoughts stand at the beginning or nowhere; spaces around them
// belong to neither.
class ThoughtReader {
 public:
  // `is_inside`: the prompt has begun them.
  ThoughtReader(const ThoughtFormat& format, bool is_inside)
      : format_(&format), place_(is_inside ? Place::kMark : Place::kBegin), is_inside_(is_inside) {}
  // Appends what is certain.
  void push(std::string_view text, std::string* thought, std::string* answer);
  // The answer has ended: what was held back comes out.
  void finish(std::string* thought, std::string* answer);
  // What comes now is thought, as far as one can tell.
  bool is_thinking() const { return place_ == Place::kThought || (place_ == Place::kMark && is_inside_); }

 private:
  enum class Place : uint8_t { kBegin, kMark, kThought, kAfter, kAnswer };
  bool step(std::string* thought, std::string* answer);

  const ThoughtFormat* format_;
  Place place_;
  bool is_inside_;
  bool has_thought_ = false;
  std::string pending_;
};

}  // namespace nereid::server::openai
