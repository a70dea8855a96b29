// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_system.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "cli/doctor_parse.h"
#include "cli/subprocess.h"

namespace nereid::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxText = 1 << 20;

int number_of(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A library that stays loaded: drivers do not like to be unloaded.
void* open_library(const char* name) {
  return ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

template <typename F>
F* symbol(void* library, const char* name) {
  return reinterpret_cast<F*>(::dlsym(library, name));
}

// "580.95.05" of ".../libcuda.so.580.95.05", to which libcuda.so.1 is a link.
std::string version_of_file(void* function) {
  Dl_info info;
  std::error_code e;
  if (!function || ::dladdr(function, &info) == 0 || !info.dli_fname) return "";
  const std::string name = fs::canonical(info.dli_fname, e).filename().string();
  const size_t at = name.find(".so.");
  return e || at == std::string::npos ? "" : name.substr(at + 4);
}

std::optional<CudaDriver> ask_cuda() {
  void* library = open_library("libcuda.so.1");
  if (!library) return std::nullopt;
  auto* init = symbol<int(unsigned)>(library, "cuInit");
  auto* version = symbol<int(int*)>(library, "cuDriverGetVersion");
  auto* count = symbol<int(int*)>(library, "cuDeviceGetCount");
  auto* name = symbol<int(char*, int, int)>(library, "cuDeviceGetName");
  CudaDriver driver{.library_version = version_of_file(reinterpret_cast<void*>(init))};
  if (!init || !version || !count || !name) return driver;
  version(&driver.version);
  driver.error = init(0);
  int devices = 0;
  if (driver.error != 0 || count(&devices) != 0) return driver;
  for (int i = 0; i < devices; ++i) {
    char text[256] = {};
    if (name(text, sizeof(text) - 1, i) == 0) driver.devices.emplace_back(text);
  }
  return driver;
}

}  // namespace

std::optional<std::string> DoctorSystem::read(const std::string& path) const {
  Result<std::string> text = read_file(root_ + path, kMaxText);
  if (!text.is_ok()) return std::nullopt;
  return std::move(*text);
}

bool DoctorSystem::exists(const std::string& path) const {
  std::error_code e;
  return fs::exists(root_ + path, e);
}

std::vector<std::string> DoctorSystem::list(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code e;
  for (auto it = fs::directory_iterator(root_ + path, e); !e && it != fs::end(it); it.increment(e))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> DoctorSystem::command(const std::vector<std::string>& argv) const {
  if (!is_real()) return read("/commands/" + argv.front());
  constexpr int64_t kTimeoutMs = 10000;
  Result<ProcessResult> result = run_process({.argv = argv, .timeout_ms = kTimeoutMs});
  if (!result.is_ok()) return std::nullopt;
  return std::move(result->output);
}

std::optional<CudaDriver> DoctorSystem::cuda() const {
  if (is_real()) return ask_cuda();
  const std::optional<std::string> text = read("/libraries/cuda");
  if (!text) return std::nullopt;
  return parse_cuda_answer(*text);
}

std::optional<int> DoctorSystem::nccl_version() const {
  if (!is_real()) {
    const std::optional<std::string> text = read("/libraries/nccl");
    if (!text) return std::nullopt;
    return number_of(*text);
  }
  void* library = open_library("libnccl.so.2");
  auto* get = library ? symbol<int(int*)>(library, "ncclGetVersion") : nullptr;
  int version = 0;
  if (!get || get(&version) != 0) return std::nullopt;
  return version;
}

CudaDriver parse_cuda_answer(std::string_view text) {
  CudaDriver driver;
  for (std::string_view line : lines_of(text)) {
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, blank), value = line.substr(blank + 1);
    if (key == "error") driver.error = number_of(value);
    if (key == "version") driver.version = number_of(value);
    if (key == "library") driver.library_version = value;
    if (key == "device") driver.devices.emplace_back(value);
  }
  return driver;
}

}  // namespace nereid::cli
