// SPDX-License-Identifier: Apache-2.0
#include "server/host/server_log.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/test_dir.h"

namespace nereid::server {
namespace {

constexpr int64_t kWhen = 1'796'033'333'000'456;  // 2026-11-30T10:08:53.000456Z

TEST(ServerLog, writes_lines_in_each_form) {
  EXPECT_EQ(log_line(LogFormat::kDefault, LogLevel::warn, "a \"b\"", kWhen, 42),
            "W1130 10:08:53.000456 42 server] \"a \\\"b\\\"\"");
  EXPECT_EQ(log_line(LogFormat::kIso8601, LogLevel::info, "a", kWhen, 42), "2026-11-30T10:08:53Z I 42 server] \"a\"");
  EXPECT_EQ(log_line(LogFormat::kPlain, LogLevel::error, "a", kWhen, 42), "nereid: error: a");
  const auto json = parse_json(log_line(LogFormat::kJson, LogLevel::error, "a\nb\"\x01", kWhen, 42));
  ASSERT_TRUE(json.is_ok());
  EXPECT_EQ((*json)["message"], "a\nb\"\x01");
  EXPECT_EQ((*json)["level"], "error");
  EXPECT_EQ((*json)["time"], "2026-11-30T10:08:53.000456Z");
}

TEST(ServerLog, a_text_never_makes_a_second_line) {
  for (const LogFormat format : {LogFormat::kPlain, LogFormat::kDefault, LogFormat::kIso8601, LogFormat::kJson})
    EXPECT_EQ(log_line(format, LogLevel::info, "a\nI1130 forged", kWhen, 1).find('\n'), std::string::npos);
}

TEST(ServerLog, takes_the_levels_that_are_on) {
  const TestDir folder;
  const std::string path = folder / "log.txt";
  {
    const auto log = open_server_log({.file = path, .format = LogFormat::kDefault});
    ASSERT_TRUE(log.is_ok());
    log_info("one");
    (*log)->change({.info = false});
    log_info("two");
    log_warn("three");
    (*log)->change({.info = true, .warning = false, .verbose_level = 1, .format = LogFormat::kJson});
    log_debug("four");
    log_warn("five");
    EXPECT_EQ((*log)->read().verbose_level, 1u);
  }
  stderr_console().set_level(LogLevel::info);
  const auto text = read_file(path, 1 << 16);
  ASSERT_TRUE(text.is_ok());
  for (const char* there : {"\"one\"", "\"three\"", "\"four\""}) EXPECT_NE(text->find(there), text->npos) << there;
  for (const char* gone : {"two", "five"}) EXPECT_EQ(text->find(gone), text->npos) << gone;
}

TEST(ServerLog, tells_why_a_file_cannot_be_written) {
  EXPECT_FALSE(open_server_log({.file = "/nowhere/log.txt"}).is_ok());
}

}  // namespace
}  // namespace nereid::server
