// The URLs under which a status carries payloads: serialized messages of proto/.
#pragma once

namespace itemdb {

inline constexpr char kErrorDetailUrl[] = "type.googleapis.com/itemdb.v1.ErrorDetail";
inline constexpr char kConditionFailedUrl[] = "type.googleapis.com/itemdb.v1.ConditionFailed";
inline constexpr char kTransactionCancelledUrl[] = "type.googleapis.com/itemdb.v1.TransactionCancelled";

}  // namespace itemdb
