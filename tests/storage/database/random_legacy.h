// Random requests with the parameters from before there were expressions (SEM-112), together with what they
// mean.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/storage/database/random_requests.h"

namespace itemdb::testing {

// Several comparisons, of one attribute each.
struct RandomComparisons {
  std::vector<RandomComparison> entries;
  v1::ConditionalOperator joined_by = v1::CONDITIONAL_OPERATOR_UNSPECIFIED;

  std::set<std::string> Names() const;
  bool Hold(const ModelItem& item) const;
  void SetOn(google::protobuf::RepeatedPtrField<wire::NamedCondition>* conditions) const;
  // As Expected, where the same may be said in more than one way.
  void SetExpected(RandomRequests& random, wire::WriteItemRequest* request) const;
};

struct RandomLegacyUpdate {
  // Its text is empty.
  RandomUpdate meaning;
  std::vector<wire::NamedUpdate> entries;

  void SetOn(wire::WriteItemRequest* request) const;
};

// One to three, on some of `attributes`.
RandomComparisons LegacyConditions(RandomRequests& random, const TableModel& table,
                                   const std::vector<std::string>& attributes);
// At least one action, on attributes that are not of the primary key.
RandomLegacyUpdate LegacyUpdate(RandomRequests& random, const TableModel& table);

}  // namespace itemdb::testing
