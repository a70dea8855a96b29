// SPDX-License-Identifier: Apache-2.0
// For tests only: what an executor called back with, and the same requests answered one by one.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "llm/run/executor.h"
#include "llm/run/generate.h"

namespace nereid::llm::testing {

// One choice of one request, as its outputs told it.
struct Told {
  std::vector<int32_t> tokens;
  std::string text;
  std::vector<sample::SampleResult> samples, prompt;
  int outputs = 0;
  Output last;
};

// Takes the outputs of one request; any thread may wait for its end.
class Listener {
 public:
  explicit Listener(int32_t choices = 1) : told_(static_cast<size_t>(choices)) {}

  OutputFn callback() {
    return [this](Output&& output) { take(std::move(output)); };
  }
  // From the first output on the executor stands still until release(): a test decides what happens meanwhile.
  void hold() { holds_ = true; }
  void release() {
    const std::lock_guard lock(mutex_);
    holds_ = false;
    changed_.notify_all();
  }
  void take(Output&& output) {
    std::unique_lock lock(mutex_);
    Told& t = told_.at(static_cast<size_t>(output.choice));
    EXPECT_FALSE(t.last.is_last) << "an output after the last one";
    ++t.outputs;
    t.text += output.text;
    if (output.token >= 0) {
      t.tokens.push_back(output.token);
      t.samples.push_back(output.sample);
    }
    if (!output.prompt.empty()) t.prompt = std::move(output.prompt);
    if (output.is_last) {
      t.last = std::move(output);
      ++ended_;
    }
    changed_.notify_all();
    changed_.wait(lock, [this] { return !holds_; });
  }
  // Of all choices; fails the test after ten minutes.
  void wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(10), [this] { return ended_ == told_.size(); }));
  }
  void wait_for_tokens(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(10),
                                  [&] { return told_[0].tokens.size() >= count || ended_ == told_.size(); }));
  }
  // After wait().
  const Told& told(size_t choice = 0) const { return told_.at(choice); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Told> told_;
  size_t ended_ = 0;
  bool holds_ = false;
};

// Nothing else runs on this model: what every request has to give, whatever its company.
inline Generated alone(LanguageModel& model, const Request& request, int32_t choice = 0) {
  Generator generator(model);
  sample::SamplingParams params = request.params;
  params.seed += static_cast<uint64_t>(choice);
  Result<Generated> generated = generator.generate(request.prompt, params);
  EXPECT_TRUE(generated.is_ok()) << generated.status().message();
  return generated.is_ok() ? std::move(generated).value() : Generated();
}

inline void expect_same(const Told& told, const Generated& want, const std::string& what) {
  EXPECT_TRUE(told.last.status.is_ok()) << what << ": " << told.last.status.message();
  EXPECT_EQ(told.tokens, want.tokens) << what;
  EXPECT_EQ(told.text, want.text) << what;
  EXPECT_EQ(told.last.finish_reason, want.finish_reason) << what;
  EXPECT_EQ(told.last.prompt_tokens, want.prompt_tokens) << what;
  EXPECT_EQ(told.last.answer_tokens, static_cast<int64_t>(want.tokens.size())) << what;
}

}  // namespace nereid::llm::testing
