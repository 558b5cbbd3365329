#include "storage/store/catalog_records.h"

#include <memory>
#include <optional>

#include "google/protobuf/message.h"
#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

// Whether `message`, or a message inside it, holds fields that this program does not know.
bool HasUnknownFields(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty()) return true;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->type() != google::protobuf::FieldDescriptor::TYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (HasUnknownFields(reflection.GetMessage(message, field))) return true;
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      if (HasUnknownFields(reflection.GetRepeatedMessage(message, field, i))) return true;
  }
  return false;
}

}  // namespace

absl::Status CheckIsKnown(const v1::TableDescription& definition) {
  if (!HasUnknownFields(definition)) return absl::OkStatus();
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonFormatUnknown,
                   "the definition of table " + definition.table_name() +
                       " has parts that this program does not know. Open the database with the program that "
                       "wrote it, or a newer one");
}

std::string EncodeCatalogNumber(std::string_view key, uint64_t number) {
  std::string payload;
  wire::AppendVarint(number, &payload);
  return EncodeRecord(kCatalogStorageId, key, 0, payload);
}

absl::StatusOr<uint64_t> DecodeCatalogNumber(std::string_view key, std::string_view record) {
  const std::optional<StoredRecord> decoded = DecodeRecord(kCatalogStorageId, key, record);
  uint64_t number = 0;
  if (std::string_view rest = decoded.has_value() ? decoded->payload : "";
      !wire::ConsumeVarint(&rest, &number))
    return DataLossError("the catalog record " + std::string(key) + " is damaged");
  return number;
}

std::string EncodeCatalogTable(const v1::TableDescription& definition) {
  return EncodeRecord(kCatalogStorageId, kTableKeyPrefix + definition.table_name(), 0,
                      definition.SerializeAsString());
}

std::string DeletedTableKey(uint64_t storage_id) { return kDeletedTableKeyPrefix + StorageIdKey(storage_id); }

std::string ScanSegmentKey(uint64_t storage_id, int32_t total_segments) {
  return kSegmentsKeyPrefix + StorageIdKey(storage_id) + SequenceKey(static_cast<uint64_t>(total_segments));
}

absl::StatusOr<std::vector<std::string>> ScanSegmentKeys(const ReadView& view, uint64_t storage_id) {
  std::vector<std::string> keys;
  const std::string prefix = kSegmentsKeyPrefix + StorageIdKey(storage_id);
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::unique_ptr<rocksdb::Iterator> it = view.store()->NewIterator(options, view.store()->catalog());
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next())
    keys.push_back(it->key().ToString());
  if (!it->status().ok())
    return view.store()->ReadError("cannot read which segments of scans are known", it->status());
  return keys;
}

int32_t ScanSegmentNumber(std::string_view key) {
  if (key.size() < 8) return 0;
  return static_cast<int32_t>(ParseSequenceKey(key.substr(key.size() - 8)).value_or(0));
}

}  // namespace itemdb::storage
