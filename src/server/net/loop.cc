// SPDX-License-Identifier: Apache-2.0
// The only file that knows Boost.Asio. Connections are not coroutines: reading, writing and the handler's answer of one
// connection overlap, and one function that does whatever can be done now (connection.cc) says that more plainly.
#include "server/net/loop.h"

#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace nereid::server::net {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

// What the pending operations hold; it outlives the Watch until they have been called off.
struct Watched {
  Watched(asio::io_context& context, int fd, std::function<void()> ready)
      : descriptor(context), on_ready(std::move(ready)) {
    ErrorCode ec;
    descriptor.assign(fd, ec);
    is_open = !ec;
  }
  void done(bool& waiting, const ErrorCode& ec) {
    waiting = false;
    if (ec == asio::error::operation_aborted || !is_open) return;
    on_ready();
  }
  asio::posix::stream_descriptor descriptor;
  std::function<void()> on_ready;
  bool reading = false, writing = false, is_open = false;
};

class AsioWatch final : public Watch {
 public:
  explicit AsioWatch(std::shared_ptr<Watched> watched) : watched_(std::move(watched)) {}
  ~AsioWatch() override { close(); }
  int fd() const override { return watched_->descriptor.native_handle(); }

  void want_read() override {
    if (watched_->reading || !watched_->is_open) return;
    watched_->reading = true;
    watched_->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                    [w = watched_](const ErrorCode& ec) { w->done(w->reading, ec); });
  }
  void want_write() override {
    if (watched_->writing || !watched_->is_open) return;
    watched_->writing = true;
    watched_->descriptor.async_wait(asio::posix::stream_descriptor::wait_write,
                                    [w = watched_](const ErrorCode& ec) { w->done(w->writing, ec); });
  }
  void close() override {
    if (!watched_->is_open) return;
    watched_->is_open = false;
    ErrorCode ignored;
    watched_->descriptor.close(ignored);
  }

 private:
  std::shared_ptr<Watched> watched_;
};

class AsioLoop final : public Loop {
 public:
  void post(std::function<void()> task) override { asio::post(context_, std::move(task)); }
  void stop() override { context_.stop(); }
  void run() override { context_.run(); }

  std::unique_ptr<Watch> watch(int fd, std::function<void()> on_ready) override {
    auto watched = std::make_shared<Watched>(context_, fd, std::move(on_ready));
    if (!watched->is_open) {
      ::close(fd);
      return nullptr;
    }
    return std::make_unique<AsioWatch>(std::move(watched));
  }

  void set_timer(int64_t at_ns, std::function<void()> on_time) override {
    timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at_ns)));
    timer_.async_wait([call = std::move(on_time)](const ErrorCode& ec) {
      if (!ec) call();
    });
  }

 private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  asio::steady_timer timer_{context_};
};

}  // namespace

std::shared_ptr<Loop> Loop::make() {
  return std::make_shared<AsioLoop>();
}

}  // namespace nereid::server::net
