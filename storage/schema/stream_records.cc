#include "storage/schema/stream_records.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "storage/base/wall_clock.h"
#include "storage/store/catalog_records.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

// Unambiguous: neither a table name nor a label contains a slash.
std::string StreamKey(std::string_view table_name, std::string_view label) {
  return absl::StrCat(kStreamKeyPrefix, std::string(table_name), "/", std::string(label));
}

std::string EncodeStream(const v1::Stream& stream) {
  const std::string key = StreamKey(stream.table_name(), stream.stream_label());
  return EncodeRecord(kCatalogStorageId, key, 0, stream.SerializeAsString());
}

absl::StatusOr<v1::Stream> DecodeStream(std::string_view key, std::string_view record) {
  std::optional<StoredRecord> stored = DecodeRecord(kCatalogStorageId, key, record);
  v1::Stream stream;
  if (!stored.has_value() ||
      !stream.ParseFromArray(stored->payload.data(), static_cast<int>(stored->payload.size())))
    return DataLossError(absl::StrCat("the catalog record ", std::string(key), " is damaged"));
  return stream;
}

// A label is a readable time, and sorts as text by time.
std::string LabelOf(int64_t time_ms) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3S", absl::FromUnixMillis(time_ms), absl::UTCTimeZone());
}

}  // namespace

absl::StatusOr<std::optional<v1::Stream>> FindStream(const ReadView& view, std::string_view table_name,
                                                     std::string_view label) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  const std::string key = StreamKey(table_name, label);
  std::string record;
  rocksdb::Status status = view.store()->db()->Get(options, view.store()->catalog(), key, &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return view.store()->ReadError("cannot read the catalog", status);
  ITEMDB_ASSIGN_OR_RETURN(v1::Stream stream, DecodeStream(key, record));
  return stream;
}

absl::StatusOr<std::vector<v1::Stream>> FindStreams(const ReadView& view, const StreamFilter& filter) {
  const std::string prefix =
      filter.table_name.empty() ? std::string(kStreamKeyPrefix) : StreamKey(filter.table_name, "");
  std::string from = prefix;
  // The first possible key after the stream `after_table`, `after_label`, but not before the prefix.
  if (!filter.after_table.empty())
    from = std::max(from, StreamKey(filter.after_table, filter.after_label) + '\0');
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::vector<v1::Stream> streams;
  std::unique_ptr<rocksdb::Iterator> it = view.store()->NewIterator(options, view.store()->catalog());
  for (it->Seek(from); it->Valid() && it->key().starts_with(prefix) && streams.size() < filter.at_most;
       it->Next()) {
    ITEMDB_ASSIGN_OR_RETURN(v1::Stream stream, DecodeStream(ToView(it->key()), ToView(it->value())));
    streams.push_back(std::move(stream));
  }
  if (!it->status().ok()) return view.store()->ReadError("cannot read the catalog", it->status());
  return streams;
}

void DeleteStream(const v1::Stream& stream, CommitGroup& group) {
  group.DeleteCatalog(StreamKey(stream.table_name(), stream.stream_label()));
}

absl::StatusOr<StreamChange> StreamChange::Prepare(const ReadView& view, const v1::TableDescription* before,
                                                   v1::TableDescription* after) {
  StreamChange change;
  const bool was = before != nullptr && before->stream_enabled();
  const bool is = after != nullptr && after->stream_enabled();
  if (was && !is) {
    ITEMDB_ASSIGN_OR_RETURN(change.disabled_,
                            FindStream(view, before->table_name(), before->latest_stream_label()));
  }
  if (!was && is) {
    int64_t time_ms = NowMillis();
    // Each label of a table must be new, also within one millisecond or after the clock was set back.
    ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::Stream> streams,
                            FindStreams(view, {.table_name = after->table_name()}));
    for (const v1::Stream& stream : streams) time_ms = std::max(time_ms, stream.creation_time_ms() + 1);
    after->set_latest_stream_label(LabelOf(time_ms));
    v1::Stream& stream = change.enabled_.emplace();
    stream.set_table_name(after->table_name());
    stream.set_stream_label(after->latest_stream_label());
    stream.set_table_storage_id(after->storage_id());
    stream.set_stream_view_type(after->stream_view_type());
    *stream.mutable_key_schema() = after->key_schema();
    stream.set_creation_time_ms(time_ms);
  }
  return change;
}

void StreamChange::Append(CommitGroup& group) const {
  auto put = [&group](const v1::Stream& stream) {
    group.PutCatalog(StreamKey(stream.table_name(), stream.stream_label()), EncodeStream(stream));
  };
  if (disabled_.has_value()) {
    v1::Stream stream = *disabled_;
    stream.set_disabled_sequence(group.next_sequence());
    put(stream);
  }
  if (enabled_.has_value()) {
    v1::Stream stream = *enabled_;
    stream.set_enabled_sequence(group.next_sequence());
    put(stream);
  }
}

}  // namespace itemdb::storage
