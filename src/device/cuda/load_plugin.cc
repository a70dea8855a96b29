// SPDX-License-Identifier: Apache-2.0
// Finds and loads the CUDA plugin.
#include <dlfcn.h>

#include <charconv>
#include <filesystem>

#include "device/cuda/cuda_device.h"

namespace nereid::device {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHowToGetIt =
    "build it with `make cuda` (or take it from a folder that `make dist` made) and put it beside the program, "
    "or run with --device cpu";

fs::path program_folder() {
  std::error_code e;
  const fs::path program = fs::read_symlink("/proc/self/exe", e);
  return e ? fs::path(".") : program.parent_path();
}

}  // namespace

Result<const NereidCudaTable*> load_cuda_plugin(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return unavailable("the CUDA plugin cannot be loaded ({}); {}", ::dlerror(), kHowToGetIt);
  auto* entry = reinterpret_cast<NereidCudaPlugin*>(::dlsym(library, kCudaPluginSymbol));
  if (entry == nullptr) return unavailable("'{}' is no CUDA plugin of Nereid's; {}", path, kHowToGetIt);
  const NereidCudaTable* table = entry();
  if (table == nullptr || table->version != kNereidCudaTable || table->bytes != sizeof(NereidCudaTable))
    return unavailable("the CUDA plugin '{}' is of another version of Nereid; {}", path, kHowToGetIt);
  return table;
}

Result<const NereidCudaTable*> load_cuda_plugin() {
  const fs::path folder = program_folder();
  std::error_code e;
  for (const fs::path& path : {folder / kCudaPluginFile, folder / ".." / "lib" / kCudaPluginFile})
    if (fs::exists(path, e)) return load_cuda_plugin(path.string());
  return unavailable("there is no CUDA plugin: {} is neither in {} nor in ../lib of it; {}", kCudaPluginFile,
                     folder.string(), kHowToGetIt);
}

Result<int> parse_cuda_name(std::string_view name) {
  constexpr std::string_view kCuda = "cuda";
  if (name == kCuda) return 0;
  int gpu = -1;
  if (name.starts_with("cuda:")) {
    const std::string_view number = name.substr(kCuda.size() + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), gpu);
    if (error == std::errc() && end == number.data() + number.size() && gpu >= 0 && gpu < 1024) return gpu;
  }
  return invalid_argument("'{}' names no device; expected cpu, cuda or cuda:NUMBER", name);
}

}  // namespace nereid::device
