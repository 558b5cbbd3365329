// A real itemd whose metrics a test follows: what a call moves is compared with everything that moved.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/http/raw_http_client.h"
#include "tests/processes/daemon_process.h"
#include "tests/processes/raw_client.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::metrics {

using Json = nlohmann::json;

// Series by their names on the page, labels included, and by how much they move.
using Series = std::map<std::string, double>;

// A call, and what it does to the counters beside those that every call moves (MeteredDaemon::Run).
struct Step {
  // "PutItem" over HTTP, "Data/PutItem" over gRPC.
  std::string operation;
  // JSON, or the text of a message. @NAME@ stands for what an earlier step has kept.
  std::string request;
  // The table that the call is counted for; empty: none.
  std::string table = "";
  // Why the call fails, as the label has it.
  std::string reason = "";
  // Items in the reply, if it counts them.
  int items = 0;
  // By short names (MeteredDaemon::NameOf): {"write Birds", 1}.
  std::map<std::string, double> moves = {};
  // A member of the reply that later steps use: NAME and JSON pointer.
  std::map<std::string, std::string> keeps = {};
  // Only repeats the call until a member of the reply has this value (JSON pointer, value), and looks at no
  // counter: for work in the background that must have ended.
  std::pair<std::string, std::string> until = {};
};

class MeteredDaemon : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> arguments);

  // Every series of the page whose movements depend on calls only.
  Series Scrape() const;
  // Makes the call and expects that exactly these moved: requests, bytes, failures and items of the operation
  // and of the table, and the moves of the step; and nothing else.
  void Run(const Step& step);
  void RunAll(const std::vector<Step>& steps) {
    for (const Step& step : steps) Run(step);
  }
  // Waits until the series have moved like this since the last call, and expects that no others have.
  void ExpectMoves(const Series& moves);
  // For calls that Run() does not make.
  void AddCall(const std::string& protocol, const Step& step, int64_t request_bytes, int64_t reply_bytes,
               Series* moves) const;
  // Forgets what moved before.
  void LookAgain();

  // The series that a short name stands for: "write Birds" or "write Birds.ByKind" for consumed units,
  // "items Birds", "bytes Birds", "indexes Birds", "expired Birds", "tables", "changes", "commits",
  // "refused commits", "streams", "watches"; any other name is a series.
  static std::vector<std::string> NamesOf(const std::string& short_name);

  // Sets what @NAME@ stands for in requests.
  void Keep(const std::string& name, const std::string& value) { kept_[name] = value; }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
  std::unique_ptr<e2e::RawClient> grpc_;
  std::unique_ptr<http::RawHttpClient> http_;
  // Lines for the requests of the metrics page.
  std::string scrape_headers_;

 private:
  struct Outcome {
    Json reply;
    std::string error;
    int64_t request_bytes = 0;
    int64_t reply_bytes = 0;
  };
  Outcome Call(const Step& step);
  std::string Filled(std::string request) const;

  Series before_;
  std::map<std::string, std::string> kept_;
};

}  // namespace itemdb::metrics
