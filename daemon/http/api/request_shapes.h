// The shapes of requests: which members there are, of what JSON type, and within which bounds. Data only;
// request_check.h reads it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace itemdb {

enum class ShapeKind : uint8_t {
  kString,
  // The name of a table, or its ARN (SEM-008).
  kTableName,
  // 32 and 64 bits.
  kInteger,
  kLong,
  kBoolean,
  kList,
  kMap,
  kStructure,
  // Read by json_values.h.
  kAttributeValue,
  // What asks for something that one machine does not have: refused by name.
  kUnsupported,
};

struct Shape;

struct ShapeMember {
  // As in the request, in upper camel case.
  std::string_view name;
  const Shape* shape;
  bool required = false;
};

struct Shape {
  ShapeKind kind;
  // Inclusive bounds of a number, of the characters of a string, of the entries of a list or map.
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  // Empty, or the one pattern there is: that of names.
  std::string_view pattern = {};
  // The values of an enumeration; empty: any.
  std::span<const std::string_view> values = {};
  // Of a structure, by name.
  std::span<const ShapeMember> members = {};
  // Of the keys of a map; null: any string.
  const Shape* key = nullptr;
  // Of the elements of a list, of the values of a map.
  const Shape* element = nullptr;
};

// No structure has more.
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
extern const Shape kBatchGetItemInput;
extern const Shape kBatchWriteItemInput;
extern const Shape kTransactWriteItemsInput;
extern const Shape kTransactGetItemsInput;
extern const Shape kExecuteStatementInput;
extern const Shape kBatchExecuteStatementInput;
extern const Shape kExecuteTransactionInput;
extern const Shape kListStreamsInput;
extern const Shape kDescribeStreamInput;
extern const Shape kGetShardIteratorInput;
extern const Shape kGetRecordsInput;

}  // namespace itemdb
