// Outcomes that storage reports in reply messages and the service as exceptions.
#pragma once

#include "daemon/http/api/json_api.h"
#include "itemdb/wire/data.pb.h"

namespace itemdb::http {

// ConditionalCheckFailedException (ERR-04), with the item if ALL_OLD was asked for (SEM-060).
JsonReply ConditionFailedReply(const wire::ConditionFailed& failed);

// TransactionCanceledException (ERR-05): CancellationReasons has one entry for each action (SEM-051), and the
// message lists their codes (SEM-052).
JsonReply CancelledReply(const wire::TransactionCancelled& cancelled);

}  // namespace itemdb::http
