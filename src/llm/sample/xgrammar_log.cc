// SPDX-License-Identifier: Apache-2.0
// The two functions that xgrammar asks for in place of its own printing (XGRAMMAR_LOG_CUSTOMIZE).
#include "llm/sample/xgrammar_log.h"

#include <support/logging.h>

namespace nereid::sample {
namespace {

thread_local std::vector<std::string>* kept = nullptr;

}  // namespace

KeepWarnings::KeepWarnings(std::vector<std::string>* warnings) {
  kept = warnings;
}
KeepWarnings::~KeepWarnings() {
  kept = nullptr;
}

}  // namespace nereid::sample

namespace xgrammar {

void LogFatalImpl(const std::string& file, int lineno, const std::string& message) {
  throw LogFatalError(file, lineno, message);
}

void LogMessageImpl(const std::string& /*file*/, int /*lineno*/, int level, const std::string& message) {
  constexpr int kWarning = 2;
  constexpr size_t kMost = 8;
  auto* warnings = nereid::sample::kept;
  if (level == kWarning && warnings != nullptr && warnings->size() < kMost) warnings->push_back(message);
}

}  // namespace xgrammar
