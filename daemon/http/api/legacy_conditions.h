// The parameters from before there were expressions (SEM-112).
#pragma once

#include "daemon/http/api/request_members.h"
#include "itemdb/wire/data.pb.h"

namespace itemdb {

// Expected and ConditionalOperator, AttributeUpdates. Errors as EncodeJsonValue.
absl::Status ReadExpected(const JsonObject& object, wire::WriteItemRequest* request);
absl::Status ReadAttributeUpdates(const JsonObject& object, wire::WriteItemRequest* request);

// The map `name` of conditions: KeyConditions, QueryFilter, ScanFilter. Errors as EncodeJsonValue.
absl::Status ReadConditions(const JsonObject& object, std::string_view name,
                            google::protobuf::RepeatedPtrField<wire::NamedCondition>* conditions);

}  // namespace itemdb
