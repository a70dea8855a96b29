// SPDX-License-Identifier: Apache-2.0
#include "server/cache/redis_cache.h"

#include <hiredis/hiredis.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/log.h"

namespace nereid::server {
namespace {

constexpr size_t kMostJobs = 1024;  // that wait for a connection; more are not found at once
constexpr int64_t kRetryNs = 1'000'000'000;

timeval time_of(int64_t ms) {
  return {.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};
}

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};
struct FreeReply {
  void operator()(void* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<void, FreeReply>;

// One thread uses it.
class Connection {
 public:
  explicit Connection(const RedisOptions& options) : options_(options) {}

  // nullptr: it could not be asked, or answered with an error.
  Reply ask(const std::vector<std::string_view>& words) {
    if (context_ == nullptr && !open()) return nullptr;
    Reply reply = send(words);
    if (reply == nullptr) {
      say(fmt::format("the connection to Redis broke: {}", context_->errstr));
      context_.reset();
    }
    return reply;
  }

 private:
  Reply send(const std::vector<std::string_view>& words) {
    std::vector<const char*> pointers;
    std::vector<size_t> sizes;
    for (const std::string_view word : words) pointers.push_back(word.data()), sizes.push_back(word.size());
    Reply reply(redisCommandArgv(context_.get(), static_cast<int>(words.size()), pointers.data(), sizes.data()));
    if (reply != nullptr) {
      const auto* answer = static_cast<const redisReply*>(reply.get());
      if (answer->type == REDIS_REPLY_ERROR) say(fmt::format("Redis refused {}: {}", words[0], answer->str));
    }
    return reply;
  }

  bool is_good(const std::vector<std::string_view>& words) {
    const Reply reply = send(words);
    return reply != nullptr && static_cast<const redisReply*>(reply.get())->type != REDIS_REPLY_ERROR;
  }

  bool open() {
    if (tried_ns_ != 0 && now_ns() - tried_ns_ < kRetryNs) return false;
    tried_ns_ = now_ns();
    const int64_t connect_ms = options_.connect_timeout_ms == 0 ? 1000 : options_.connect_timeout_ms;
    context_.reset(redisConnectWithTimeout(options_.host.c_str(), options_.port, time_of(connect_ms)));
    if (context_ == nullptr || context_->err != 0) {
      say(fmt::format("Redis at {}:{} does not answer: {}", options_.host, options_.port,
                      context_ == nullptr ? "no memory" : context_->errstr));
      context_.reset();
      return false;
    }
    if (options_.socket_timeout_ms > 0) redisSetTimeout(context_.get(), time_of(options_.socket_timeout_ms));
    bool is_ready = true;
    if (!options_.password.empty())
      is_ready = options_.user.empty() ? is_good({"AUTH", options_.password})
                                       : is_good({"AUTH", options_.user, options_.password});
    if (is_ready && options_.db != 0) is_ready = is_good({"SELECT", std::to_string(options_.db)});
    if (!is_ready) context_.reset();
    if (is_ready) said_.clear();
    return is_ready;
  }

  // Once, until it works again or is another sentence.
  void say(std::string text) {
    if (text == said_) return;
    said_ = std::move(text);
    log_error("response cache: {}; requests are answered without it", said_);
  }

  const RedisOptions& options_;
  std::unique_ptr<redisContext, FreeContext> context_;
  int64_t tried_ns_ = 0;
  std::string said_;
};

std::shared_ptr<const CachedResponse> response_of(const Reply& reply) {
  const auto* answer = static_cast<const redisReply*>(reply.get());
  if (answer == nullptr || answer->type != REDIS_REPLY_STRING) return nullptr;
  return CachedResponse::parse(std::as_bytes(std::span(answer->str, answer->len)));
}

class RedisCache final : public ResponseCache {
 public:
  explicit RedisCache(RedisOptions options) : options_(std::move(options)) {
    for (int i = 0; i < options_.pool_size; ++i) threads_.emplace_back([this] { work(); });
  }
  ~RedisCache() override {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void find(const std::string& key, Found found) override {
    Job job{.key = key, .found = std::move(found), .response = nullptr, .deadline_ns = deadline()};
    if (!add(&job)) job.found(nullptr);
  }
  void insert(const std::string& key, std::shared_ptr<const CachedResponse> response) override {
    Job job{.key = key, .found = nullptr, .response = std::move(response), .deadline_ns = INT64_MAX};
    add(&job);
  }

 private:
  struct Job {
    std::string key;
    Found found;                                     // of a look
    std::shared_ptr<const CachedResponse> response;  // of an insertion
    int64_t deadline_ns = INT64_MAX;
  };

  int64_t deadline() const { return now_ns() + options_.wait_timeout_ms * 1'000'000; }

  bool add(Job* job) {
    {
      const std::lock_guard lock(mutex_);
      if (is_stopping_ || jobs_.size() >= kMostJobs) return false;
      jobs_.push_back(std::move(*job));
    }
    changed_.notify_one();
    return true;
  }

  // Ends when nothing is left to do, so that every look is answered.
  void work() {
    // A connection that broke is an error of writing, not a signal.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    Connection connection(options_);
    connection.ask({"PING"});  // says at the start whether anybody is there
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      run(&connection, &job);
      lock.lock();
    }
  }

  void run(Connection* connection, Job* job) {
    const std::string name = "nereid:" + job->key;
    if (job->response != nullptr) {
      connection->ask({"SET", name, job->response->serialize()});
    } else if (now_ns() >= job->deadline_ns) {
      job->found(nullptr);
    } else {
      job->found(response_of(connection->ask({"GET", name})));
    }
  }

  const RedisOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::shared_ptr<ResponseCache>> make_redis_cache(const RedisOptions& options) {
  return std::shared_ptr<ResponseCache>(std::make_shared<RedisCache>(options));
}

}  // namespace nereid::server
