// The report of a bulk put, which is written to its output bucket when it ends (BLK-08):
//
//   PREFIX/AWSDynamoDB/bulk/ID/errors/00000000.jsonl.gz
//   PREFIX/AWSDynamoDB/bulk/ID/condition-check-failures/00000000.jsonl.gz
//   PREFIX/AWSDynamoDB/bulk/ID/manifest.json
//
// A line of the first two is {"object":"data/1.json","line":7,"reason":"..."} or
// {"object":"data/1.json","line":7,"Key":{"pk":{"S":"a"}}}; `line` is missing when the error is about the
// whole object. A list that has no line has no file. The manifest is written last.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "itemdb/v1/bulk_puts.pb.h"
#include "storage/base/status.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// INVALID_ARGUMENT (BLK-01): the keys of the report cannot be paths in the bucket.
absl::Status CheckBulkReportPrefix(const v1::BulkPutOutput& output);
// "PREFIX/AWSDynamoDB/bulk/": what the keys of all reports with the prefix of `output` begin with.
std::string BulkReportsFolder(const v1::BulkPutOutput& output);

// The lines of the two lists, without line ends. `key` is the encoded primary key of the item. `line` is 0
// for the whole object. Long reasons are cut.
std::string BulkErrorLine(std::string_view object, uint64_t line, std::string_view reason);
std::string ConditionFailureLine(std::string_view object, uint64_t line, std::string_view key);

// Errors as of OpenBucket, for the output bucket.
absl::Status CheckBulkOutputBucket(const Engine& engine, const v1::BulkPutOutput& output,
                                   const Cancellation& cancellation);

// Writes the report of an operation that has ended as `description` says, from its records in the catalog.
// `report_records`: how many there are. `check` is called between them, and its error ends the writing;
// `cancellation` ends what takes long in the bucket.
// Blocks. A report that was written in part, or wholly, is replaced.
//
// Errors as of CheckBulkOutputBucket and of the files of the bucket; UNAVAILABLE, DATA_LOSS: the records
// cannot be read.
absl::Status WriteBulkReport(const Engine& engine, const v1::BulkOperationDescription& description,
                             uint64_t report_records, absl::FunctionRef<absl::Status()> check,
                             const Cancellation& cancellation);

}  // namespace itemdb::storage
