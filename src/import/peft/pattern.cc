// SPDX-License-Identifier: Apache-2.0
// The regular expressions of rank_pattern and alpha_pattern, with bounds on what matching may take.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>

#include "import/peft/config.h"

namespace nereid::import::peft {
namespace {

constexpr uint32_t kMatchSteps = 100'000;
constexpr uint32_t kHeapKib = 1024;
constexpr size_t kMaxPattern = 4096;

template <auto* kFree>
struct Free {
  template <typename T>
  void operator()(T* p) const {
    kFree(p);
  }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>>;

PCRE2_SPTR text(std::string_view s) {
  return reinterpret_cast<PCRE2_SPTR>(s.data());
}

}  // namespace

Result<bool> pattern_matches(const std::string& pattern, std::string_view module) {
  if (pattern.size() > kMaxPattern)
    return invalid_argument("a pattern of module names has {} bytes; expected at most {}", pattern.size(), kMaxPattern);
  const std::string whole = "^(?:.*\\.)?(?:" + pattern + ")$";
  int error = 0;
  PCRE2_SIZE at = 0;
  const Code code(pcre2_compile(text(whole), whole.size(), 0, &error, &at, nullptr));
  if (!code) return invalid_argument("'{}' is no regular expression for module names", pattern);
  const MatchData data(pcre2_match_data_create_from_pattern(code.get(), nullptr));
  const MatchContext context(pcre2_match_context_create(nullptr));
  if (!data || !context) return exhausted("there is no memory to match module names");
  pcre2_set_match_limit(context.get(), kMatchSteps);
  pcre2_set_heap_limit(context.get(), kHeapKib);
  const int found = pcre2_match(code.get(), text(module), module.size(), 0, 0, data.get(), context.get());
  if (found < 0 && found != PCRE2_ERROR_NOMATCH)
    return invalid_argument("the pattern '{}' takes too long to match '{}'", pattern, module);
  return found >= 0;
}

}  // namespace nereid::import::peft
