// SPDX-License-Identifier: Apache-2.0
// What was timed before, in a text file that makes a build repeatable and the next one quick.
//
// One line an answer, six fields with tabs between, in the order of their bytes:
//     device (device_key.h)   problem   chosen tactic   level   times ("gemm: 41.2; winograd4: 30.7", us)   reason
// The first line names the format. A problem for which there was no time stands there too: another build with the same
// file then makes the same choice.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tune/choice.h"
#include "tune/device_key.h"

namespace nereid::tune {

class TimingCache {
 public:
  // Lines that are none of ours are skipped and counted.
  static TimingCache parse(std::string_view text);
  // An absent file is an empty cache. kInvalidArgument: no file, or one of more than 64 MiB.
  static Result<TimingCache> read(const std::string& path);
  std::string print() const;

  // The answer for the problem here, if it was decided at this level or a higher one.
  const ProblemChoice* find(const DeviceKey& device, std::string_view problem, int level) const;
  // Of two answers the one of the higher level stays, and of equals the first.
  void add(const DeviceKey& device, const ProblemChoice& choice);
  void merge(const TimingCache& other);
  // All choices for a device, problem to tactic.
  std::map<std::string, std::string, std::less<>> choices(const DeviceKey& device) const;

  size_t size() const { return entries_.size(); }
  // A sentence about what was skipped; empty if nothing was. `path` is for the message.
  std::string warning(const std::string& path) const;

 private:
  void put(const std::string& device, const ProblemChoice& choice);

  std::map<std::pair<std::string, std::string>, ProblemChoice> entries_;  // by device and problem
  int64_t skipped_ = 0, first_skipped_line_ = 0;
};

}  // namespace nereid::tune
