// SPDX-License-Identifier: Apache-2.0
// Programs that some commands use, and the folders that Nereid writes.
#include <sys/statvfs.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/progress.h"
#include "cli/doctor_parse.h"
#include "cli/doctor_probes.h"
#include "cli/model_fetch.h"
#include "cli/model_path.h"

namespace nereid::cli {
namespace {

namespace fs = std::filesystem;

// Really writes: permissions alone do not tell of full or read-only disks.
Status try_to_write(const std::string& folder) {
  NEREID_TRY(AtomicFile file, AtomicFile::create(folder + "/.doctor"));
  return file.write("nereid doctor was here\n");
}

Finding cache_finding() {
  Finding f{.section = "folders", .name = "cache"};
  const Result<std::string> folder = cache_dir();
  const Status writable = folder.is_ok() ? try_to_write(*folder) : folder.status();
  if (!writable.is_ok()) {
    f.value = writable.message();
    f.health = Health::kBroken;
    f.advice = "make room or set NEREID_CACHE_DIR to a folder that can be written";
    return f;
  }
  struct statvfs disk = {};
  const int64_t free = ::statvfs(folder->c_str(), &disk) == 0
                           ? static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize)
                           : 0;
  const int64_t used = bytes_below(*folder);
  f.value = fmt::format("{}: {} used, {} free on its disk", *folder, format_bytes(used), format_bytes(free));
  f.number = static_cast<double>(used);
  f.unit = "bytes";
  return f;
}

}  // namespace

void examine_tools(const DoctorSystem& system, Findings& findings) {
  const auto tool = [&](std::string name, std::string value, Health health, std::string advice) {
    findings.push_back({.section = "tools",
                        .name = std::move(name),
                        .value = std::move(value),
                        .health = health,
                        .advice = std::move(advice)});
  };
  const bool pip = system.is_real() ? python_with_pip().is_ok() : system.command({"pip"}).has_value();
  if (pip)
    tool("pip", "there; `nereid models pull` can fetch", Health::kFine, "");
  else
    tool("pip", "not there: `nereid models pull` cannot fetch", Health::kMissing, "sudo apt install python3-pip");
  if (const auto mpi = system.command({"mpirun", "--version"}))
    tool("MPI", first_version(*mpi), Health::kFine, "");
  else
    tool("MPI", "no mpirun: models run in one process", Health::kMissing, "sudo apt install openmpi-bin");
}

void examine_folders(Findings& findings) {
  findings.push_back(cache_finding());
  for (const std::string& folder : model_folders()) {
    std::error_code e;
    if (fs::is_directory(folder, e))
      findings.push_back({.section = "folders",
                          .name = "models",
                          .value = fmt::format("{}: {}", folder, format_bytes(bytes_below(folder)))});
  }
}

}  // namespace nereid::cli
