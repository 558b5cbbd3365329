// Two daemons with the same history, one asked over gRPC and one over HTTP: every request goes to both, and
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

// How the answers to a request differ, and are meant to. What is not here is a mistake in one of the two.
//
// Beside these: texts about values are counted over HTTP (SEM-115), HTTP tells more about tables (ARNs,
// times, zeros) and gRPC more about order (change sequences); expected_answer.h knows them.
enum class Difference {
  kNone,
  // SEM-115: over HTTP what is out of the bounds of the service's model is listed before storage is asked;
  // over gRPC storage reports the first thing that is wrong, in words of its own, for a statement of a batch
  // in its response.
  kBoundsFirst,
  // SEM-019, SEM-026, OP-10: JSON can say "empty" where a message has nothing: over HTTP that is refused,
  // over gRPC it is as if it were left out.
  kEmptyIsSaid,
  // SEM-038: ConsistentRead of a global index is refused over HTTP only.
  kConsistentIndexRead,
  // SEM-043: a reply over gRPC is shorter unless its caller asks for more.
  kShorterReply,
};

struct Request {
  std::string operation;
  Json body;
  Difference difference = Difference::kNone;
};

class BothProtocols : public ::testing::Test {
 protected:
  // The daemons, with the tables of requests.h in them, serve all tests of the suite.
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void TearDown() override { RecordProperty("requests", succeeded_ + failed_); }

  // Asks both and compares. Counts what succeeded and what failed: a table of requests whose outcomes are
  // all of one kind mostly tests less than it says.
  void Expect(const std::vector<Request>& requests);
  // The answer that both gave, which must be a success.
  Json Succeed(const std::string& operation, const Json& body);

  int succeeded_ = 0, failed_ = 0;

 private:
  struct Daemons {
    testing::TemporaryDirectory grpc_directory, http_directory;
    e2e::DaemonProcess grpc_daemon{grpc_directory.path()};
    e2e::DaemonProcess http_daemon{http_directory.path()};
    std::unique_ptr<e2e::RawClient> grpc;
    std::unique_ptr<RawHttpClient> http;
  };

  // The answer over HTTP, when it is the one expected.
  Answer Ask(const Request& request);
  static Answer AskHttp(const std::string& operation, const Json& body);

  static std::unique_ptr<Daemons> daemons_;
};

}  // namespace itemdb::protocols
