// --regions-apart: each region has tables of its own over HTTP, as in DynamoDB Local without -sharedDb.
//
// A region, and with access keys each key in it, has a database of its own in the data directory:
//
//   regions/REGION/all        without access keys
//   regions/REGION/key-ID     with them
//
// So names and ARNs, streams, backups and exports of a region agree with each other, and nothing translates
// them. The region is that of the Authorization header's credential scope. The region `local`, and requests
// without the header, have the main database, which gRPC, the console and metrics see.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "daemon/http/api/http_handler.h"
#include "storage/base/background_thread.h"
#include "storage/base/mutex.h"
#include "storage/database.h"

namespace itemdb::daemon {

// Thread-safe.
class RegionalHandler final : public http::HttpHandler {
 public:
  // Opens the database in the directory regions/NAME of the data directory. Blocks on disk.
  using OpenRegion =
      std::function<absl::StatusOr<std::unique_ptr<storage::Database>>(const std::string& name)>;
  using MakeHandler = std::function<std::unique_ptr<http::HttpHandler>(storage::Database& database)>;

  // `main` answers for the main database. The other databases are opened when they are first asked for, by a
  // thread, with `open`, and stay open.
  RegionalHandler(std::unique_ptr<http::HttpHandler> main, OpenRegion open, MakeHandler make_handler);
  // All calls must have been answered.
  ~RegionalHandler() override;

  std::optional<http::HttpOperation> Find(std::string_view target) const override {
    return main_->Find(target);
  }
  // UnrecognizedClientException: the region is no name of a region. LimitExceededException: there are 32
  // databases already. The errors of opening.
  void Answer(const http::HttpOperation& operation, std::string body, Caller caller,
              storage::CancellationPtr cancellation,
              absl::AnyInvocable<void(http::JsonReply) &&> done) override;

 private:
  struct Region {
    // Null: it is not open yet.
    std::unique_ptr<storage::Database> database;
    std::unique_ptr<http::HttpHandler> handler;
  };
  struct Waiting {
    std::string name;
    http::HttpOperation operation;
    std::string body;
    Caller caller;
    storage::CancellationPtr cancellation;
    absl::AnyInvocable<void(http::JsonReply) &&> done;
  };

  void OpenRegions();
  // Of an open database. An error: it cannot be opened.
  absl::StatusOr<http::HttpHandler*> HandlerOf(const std::string& name);

  const std::unique_ptr<http::HttpHandler> main_;
  const OpenRegion open_;
  const MakeHandler make_handler_;
  storage::Mutex mutex_;
  std::map<std::string, Region, std::less<>> regions_ ABSL_GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  storage::BackgroundThread opener_;
};

}  // namespace itemdb::daemon
