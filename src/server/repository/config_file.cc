// SPDX-License-Identifier: Apache-2.0
#include "server/repository/config_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <set>

#include "model_config.pb.h"
#include "server/repository/config_check.h"
#include "server/repository/config_json.h"
#include "server/repository/config_values.h"
#include "server/repository/layout.h"

namespace nereid::server {
namespace {

// What a folder's file tells of the backend: the file, the backend, and the platform where it has a name of its own.
struct KnownFile {
  std::string_view file, backend, platform;
};
constexpr KnownFile kKnownFiles[] = {
    {"model.plan", "tensorrt", "tensorrt_plan"},
    {"model.onnx", "onnxruntime", "onnxruntime_onnx"},
    {"model.engine", "nereid", ""},
    {"model.xml", "openvino", ""},
    {"model.pt", "pytorch", "pytorch_libtorch"},
    {"model.pt2", "pytorch", "torch_aoti"},
    {"model.py", "python", ""},
    {"model.savedmodel", "tensorflow", "tensorflow_savedmodel"},
    {"model.graphdef", "tensorflow", "tensorflow_graphdef"},
};

// Of a language model, by what lies in the version's folder; "": there is none.
std::string language_backend(const std::vector<std::string>& files) {
  const auto has = [&](std::string_view name) { return std::find(files.begin(), files.end(), name) != files.end(); };
  if (has("model.json")) return "vllm";
  const bool has_weights = std::any_of(files.begin(), files.end(), [](const std::string& one) {
    return one.ends_with(".gguf") || one.ends_with(".safetensors") || one.ends_with(".safetensors.index.json");
  });
  return has_weights || has("config.json") ? "llm" : "";
}

// "${triton_backend}": a template that nobody has filled in; nothing: there is none.
std::string unfilled_template(std::string_view text) {
  const size_t begin = text.find("${");
  if (begin == text.npos) return {};
  const size_t end = text.find('}', begin);
  return end == text.npos || end - begin > 100 ? std::string() : std::string(text.substr(begin, end + 1 - begin));
}

class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  std::string text;
};

template <typename Dims>
std::vector<int64_t> sizes_of(const Dims& dims) {
  return {dims.begin(), dims.end()};
}

template <typename Message>
void fill_tensor(Message* m, const TensorConfig& t) {
  m->set_name(t.name);
  m->set_data_type(static_cast<inference::DataType>(t.type));
  for (const int64_t d : t.dims) m->add_dims(d);
  if (t.reshape) m->mutable_reshape()->mutable_shape()->Add(t.reshape->begin(), t.reshape->end());
}

template <typename Tensors>
Status check_tensors(const Tensors& tensors, std::string_view what, const std::string& model) {
  std::set<std::string_view> names;
  for (const auto& t : tensors) {
    if (t.name().empty()) return invalid_argument("model {} must specify 'name' for {}", what, model);
    if (!names.insert(t.name()).second)
      return invalid_argument("model {} '{}' is there twice for {}; each has a name of its own", what, t.name(), model);
    if (t.data_type() == inference::TYPE_INVALID)
      return invalid_argument("model {} '{}' must specify 'data_type' for {}", what, t.name(), model);
    if (t.dims_size() == 0) return invalid_argument("model {} '{}' must specify 'dims' for {}", what, t.name(), model);
    for (const int64_t d : t.dims())
      if (d < 1 && d != -1)
        return invalid_argument(
            "model {} '{}' dimension must be integer >= 1, or -1 to indicate a variable-size dimension for {}", what,
            t.name(), model);
  }
  return Status::ok();
}

// Language models choose their device by themselves, whatever kind of instances a configuration asks for.
bool is_language_backend(std::string_view backend) {
  return backend == "llm" || backend == "vllm" || backend == "tensorrtllm";
}

}  // namespace

ConfigFile::ConfigFile() : message_(std::make_unique<inference::ModelConfig>()) {}
ConfigFile::ConfigFile(ConfigFile&&) noexcept = default;
ConfigFile& ConfigFile::operator=(ConfigFile&&) noexcept = default;
ConfigFile::~ConfigFile() = default;

