// Converts DynamoDB's JSON to itemdb.v1 messages and back, by reflection. Shares no code with daemon/http.
#pragma once

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>

namespace itemdb::protocols {

using Json = nlohmann::json;

// Copies the members of `request` into `message`. The UpperCamelCase name of a member is the name of its
// field; the type of the field decides the conversion. A member that the message cannot hold fails the test.
void FromDynamoDbJson(const Json& request, google::protobuf::Message* message);

// The fields of `message` that are set, except uint64 numbers, which only gRPC returns. A list of tables,
// each `{table_name, ...}`, becomes an object by table name.
Json ToDynamoDbJson(const google::protobuf::Message& message);

}  // namespace itemdb::protocols
