// What the tables of a move use and another engine than itemd may lack, found out by asking it.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

// Asks for changes of a table that does not exist, so nothing is changed: an engine that has the feature
// finds no such table. Each question is asked once. For one thread.
class TargetFeatures {
 public:
  // `target` must outlive this. itemd's gRPC has everything, and is not asked.
  explicit TargetFeatures(const Side& target);

  // What the target lacks of that which `table` has, with what to do and with its own words: it may refuse a
  // question for another reason than it seems. Empty if it has all.
  absl::StatusOr<std::string> LackingFor(const TableDescription& table,
                                         const std::string& time_to_live_attribute);
  // Whether the target has "TransactWriteItems" or "TransactGetItems". True for other operations.
  absl::StatusOr<bool> HasOperation(const std::string& operation);

 private:
  enum class Feature {
    kStream,
    kTimeToLive,
    kDeletionProtection,
    kTableClass,
    kEncryption,
    kOnDemandThroughput,
    kIndexKeysOfSeveralAttributes,
    kVectorIndexes,
    kTransactWriteItems,
    kTransactGetItems,
  };

  // Empty: the target has it, or does not let it be asked for. Else what it says.
  absl::StatusOr<std::string> Ask(Feature feature);
  // The question.
  absl::Status Try(Feature feature) const;

  const Side& target_;
  // Of no table.
  const std::string table_name_;
  std::map<Feature, std::string> answers_;
};

}  // namespace itemdb::tools
