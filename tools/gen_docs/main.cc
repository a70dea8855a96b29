// SPDX-License-Identifier: Apache-2.0
// Writes docs/reference from the tables, or checks that the committed pages are what the tables say.
//   nereid_gen_docs [--check] FOLDER
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "gen_docs/page.h"

namespace nereid::docs {
namespace {

struct Page {
  std::string_view file;
  std::string (*make)();
};

constexpr Page kPages[] = {
    {"architectures.md", architectures_page},
    {"commands.md", commands_page},
    {"http-api.md", http_api_page},
    {"metrics.md", metrics_page},
    {"model-formats.md", model_formats_page},
    {"ops.md", ops_page},
    {"passes.md", passes_page},
    {"pre-tokenizers.md", pre_tokenizers_page},
    {"sampling.md", sampling_page},
    {"trtexec.md", trtexec_page},
    {"weight-formats.md", weight_formats_page},
};

constexpr std::string_view kNotice = "<!-- Made by `make docs` from the program's own tables; edit those. -->\n";

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  return static_cast<bool>(out.flush());
}

int run(bool check, const std::string& folder) {
  int stale = 0;
  for (const Page& page : kPages) {
    const std::string path = fmt::format("{}/{}", folder, page.file);
    const std::string text = std::string(kNotice) + page.make();
    if (read(path) == text) continue;
    if (check) {
      fmt::print(stderr, "{} is not what the tables say; run 'make docs'.\n", path);
      ++stale;
    } else if (write(path, text)) {
      fmt::print("docs: wrote {}\n", path);
    } else {
      fmt::print(stderr, "docs: {} could not be written.\n", path);
      return 1;
    }
  }
  return stale == 0 ? 0 : 1;
}

}  // namespace
}  // namespace nereid::docs

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string_view(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::fputs("usage: nereid_gen_docs [--check] FOLDER\n", stderr);
    return 2;
  }
  return nereid::docs::run(check, argv[argc - 1]);
}
