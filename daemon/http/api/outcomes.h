// Outcomes that storage tells in its replies and the service by exceptions.
#pragma once

#include "daemon/http/api/json_api.h"
#include "itemdb/wire/data.pb.h"

namespace itemdb {

// ConditionalCheckFailedException (ERR-04, SEM-060).
JsonReply ConditionFailedReply(const wire::ConditionFailed& failed);

// TransactionCanceledException (ERR-05, SEM-051, SEM-052).
JsonReply CancelledReply(const wire::TransactionCancelled& cancelled);

}  // namespace itemdb
