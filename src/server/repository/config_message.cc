// SPDX-License-Identifier: Apache-2.0
#include "server/repository/config_message.h"

#include <google/protobuf/util/json_util.h>

#include "model_config.pb.h"

namespace nereid::server {

Result<std::string> config_message(const std::string& json) {
  inference::ModelConfig config;
  const auto read = google::protobuf::util::JsonStringToMessage(json, &config);
  if (!read.ok()) return internal("the configuration cannot be sent: {}", read.ToString());
  return config.SerializeAsString();
}

}  // namespace nereid::server
