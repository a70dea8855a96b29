// SPDX-License-Identifier: Apache-2.0
// A case as a line of text: a kernel's name and key=value pairs, "linear n=4096 k=4096 m=1 w=f16". '#' begins a remark.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

namespace nereid::kernels::cuda::harness {

struct CaseLine {
  std::string text, kernel;
  std::map<std::string, std::string> values;

  explicit CaseLine(const std::string& line) : text(line.substr(0, line.find('#'))) {
    std::istringstream words(text);
    words >> kernel;
    for (std::string word; words >> word;) {
      const size_t at = word.find('=');
      values[word.substr(0, at)] = at == std::string::npos ? "1" : word.substr(at + 1);
    }
  }
  int64_t number(const std::string& key, int64_t otherwise) const {
    const auto found = values.find(key);
    return found == values.end() ? otherwise : std::atoll(found->second.c_str());
  }
  std::string word(const std::string& key, const std::string& otherwise) const {
    const auto found = values.find(key);
    return found == values.end() ? otherwise : found->second;
  }
};

}  // namespace nereid::kernels::cuda::harness
