// A reader that watches the change log of a TestDatabase.
#pragma once

#include <string>
#include <vector>

#include "tests/storage/database/requests.h"

namespace itemdb::testing {

// Each Next() continues where the one before ended, also after Reopen().
class Watcher {
 public:
  explicit Watcher(TestDatabase& database, const std::string& table = "") : database_(database) {
    request_.set_table_name(table);
    request_.set_progress_interval_ms(20);
  }

  v1::WatchRequest& request() { return request_; }
  // Whether the last reply was the last of the stream.
  bool ended() const { return ended_; }

  absl::StatusOr<v1::WatchReply> Next(CancellationPtr cancellation = nullptr) {
    auto page = Await<WatchPage>(
        [&](auto done) { database_->WatchChanges(request_, std::move(done), std::move(cancellation)); });
    if (!page.ok()) return page.status();
    v1::WatchReply reply;
    EXPECT_TRUE(reply.ParseFromString(page->reply.SerializeAsString() + page->encoded_records));
    request_.set_after_sequence(reply.change_sequence());
    request_.set_table_storage_id(reply.table_storage_id());
    ended_ = page->last;
    return reply;
  }

  // Reads all records up to `sequence`; an error fails the test.
  std::vector<v1::ChangeRecord> ReadThrough(uint64_t sequence) {
    std::vector<v1::ChangeRecord> records;
    while (request_.after_sequence() < sequence && !ended_) {
      auto reply = Next();
      EXPECT_TRUE(reply.ok()) << reply.status();
      if (!reply.ok()) break;
      records.insert(records.end(), reply->records().begin(), reply->records().end());
    }
    return records;
  }

 private:
  TestDatabase& database_;
  v1::WatchRequest request_;
  bool ended_ = false;
};

}  // namespace itemdb::testing
