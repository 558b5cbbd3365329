#include "storage/changes/change_record.h"

#include "storage/values/wire.h"

namespace itemdb::storage {

std::string EncodeItemChange(const Table& table, const ItemChange& change) {
  using Record = v1::ChangeRecord;
  v1::StreamViewType view = table.definition.stream_view_type();
  v1::ChangeKind kind = !change.old_item.has_value()   ? v1::CHANGE_KIND_INSERT
                        : !change.new_item.has_value() ? v1::CHANGE_KIND_REMOVE
                                                       : v1::CHANGE_KIND_MODIFY;
  std::string record;
  wire::AppendVarintField(Record::kChangeSequenceFieldNumber, change.change_sequence, &record);
  wire::AppendVarintField(Record::kCommitTimeUsFieldNumber, change.commit_time_us, &record);
  wire::AppendVarintField(Record::kTableStorageIdFieldNumber, table.storage_id, &record);
  wire::AppendVarintField(Record::kKindFieldNumber, kind, &record);
  ItemView item(change.new_item.has_value() ? *change.new_item : *change.old_item);
  wire::AppendBytesField(Record::kKeyFieldNumber, ExtractPrimaryKey(table, item), &record);
  bool with_old = view == v1::STREAM_VIEW_TYPE_OLD_IMAGE || view == v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES;
  bool with_new = view == v1::STREAM_VIEW_TYPE_NEW_IMAGE || view == v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES;
  if (with_old && change.old_item.has_value() && !change.discarded) {
    wire::AppendBytesField(Record::kOldImageFieldNumber, *change.old_item, &record);
  }
  if (with_new && change.new_item.has_value()) {
    wire::AppendBytesField(Record::kNewImageFieldNumber, *change.new_item, &record);
  }
  wire::AppendVarintField(Record::kCommitFirstSequenceFieldNumber, change.commit_first_sequence, &record);
  wire::AppendVarintField(Record::kCommitLastSequenceFieldNumber, change.commit_last_sequence, &record);
  if (change.expired) wire::AppendVarintField(Record::kExpiredFieldNumber, 1, &record);
  if (change.discarded) wire::AppendVarintField(Record::kDiscardedFieldNumber, 1, &record);
  return record;
}

std::optional<ChangeView> ViewChange(std::string_view record) {
  using Record = v1::ChangeRecord;
  ChangeView view;
  wire::Field field;
  while (!record.empty()) {
    if (!wire::ConsumeField(&record, &field)) return std::nullopt;
    switch (field.number) {
      case Record::kChangeSequenceFieldNumber:
        view.change_sequence = field.varint;
        break;
      case Record::kCommitTimeUsFieldNumber:
        view.commit_time_us = static_cast<int64_t>(field.varint);
        break;
      case Record::kTableStorageIdFieldNumber:
        view.table_storage_id = field.varint;
        break;
      case Record::kKindFieldNumber:
        view.kind = static_cast<v1::ChangeKind>(field.varint);
        break;
      case Record::kKeyFieldNumber:
        view.key = field.bytes;
        break;
      case Record::kOldImageFieldNumber:
        view.old_image = field.bytes;
        break;
      case Record::kNewImageFieldNumber:
        view.new_image = field.bytes;
        break;
      case Record::kCommitFirstSequenceFieldNumber:
        view.commit_first_sequence = field.varint;
        break;
      case Record::kCommitLastSequenceFieldNumber:
        view.commit_last_sequence = field.varint;
        break;
      case Record::kExpiredFieldNumber:
        view.expired = field.varint != 0;
        break;
      case Record::kDiscardedFieldNumber:
        view.discarded = field.varint != 0;
        break;
    }
  }
  return view;
}

}  // namespace itemdb::storage
