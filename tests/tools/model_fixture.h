// The real daemon without tables, and a model folder; shared by the tests of `itemctl model`.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {

// One table with one index.
inline constexpr char kTable[] = R"({
  "TableName": "shelf",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"},
                           {"AttributeName": "kind", "AttributeType": "S"}],
  "GlobalSecondaryIndexes": [{"IndexName": "ByKind",
                              "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
                              "Projection": {"ProjectionType": "ALL"}}],
  "BillingMode": "PAY_PER_REQUEST"
})";
inline constexpr char kItems[] = R"({"id": {"S": "a"}, "kind": {"S": "x"}}

{"id": {"S": "b"}, "kind": {"S": "x"}}
)";

// `text` with the first `what` replaced by `by`.
inline std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

class Model : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
    std::filesystem::create_directory(folder());
    Write("shelf.table.json", kTable);
    Write("shelf.items.jsonl", kItems);
  }

  std::string folder() const { return directory_.path() + "/model"; }

  void Write(const std::string& file, const std::string& content) {
    std::ofstream(folder() + "/" + file) << content;
  }

  Outcome Call(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint()});
    return RunTool(std::move(arguments), input);
  }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

}  // namespace itemdb::tools
