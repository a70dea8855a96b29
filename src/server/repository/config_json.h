// SPDX-License-Identifier: Apache-2.0
// A protobuf message as JSON the way model configurations are sent: names as in the .proto, in its order, every plain
// field whether set or not, 64-bit numbers as numbers, messages and members of a oneof only where they are set.
#pragma once

#include <string>

namespace google::protobuf {
class Message;
}

namespace nereid::server {

std::string config_json(const google::protobuf::Message& message);

}  // namespace nereid::server
