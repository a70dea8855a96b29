// SPDX-License-Identifier: Apache-2.0
#include "cli/view_options.h"

#include "cli/model_path.h"

namespace nereid::cli {

void add_view_options(CommandLine& app, ViewArguments& a) {
  app.add_option("MODEL", a.model,
                 "an ONNX file, an engine, or a language model: a path, or a name that `nereid models` lists")
      ->required();
  app.add_texts("--shapes", a.shapes, "NAME:1x3x224x224,NAME:...; sizes that the model leaves open; repeatable");
  app.add_texts("--inputs", a.inputs,
                "NAME=FILE,NAME=FILE or @FILE.json, as for `nereid infer`; what is not given gets random numbers");
  app.add_flag("--profile,--time", a.profile, "also run it and time each layer; sizes that are still open are 1");
  app.add_option("--runs", a.runs, "timed runs")->capture_default_str();
  app.add_option("--precision", a.precision, "what products and convolutions multiply in, as for `nereid build`")
      ->capture_default_str();
  app.add_option("--threads", a.threads, "how many threads compute; 0: as many as there are cores");
}

Result<compile::ViewOptions> view_options(const ViewArguments& a) {
  if (a.runs < 1 || a.runs > 10'000) return invalid_argument("--runs takes a number from 1 to 10000, found {}", a.runs);
  if (a.threads < 0 || a.threads > 1024)
    return invalid_argument("--threads must lie between 0 and 1024, found {}", a.threads);
  compile::ViewOptions options{.model = {},
                               .inputs = a.inputs,
                               .shapes = a.shapes,
                               .guess_sizes = a.profile,
                               .account = {.runs = a.profile ? a.runs : 0}};
  NEREID_TRY(options.precision, compile::precision_from_name(a.precision));
  NEREID_TRY(options.model, resolve_model(a.model));
  return options;
}

}  // namespace nereid::cli
