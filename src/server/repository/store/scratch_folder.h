// SPDX-License-Identifier: Apache-2.0
// A private folder that is removed with whatever lies in it.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

namespace nereid::server {

struct ScratchFolder {
  std::string path;
  std::shared_ptr<void> holder;  // the last who lets go of it removes the folder
};
// Below the system's folder of temporary files. kUnavailable: none can be made there.
Result<ScratchFolder> make_scratch_folder();

}  // namespace nereid::server
