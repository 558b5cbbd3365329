#include "tests/tools/real_daemon.h"
#include "tests/support/paths.h"

#include <filesystem>
#include <fstream>

namespace itemdb::tools {

const char kBooksDocument[] = R"({
  "TableName": "books",
  "KeySchema": [{ "AttributeName": "isbn", "KeyType": "HASH" }],
  "AttributeDefinitions": [{ "AttributeName": "isbn", "AttributeType": "S" }],
  "BillingMode": "PAY_PER_REQUEST"
})";

namespace {

constexpr char kMusicDocument[] = R"({
  "TableName": "music",
  "KeySchema": [{ "AttributeName": "artist", "KeyType": "HASH" }, { "AttributeName": "song", "KeyType": "RANGE" }],
  "AttributeDefinitions": [{ "AttributeName": "artist", "AttributeType": "S" },
                           { "AttributeName": "song", "AttributeType": "S" }],
  "BillingMode": "PAY_PER_REQUEST"
})";

}  // namespace

RealDaemon::RealDaemon() {
  std::filesystem::create_directories(directory() + "/exports/library");
  const absl::Status started = daemon_.Start(
      {"--audit-log", directory() + "/audit.jsonl", "--export-directory", directory() + "/exports"});
  EXPECT_TRUE(started.ok()) << started;
  std::ofstream(directory() + "/books.json") << kBooksDocument;
  std::filesystem::create_directory(directory() + "/music-files");
  std::ofstream(directory() + "/music-files/music.jsonl")
      << R"({"artist": "Bach", "song": "Air", "rating": 4})" << '\n'
      << R"({"artist": "Bach", "song": "Badinerie"})" << '\n';
  std::filesystem::create_directory_symlink(testing::SourcePath("examples"), directory() + "/examples");
  const std::vector<std::pair<std::vector<std::string>, std::string>> steps = {
      {{"order-entry", "load"}, ""},
      {{"table", "create", "-f", "-"}, kMusicDocument},
      {{"item", "put", "music", R"({"artist": "Bach", "song": "Air", "rating": 5, "plays": 7})"}, ""},
      {{"item", "put", "music", R"({"artist": "Nina Simone", "song": "Sinnerman", "year": 1965})"}, ""}};
  for (const auto& [arguments, input] : steps) {
    const Outcome outcome = Call(arguments, input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
}

Outcome RealDaemon::Call(std::vector<std::string> arguments, const std::string& input) const {
  if (arguments.empty() || arguments.front() != "--endpoint") {
    arguments.insert(arguments.begin(), {"--endpoint", endpoint()});
  }
  return RunTool(std::move(arguments), input);
}

}  // namespace itemdb::tools
