// DynamoDB's JSON to the messages of itemdb.v1 and back, by reflection: shares no code with daemon/http.
#pragma once

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>

namespace itemdb::protocols {

using Json = nlohmann::json;

// Sets the members of `request` in `message`: UpperCamelCase names are those of fields, the rest follows from
// their types. What a message cannot say fails the test.
void FromDynamoDbJson(const Json& request, google::protobuf::Message* message);

// The fields of `message` that are set, but for numbers that only gRPC tells (uint64). Lists of tables,
// `{table_name, ...}` each, become objects by name.
Json ToDynamoDbJson(const google::protobuf::Message& message);

}  // namespace itemdb::protocols
