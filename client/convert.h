// Conversion between the public types and the messages of proto/.
//
// ToProto checks only the depth of nesting, which bounds our recursion and stays within what protobuf can
// parse. FromProto checks everything: a reply that breaks the contract is DATA_LOSS, never a crash.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/v1/admin.pb.h"
#include "itemdb/v1/backups.pb.h"
#include "itemdb/v1/changes.pb.h"
#include "itemdb/v1/data.pb.h"
#include "itemdb/v1/item.pb.h"
#include "itemdb/v1/tables.pb.h"

namespace itemdb {

// The most lists and maps around a value. The data model allows 31 (SEM-017); one more here, so that the
// daemon refuses deeper values. Protobuf's own limit is 100 nested messages.
inline constexpr int kMaxNesting = 32;

// INVALID_ARGUMENT: a value nests deeper than kMaxNesting; `*message` is then incomplete.
absl::Status ToProto(const Item& item, v1::Item* message);
absl::Status ToProto(const Value& value, v1::AttributeValue* message);

// DATA_LOSS: a value has no type, or a number does not parse.
absl::StatusOr<Item> FromProto(const v1::Item& message);
absl::StatusOr<Value> FromProto(const v1::AttributeValue& message);

v1::ReturnValues ToProto(ReturnValues value);
v1::ReturnValuesOnConditionCheckFailure ToProto(ReturnValuesOnConditionCheckFailure value);

v1::ReturnConsumedCapacity ToProto(ReturnConsumedCapacity value);
v1::ReturnItemCollectionMetrics ToProto(ReturnItemCollectionMetrics value);
ConsumedCapacity FromProto(const v1::ConsumedCapacity& message);
absl::StatusOr<ItemCollectionMetrics> FromProto(const v1::ItemCollectionMetrics& message);
// Add a reply to the sums of earlier replies: capacity of a table is added, the size of an item collection is
// replaced.
void AddCapacity(const google::protobuf::RepeatedPtrField<v1::ConsumedCapacity>& messages,
                 std::vector<ConsumedCapacity>* capacities);
absl::Status AddMetrics(const google::protobuf::RepeatedPtrField<v1::TableItemCollectionMetrics>& tables,
                        TableItemCollectionMetrics* metrics);

v1::CreateTableRequest ToProto(const TableDefinition& definition);
v1::UpdateTableRequest ToProto(const UpdateTableRequest& request);
v1::TagTableRequest ToProto(const TagTableRequest& request);
v1::RestoreOverrides ToProto(const RestoreOverrides& overrides);
TableDescription FromProto(const v1::TableDescription& message);

TimeToLiveResult FromProto(const v1::DescribeTimeToLiveReply& message);
ContributorInsights FromProto(const v1::ContributorInsightsSummary& message);

absl::StatusOr<ChangeRecord> FromProto(const v1::ChangeRecord& message);

DaemonStatus FromProto(const v1::GetStatusReply& message);
AccessPatternsResult FromProto(const v1::GetAccessPatternsReply& message);
DaemonActivity FromProto(const v1::Activity& message);
ChangeHold FromProto(const v1::ChangeHold& message);
absl::StatusOr<TopKeysResult> FromProto(const v1::GetTopKeysReply& message);
DatabaseBackup FromProto(const v1::DatabaseBackup& message);
DatabaseBackupDetails FromProto(const v1::DatabaseBackup& backup, const v1::DatabaseBackupDetails& details);
BackupPlaces BackupPlacesOf(const v1::GetStatusReply& message);
absl::StatusOr<DamageList> FromProto(const v1::ListDamageReply& message);

}  // namespace itemdb
