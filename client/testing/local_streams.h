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

// The status as it arrives at a client.
absl::Status ForClient(const absl::Status& status);

// QueryStream, ScanStream: a page is read when it is asked for. `read` and `read_state` are Database's
// methods.
class LocalPageStream : public LocalDatabase::Stream {
 public:
  using ReadPage = void (Database::*)(const wire::PageRequest&, Done<Page>, CancellationPtr);
  using ReadStatePage = void (Database::*)(const HeldState&, const wire::PageRequest&, Done<Page>,
                                           CancellationPtr);

  LocalPageStream(Database& database, ReadPage read, ReadStatePage read_state)
      : database_(database), read_(read), read_state_(read_state) {}

  void Write(const std::string& message) override { decoded_ = request_.ParseFromString(message); }
  void WritesDone() override {}
  absl::StatusOr<std::optional<std::string>> Read() override;

 private:
  absl::StatusOr<Page> NextPage();

  Database& database_;
  const ReadPage read_;
  const ReadStatePage read_state_;
  wire::PageStreamRequest request_;
  std::shared_ptr<const HeldState> state_;
  bool decoded_ = false;
  bool last_ = false;
};

// BulkWrite: chunks are begun as they come.
class LocalBulkStream : public LocalDatabase::Stream {
 public:
  explicit LocalBulkStream(Database& database) : database_(database), writes_(database.BeginBulkWrite()) {}

  void Write(const std::string& message) override;
  void WritesDone() override { no_more_ = true; }
  absl::StatusOr<std::optional<std::string>> Read() override;

 private:
  Database& database_;
  std::shared_ptr<BulkWrites> writes_;
  std::deque<std::future<absl::StatusOr<wire::BulkWriteReply>>> replies_;
  bool no_more_ = false;
};

// Watch: a reply is waited for when it is asked for.
class LocalChangeStream : public LocalDatabase::Stream {
 public:
  explicit LocalChangeStream(Database& database) : database_(database) {}

  void Write(const std::string& message) override { decoded_ = request_.ParseFromString(message); }
  void WritesDone() override {}
  absl::StatusOr<std::optional<std::string>> Read() override;
  void Cancel() override { cancellation_->Cancel(); }

 private:
  Database& database_;
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  v1::WatchRequest request_;
  bool decoded_ = false;
  bool last_ = false;
};

}  // namespace itemdb::testing
