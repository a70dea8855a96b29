// SPDX-License-Identifier: Apache-2.0
// nereid bench for networks: how long a run of an ONNX file takes.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/command.h"
#include "compile/bench_network.h"

namespace nereid::cli {

// Whether one of the arguments names a network (an ONNX file, told by its content), so that the rest of the line is
// about one.
bool names_network(Arguments args);

int bench_network_command(Arguments args);

// One network at one number of threads.
struct NetworkReport {
  std::string model, precision, isa;
  int threads = 0;
  bool is_engine = false;           // built before
  std::vector<std::string> inputs;  // "x f32[1, 3, 224, 224]"
  int64_t nodes_imported = 0, nodes_optimised = 0;
  compile::NetworkBench bench;
  int64_t peak_bytes = 0;  // VmHWM, from the moment the file is opened
};

std::string network_report_text(const NetworkReport& report);
nlohmann::ordered_json network_report_json(const NetworkReport& report);

}  // namespace nereid::cli
