// SPDX-License-Identifier: Apache-2.0
// Calibration caches from anywhere: what is read is written and read back as the same.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "calibrate/calibration_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid::calibrate::parse_calibration_table, nereid::calibrate::print_calibration_table;
  auto table = parse_calibration_table({reinterpret_cast<const char*>(data), size});
  if (!table.is_ok()) return 0;
  table->is_foreign = false;
  if (table->method.find('\r') != std::string::npos) return 0;  // ends a line in a file of another system
  for (const auto& [name, range] : table->ranges)
    if (name.ends_with('\r') || name.empty()) return 0;
  const auto again = parse_calibration_table(print_calibration_table(*table));
  NEREID_CHECK(again.is_ok());
  NEREID_CHECK(again->ranges.size() == table->ranges.size());
  return 0;
}
