// SPDX-License-Identifier: Apache-2.0
#include "compile/value_exchange.h"

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/json.h"
#include "import/npy/npy.h"
#include "import/onnx/model_facts.h"

namespace nereid::compile {
namespace {

constexpr size_t kMostIndexBytes = size_t{64} << 20;

Status write(const std::string& path, std::string_view first, std::string_view second = {}) {
  NEREID_TRY(AtomicFile file, AtomicFile::create(path));
  NEREID_RETURN_IF_ERROR(file.write(first));
  NEREID_RETURN_IF_ERROR(file.write(second));
  return file.commit();
}

}  // namespace

Status write_exchange_request(const std::string& folder, const NamedValues& inputs,
                              const std::set<std::string>& wanted) {
  Json request = {{"inputs", Json::object()}, {"values", wanted}};
  size_t count = 0;
  for (const auto& [name, value] : inputs) {
    if (!value.is_tensor() || !import::npy::fits(value.tensor.dtype))
      return unsupported("the input '{}' is {}, which no .npy file holds", name, ops::type_of(value).to_string());
    const std::string file = fmt::format("{}/in{}.npy", folder, count++);
    const ConstTensorView view = value.view();
    NEREID_RETURN_IF_ERROR(write(file, import::npy::npy_header(view.dtype, view.sizes),
                                 {static_cast<const char*>(view.data), static_cast<size_t>(view.bytes())}));
    request["inputs"][name] = file;
  }
  return write(fmt::format("{}/{}", folder, kExchangeRequest),
               request.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Status read_exchange_answer(const std::string& folder, const ValueSink& sink) {
  NEREID_TRY(const std::string text, read_file(folder + "/index.json", kMostIndexBytes));
  NEREID_TRY(const Json index, parse_json(text).with("the list of values that came back"));
  for (const auto& [name, file] : index.items()) {
    NEREID_TRY(ops::Tensor tensor, import::npy::read_npy(fmt::format("{}/{}", folder, file.get<std::string>()))
                                       .with(fmt::format("the value '{}'", name)));
    NEREID_RETURN_IF_ERROR(sink(name, ops::Datum(std::move(tensor))));
  }
  return Status::ok();
}

Result<std::set<std::string>> onnx_value_names(const std::string& model) {
  NEREID_TRY(const import::onnx::ModelFacts facts, import::onnx::model_facts(model));
  std::set<std::string> names(facts.results.begin(), facts.results.end());
  for (const import::onnx::DeclaredValue& out : facts.outputs) names.insert(out.name);
  return names;
}

}  // namespace nereid::compile
