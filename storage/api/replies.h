// Replies of the database's operations.
#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "itemdb/v1/changes.pb.h"
#include "itemdb/wire/data.pb.h"

namespace itemdb::storage {

// The callback of an asynchronous operation. Called once, with the reply or with the error.
template <typename Reply>
using Done = absl::AnyInvocable<void(absl::StatusOr<Reply>) &&>;

// One page of Query or Scan.
struct Page {
  // Everything but the items.
  wire::PageReply reply;
  // The items, each encoded as field 2 of itemdb.v1.QueryReply: append to the encoded `reply`.
  std::string encoded_items;
};

// The reply of ExecuteStatement.
struct StatementPage {
  // Everything but the items.
  wire::ExecuteStatementReply reply;
  // The items, each encoded as field 2 of itemdb.v1.ExecuteStatementReply: append to the encoded `reply`.
  std::string encoded_items;
};

// One reply of a watch.
struct WatchPage {
  // Everything but the records.
  v1::WatchReply reply;
  // The records, each encoded as field 2 of itemdb.v1.WatchReply: append to the encoded `reply`.
  std::string encoded_records;
  // True: this is the last reply, because the watched table was deleted.
  bool last = false;
};

}  // namespace itemdb::storage
