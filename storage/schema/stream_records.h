// The catalog's records of streams (itemdb.v1.Stream). There is one for each time that a table's stream was
// enabled, until the changes of that time are trimmed from the change log. A record may outlive its table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/changes.pb.h"
#include "storage/commit/commit_group.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

// nullopt: there is no such stream. DATA_LOSS: the record does not decode.
absl::StatusOr<std::optional<v1::Stream>> FindStream(const ReadView& view, std::string_view table_name,
                                                     std::string_view label);
struct StreamFilter {
  // Only streams of this table; empty: of all tables.
  std::string table_name = {};
  // Only streams after this one; empty: from the first one on.
  std::string after_table = {};
  std::string after_label = {};
  size_t at_most = SIZE_MAX;
};
// At most `filter.at_most` streams, ordered by table name, then label. DATA_LOSS: a record does not decode.
absl::StatusOr<std::vector<v1::Stream>> FindStreams(const ReadView& view, const StreamFilter& filter);
// Deletes the record of `stream`.
void DeleteStream(const v1::Stream& stream, CommitGroup& group);

// The change of stream records that belongs to a change of a table's definition. Each enabling makes a new
// stream with a label of its own (SEM-098).
class StreamChange {
 public:
  // `before` is null for a new table, `after` for a deleted one. When the change enables the stream, sets a
  // new stream label in `*after`. Only on the DDL thread. DATA_LOSS: a record does not decode.
  static absl::StatusOr<StreamChange> Prepare(const ReadView& view, const v1::TableDescription* before,
                                              v1::TableDescription* after);
  // Appends the stream records to `group`. Must be called before the change record of the table is appended.
  void Append(CommitGroup& group) const;

 private:
  std::optional<v1::Stream> disabled_;
  std::optional<v1::Stream> enabled_;
};

}  // namespace itemdb::storage
