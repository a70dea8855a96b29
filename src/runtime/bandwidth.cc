// SPDX-License-Identifier: Apache-2.0
#include "runtime/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "runtime/read_streams.h"

namespace nereid::runtime {
namespace {

// Hardware follows a few streams on its own within a page; which of these is fastest differs between processors, and
// between the one thread and the many.
constexpr int kStreams[] = {1, 2, 4};
constexpr int64_t kPrefetchBytes[] = {0, 1024, 4096};
constexpr int64_t kLeastBytesPerThread = int64_t{64} << 10;
constexpr int64_t kAlignment = 4 * kReadBlock;  // a thread's part splits evenly into any number of streams above

struct Way {
  int streams = 1;
  int64_t prefetch_bytes = 0;
};

class Reader {
 public:
  Reader(ThreadPool& pool, Buffer buffer, Isa isa) : pool_(pool), buffer_(std::move(buffer)), read_(read_streams(isa)) {
    pool_.run([&](Worker& w) {
      const auto [begin, end] = part(w);
      std::memset(buffer_.data() + begin, w.index() + 1, static_cast<size_t>(end - begin));
    });
  }

  double bytes_per_second(const Way& way) {
    const int64_t start = now_ns();
    pool_.run([&](Worker& w) {
      const auto [begin, end] = part(w);
      const uint64_t sum = read_({.data = buffer_.data() + begin,
                                  .bytes = (end - begin) / way.streams,
                                  .streams = way.streams,
                                  .prefetch_bytes = way.prefetch_bytes});
      sink_.fetch_xor(sum, std::memory_order_relaxed);
    });
    return static_cast<double>(buffer_.size()) * 1e9 / static_cast<double>(std::max<int64_t>(1, now_ns() - start));
  }

 private:
  std::pair<int64_t, int64_t> part(const Worker& w) const {
    return w.slice(static_cast<int64_t>(buffer_.size()), kAlignment);
  }

  ThreadPool& pool_;
  Buffer buffer_;
  ReadStreams* read_;
  std::atomic<uint64_t> sink_{0};
};

}  // namespace

Result<Bandwidth> measure_read_bandwidth(ThreadPool& pool, const BandwidthOptions& options) {
  const int64_t bytes = options.bytes / kAlignment * kAlignment;
  if (bytes < kLeastBytesPerThread * pool.size() || options.repeats < 1)
    return invalid_argument("a bandwidth is measured with at least {} bytes a thread and one repeat, found {} and {}",
                            kLeastBytesPerThread, options.bytes / pool.size(), options.repeats);
  NEREID_TRY(Buffer buffer, Buffer::allocate(static_cast<size_t>(bytes), PageSize::kHuge));
  Reader reader(pool, std::move(buffer), options.isa);
  Bandwidth fastest;
  const int64_t start = now_ns();
  const auto is_late = [&] {
    return options.max_seconds > 0 && static_cast<double>(now_ns() - start) / 1e9 > options.max_seconds;
  };
  for (const int streams : kStreams) {
    for (const int64_t prefetch_bytes : kPrefetchBytes) {
      if (fastest.best > 0 && is_late()) return fastest;
      std::vector<double> rates;
      do {
        NEREID_RETURN_IF_ERROR(check_interrupted());
        rates.push_back(reader.bytes_per_second({.streams = streams, .prefetch_bytes = prefetch_bytes}));
      } while (static_cast<int>(rates.size()) < options.repeats && !is_late());
      std::sort(rates.begin(), rates.end());
      if (rates.back() > fastest.best)
        fastest = {.best = rates.back(),
                   .median = rates[rates.size() / 2],
                   .streams = streams,
                   .prefetch_bytes = prefetch_bytes};
    }
  }
  return fastest;
}

}  // namespace nereid::runtime
