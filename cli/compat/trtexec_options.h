// SPDX-License-Identifier: Apache-2.0
// A command line of trtexec, read by the table of flags.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "compile/infer_inputs.h"

namespace nereid::cli {

struct TrtexecOptions {
  std::string onnx, load_engine, save_engine;
  std::string refit_from;  // an ONNX file whose weights the loaded engine gets
  bool strip = false, time_refit = false, dump_refit = false;
  // Names may hold one '*'. `run` is what to run with; empty where the file's own sizes are enough.
  compile::InputShapes run, least, best, most;
  std::vector<std::string> inputs;  // NAME=FILE
  int64_t iterations = 10;
  double duration_s = 3, warmup_ms = 200, idle_ms = 0;
  int64_t average_runs = 10;
  std::vector<double> percentiles = {90, 95, 99};
  int threads = 0, level = 3;  // level: of the time that goes into choosing kernels
  std::string timing_cache;
  std::string isa;
  bool bf16 = false;  // products and convolutions may multiply in it
  bool int8 = false;  // and in int8: with the ranges of `calib`, a cache, or of random inputs
  std::string calib;
  bool skip_inference = false, verbose = false, help = false;
  bool detailed = false;  // --profilingVerbosity=detailed
  bool dump_output = false, dump_profile = false, dump_layers = false;
  std::string export_times, export_output, export_profile, export_layers;
  std::vector<std::string> remarks;  // a line for each flag that changes nothing

  bool wants_profile() const { return dump_profile || !export_profile.empty(); }
  // Sizes that the network is fixed to: those to run with, unless a range is given.
  compile::InputShapes fixed_shapes() const;
};

// Errors name the flag: unknown, refused, without its value, with a value that cannot be read.
Result<TrtexecOptions> parse_trtexec(Arguments args);
// "name:1x3x224x224,'other:0':8", names in quotes or not; "name:scalar".
Result<compile::InputShapes> parse_trtexec_shapes(std::string_view flag, std::string_view text);
std::string trtexec_help();

}  // namespace nereid::cli
