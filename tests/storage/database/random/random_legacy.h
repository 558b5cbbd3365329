// Random requests with the parameters that are older than expressions (SEM-112), together with their meaning.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/storage/database/random/random_requests.h"

namespace itemdb::testing {

// Several comparisons, each on another attribute.
struct RandomComparisons {
  std::vector<RandomComparison> entries;
  v1::ConditionalOperator joined_by = v1::CONDITIONAL_OPERATOR_UNSPECIFIED;

  std::set<std::string> Names() const;
  bool Hold(const ModelItem& item) const;
  void SetOn(google::protobuf::RepeatedPtrField<wire::NamedCondition>* conditions) const;
  // As the parameter Expected, which has more than one form for some comparisons.
  void SetExpected(RandomRequests& random, wire::WriteItemRequest* request) const;
};

struct RandomLegacyUpdate {
  // The expression text in `meaning` is empty.
  RandomUpdate meaning;
  std::vector<wire::NamedUpdate> entries;

  void SetOn(wire::WriteItemRequest* request) const;
};

// One to three conditions on some of `attributes`.
RandomComparisons LegacyConditions(RandomRequests& random, const TableModel& table,
                                   const std::vector<std::string>& attributes);
// At least one action, on attributes outside the primary key.
RandomLegacyUpdate LegacyUpdate(RandomRequests& random, const TableModel& table);

}  // namespace itemdb::testing
