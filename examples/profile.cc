// SPDX-License-Identifier: Apache-2.0
// The time of every layer of a network:  profile MODEL
#include <cstdio>

#include "example.h"

namespace {

int run(const char* path) {
  nereid::OpenOptions options;
  options.warn = [](const char* text) { std::fprintf(stderr, "profile: %s\n", text); };
  nereid::Engine engine = nereid::Engine::open(path, options).value_or_throw();
  nereid::Context context = engine.context().value_or_throw();
  const Image image(engine);
  context.set_input(0, image.view()).or_throw();
  context.run().or_throw();  // makes the plan, which is not to be timed
  context.set_profiling(true).or_throw();
  constexpr int kRuns = 20;
  for (int i = 0; i < kRuns; ++i) context.run().or_throw();

  for (const nereid::LayerTime& layer : context.profile().value_or_throw())
    std::printf("%10.2f us  %-16s %s\n", static_cast<double>(layer.total_ns) / 1e3 / kRuns, layer.kernel.c_str(),
                layer.label.c_str());
  for (const std::string& note : context.notes().value_or_throw()) std::printf("note: %s\n", note.c_str());
  std::printf("%lld bytes between layers, %d threads\n", static_cast<long long>(context.memory_bytes()),
              context.threads());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: profile MODEL\n"), 2;
  try {
    return run(argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "profile: %s\n", e.what());
    return 1;
  }
}
