// The catalog's records of streams (itemdb.v1.Stream): one for every time that a table's stream was enabled,
// as long as changes of that time are in the log. They outlive the table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/changes.pb.h"
#include "storage/commit/commit_group.h"
#include "storage/store/read_view.h"

namespace itemdb {

// Nothing when there is no such stream. DATA_LOSS.
absl::StatusOr<std::optional<v1::Stream>> FindStream(const ReadView& view, std::string_view table_name,
                                                     std::string_view label);
// Up to `at_most` streams in the order of table names and labels, of the table `table_name` alone unless that
// is empty; those behind the stream `after_table`, `after_label` unless that is empty. DATA_LOSS.
struct StreamsAsked {
  std::string table_name = {};
  std::string after_table = {};
  std::string after_label = {};
  size_t at_most = SIZE_MAX;
};
absl::StatusOr<std::vector<v1::Stream>> FindStreams(const ReadView& view, const StreamsAsked& asked);
// Removes the record of `stream`.
void ForgetStream(const v1::Stream& stream, CommitGroup& group);

// What a change of a table's definition does to its streams (SEM-098).
class StreamChange {
 public:
  // `before` and `after` are the definition, null for a table that is created or deleted. Gives `*after` a
  // label of its own when it enables the stream. On the definitions thread.
  static absl::StatusOr<StreamChange> Prepare(const ReadView& view, const v1::TableDescription* before,
                                              v1::TableDescription* after);
  // Adds it to the group, before the change record that says so.
  void Append(CommitGroup& group) const;

 private:
  std::optional<v1::Stream> disabled_;
  std::optional<v1::Stream> enabled_;
};

}  // namespace itemdb
