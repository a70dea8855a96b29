// SPDX-License-Identifier: Apache-2.0
// Builds an engine and runs it from many threads, a context each:  threads MODEL.onnx ENGINE [THREADS]
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "example.h"

namespace {

// Every thread has an image of its own and memory of its own for the answer.
void work(nereid::Engine& engine, int number, std::size_t elements, std::vector<float>& answer) {
  const Image image(engine, number);
  answer.resize(elements);
  // One thread a context: together they keep all processors busy.
  nereid::Context context = engine.context(1).value_or_throw();
  context.set_input(0, image.view()).or_throw();
  context.bind_output(0, answer).or_throw();
  for (int run = 0; run < 10; ++run) context.run().or_throw();
}

int run(const char* onnx, const char* file, int count) {
  nereid::BuildOptions options;
  options.progress = [](const char* stage, std::int64_t, std::int64_t) {
    (void)stage;  // a program with a window would show it
    return true;
  };
  nereid::build(onnx, file, options).or_throw();
  nereid::Engine engine = nereid::Engine::open(file).value_or_throw();

  // How large the answer is: by a first run.
  const Image image(engine);
  nereid::Context first = engine.context(1).value_or_throw();
  first.set_input(0, image.view()).or_throw();
  first.run().or_throw();
  const std::size_t elements = first.output(0).value_or_throw().size();

  std::vector<std::vector<float>> answers(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      try {
        work(engine, i, elements, answers[static_cast<std::size_t>(i)]);
      } catch (const nereid::Error& e) {
        std::fprintf(stderr, "threads: %s\n", e.what());
        std::exit(1);
      }
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t i = 0; i < answers.size(); ++i)
    std::printf("thread %zu: %.6f\n", i, static_cast<double>(answers[i].at(0)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: threads MODEL.onnx ENGINE [THREADS]\n"), 2;
  try {
    return run(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 4);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "threads: %s\n", e.what());
    return 1;
  }
}
