// The shapes of requests: members with JSON types and bounds. Only data; request_check.h checks against it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace itemdb::http {

enum class ShapeKind : uint8_t {
  kString,
  // The name of a table, or its ARN (SEM-008). With a pattern: the name only.
  kTableName,
  // kInteger has 32 bits, kLong 64.
  kInteger,
  kLong,
  // Seconds since the Unix epoch, a number of any kind.
  kTimestamp,
  kBoolean,
  kList,
  kMap,
  kStructure,
  // json_values.h reads and checks it.
  kAttributeValue,
  // A member for a feature that is not offered, e.g. replicas. The error names the member and says `why`.
  kUnsupported,
};

struct Shape;

struct ShapeMember {
  // The name in the request, in upper camel case: "TableName".
  std::string_view name;
  const Shape* shape;
  bool required = false;
};

struct Shape {
  ShapeKind kind;
  // Inclusive bounds: of a number, of a string's characters, of the entries of a list or map.
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  // Empty: no pattern. The only pattern is that of names, [a-zA-Z0-9_.-]+.
  std::string_view pattern = {};
  // The values of an enumeration; empty: any string.
  std::span<const std::string_view> values = {};
  // The members of a structure, sorted by name.
  std::span<const ShapeMember> members = {};
  // The shape of the keys of a map; null: any string.
  const Shape* key = nullptr;
  // The shape of the elements of a list or of the values of a map.
  const Shape* element = nullptr;
  // kStructure: the name of the structure in the service's API, with which violations show it; empty: shown
  // as a map.
  std::string_view type = {};
  // kList: violations of the list's bounds do not show the list, and name it as the request does:
  // 'RequestItems.TABLE.member.Keys'.
  bool is_not_shown = false;
  // kMap: the error for a map without entries; empty: a violation of the bounds.
  std::string_view if_empty = {};
  // kUnsupported: the end of the message "MEMBER is not supported: ".
  std::string_view why = {};
};

// The greatest number of members of a structure.
inline constexpr size_t kMaxShapeMembers = 24;

// The inputs of the operations.
extern const Shape kCreateTableInput;
extern const Shape kDeleteTableInput;
extern const Shape kDescribeTableInput;
extern const Shape kListTablesInput;
extern const Shape kUpdateTableInput;
extern const Shape kDescribeLimitsInput;
extern const Shape kUpdateTimeToLiveInput;
extern const Shape kDescribeTimeToLiveInput;
extern const Shape kDescribeEndpointsRequest;
extern const Shape kTagResourceInput;
extern const Shape kUntagResourceInput;
extern const Shape kListTagsOfResourceInput;
extern const Shape kPutItemInput;
extern const Shape kGetItemInput;
extern const Shape kUpdateItemInput;
extern const Shape kDeleteItemInput;
extern const Shape kQueryInput;
extern const Shape kScanInput;
extern const Shape kSearchVectorsInput;
extern const Shape kBatchGetItemInput;
extern const Shape kBatchWriteItemInput;
extern const Shape kTransactWriteItemsInput;
extern const Shape kTransactGetItemsInput;
extern const Shape kExecuteStatementInput;
extern const Shape kBatchExecuteStatementInput;
extern const Shape kExecuteTransactionInput;
extern const Shape kDescribeContinuousBackupsInput;
extern const Shape kUpdateContinuousBackupsInput;
extern const Shape kCreateBackupInput;
extern const Shape kDescribeBackupInput;
extern const Shape kListBackupsInput;
extern const Shape kDeleteBackupInput;
extern const Shape kRestoreTableFromBackupInput;
extern const Shape kRestoreTableToPointInTimeInput;
extern const Shape kExportTableToPointInTimeInput;
extern const Shape kDescribeExportInput;
extern const Shape kListExportsInput;
extern const Shape kImportTableInput;
extern const Shape kDescribeImportInput;
extern const Shape kListImportsInput;
extern const Shape kStartBulkPutItemsInput;
extern const Shape kDescribeBulkOperationInput;
extern const Shape kListBulkOperationsInput;
extern const Shape kCancelBulkOperationInput;
extern const Shape kUpdateContributorInsightsInput;
extern const Shape kDescribeContributorInsightsInput;
extern const Shape kListContributorInsightsInput;
extern const Shape kDescribeKinesisStreamingDestinationInput;
extern const Shape kListGlobalTablesInput;
extern const Shape kGetResourcePolicyInput;
extern const Shape kDeleteResourcePolicyInput;
extern const Shape kListStreamsInput;
extern const Shape kDescribeStreamInput;
extern const Shape kGetShardIteratorInput;
extern const Shape kGetRecordsInput;

}  // namespace itemdb::http
