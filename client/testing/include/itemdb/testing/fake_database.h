// A whole database inside a test: the daemon's own storage code in this process, behind a real
// itemdb::Client, without sockets or another process. Calls return what itemd would return: conditions,
// indexes, transactions, limits, errors, the change log. A test can also make calls fail as they fail when a
// daemon is unreachable or overloaded, to test how a program handles the error.
//
//   #include <itemdb/testing/fake_database.h>
//
//   TEST(Shop, ReservesStockAfterTheDatabaseWasAway) {
//     std::unique_ptr<itemdb::testing::FakeDatabase> database = *itemdb::testing::FakeDatabase::Open();
//     itemdb::Client client = database->NewClient();
//     CreateShopTables(client);
//     database->FailNext({.calls = 2, .fault = itemdb::testing::Fault::kUnavailable});
//     EXPECT_TRUE(ReserveStock(client, "prod_100", 3).ok());
//     EXPECT_EQ(database->calls("UpdateItem"), 3);
//   }
//
// Link itemdb::testing. For tests only: the data is in a temporary directory that is removed at the end.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "itemdb/client.h"

namespace itemdb::testing {

// How a call fails.
enum class Fault {
  // The call is not executed. The client gets UNAVAILABLE, as when the daemon is starting or stopping.
  kUnavailable,
  // The call is not executed. The client gets RESOURCE_EXHAUSTED, reason QUEUE_FULL, retry after 1 ms.
  kQueueFull,
  // The connection is lost before the call arrives: the call is not executed, but the client cannot know
  // that. A read gets UNAVAILABLE, a write UNKNOWN with reason WRITE_OUTCOME_UNKNOWN.
  kLostRequest,
  // The connection is lost before the reply: the call is executed, and the client gets the same status as
  // with kLostRequest.
  kLostReply,
};

struct FaultPlan {
  // How many of the next matching calls fail. Each attempt of a retried call counts.
  int calls = 1;
  Fault fault = Fault::kUnavailable;
  // Only calls of this operation, such as "PutItem", "GetItem" or "CreateTable". Default: all.
  std::string operation = "";
};

// Thread-safe. Clients may outlive the FakeDatabase; the data is removed when the last client is destroyed.
class FakeDatabase {
 public:
  // Makes an empty database. Blocks for about a tenth of a second. Errors as of Client::Open; also INTERNAL
  // or RESOURCE_EXHAUSTED when no temporary directory ($TMPDIR, else /tmp) can be made or written to.
  static absl::StatusOr<std::unique_ptr<FakeDatabase>> Open();
  ~FakeDatabase();
  FakeDatabase(const FakeDatabase&) = delete;
  FakeDatabase& operator=(const FakeDatabase&) = delete;

  // A client of this database. Uses `options.timeout` and `options.retry`, which must be valid
  // (Client::Open); ignores endpoint, TLS and metadata. Callbacks run on one thread, one at a time.
  Client NewClient(ClientOptions options = {}) const;

  // Adds a plan to a queue. Each call takes its fault from the first plan that matches and is not used up.
  void FailNext(FaultPlan plan);
  // From now on every call waits this long before it is executed. Default: no delay. A deadline that passes
  // during the delay, or a cancellation, ends the call as it ends a call to a slow daemon.
  void DelayCalls(absl::Duration delay);
  // The number of attempts so far, including failed ones, of an operation such as "PutItem"; of all
  // operations when the name is empty.
  int calls(const std::string& operation = "") const;

 private:
  struct State;
  class Transport;

  explicit FakeDatabase(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace itemdb::testing
