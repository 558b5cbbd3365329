// Requests from before there were expressions (SEM-112): Expected, QueryFilter, ScanFilter, KeyConditions,
// AttributeUpdates and AttributesToGet as the syntax trees of the expressions that say the same. From there
// on nothing knows the difference.
//
// What the parameters alone can get wrong is refused here, in the words they were always refused with: the
// number of an operator's arguments and their types, actions without a value. INVALID_ARGUMENT throughout;
// also for an attribute that comes twice, an empty name, an invalid value, more than kMaxLegacyEntries
// entries.
#pragma once

#include <initializer_list>
#include <string_view>

#include "itemdb/wire/data.pb.h"
#include "storage/base/status.h"
#include "storage/expressions/valued_tree.h"

namespace itemdb {

template <typename Element>
using LegacyEntries = google::protobuf::RepeatedPtrField<Element>;

// Each takes at least one entry. Expected, joined by AND or OR.
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

// SEM-026: a request has expressions or legacy parameters, not both. The message names those it has.
absl::Status CheckNotMixed(std::initializer_list<GivenParameter> legacy,
                           std::initializer_list<GivenParameter> expressions);

// ConditionalOperator is known, and there is something for it to join.
absl::Status CheckConditionalOperator(v1::ConditionalOperator joined_by, bool has_conditions);

}  // namespace itemdb
