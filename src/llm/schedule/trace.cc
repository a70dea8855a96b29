// SPDX-License-Identifier: Apache-2.0
#include "llm/schedule/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::schedule {
namespace {

// Processes of the viewer: steps and counters in one, requests, each on a thread's row of its own, in the other.
constexpr int kSteps = 1, kRequests = 2;

}  // namespace

const char* TraceWriter::name(Phase phase) {
  switch (phase) {
    case Phase::kQueued:
      return "queued";
    case Phase::kPrompt:
      return "prompt";
    case Phase::kAnswer:
      return "answer";
    case Phase::kPaused:
      return "paused";
  }
  return "";
}

void TraceWriter::put(const Event& event) {
  last_us_ = std::max(last_us_, event.to_us);
  if (events_.size() < most_events_)
    events_.push_back(event);
  else
    ++left_out_;
}

void TraceWriter::added(RequestId id, int64_t now_us) {
  open_[id.v] = {.phase = Phase::kQueued, .since_us = now_us};
  last_us_ = std::max(last_us_, now_us);
}

void TraceWriter::turn(RequestId id, Phase phase, int64_t now_us) {
  const auto [it, is_new] = open_.try_emplace(id.v, Open{phase, now_us});
  Open& open = it->second;
  if (is_new || open.phase == phase) return;
  if (now_us > open.since_us)
    put({.kind = Event::Kind::kPhase, .phase = open.phase, .request = id.v, .from_us = open.since_us, .to_us = now_us});
  open = {.phase = phase, .since_us = now_us};
}

void TraceWriter::end(RequestId id, int64_t now_us) {
  const auto it = open_.find(id.v);
  if (it == open_.end()) return;
  put({.kind = Event::Kind::kPhase,
       .phase = it->second.phase,
       .request = id.v,
       .from_us = it->second.since_us,
       .to_us = now_us});
  open_.erase(it);
}

void TraceWriter::stepped(const Step& step, const Scheduler& scheduler, int64_t from_us, int64_t to_us) {
  for (const Ended& e : step.ended) end(e.request, from_us);
  for (RequestId id : step.paused) turn(id, Phase::kPaused, from_us);
  for (RequestId id : step.started) turn(id, Phase::kPrompt, from_us);
  int32_t prompt_tokens = 0;
  for (const Run& r : step.runs) {
    turn(r.request, r.is_prompt ? Phase::kPrompt : Phase::kAnswer, from_us);
    if (r.is_prompt) prompt_tokens += static_cast<int32_t>(r.tokens.size());
  }
  for (const Run& r : step.runs)
    if (r.outputs > 0 && !scheduler.request(r.request).is_ok()) end(r.request, to_us);
  if (!step.runs.empty())
    put({.kind = Event::Kind::kStep,
         .from_us = from_us,
         .to_us = to_us,
         .values = {step.tokens, prompt_tokens, static_cast<int32_t>(step.runs.size()),
                    static_cast<int32_t>(step.moves.size())}});
  const SchedulerCounts n = scheduler.counts();
  const kv::CacheCounts pages = scheduler.cache().counts();
  put({.kind = Event::Kind::kCounts,
       .from_us = to_us,
       .to_us = to_us,
       .values = {n.running, n.waiting, pages.used, pages.cached, pages.free, pages.host_used}});
}

std::string TraceWriter::json() const {
  fmt::memory_buffer out;
  const auto print = [&]<typename... A>(fmt::format_string<A...> format, A&&... a) {
    fmt::format_to(std::back_inserter(out), format, std::forward<A>(a)...);
  };
  print(R"({{"displayTimeUnit":"ms","otherData":{{"left_out_events":{}}},"traceEvents":[)", left_out_);
  for (auto [process, text] : {std::pair{kSteps, "steps"}, {kRequests, "requests"}})
    print(R"({{"name":"process_name","ph":"M","pid":{},"tid":0,"args":{{"name":"{}"}}}},)"
          "\n",
          process, text);
  const auto phase = [&](Phase p, uint64_t request, int64_t from_us, int64_t to_us) {
    print(R"({{"name":"{}","cat":"request","ph":"X","pid":{},"tid":{},"ts":{},"dur":{}}},)"
          "\n",
          name(p), kRequests, request, from_us, to_us - from_us);
  };
  for (const Event& e : events_) {
    const int32_t* v = e.values;
    switch (e.kind) {
      case Event::Kind::kPhase:
        phase(e.phase, e.request, e.from_us, e.to_us);
        break;
      case Event::Kind::kStep:
        print(R"({{"name":"step","cat":"step","ph":"X","pid":{},"tid":0,"ts":{},"dur":{},)"
              R"("args":{{"tokens":{},"prompt_tokens":{},"runs":{},"moves":{}}}}},)"
              "\n",
              kSteps, e.from_us, e.to_us - e.from_us, v[0], v[1], v[2], v[3]);
        break;
      case Event::Kind::kCounts:
        print(R"({{"name":"requests","ph":"C","pid":{},"tid":0,"ts":{},"args":{{"running":{},"waiting":{}}}}},)"
              "\n",
              kSteps, e.from_us, v[0], v[1]);
        print(R"({{"name":"pages","ph":"C","pid":{},"tid":0,"ts":{},)"
              R"("args":{{"used":{},"cached":{},"free":{},"host":{}}}}},)"
              "\n",
              kSteps, e.from_us, v[2], v[3], v[4], v[5]);
        break;
    }
  }
  for (const auto& [request, open] : open_)
    phase(open.phase, request, open.since_us, std::max(last_us_, open.since_us));
  print(R"({{"name":"end","ph":"i","s":"g","pid":{},"tid":0,"ts":{}}}]}})"
        "\n",
        kSteps, last_us_);
  return fmt::to_string(out);
}

}  // namespace nereid::schedule
