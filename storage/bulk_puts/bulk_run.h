// Puts the items of one operation, from where it stands to its end.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "itemdb/v1/bulk_puts.pb.h"
#include "storage/base/cancellation.h"
#include "storage/bulk_puts/write_pace.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// How an operation ended.
struct BulkOutcome {
  v1::BulkOperationStatus status = v1::BULK_OPERATION_STATUS_COMPLETED;
  // Only of FAILED and CANCELLED.
  std::string failure_code = {};
  std::string failure_message = {};
  // What was stored last. Not listed: the operation ended before its first line, and has no report.
  v1::StoredBulkProgress progress = {};
};

struct BulkRunSettings {
  Engine& engine;
  const v1::StoredBulkOperation& operation;
  // Ends the run, which stays IN_PROGRESS.
  const Cancellation& cancellation;
  // Failures of the bucket since the last commit, also in earlier runs.
  int& bucket_failures;
  // Waits until `time`, or shorter. False: the run must end.
  std::function<bool(WritePace::Clock::time_point time)> wait;
};

// Lists the objects of the operation, if that was not done, and puts their items. Each commit stores how far
// the run is. Blocks.
//
// Errors are those of the store, CANCELLED, and UNAVAILABLE of the bucket (but not kMaxBucketFailures times
// without a commit): the operation stays as far as it is, and another run may continue it. All others are an
// outcome.
inline constexpr int kMaxBucketFailures = 5;
absl::StatusOr<BulkOutcome> RunBulkPut(const BulkRunSettings& settings);

// The code and the message of an operation that fails because of `error`.
BulkOutcome FailedOutcome(const absl::Status& error);

}  // namespace itemdb::storage
