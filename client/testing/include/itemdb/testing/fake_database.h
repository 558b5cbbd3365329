// A whole database inside a test: the daemon's own storage code in this process, behind a real
// itemdb::Client, without sockets or another process. What a test sees is what itemd would answer:
// conditions, indexes, transactions, limits, errors, the change log. On request calls fail as they do on a
// bad day, so that a program's handling of it can be tested.
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
// Link itemdb::testing. For tests only: the data lies in a temporary directory that is removed at the end.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "itemdb/client.h"

namespace itemdb::testing {

// How a call fails.
enum class Fault {
  // Nothing happens, and the caller is told so: UNAVAILABLE, as when the daemon is starting or stopping.
  kUnavailable,
  // Nothing happens, and the caller is told to come back in 1 ms: RESOURCE_EXHAUSTED, reason QUEUE_FULL.
  kQueueFull,
  // The connection is lost before the call has arrived: nothing happens, but nobody can tell. Reads
  // UNAVAILABLE,
  // writes UNKNOWN with reason WRITE_OUTCOME_UNKNOWN.
  kLostRequest,
  // The connection is lost before the reply: the call is carried out, and the caller is told as with
  // kLostRequest.
  kLostReply,
};

struct FaultPlan {
  // Of the calls that come next, and match, so many fail. Each attempt of a retried call counts.
  int calls = 1;
  Fault fault = Fault::kUnavailable;
  // Only calls of this name, such as "PutItem", "GetItem" or "CreateTable". Default: all.
  std::string operation = "";
};

// Thread-safe. Its clients may outlive it: the data goes when the last of them does.
class FakeDatabase {
 public:
  // Makes an empty database. Blocks for about a tenth of a second. As Client::Open, and INTERNAL or
  // RESOURCE_EXHAUSTED when no temporary directory ($TMPDIR, else /tmp) can be made or filled.
  static absl::StatusOr<std::unique_ptr<FakeDatabase>> Open();
  ~FakeDatabase();
  FakeDatabase(const FakeDatabase&) = delete;
  FakeDatabase& operator=(const FakeDatabase&) = delete;

  // A client of this database. `options.timeout` and `options.retry` count, and must be allowed
  // (Client::Open); endpoint, TLS and metadata do not. Its callbacks run on one thread, one at a time.
  Client NewClient(ClientOptions options = {}) const;

  // Plans stand in line: each call is given to the first one that matches and is not used up.
  void FailNext(FaultPlan plan);
  // Every call waits so long before it is carried out, from now on. Default: not at all. A deadline that
  // passes meanwhile, or cancellation, ends it as it ends a call to a slow daemon.
  void DelayCalls(absl::Duration delay);
  // Attempts that came in so far, failed ones too, of an operation such as "PutItem", or of all when it is
  // empty.
  int calls(const std::string& operation = "") const;

 private:
  struct State;
  class Transport;

  explicit FakeDatabase(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace itemdb::testing
