// SPDX-License-Identifier: Apache-2.0
// nereid embed: vectors of texts, or how well they answer a query.
#include <future>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/model_path.h"
#include "cli/options.h"
#include "llm/run/encode_queue.h"
#include "llm/run/open_encoder.h"

namespace nereid::cli {
namespace {

constexpr const char* kEmbedNotes =
    "The model is a folder as Hugging Face has them: BERT, RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT or MPNet, or a "
    "decoder\n"
    "whose modules.json says how its tokens are pooled. One line of JSON a text, in order:\n"
    "{\"tokens\":N,\"embedding\":[...]}, or {\"tokens\":N,\"score\":x} of a model that judges texts against "
    "--query.\n\n"
    "Exit code: 0 done, 1 the work failed, 2 the command line or an input is wrong.";

struct EmbedArguments {
  std::string model;
  llm::OpenOptions open;
  std::vector<std::string> texts, files;
  std::string lines;
  std::string query;
  bool truncates = false;
  bool quiet = false;
};

void add_embed_options(CommandLine& app, EmbedArguments& a) {
  app.add_option("MODEL", a.model, "a folder, or a name that `nereid models` lists")->required();
  app.add_texts("-p,--text", a.texts, "a text; may be repeated");
  app.add_texts("-f,--file", a.files, "a file that is a text as a whole (- is stdin); may be repeated")
      ->type_name("FILE");
  app.add_option("--lines", a.lines, "a file with a text on each line (- is stdin)");
  app.add_option("--query", a.query, "what the texts are judged by, with a model that ranks");
  app.add_flag("--truncate", a.truncates, "texts that are too long lose their end; else they are an error");
  app.add_option("--isa", a.open.isa,
                 "highest instruction set to use: baseline, avx2, avx512 or amx (default: the best)");
  app.add_option("--threads,-t", a.open.threads, "CPU threads (default: all that this process may use)");
  app.add_option("--context,-c", a.open.context, "longest text in tokens (default: what the model's files say)");
  app.add_flag("--strict", a.open.strict, "fail where a part of the model would run without a fast kernel");
  app.add_flag("--quiet,-q", a.quiet, "no progress and no statistics");
  app.footer(kEmbedNotes);
}

Result<std::vector<llm::EncodeInput>> read_inputs(const EmbedArguments& a) {
  std::vector<std::string> texts = a.texts;
  for (const std::string& file : a.files) {
    NEREID_TRY(std::string text, read_input(file, "the text"));
    texts.push_back(std::move(text));
  }
  if (!a.lines.empty()) {
    NEREID_TRY(const std::string all, read_input(a.lines, "the texts"));
    for (size_t at = 0; at < all.size();) {
      const size_t end = std::min(all.find('\n', at), all.size());
      texts.push_back(all.substr(at, end - at));
      at = end + 1;
    }
  }
  if (texts.empty()) return invalid_argument("there is no text; give one with -p TEXT, -f FILE or --lines FILE");
  std::vector<llm::EncodeInput> inputs;
  for (std::string& text : texts) {
    llm::EncodeInput input{.text = std::move(text), .second = {}, .tokens = {}, .truncates = a.truncates};
    if (!a.query.empty()) {
      input.second = std::move(input.text);
      input.text = a.query;
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Status check(const EmbedArguments& a, const llm::Encoder& encoder) {
  if (encoder.classifies() && a.query.empty())
    return invalid_argument("the model judges texts and gives no vectors; say with --query what it judges them by");
  if (!encoder.classifies() && !a.query.empty())
    return invalid_argument("the model gives vectors and judges nothing, so --query has no meaning");
  return Status::ok();
}

Status print_results(const llm::Encoder& encoder, const llm::EncodeOutput& output) {
  std::string out;
  for (size_t i = 0; i < output.vectors.size(); ++i) {
    Json line = {{"tokens", output.tokens[i]}};
    const std::vector<float>& values = output.vectors[i];
    if (encoder.classifies() && values.size() == 1)
      line["score"] = values[0];
    else
      line[encoder.classifies() ? "scores" : "embedding"] = values;
    out += line.dump() + "\n";
  }
  return write_out(out);
}

}  // namespace

int embed_command(Arguments args) {
  CommandLine app("Turns texts into vectors, or tells how well they answer a query.", "nereid embed");
  EmbedArguments a;
  add_embed_options(app, a);
  if (const auto code = parse(app, args)) return *code;
  if (a.quiet) stderr_console().set_level(LogLevel::warn);
  Result<std::vector<llm::EncodeInput>> inputs = read_inputs(a);
  if (!inputs.is_ok()) return fail(inputs.status());
  const Result<std::string> path = resolve_model(a.model);
  if (!path.is_ok()) return fail(path.status());
  bool wrong_option = false;
  const Result<llm::OpenedEncoder> opened = llm::open_encoder(*path, a.open, {}, {}, &wrong_option);
  if (!opened.is_ok()) return fail(opened.status(), wrong_option ? kWrongInput : kFailed);
  for (const std::string& warning : opened->warnings) log_warn("{}", warning);
  llm::Encoder& encoder = *opened->encoder;
  if (const Status s = check(a, encoder); !s.is_ok()) return fail(s);

  const auto queue = llm::EncodeQueue::start(encoder);
  const int64_t start = now_ns();
  std::promise<llm::EncodeOutput> promise;
  const Result<uint64_t> job = queue->submit(std::move(inputs).value(),
                                             [&](llm::EncodeOutput&& output) { promise.set_value(std::move(output)); });
  if (!job.is_ok()) return fail(job.status());
  const llm::EncodeOutput output = promise.get_future().get();
  if (!output.status.is_ok()) return fail(output.status);
  const double seconds = static_cast<double>(now_ns() - start) / 1e9;
  if (const Status s = print_results(encoder, output); !s.is_ok()) return fail(s, kFailed);
  int64_t tokens = 0;
  for (const int64_t one : output.tokens) tokens += one;
  log_info("{} texts, {} tokens in {:.3f} s: {:.0f} tokens/s; loaded in {:.0f} ms", output.vectors.size(), tokens,
           seconds, static_cast<double>(tokens) / seconds, opened->load_ms);
  return kDone;
}

}  // namespace nereid::cli
