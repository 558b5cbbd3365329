// Messages in the column family `catalog`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/commit/commit_group.h"
#include "storage/store/catalog_records.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

template <typename Message>
void PutCatalogMessage(const std::string& key, const Message& message, CommitGroup& group) {
  group.PutCatalog(key, EncodeRecord(kCatalogStorageId, key, 0, message.SerializeAsString()));
}

// Reads all records, in the order of their keys, whose keys begin with `prefix`.
template <typename Message>
absl::StatusOr<std::vector<Message>> ReadCatalogMessages(const ReadView& view, std::string_view prefix) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::vector<Message> messages;
  std::unique_ptr<rocksdb::Iterator> it = view.store()->NewIterator(options, view.store()->catalog());
  for (it->Seek(ToSlice(prefix)); it->Valid() && it->key().starts_with(ToSlice(prefix)); it->Next()) {
    const std::optional<Message> message =
        DecodeCatalogMessage<Message>(ToView(it->key()), ToView(it->value()));
    if (!message.has_value())
      return DataLossError("the catalog record " + it->key().ToString() + " is damaged");
    messages.push_back(*message);
  }
  if (!it->status().ok()) return view.store()->ReadError("cannot read the catalog", it->status());
  return messages;
}

// nullopt: there is no record `key`. DATA_LOSS: it does not decode; or the error of the store.
template <typename Message>
absl::StatusOr<std::optional<Message>> FindCatalogMessage(const ReadView& view, const std::string& key) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::string record;
  const rocksdb::Status status = view.store()->db()->Get(options, view.store()->catalog(), key, &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return view.store()->ReadError("cannot read the catalog", status);
  std::optional<Message> message = DecodeCatalogMessage<Message>(key, record);
  if (!message.has_value()) return DataLossError("the catalog record " + key + " is damaged");
  return message;
}

}  // namespace itemdb::storage