Result<ConfigFile> ConfigFile::from_text(std::string_view text) {
  ConfigFile file;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(64);
  if (!parser.ParseFromString(std::string(text), file.message_.get())) {
    const std::string unfilled = unfilled_template(text);
    return invalid_argument(
        "{}{}", error.text.empty() ? "this is no model configuration" : error.text,
        unfilled.empty() ? "" : "; the template '" + unfilled + "' was not filled in (fill_template.py)");
  }
  return file;
}

Result<ConfigFile> ConfigFile::from_json(std::string_view json) {
  ConfigFile file;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), file.message_.get());
  if (!status.ok()) return invalid_argument("the configuration in JSON: {}", std::string(status.message()));
  return file;
}

ModelConfig ConfigFile::config() const {
  return config_values(*message_);
}

VersionPolicy ConfigFile::versions() const {
  const auto& m = message_->version_policy();
  if (m.has_all()) return {.kind = VersionPolicy::Kind::kAll, .latest = 0, .specific = {}};
  if (m.has_specific())
    return {.kind = VersionPolicy::Kind::kSpecific, .latest = 0, .specific = sizes_of(m.specific().versions())};
  return {.kind = VersionPolicy::Kind::kLatest,
          .latest = m.has_latest() ? std::max(1u, m.latest().num_versions()) : 1u,
          .specific = {}};
}

std::string ConfigFile::json() const {
  return config_json(*message_);
}

Status ConfigFile::take_name(const std::string& folder) {
  if (message_->name().empty()) message_->set_name(folder);
  if (message_->name() != folder)
    return invalid_argument(
        "the configuration calls the model '{}', but its folder is called '{}'; make them equal, or leave the name out",
        message_->name(), folder);
  return Status::ok();
}

void ConfigFile::complete_backend(const std::vector<std::string>& files) {
  inference::ModelConfig& m = *message_;
  if (m.platform() == "ensemble") return;
  if (m.platform().empty() && m.backend().empty()) {
    for (const KnownFile& known : kKnownFiles) {
      const bool names_file = !m.default_model_filename().empty();
      if (names_file ? !m.default_model_filename().ends_with(known.file.substr(known.file.find('.')))
                     : std::find(files.begin(), files.end(), known.file) == files.end())
        continue;
      m.set_backend(std::string(known.backend));
      break;
    }
    if (m.backend().empty() && m.default_model_filename().empty()) m.set_backend(language_backend(files));
  }
  for (const KnownFile& known : kKnownFiles) {
    // Models that a platform names have one without it, and the other way about; the first file of a backend is its
    // own.
    if (m.backend().empty() && !known.platform.empty() && m.platform() == known.platform)
      m.set_backend(std::string(known.backend));
    if (m.backend() != known.backend) continue;
    if (m.platform().empty() && !known.platform.empty()) m.set_platform(std::string(known.platform));
    if (m.default_model_filename().empty() && (known.platform.empty() || m.platform() == known.platform))
      m.set_default_model_filename(std::string(known.file));
  }
}

void ConfigFile::complete(const ConfigCompletion& found) {
  inference::ModelConfig& m = *message_;
  if (m.max_batch_size() == 0 && m.input_size() == 0 && m.output_size() == 0 && found.max_batch_size)
    m.set_max_batch_size(*found.max_batch_size);
  if (m.input_size() == 0)
    for (const TensorConfig& t : found.inputs) {
      fill_tensor(m.add_input(), t);
      m.mutable_input(m.input_size() - 1)->set_optional(t.is_optional);
    }
  if (m.output_size() == 0)
    for (const TensorConfig& t : found.outputs) fill_tensor(m.add_output(), t);
  if (found.is_decoupled && !m.has_model_transaction_policy())
    m.mutable_model_transaction_policy()->set_decoupled(true);
  if (found.batches_dynamically && m.max_batch_size() > 1 &&
      m.scheduling_choice_case() == inference::ModelConfig::SCHEDULING_CHOICE_NOT_SET)
    m.mutable_dynamic_batching();
}

