// The streams of LocalDatabase.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "client/testing/local_database.h"
#include "storage/database.h"

namespace itemdb::testing {

// `status` with the payload that a client expects.
absl::Status ForClient(const absl::Status& status);

// QueryStream and ScanStream: each Read reads one page. `read` and `read_state` are methods of Database.
class LocalPageStream : public LocalDatabase::Stream {
 public:
  using ReadPage = void (storage::Database::*)(const wire::PageRequest&, storage::Done<storage::Page>,
                                               storage::CancellationPtr);
  using ReadStatePage = void (storage::Database::*)(const storage::PinnedSnapshot&, const wire::PageRequest&,
                                                    storage::Done<storage::Page>, storage::CancellationPtr);

  LocalPageStream(storage::Database& database, ReadPage read, ReadStatePage read_state)
      : database_(database), read_(read), read_state_(read_state) {}

  void Write(const std::string& message) override { decoded_ = request_.ParseFromString(message); }
  void WritesDone() override {}
  absl::StatusOr<std::optional<std::string>> Read() override;

 private:
  absl::StatusOr<storage::Page> NextPage();

  storage::Database& database_;
  const ReadPage read_;
  const ReadStatePage read_state_;
  wire::PageStreamRequest request_;
  std::shared_ptr<const storage::PinnedSnapshot> state_;
  bool decoded_ = false;
  bool last_ = false;
};

// BulkWrite: Write starts a chunk, Read waits for the reply to the oldest one.
class LocalBulkStream : public LocalDatabase::Stream {
 public:
  explicit LocalBulkStream(storage::Database& database)
      : database_(database), writes_(database.BeginBulkWrite()) {}

  void Write(const std::string& message) override;
  void WritesDone() override { no_more_ = true; }
  absl::StatusOr<std::optional<std::string>> Read() override;

 private:
  storage::Database& database_;
  std::shared_ptr<storage::BulkWrites> writes_;
  std::deque<std::future<absl::StatusOr<wire::BulkWriteReply>>> replies_;
  bool no_more_ = false;
};

// Watch: each Read waits for one reply.
class LocalChangeStream : public LocalDatabase::Stream {
 public:
  explicit LocalChangeStream(storage::Database& database) : database_(database) {}

  void Write(const std::string& message) override { decoded_ = request_.ParseFromString(message); }
  void WritesDone() override {}
  absl::StatusOr<std::optional<std::string>> Read() override;
  void Cancel() override { cancellation_->Cancel(); }

 private:
  storage::Database& database_;
  const std::shared_ptr<storage::Cancellation> cancellation_ = std::make_shared<storage::Cancellation>();
  v1::WatchRequest request_;
  bool decoded_ = false;
  bool last_ = false;
};

}  // namespace itemdb::testing
