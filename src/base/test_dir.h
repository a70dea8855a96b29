// SPDX-License-Identifier: Apache-2.0
// For tests only: a new empty folder that is removed with all it holds.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/check.h"

namespace nereid {

class TestDir {
 public:
  TestDir() {
    std::string name = (std::filesystem::temp_directory_path() / "nereid-test-XXXXXX").string();
    NEREID_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;
  ~TestDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  int files() const {
    int n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::recursive_directory_iterator(path_)) ++n;
    return n;
  }

 private:
  std::string path_;
};

}  // namespace nereid
