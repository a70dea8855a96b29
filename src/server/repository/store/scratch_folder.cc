// SPDX-License-Identifier: Apache-2.0
#include "server/repository/store/scratch_folder.h"

#include <cstdlib>
#include <filesystem>

namespace nereid::server {

Result<ScratchFolder> make_scratch_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "nereid-model-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr)
    return unavailable("no folder for the model's files could be made under '{}'", path);
  auto holder = std::shared_ptr<void>(nullptr, [path](void*) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  });
  return ScratchFolder{.path = std::move(path), .holder = std::move(holder)};
}

}  // namespace nereid::server
