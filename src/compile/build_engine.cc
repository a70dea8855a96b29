// SPDX-License-Identifier: Apache-2.0
#include "compile/build_engine.h"

#include <algorithm>

#include "base/interrupt.h"
#include "compile/arch_source.h"
#include "compile/encode_use.h"
#include "compile/tokenizer_source.h"
#include "engine/engine_file.h"
#include "graph/text.h"
#include "kernels/cpu/packed_weight.h"
#include "llm/arch/build_model.h"
#include "passes/pipeline.h"

namespace nereid::compile {
namespace {

// Which argument of an op takes packed matrices.
bool takes_packed(std::string_view op, size_t argument) {
  return (op == "linear" && argument == 1) || (op == "gated_linear" && (argument == 1 || argument == 2)) ||
         (op == "embedding" && argument == 1);
}

// True if every use of the constant is a matrix that the kernels want packed.
bool wants_packing(const graph::Graph& g, graph::ValueId id) {
  bool any = false;
  for (graph::NodeId n : g.users(id)) {
    const graph::Node& node = g.node(n);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != id) continue;
      if (!takes_packed(node.op->name, i)) return false;
      any = true;
    }
  }
  return any && g.value(id).type.shape.rank() == 2;
}

class WeightPacker {
 public:
  // `f32`: every matrix is decoded to f32; `floats_f32`: those of floating-point types.
  WeightPacker(engine::EngineWriter& writer, ThreadPool& pool, bool f32, bool floats_f32, const ProgressFn& progress,
               int64_t total)
      : writer_(writer), pool_(pool), f32_(f32), floats_f32_(floats_f32), progress_(progress), total_(total) {}

  Status pack(const graph::Value& v) {
    const std::vector<int64_t> sizes = v.type.shape.sizes();
    const bool is_float = dtype_info(v.type.dtype).kind == DTypeInfo::Kind::kFloat;
    const DType dtype = f32_ || (floats_f32_ && is_float) ? DType::f32 : v.type.dtype;
    NEREID_TRY(const kernels::PackedLayout layout,
               kernels::packed_layout(dtype, sizes[0], sizes[1]).with("tensor " + v.name));
    NEREID_RETURN_IF_ERROR(writer_.begin_weight(v.name, layout.to_text()));
    // About a megabyte a turn and worker: enough to share out, little to hold.
    const int64_t tiles_a_turn = std::max<int64_t>(1, pool_.size() * (int64_t{1} << 20) / layout.tile_bytes());
    if (buffer_.size() < static_cast<size_t>(tiles_a_turn * layout.tile_bytes()))
      buffer_.resize(static_cast<size_t>(tiles_a_turn * layout.tile_bytes()));
    for (int64_t t = 0; t < layout.tiles(); t += tiles_a_turn) {
      if (interrupted()) return cancelled("stopped while packing the weights; nothing was written");
      const int64_t count = std::min(tiles_a_turn, layout.tiles() - t);
      pool_.run([&](Worker& w) {
        const auto [begin, end] = w.slice(count);
        if (begin < end)
          kernels::pack_tiles(layout, v.data.parts, t + begin, end - begin,
                              buffer_.data() + begin * layout.tile_bytes());
      });
      const std::span<const std::byte> packed(buffer_.data(), static_cast<size_t>(count * layout.tile_bytes()));
      NEREID_RETURN_IF_ERROR(writer_.write_weight(packed));
      advance(static_cast<int64_t>(packed.size()));
    }
    return Status::ok();
  }

  Status copy(const graph::Value& v) {
    NEREID_RETURN_IF_ERROR(writer_.begin_weight(v.name, ""));
    for (const ConstTensorView& part : v.data.parts) {
      const std::span<const std::byte> bytes(part.as<std::byte>(), static_cast<size_t>(part.bytes()));
      NEREID_RETURN_IF_ERROR(writer_.write_weight(bytes));
      advance(part.bytes());
    }
    return Status::ok();
  }

 private:
  void advance(int64_t bytes) {
    done_ += bytes;
    if (progress_) progress_(std::min(done_, total_), total_);
  }
  engine::EngineWriter& writer_;
  ThreadPool& pool_;
  bool f32_, floats_f32_;
  const ProgressFn& progress_;
  std::vector<std::byte> buffer_;
  int64_t done_ = 0, total_;
};

Json config_json(const llm::BuiltModel& model) {
  const llm::ModelConfig& c = model.config;
  return {{"architecture", c.architecture},
          {"layers", c.layers},
          {"hidden", c.hidden},
          {"ffn", c.ffn},
          {"heads", c.heads},
          {"kv_heads", c.kv_heads},
          {"head_dim", c.head_dim},
          {"vocab", c.vocab},
          {"context_length", c.context_length},
          {"max_context", model.max_context}};
}

}  // namespace

Result<BuildReport> build_engine(const import::ModelSource& source, const std::string& path,
                                 const EngineOptions& options, ThreadPool& pool, const ProgressFn& progress) {
  BuildReport report;
  NEREID_TRY(const std::optional<EncodeUse> use, read_encode_use(source).with(source.path));
  NEREID_TRY(llm::BuiltModel model,
             llm::build_model(arch_input(source), {.kv_dtype = options.exact ? DType::f32 : DType::f16,
                                                   .page_tokens = options.page_tokens,
                                                   .max_context = options.max_context,
                                                   .encodes = use.has_value()}));
  if (std::string w = model.warning(); !w.empty()) report.warnings.push_back(std::move(w));
  NEREID_TRY(report.passes, passes::run_pipeline(model.graph));
  NEREID_TRY(token::TokenizerSpec tokenizer, read_tokenizer(source).with("the tokenizer of " + source.path));
  Metadata metadata;
  NEREID_RETURN_IF_ERROR(tokenizer.to_metadata(metadata));

  const graph::Graph& g = model.graph;
  int64_t total = 0;
  for (graph::ValueId id : g.constants())
    for (const ConstTensorView& part : g.value(id).data.parts) total += part.bytes();
  NEREID_TRY(engine::EngineWriter writer, engine::EngineWriter::create(path));
  // Encoders multiply in f32: few weights, and rows enough in a step that their bytes cost nothing.
  WeightPacker packer(writer, pool, options.exact, model.config.bidirectional, progress, total);
  for (graph::ValueId id : g.constants()) {
    const graph::Value& v = g.value(id);
    NEREID_RETURN_IF_ERROR(wants_packing(g, id) ? packer.pack(v) : packer.copy(v));
  }
  Json info = {{"producer", "nereid"},
               {"kind", use ? "encoder" : "language-model"},
               {"model", config_json(model)},
               {"page_tokens", options.page_tokens},
               {"source", {{"path", source.path}, {"bytes", source.total_bytes}}}};
  if (use) {
    info["encode"] = use->to_json();
    info["model"]["types"] = model.config.types;
    info["model"]["labels"] = model.config.classifies ? model.config.labels : 0;
  }
  if (interrupted()) return cancelled("stopped while packing the weights; nothing was written");
  NEREID_RETURN_IF_ERROR(writer.commit(std::move(info), graph::print(g, {.inline_elements = 0, .all_attributes = true}),
                                       metadata.serialize()));
  return report;
}

}  // namespace nereid::compile
