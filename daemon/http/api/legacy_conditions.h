// Reads the legacy parameters, which are older than expressions (SEM-112).
#pragma once

#include "daemon/http/api/request_members.h"
#include "itemdb/wire/data.pb.h"

namespace itemdb::http {

// Reads Expected and ConditionalOperator; reads AttributeUpdates. Errors as of storage::EncodeJsonValue().
absl::Status ReadExpected(const JsonObject& object, wire::WriteItemRequest* request);
absl::Status ReadAttributeUpdates(const JsonObject& object, wire::WriteItemRequest* request);

// Reads the member `name`, a map of conditions: KeyConditions, QueryFilter or ScanFilter. Errors as of
// storage::EncodeJsonValue().
absl::Status ReadConditions(const JsonObject& object, std::string_view name,
                            google::protobuf::RepeatedPtrField<wire::NamedCondition>* conditions);

}  // namespace itemdb::http
