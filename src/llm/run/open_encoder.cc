// SPDX-License-Identifier: Apache-2.0
#include "llm/run/open_encoder.h"

#include "base/clock.h"
#include "compile/engine_cache.h"

namespace nereid::llm {

Result<OpenedEncoder> open_encoder(const std::string& path, const OpenOptions& options, EncoderOptions load,
                                   const std::function<void(int64_t, int64_t)>& progress, bool* wrong_option) {
  const int64_t start = now_ns();
  const auto blame_options = [&](Status status) {
    if (wrong_option) *wrong_option = true;
    return status;
  };
  OpenedEncoder opened{.path = path};
  const Result<Isa> isa = check_open_options(options, &opened.warnings);
  if (!isa.is_ok()) return blame_options(isa.status());
  opened.isa = *isa;
  opened.pool = std::make_unique<ThreadPool>(ThreadPoolOptions{.threads = options.threads});
  NEREID_TRY(const compile::OpenedEngine engine,
             compile::open_engine(path, {.exact = options.exact}, *opened.pool, progress));
  const Json& info = engine.file.info();
  if (!info.is_object() || info.value("kind", Json()) != "encoder")
    return blame_options(
        invalid_argument("'{}' generates text and encodes none: its folder has no modules.json that says how", path));
  opened.warnings.insert(opened.warnings.end(), engine.warnings.begin(), engine.warnings.end());
  opened.was_built = engine.was_built;
  load.isa = opened.isa;
  load.max_tokens = options.context;
  const Result<const Json*> model = json_object(info, "model");
  const Result<int64_t> most = model.is_ok() ? json_int(**model, "max_context") : model.status();
  if (most.is_ok() && options.context > *most)
    return blame_options(
        invalid_argument("--context asks for {} tokens, but the model is made for at most {}", options.context, *most));
  NEREID_TRY(opened.encoder, Encoder::load(engine.file, load, *opened.pool));
  for (const std::string& note : opened.encoder->context().notes()) {
    if (options.strict) return unsupported("{} (--strict makes this an error)", note);
    opened.warnings.push_back(note);
  }
  opened.load_ms = static_cast<double>(now_ns() - start) / 1e6;
  return opened;
}

}  // namespace nereid::llm
