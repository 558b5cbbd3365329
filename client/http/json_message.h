// Messages of proto/ as the JSON of DynamoDB's protocol, and back.
//
// The messages have the service's names in another spelling (`table_name` is TableName, SELECT_COUNT is
// COUNT), so one translation serves all of them. What differs in more than spelling is in tables in
// json_message.cc. Items are translated by storage/json.
//
// The fields are found by reflection. Lite messages, of which the installed library is made, have none: they
// are parsed again as messages of descriptors that the library carries (message_types.h).
#pragma once

#include <simdjson.h>

#include <string>

#include <google/protobuf/message_lite.h>

#include "absl/status/status.h"

namespace itemdb {

// Appends `message` as an object. Members that are not set are left out. INVALID_ARGUMENT: an attribute has
// no name, or a value no type.
absl::Status AppendJsonMessage(const google::protobuf::MessageLite& message, std::string* text);
// Appends the members, without braces; a comma comes first if `text` does not end in '{'.
absl::Status AppendJsonMembers(const google::protobuf::MessageLite& message, std::string* text);

// Sets the fields of `message` that `object` has; other members are ignored. DATA_LOSS: a member has another
// type than the service gives it.
absl::Status ReadJsonMessage(const simdjson::dom::object& object, google::protobuf::MessageLite* message);

}  // namespace itemdb