void ConfigFile::normalise() {
  inference::ModelConfig& m = *message_;
  if (m.version_policy().policy_choice_case() == inference::ModelVersionPolicy::POLICY_CHOICE_NOT_SET)
    m.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  if (m.has_dynamic_batching() && m.dynamic_batching().preferred_batch_size_size() == 0 && m.max_batch_size() > 0)
    m.mutable_dynamic_batching()->add_preferred_batch_size(m.max_batch_size());
  if (m.has_sequence_batching() && m.sequence_batching().max_sequence_idle_microseconds() == 0)
    m.mutable_sequence_batching()->set_max_sequence_idle_microseconds(1'000'000);
  if (m.platform() == "ensemble") {
    if (!m.has_model_transaction_policy()) m.mutable_model_transaction_policy();
    return;
  }
  auto* optimization = m.mutable_optimization();
  if (!optimization->has_input_pinned_memory()) optimization->mutable_input_pinned_memory()->set_enable(true);
  if (!optimization->has_output_pinned_memory()) optimization->mutable_output_pinned_memory()->set_enable(true);
  if (m.instance_group_size() == 0) {
    auto* group = m.add_instance_group();
    group->set_name(m.name());
    group->set_kind(inference::ModelInstanceGroup::KIND_CPU);
    group->set_count(1);
    return;
  }
  for (int i = 0; i < m.instance_group_size(); ++i) {
    auto* group = m.mutable_instance_group(i);
    if (group->name().empty()) group->set_name(fmt::format("{}_{}", m.name(), i));
    if (group->count() < 1) group->set_count(1);
    if (group->kind() == inference::ModelInstanceGroup::KIND_AUTO)
      group->set_kind(inference::ModelInstanceGroup::KIND_CPU);
  }
}

Status ConfigFile::check() const {
  const inference::ModelConfig& m = *message_;
  const std::string& name = m.name();
  if (!m.default_model_filename().empty())
    NEREID_RETURN_IF_ERROR(check_inner_path(m.default_model_filename()).with("default_model_filename"));
  if (m.max_batch_size() < 0) return invalid_argument("'max_batch_size' must be non-negative value for {}", name);
  NEREID_RETURN_IF_ERROR(check_tensors(m.input(), "input", name));
  NEREID_RETURN_IF_ERROR(check_tensors(m.output(), "output", name));
  for (const int32_t size : m.dynamic_batching().preferred_batch_size()) {
    if (size < 1) return invalid_argument("dynamic batching preferred size must be positive for {}", name);
    if (size > m.max_batch_size())
      return invalid_argument("dynamic batching preferred size must be <= max batch size for {}", name);
  }
  if (m.has_dynamic_batching()) {
    const auto& d = m.dynamic_batching();
    if (d.priority_levels() > 0 &&
        (d.default_priority_level() == 0 || d.default_priority_level() > d.priority_levels()))
      return invalid_argument("default priority level must be in range [1, {}] for {}", d.priority_levels(), name);
    for (const auto& [level, policy] : d.priority_queue_policy())
      if (level == 0 || level > d.priority_levels())
        return invalid_argument("priority queue policy must have priority level in range [1, {}] for {}",
                                d.priority_levels(), name);
  }
  if (m.response_cache().enable() && (m.has_sequence_batching() || m.model_transaction_policy().decoupled()))
    return invalid_argument("Response caching is not supported for models with {} for {}",
                            m.has_sequence_batching() ? "sequence batching" : "decoupled transaction policy", name);
  const bool is_ensemble = m.platform() == "ensemble";
  if (m.has_ensemble_scheduling() && !is_ensemble)
    return invalid_argument("ensemble scheduling cannot be set for model '{}' whose platform is not 'ensemble'", name);
  if (!m.has_ensemble_scheduling() && is_ensemble)
    return invalid_argument("ensemble scheduling must be set for ensemble {} whose platform is 'ensemble'", name);
  for (const auto& group : m.instance_group())
    if (group.kind() == inference::ModelInstanceGroup::KIND_GPU && !is_language_backend(m.backend()))
      return invalid_argument(
          "instance group {} of model {} has kind KIND_GPU but no GPUs are available; use KIND_CPU or KIND_AUTO",
          group.name(), name);
  return check_scheduling(config());
}

}  // namespace nereid::server
