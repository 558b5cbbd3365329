// Turns legacy parameters (Expected, QueryFilter, ScanFilter, KeyConditions, AttributeUpdates,
// AttributesToGet) into the syntax trees of the equivalent expressions (SEM-112). Later code does not see the
// difference.
//
// Errors in the parameters themselves are refused here, with the service's messages for legacy parameters:
// the number and types of an operator's arguments, actions without a value. All are INVALID_ARGUMENT. So are
// an attribute that comes twice, an empty name, an invalid value, and more than kMaxLegacyEntries entries.
#pragma once

#include <initializer_list>
#include <string_view>

#include "itemdb/wire/data.pb.h"
#include "storage/base/status.h"
#include "storage/expressions/valued_tree.h"

namespace itemdb::storage {

template <typename Element>
using LegacyEntries = google::protobuf::RepeatedPtrField<Element>;

// All these functions need at least one entry. Expected, joined by AND or OR:
absl::StatusOr<ValuedTree> ExpectedTree(const LegacyEntries<wire::NamedExpectation>& expected,
                                        v1::ConditionalOperator joined_by);
// QueryFilter or ScanFilter.
absl::StatusOr<ValuedTree> FilterTree(const LegacyEntries<wire::NamedCondition>& conditions,
                                      v1::ConditionalOperator joined_by);
absl::StatusOr<ValuedTree> KeyConditionsTree(const LegacyEntries<wire::NamedCondition>& conditions);
absl::StatusOr<ValuedTree> UpdatesTree(const LegacyEntries<wire::NamedUpdate>& updates);
absl::StatusOr<ValuedTree> AttributesTree(const LegacyEntries<std::string>& attributes);

// A parameter of a request and whether the request has it.
struct GivenParameter {
  std::string_view name;
  bool given = false;
};

// A request has expressions or legacy parameters, not both (SEM-026). The message names the ones it has.
absl::Status CheckNotMixed(std::initializer_list<GivenParameter> legacy,
                           std::initializer_list<GivenParameter> expressions);

// Checks that ConditionalOperator is a known value and that there are conditions to join.
absl::Status CheckConditionalOperator(v1::ConditionalOperator joined_by, bool has_conditions);

}  // namespace itemdb::storage
