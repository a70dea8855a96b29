// SPDX-License-Identifier: Apache-2.0
// Against a real redis-server where one is installed.
#include "server/cache/redis_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "server/cache/cached_model.h"
#include "server/cache/test_cache_model.h"

namespace nereid::server {
namespace {

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

// A redis-server of its own, for as long as it lives.
class Redis {
 public:
  explicit Redis(int at) : port(at) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::dup2(null, 2);
    const std::string text = std::to_string(port);
    // Debian's redis-tools has the program under another name; which one it is to be, its first word says.
    for (const char* name : {"redis-server", "redis-check-rdb"})
      ::execlp(name, "redis-server", "--port", text.c_str(), "--bind", "127.0.0.1", "--save", "", "--requirepass",
               "secret", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ~Redis() {
    ::kill(pid_, SIGTERM);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  // False: there is no redis-server here.
  bool has_started() const {
    for (int i = 0; i < 200; ++i) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) return false;
      const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(static_cast<uint16_t>(port));
      const bool is_there = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
      ::close(fd);
      if (is_there) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    return false;
  }
  const int port;

 private:
  pid_t pid_ = -1;
};

RedisOptions options_of(int port) {
  RedisOptions options;
  options.host = "127.0.0.1", options.port = port, options.password = "secret";
  return options;
}

TEST(RedisCache, two_servers_share_answers) {
  const Redis redis(free_port());
  if (!redis.has_started()) GTEST_SKIP() << "redis-server is not installed (Debian: redis-tools has it)";
  const auto first = std::make_shared<CountingModel>(), second = std::make_shared<CountingModel>();
  const auto one = make_cached_model(first, *make_redis_cache(options_of(redis.port)));
  const auto two = make_cached_model(second, *make_redis_cache(options_of(redis.port)));
  second->asked = 100;
  EXPECT_EQ(ask(*one, cache_request({7})), 1);
  EXPECT_EQ(ask(*one, cache_request({7})), 1);  // what it asks goes after what it kept
  EXPECT_EQ(ask(*two, cache_request({7})), 1);
  EXPECT_EQ(second->asked, 100);
}

TEST(RedisCache, a_wrong_password_costs_nothing_but_the_cache) {
  const Redis redis(free_port());
  if (!redis.has_started()) GTEST_SKIP() << "redis-server is not installed (Debian: redis-tools has it)";
  RedisOptions options = options_of(redis.port);
  options.password = "wrong";
  const auto cached = make_cached_model(std::make_shared<CountingModel>(), *make_redis_cache(options));
  EXPECT_EQ(ask(*cached, cache_request({7})), 1);
  EXPECT_EQ(ask(*cached, cache_request({7})), 2);
}

TEST(RedisCache, a_redis_that_goes_and_comes_back_is_used_again) {
  const int port = free_port();
  auto redis = std::make_unique<Redis>(port);
  if (!redis->has_started()) GTEST_SKIP() << "redis-server is not installed (Debian: redis-tools has it)";
  const auto model = std::make_shared<CountingModel>();
  const auto cached = make_cached_model(model, *make_redis_cache(options_of(port)));
  EXPECT_EQ(ask(*cached, cache_request({7})), 1);
  EXPECT_EQ(ask(*cached, cache_request({7})), 1);
  redis.reset();
  EXPECT_EQ(ask(*cached, cache_request({7})), 2);
  redis = std::make_unique<Redis>(port);
  ASSERT_TRUE(redis->has_started());
  bool is_found = false;
  for (int i = 0; i < 200 && !is_found; ++i) {
    const int before = model->asked;
    ask(*cached, cache_request({7}));
    is_found = model->asked == before;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(is_found);
}

TEST(RedisCache, without_a_redis_requests_are_answered_soon) {
  const auto model = std::make_shared<CountingModel>();
  const auto cached = make_cached_model(model, *make_redis_cache(options_of(free_port())));
  const int64_t begin_ns = now_ns();
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(ask(*cached, cache_request({7})), i);
  EXPECT_LT(now_ns() - begin_ns, 3'000'000'000);
}

}  // namespace
}  // namespace nereid::server
