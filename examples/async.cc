// SPDX-License-Identifier: Apache-2.0
// A queue of runs with callbacks, the last of them cancelled:  async MODEL [RUNS]
#include <cstdio>
#include <cstdlib>

#include "example.h"

namespace {

int run(const char* path, int runs) {
  nereid::Engine engine = nereid::Engine::open(path).value_or_throw();
  nereid::Context context = engine.context(0, runs + 1).value_or_throw();
  std::vector<Image> images;
  for (int i = 0; i <= runs; ++i) images.emplace_back(engine, i);

  // Each run keeps the image that was set when it was enqueued; callbacks come in order, from one thread.
  std::vector<float> firsts;
  int cancelled = 0;
  nereid_run_id last = 0;
  for (const Image& image : images) {
    context.set_input(0, image.view()).or_throw();
    last = context
               .run_async([&](nereid::Context& done, const nereid::Status& status) {
                 if (status.code() == NEREID_CANCELLED) ++cancelled;
                 if (!status.ok()) return;
                 if (const auto scores = done.output(0)) firsts.push_back(scores->as<float>()[0]);
               })
               .value_or_throw();
  }
  (void)context.cancel(last);  // it may have run already
  context.wait().or_throw();
  for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i)
    std::printf("run %zu: %.6f\n", i, static_cast<double>(firsts.at(i)));
  std::printf("%d cancelled\n", cancelled);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: async MODEL [RUNS]\n"), 2;
  try {
    return run(argv[1], argc > 2 ? std::atoi(argv[2]) : 4);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "async: %s\n", e.what());
    return 1;
  }
}
