// Two daemons with the same history, one called over gRPC and one over HTTP. Every request goes to both, and
// both must give the same answer.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/http/raw_http_client.h"
#include "tests/processes/daemon_process.h"
#include "tests/processes/raw_client.h"
#include "tests/protocols/expected_answer.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::protocols {

// The intended differences between the two answers to a request. Any other difference is an error in one of
// the protocols.
//
// expected_answer.h handles three more differences: over HTTP messages about values begin with a count
// (SEM-115), HTTP returns more about tables (ARNs, times, zeros), and gRPC returns change sequences.
enum class Difference {
  kNone,
  // Over HTTP, violations of the bounds of the service's model are listed before storage is called. Over
  // gRPC, storage reports the first violation with its own text; for a statement of a batch, in the
  // statement's response (SEM-115).
  kBoundsFirst,
  // JSON can have an empty value where a message only has a missing field. Over HTTP it is refused, over gRPC
  // it counts as missing: expressions (SEM-019), placeholders (SEM-026), NextToken (OP-10).
  kEmptyIsSaid,
  // ConsistentRead of a global index is refused over HTTP only (SEM-038).
  kConsistentIndexRead,
  // A BatchGetItem reply over gRPC is shorter, unless the caller asks for more (SEM-043).
  kShorterReply,
};

struct Request {
  std::string operation;
  Json body;
  Difference difference = Difference::kNone;
};

class BothProtocols : public ::testing::Test {
 protected:
  // All tests of the suite use the same daemons, which have the tables of requests.h.
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void TearDown() override { RecordProperty("requests", succeeded_ + failed_); }

  // Sends each request to both daemons and compares the answers. Counts successes and failures, because a
  // list of requests that all succeed or all fail usually tests less than intended.
  void Expect(const std::vector<Request>& requests);
  // The common answer of both daemons, which must be a success.
  Json Succeed(const std::string& operation, const Json& body);

  int succeeded_ = 0, failed_ = 0;

 private:
  struct Daemons {
    testing::TemporaryDirectory grpc_directory, http_directory;
    e2e::DaemonProcess grpc_daemon{grpc_directory.path()};
    e2e::DaemonProcess http_daemon{http_directory.path()};
    std::unique_ptr<e2e::RawClient> grpc;
    std::unique_ptr<http::RawHttpClient> http;
  };

  // Sends the request to both daemons, compares the answers, and returns the answer over HTTP.
  Answer Ask(const Request& request);
  static Answer AskHttp(const std::string& operation, const Json& body);

  static std::unique_ptr<Daemons> daemons_;
};

}  // namespace itemdb::protocols
