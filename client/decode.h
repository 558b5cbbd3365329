// Reply bytes of the data operations as results. A false condition, a cancelled transaction are statuses
// here.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/client.h"

namespace itemdb {
inline namespace client {

// `endpoint` is for messages. Of writes, UNKNOWN (WRITE_OUTCOME_UNKNOWN): the reply does not decode or names
// no outcome this client knows. Of reads, DATA_LOSS: the reply does not decode.
absl::StatusOr<WriteResult> DecodePutItem(std::string_view reply, const std::string& endpoint);
absl::StatusOr<WriteResult> DecodeUpdateItem(std::string_view reply, const std::string& endpoint);
absl::StatusOr<WriteResult> DecodeDeleteItem(std::string_view reply, const std::string& endpoint);
absl::StatusOr<GetItemResult> DecodeGetItem(std::string_view reply, const std::string& endpoint);
absl::StatusOr<TransactWriteItemsResult> DecodeTransactWriteItems(std::string_view reply,
                                                                  const std::string& endpoint);
absl::StatusOr<TransactGetItemsResult> DecodeTransactGetItems(std::string_view reply,
                                                              const std::string& endpoint);
absl::StatusOr<ItemPage> DecodeQuery(std::string_view reply, const std::string& endpoint);
absl::StatusOr<ItemPage> DecodeScan(std::string_view reply, const std::string& endpoint);

}  // namespace client
}  // namespace itemdb
