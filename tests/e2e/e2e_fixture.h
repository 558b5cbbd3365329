// The fixture of all end-to-end tests: itemd on an empty directory, itemctl as a process, the client library.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "itemdb/client.h"
#include "tests/processes/child_process.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::e2e {

using Json = nlohmann::json;

// A small --memory, and the resident memory that a daemon with it may have under pressure.
inline constexpr int kSmallMemoryMib = 128;
#ifdef ITEMDB_ADDRESS_SANITIZER
// The sanitizer delays freeing memory, and needs shadow memory.
inline constexpr int kMaxRssMib = 16 * 1024;
#else
inline constexpr int kMaxRssMib = kSmallMemoryMib + 256;
#endif

class E2eTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  void TearDown() override {
    if (HasFailure()) std::fprintf(stderr, "itemd logged:\n%s", daemon_.log().c_str());
  }

  // Runs itemctl with the daemon's endpoint, unless `arguments` begin with --endpoint.
  CommandResult Itemctl(std::vector<std::string> arguments, const std::string& input = "") const;

  // The documents that itemctl prints, one a line (`-o jsonl`). The test fails unless itemctl succeeds.
  std::vector<Json> Lines(const std::vector<std::string>& arguments, const std::string& input = "") const {
    const CommandResult result = Itemctl(arguments, input);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return ParseLines(result.out);
  }

  // The same for a command that prints exactly one document.
  Json Document(const std::vector<std::string>& arguments, const std::string& input = "") const {
    std::vector<Json> lines = Lines(arguments, input);
    EXPECT_EQ(lines.size(), 1u);
    return lines.empty() ? Json() : lines.front();
  }

  static std::vector<Json> ParseLines(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      lines.push_back(Json::parse(line, nullptr, false));
      EXPECT_FALSE(lines.back().is_discarded()) << line;
    }
    return lines;
  }

  // A new client of the daemon at its current address.
  Client OpenClient() const {
    absl::StatusOr<Client> client = Client::Open({.endpoint = daemon_.endpoint()});
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

  // The sequence of the last change.
  uint64_t ChangeSequence() const {
    Client client = OpenClient();
    absl::StatusOr<DaemonStatus> status = client.GetStatus();
    EXPECT_TRUE(status.ok()) << status.status();
    return status.ok() ? status->change_sequence : 0;
  }

  // Kills itemd and starts it on the same data.
  void KillAndRestart() {
    daemon_.Kill();
    absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  // The highest resident memory of itemd since its start, in MiB.
  int HighestRssMib() const {
    std::ifstream status("/proc/" + std::to_string(daemon_.pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::atoi(line.c_str() + 6) / 1024;
    }
    return 0;
  }

  void LoadOrderEntry() { ASSERT_EQ(Itemctl({"order-entry", "load"}).exit_code, 0); }

  // Expects that items, index entries and change log agree.
  void ExpectCheckIsClean() const {
    const CommandResult check = Itemctl({"check"});
    EXPECT_EQ(check.exit_code, 0) << check.err << check.out;
  }

  testing::TemporaryDirectory directory_;
  DaemonProcess daemon_{directory_.path()};
};

}  // namespace itemdb::e2e
