// SPDX-License-Identifier: Apache-2.0
// What a token costs on its way out: one event of a stream, from the model's output to the bytes for the socket.
#include <benchmark/benchmark.h>

#include "server/core/testing/test_text_model.h"
#include "server/protocol/openai/chat_answer.h"
#include "server/protocol/openai/completion_answer.h"

namespace nereid::server::openai {
namespace {

void chat_event(benchmark::State& state) {
  TestTextModel model;
  const auto answer =
      make_chat_answer(model, {.head = {"chatcmpl-0123456789abcdefghijklmn", 1700000000, "smollm2-135m", "nereid-0.1"},
                               .stream = {.is_stream = true}});
  std::string events;
  for (auto _ : state) {
    events.clear();
    TextOutput output{.token = 5, .text = " token"};
    answer->add(0, std::move(output), &events);
    benchmark::DoNotOptimize(events.data());
  }
}
BENCHMARK(chat_event);

void chat_event_with_tools(benchmark::State& state) {
  TestTextModel model;
  ChatAnswerOptions options{.head = {"chatcmpl-0123456789abcdefghijklmn", 1700000000, "smollm2-135m", "nereid-0.1"},
                            .stream = {.is_stream = true}};
  options.make_parser = [] { return find_tool_format("hermes")->make({"weather"}); };
  const auto answer = make_chat_answer(model, std::move(options));
  std::string events;
  for (auto _ : state) {
    events.clear();
    TextOutput output{.token = 5, .text = " token"};
    answer->add(0, std::move(output), &events);
    benchmark::DoNotOptimize(events.data());
  }
}
BENCHMARK(chat_event_with_tools);

void completion_event(benchmark::State& state) {
  TestTextModel model;
  const auto answer = make_completion_answer(
      model, {.head = {"cmpl-0123456789abcdefghijklmn", 1700000000, "smollm2-135m", "nereid-0.1"},
              .stream = {.is_stream = true}});
  std::string events;
  for (auto _ : state) {
    events.clear();
    TextOutput output{.token = 5, .text = " token"};
    answer->add(0, std::move(output), &events);
    benchmark::DoNotOptimize(events.data());
  }
}
BENCHMARK(completion_event);

}  // namespace
}  // namespace nereid::server::openai
