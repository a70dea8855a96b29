// SPDX-License-Identifier: Apache-2.0
// For tests: the tiny checkpoints of tests/golden/arch, held in memory under either format's names, and a runner.
#include "llm/arch/golden_model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/json.h"
#include "graph/evaluate.h"

namespace nereid::llm::testing {
namespace {

uint64_t fnv1a(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

ops::Tensor tensor_of(DType dtype, const std::vector<int64_t>& sizes, const std::vector<float>& values) {
  return ops::Tensor::of(dtype, sizes, std::vector<double>(values.begin(), values.end()));
}

// The row order GGUF's converter gives q and k of llama models: halves of each head interleaved.
std::vector<float> permuted(const std::vector<float>& values, int64_t rows, int64_t heads) {
  const size_t width = values.size() / static_cast<size_t>(rows);
  const int64_t half = rows / heads / 2;
  std::vector<float> out(values.size());
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t head = r / (2 * half), pair = r % (2 * half) / 2, side = r % 2;
    const int64_t from = head * 2 * half + side * half + pair;
    std::copy_n(values.begin() + from * static_cast<int64_t>(width), width,
                out.begin() + r * static_cast<int64_t>(width));
  }
  return out;
}

// Values of the golden file's Hugging Face tensor of that name, rounded as the checkpoint's dtype says.
std::vector<float> source_values(const Json& golden, const std::string& name) {
  const Json& t = golden["tensors"][name];
  size_t count = 1;
  for (const Json& n : t["shape"]) count *= n.get<size_t>();
  std::vector<float> values =
      formula_weights(t.value("from", name), count, t["scale"].get<float>(), t["offset"].get<float>());
  if (golden["dtype"] != "bf16") return values;
  const std::vector<double> rounded = tensor_of(DType::bf16, {static_cast<int64_t>(count)}, values).numbers();
  return std::vector<float>(rounded.begin(), rounded.end());
}

void add_metadata(Metadata& metadata, const std::string& key, const Json& value) {
  const std::string_view name = metadata.own(key);
  Status added;
  if (value.is_number_integer()) {
    added = metadata.add(name, value.get<int64_t>());
  } else if (value.is_number()) {
    added = metadata.add(name, value.get<double>());
  } else {
    added = metadata.add(name, metadata.own(value.get<std::string>()));
  }
  ASSERT_TRUE(added.is_ok()) << added.message();
}

Checkpoint make_gguf(const Json& golden, DType dtype) {
  Checkpoint c;
  c.is_gguf = true;
  c.architecture = golden["gguf"]["metadata"]["general.architecture"];
  for (const auto& [key, value] : golden["gguf"]["metadata"].items()) add_metadata(c.metadata, key, value);
  for (const auto& [name, how] : golden["gguf"]["tensors"].items()) {
    if (how.contains("values")) {
      const auto values = how["values"].get<std::vector<float>>();
      c.tensors[name] = tensor_of(DType::f32, {static_cast<int64_t>(values.size())}, values);
      continue;
    }
    const auto shape = golden["tensors"][how["from"]]["shape"].get<std::vector<int64_t>>();
    std::vector<float> values = source_values(golden, how["from"]);
    if (how["how"] == "permute") values = permuted(values, shape[0], how["heads"]);
    if (how["how"] == "add_one") {
      for (float& v : values) v += 1;
    }
    c.tensors[name] = tensor_of(shape.size() == 1 ? DType::f32 : dtype, shape, values);
  }
  return c;
}

}  // namespace

Json load_golden(const std::string& name) {
  const std::string path = std::string(NEREID_SOURCE_DIR) + "/tests/golden/arch/" + name + ".json";
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << "cannot read " << path;
  return Json::parse(file, nullptr, false);
}

std::vector<float> formula_weights(std::string_view name, size_t count, float scale, float offset) {
  const uint64_t seed = fnv1a(name);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t x = mix(seed + (i + 1) * 0x9e3779b97f4a7c15);
    const float u = static_cast<float>(x >> 40) / 16777216.0f - 0.5f;
    volatile float product = u * scale;  // no fused multiply-add: numpy rounds twice
    values[i] = product + offset;
  }
  return values;
}

