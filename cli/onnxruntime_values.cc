// SPDX-License-Identifier: Apache-2.0
#include "cli/onnxruntime_values.h"

#include <stdlib.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/file.h"
#include "cli/subprocess.h"
#include "compile/value_exchange.h"

namespace nereid::cli {
namespace {

constexpr int kNoPackage = 3, kRefused = 4;  // exit codes of the script

// A folder that goes with all it holds.
class TemporaryFolder {
 public:
  static Result<std::unique_ptr<TemporaryFolder>> make() {
    std::error_code ec;
    std::string name = (std::filesystem::temp_directory_path(ec) / "nereid-check-XXXXXX").string();
    if (ec || ::mkdtemp(name.data()) == nullptr)
      return file_error(errno, "make the folder", name).with("a place for values");
    return std::make_unique<TemporaryFolder>(std::move(name));
  }
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string_view name) const { return fmt::format("{}/{}", path_, name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class OnnxruntimeValues final : public compile::ValueSource {
 public:
  OnnxruntimeValues(std::string model, std::string python, std::set<std::string> names)
      : model_(std::move(model)), python_(std::move(python)), names_(std::move(names)) {}
  std::string what() const override { return "onnxruntime"; }
  std::set<std::string> names() const override { return names_; }

  Status run(const compile::NamedValues& inputs, const std::set<std::string>& wanted,
             const compile::ValueSink& sink) override {
    NEREID_TRY(const std::unique_ptr<TemporaryFolder> folder, TemporaryFolder::make());
    NEREID_RETURN_IF_ERROR(compile::write_exchange_request(folder->path(), inputs, wanted).with("for onnxruntime"));
    const std::string script = *folder / "onnxruntime_values.py";
    NEREID_TRY(AtomicFile file, AtomicFile::create(script));
    NEREID_RETURN_IF_ERROR(file.write(kOnnxruntimeScript));
    NEREID_RETURN_IF_ERROR(file.commit());
    NEREID_TRY(const ProcessResult done,
               run_process({.argv = {python_, script, model_, *folder / compile::kExchangeRequest, folder->path()},
                            .environment = {},
                            .tick = {}}));
    std::string said = done.output;
    while (said.ends_with('\n')) said.pop_back();
    if (done.exit_code == kNoPackage)
      return not_found("'{}' has no onnxruntime ({}); install the package, or name another Python with --python",
                       python_, said);
    if (done.exit_code == kRefused) return unsupported("onnxruntime does not run the model: {}", said);
    if (done.exit_code != 0) return unavailable("'{}' ended with exit code {}: {}", python_, done.exit_code, said);

    return compile::read_exchange_answer(folder->path(), sink).with("what onnxruntime has computed");
  }

 private:
  std::string model_, python_;
  std::set<std::string> names_;
};

}  // namespace

Result<std::unique_ptr<compile::ValueSource>> onnxruntime_values(const std::string& model, const std::string& python) {
  NEREID_TRY(std::set<std::string> names, compile::onnx_value_names(model));
  return std::unique_ptr<compile::ValueSource>(std::make_unique<OnnxruntimeValues>(model, python, std::move(names)));
}

}  // namespace nereid::cli
