// Helpers for tests that create and delete indexes on live tables.
#pragma once

#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <thread>

#include "tests/support/test_database.h"

namespace itemdb::testing {

inline absl::StatusOr<v1::UpdateTableReply> UpdateTable(storage::Database& database,
                                                        const v1::UpdateTableRequest& request) {
  return Await<v1::UpdateTableReply>([&](auto done) { database.UpdateTable(request, std::move(done)); });
}

// An UpdateTable request that creates an index with all attributes; `attributes` as in AddIndex.
inline v1::UpdateTableRequest CreateIndexRequest(const std::string& table, const std::string& index,
                                                 std::initializer_list<std::string> attributes,
                                                 int partition_count) {
  v1::CreateTableRequest with_index;
  AddIndex(&with_index, index, attributes, partition_count, v1::PROJECTION_TYPE_ALL);
  v1::UpdateTableRequest request;
  request.set_table_name(table);
  *request.mutable_attribute_definitions() = with_index.attribute_definitions();
  *request.add_global_secondary_index_creations() = with_index.global_secondary_indexes(0);
  return request;
}

inline v1::UpdateTableRequest DeleteIndexRequest(const std::string& table, const std::string& index) {
  v1::UpdateTableRequest request;
  request.set_table_name(table);
  request.add_global_secondary_index_deletions(index);
  return request;
}

// Waits until no index of `table` is CREATING, or the table does not exist; fails the test after five
// minutes.
inline void AwaitIndexes(storage::Database& database, const std::string& table) {
  v1::DescribeTableRequest request;
  request.set_table_name(table);
  absl::StatusOr<v1::DescribeTableReply> reply;
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  do {
    reply = database.DescribeTable(request);
    if (absl::IsNotFound(reply.status())) return;
    if (reply.ok() && reply->table().table_status() == v1::TABLE_STATUS_ACTIVE) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::steady_clock::now() < until);
  ADD_FAILURE() << "no ACTIVE index: " << (reply.ok() ? reply->DebugString() : reply.status().ToString());
}

// Waits until the files of index builds are removed, soon after an index is ACTIVE; false after a minute.
inline bool AwaitNoBuildFiles(const std::string& data_directory) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::filesystem::exists(data_directory + "/builds")) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace itemdb::testing