Checkpoint make_checkpoint(const Json& golden, Form form, DType dtype) {
  if (form == Form::kGguf) return make_gguf(golden, dtype);
  Checkpoint c;
  c.config = golden[form == Form::kSavedConfig ? "saved_config" : "config"];
  c.architecture = c.config["architectures"][0];
  for (const auto& [name, t] : golden["tensors"].items()) {
    c.tensors[name] = tensor_of(dtype, t["shape"].get<std::vector<int64_t>>(), source_values(golden, name));
  }
  return c;
}

ArchInput Checkpoint::input() {
  views.clear();
  ArchInput in;
  in.architecture = architecture;
  if (is_gguf) {
    in.gguf = &metadata;
  } else {
    in.hf = &config;
  }
  for (const auto& [name, tensor] : tensors) {
    views[name] = std::as_const(tensor).view();
    in.tensor_names.push_back(name);
  }
  in.tensor = [this](std::string_view name) -> const ConstTensorView* {
    const auto it = views.find(std::string(name));
    return it == views.end() ? nullptr : &it->second;
  };
  return in;
}

std::vector<std::vector<double>> run_prompt(const BuiltModel& model, const std::vector<int32_t>& tokens, size_t step) {
  const ModelConfig& c = model.config;
  const graph::Graph& graph = model.graph;
  const int64_t page_tokens = graph.value(graph.find_value("k_cache.0")).type.shape[2].size();
  const int64_t pages = (static_cast<int64_t>(tokens.size()) + page_tokens - 1) / page_tokens;
  std::vector<ops::Tensor> caches;
  for (size_t i = 0; i < graph.states().size(); ++i) {
    const DType dtype = graph.value(graph.states()[i]).type.dtype;
    caches.push_back(ops::Tensor::zeros(dtype, {2 * pages, c.kv_heads, page_tokens, c.head_dim}).value());
  }
  // Two rows: the prompt is the second sequence, on the odd pages from the last to the first.
  std::vector<int32_t> page_table;
  for (int64_t p = 0; p < pages; ++p) page_table.push_back(static_cast<int32_t>(2 * p));
  for (int64_t p = 0; p < pages; ++p) page_table.push_back(static_cast<int32_t>(2 * (pages - p) - 1));

  std::vector<std::vector<double>> rows;
  if (step == 0) step = tokens.size();
  for (size_t first = 0; first < tokens.size(); first += step) {
    const size_t n = std::min(step, tokens.size() - first);
    std::vector<int32_t> ids(tokens.begin() + static_cast<int64_t>(first),
                             tokens.begin() + static_cast<int64_t>(first + n));
    std::vector<int32_t> positions(n), sequence(n, 1), wanted(n);
    for (size_t i = 0; i < n; ++i) {
      positions[i] = static_cast<int32_t>(first + i);
      wanted[i] = static_cast<int32_t>(i);
    }
    const auto i32 = [](const std::vector<int32_t>& v, std::vector<int64_t> sizes) {
      return ConstTensorView(v.data(), DType::i32, std::move(sizes));
    };
    const auto count = static_cast<int64_t>(n);
    graph::Bindings bindings;
    bindings.inputs["tokens"] = i32(ids, {count});
    bindings.inputs["positions"] = i32(positions, {count});
    bindings.inputs["sequence"] = i32(sequence, {count});
    bindings.inputs["page_table"] = i32(page_table, {2, pages});
    bindings.inputs["output_rows"] = i32(wanted, {count});
    for (size_t i = 0; i < caches.size(); ++i) {
      bindings.states[graph.value(graph.states()[i]).name] = caches[i].view();
    }
    auto outputs = graph::evaluate(graph, bindings);
    EXPECT_TRUE(outputs.is_ok()) << outputs.status().message();
    if (!outputs.is_ok()) return rows;
    const std::vector<double> logits = (*outputs)[0].numbers();
    for (size_t i = 0; i < n; ++i) {
      const auto at = logits.begin() + static_cast<int64_t>(i) * c.vocab;
      rows.emplace_back(at, at + c.vocab);
    }
  }
  return rows;
}

}  // namespace nereid::llm::testing
