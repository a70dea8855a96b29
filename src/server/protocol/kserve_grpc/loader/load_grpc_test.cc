// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/loader/load_grpc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/test_dir.h"

namespace nereid::server::kserve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LoadGrpc, looks_beside_the_program_and_in_the_folder_of_libraries_and_nowhere_else) {
  const std::vector<std::string> paths = grpc_library_paths("/opt/n/bin");
  ASSERT_GE(paths.size(), 2u);
  EXPECT_EQ(paths[0], "/opt/n/bin/libnereid_grpc.so");
  EXPECT_EQ(paths[1], "/opt/n/lib/nereid/libnereid_grpc.so");
  for (const std::string& path : paths) EXPECT_TRUE(path.starts_with("/opt/n/")) << path;
}

TEST(LoadGrpc, a_library_that_is_not_there_says_where_it_was_looked_for_and_how_to_do_without) {
  const auto started = load_grpc_from({"/nowhere/a.so", "/nowhere/b.so"}, {});
  ASSERT_FALSE(started.is_ok());
  EXPECT_EQ(started.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(started.status().message(), HasSubstr("/nowhere/a.so, /nowhere/b.so"));
  EXPECT_THAT(started.status().message(), HasSubstr("--allow-grpc=false"));
}

TEST(LoadGrpc, what_is_no_library_is_refused) {
  const TestDir dir;
  const std::string path = dir.path() + "/libnereid_grpc.so";
  std::ofstream(path) << "no library";
  const auto started = load_grpc_from({path}, {});
  ASSERT_FALSE(started.is_ok());
  EXPECT_THAT(started.status().message(), HasSubstr(path + " cannot be loaded"));
}

TEST(LoadGrpc, another_library_is_told_from_this_programs) {
  const auto started =
      load_grpc_from({"/lib/x86_64-linux-gnu/libz.so.1", "/lib64/libz.so.1", "/usr/lib/libz.so.1"}, {});
  ASSERT_FALSE(started.is_ok());
  if (started.status().message().find("looked for") != std::string::npos) GTEST_SKIP() << "no libz where it usually is";
  EXPECT_THAT(started.status().message(), HasSubstr("is no library of this program"));
}

}  // namespace
}  // namespace nereid::server::kserve
