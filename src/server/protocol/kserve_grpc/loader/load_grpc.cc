// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/loader/load_grpc.h"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>

#include "server/protocol/kserve_grpc/grpc_library.h"

namespace nereid::server::kserve {
namespace {

namespace fs = std::filesystem;

std::string program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? std::string() : program.parent_path().string();
}

std::string loader_reason() {
  const char* const text = ::dlerror();
  return text == nullptr ? "for no reason that it gives" : text;
}

}  // namespace

std::vector<std::string> grpc_library_paths(const std::string& folder) {
  std::vector<std::string> paths = {folder + "/" + kGrpcLibrary};
  const fs::path above = fs::path(folder).parent_path();
  for (const char* const libraries : {"lib", NEREID_LIBDIR}) {
    std::string path = (above / libraries / "nereid" / kGrpcLibrary).string();
    if (path != paths.back()) paths.push_back(std::move(path));
  }
  return paths;
}

Result<std::unique_ptr<GrpcServer>> load_grpc_from(const std::vector<std::string>& paths, GrpcOptions options) {
  std::string tried;
  for (const std::string& path : paths) {
    tried += (tried.empty() ? "" : ", ") + path;
    if (::access(path.c_str(), F_OK) != 0) continue;
    // It stays: gRPC's threads do not end with its server.
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) return unsupported("{} cannot be loaded: {}", path, loader_reason());
    const auto start = reinterpret_cast<GrpcEntry>(::dlsym(library, kGrpcEntry));
    if (start == nullptr) return unsupported("{} is no library of this program: {}", path, loader_reason());
    Result<std::unique_ptr<GrpcServer>> out = internal("{} did nothing", path);
    start(grpc_build(NEREID_VERSION), std::move(options), &out);
    return out;
  }
  return unsupported(
      "gRPC is served by a library that is not there (looked for {}): build the program with libgrpc++-dev and "
      "protobuf-compiler-grpc installed and install it whole, or serve without gRPC by --allow-grpc=false",
      tried);
}

Result<std::unique_ptr<GrpcServer>> load_grpc(GrpcOptions options) {
  return load_grpc_from(grpc_library_paths(program_folder()), std::move(options));
}

}  // namespace nereid::server::kserve
