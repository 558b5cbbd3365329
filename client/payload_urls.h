// Under what names a status carries its payloads: serialized messages of the contract.
#pragma once

namespace itemdb {
inline namespace client {

inline constexpr char kErrorDetailUrl[] = "type.googleapis.com/itemdb.v1.ErrorDetail";
inline constexpr char kConditionFailedUrl[] = "type.googleapis.com/itemdb.v1.ConditionFailed";
inline constexpr char kTransactionCancelledUrl[] = "type.googleapis.com/itemdb.v1.TransactionCancelled";

}  // namespace client
}  // namespace itemdb
