// Files of a stopped database that are damaged: bytes flipped, ends cut, blocks swapped, files removed.
//
// The damage is done to a copy. itemd must refuse to start on it with a message, or answer every read right,
// or answer DATA_LOSS. An answer that is wrong, and an acknowledged write that is missing without an error,
// fail the round.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/torture/failures.h"
#include "tests/torture/faults.h"

namespace itemdb::torture {
namespace {

namespace fs = std::filesystem;

void WriteFile(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Files that hold the database's data, in a fixed order.
std::vector<fs::path> DataFiles(const fs::path& data) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || entry.file_size() == 0 || name == "LOCK" || name == "BALLAST" ||
        name == "IDENTITY" || name.starts_with("LOG") || name.starts_with("OPTIONS"))
      continue;
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Damages one file. Returns what was done.
std::string Damage(Session& session, const fs::path& data) {
  const std::vector<fs::path> files = DataFiles(data);
  if (files.empty()) return "";
  const fs::path& file = files[static_cast<size_t>(session.Pick(0, static_cast<int64_t>(files.size()) - 1))];
  std::string bytes = testing::ReadFile(file.string());
  const auto size = static_cast<int64_t>(bytes.size());
  const std::string name = file.filename().string();
  switch (session.Pick(0, 4)) {
    case 0: {
      const auto at = static_cast<size_t>(session.Pick(0, size - 1));
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << session.Pick(0, 7)));
      WriteFile(file, bytes);
      return "bit flipped at " + std::to_string(at) + " of " + name;
    }
    case 1: {
      const int64_t left = session.Pick(0, size - 1);
      fs::resize_file(file, static_cast<uint64_t>(left));
      return "cut to " + std::to_string(left) + " of " + std::to_string(size) + " bytes: " + name;
    }
    case 2: {
      const auto at = static_cast<size_t>(session.Pick(0, size - 1));
      const size_t length = std::min<size_t>(static_cast<size_t>(session.Pick(1, 4'096)), bytes.size() - at);
      std::fill_n(bytes.begin() + static_cast<int64_t>(at), length, '\0');
      WriteFile(file, bytes);
      return std::to_string(length) + " bytes zeroed at " + std::to_string(at) + " of " + name;
    }
    case 3: {
      const int64_t block = session.Chance(50) ? 4'096 : 512;
      if (size < 2 * block) return "";
      const int64_t a = session.Pick(0, size / block - 1) * block;
      const int64_t b = session.Pick(0, size / block - 1) * block;
      if (a == b) return "";
      std::swap_ranges(bytes.begin() + a, bytes.begin() + a + block, bytes.begin() + b);
      WriteFile(file, bytes);
      return "blocks at " + std::to_string(a) + " and " + std::to_string(b) + " swapped in " + name;
    }
    default:
      fs::remove(file);
      return "removed: " + name;
  }
}

bool IsKnownDamage(const absl::Status& status) {
  // Background errors of damaged files close the store, and reads fail until it is open again.
  return absl::IsDataLoss(status) || absl::IsUnavailable(status);
}

enum class Verdict { kRight, kDataLoss };

// Reads everything on the damaged copy and compares with `expected`, what the undamaged database answers.
Verdict CompareReads(Client& client, const std::map<std::string, Item>& expected, const std::string& damage) {
  Verdict verdict = Verdict::kRight;
  const auto allow = [&](const absl::Status& status) {
    EXPECT_TRUE(IsKnownDamage(status)) << damage << ": " << status;
    verdict = Verdict::kDataLoss;
  };
  for (const auto& [id, item] : expected) {
    const auto got = client.GetItem({.table_name = e2e::kLedgerTable, .key = e2e::LedgerKey(id)},
                                    {.retry = RetryOptions{.max_attempts = 1}});
    if (!got.ok()) {
      allow(got.status());
      continue;
    }
    EXPECT_EQ(got->item, item) << damage << ": a silent wrong answer for " << id;
    if (HasFailed()) return verdict;
  }
  for (const char* index : {"", e2e::kLedgerByVersion}) {
    const auto all = client.ScanAll({.table_name = e2e::kLedgerTable, .index_name = index}).ToVector();
    if (!all.ok()) {
      allow(all.status());
      continue;
    }
    std::map<std::string, Item> found;
    for (const Item& item : *all) {
      if (!item.contains(e2e::kLedgerExpires)) found[e2e::TextOf(item, "id")] = item;
    }
    EXPECT_TRUE(found == expected) << damage << ": a scan of " << (*index == '\0' ? "the table" : index)
                                   << " silently has " << found.size() << " items of " << expected.size();
  }
  return verdict;
}

}  // namespace

void StartOnDamagedCopies(Session& session, Episode&) {
  const fs::path data = session.daemon().data_directory();
  // What the undamaged database answers.
  session.Start();
  if (!session.daemon().running()) return;
  std::map<std::string, Item> expected;
  {
    Client client = session.OpenClient();
    for (const Item& item : client.ScanAll({.table_name = e2e::kLedgerTable})) {
      if (!item.contains(e2e::kLedgerExpires)) expected[e2e::TextOf(item, "id")] = item;
    }
  }
  if (session.Chance(50)) {
    session.daemon().Kill();
  } else {
    EXPECT_EQ(session.daemon().Terminate(), 0);
  }

  const int64_t copies = session.Pick(2, 6);
  for (int64_t i = 0; i < copies && !HasFailed(); ++i) {
    const fs::path directory = session.directory() + "/damaged";
    fs::remove_all(directory);
    fs::create_directory(directory);
    fs::copy(data, directory / "data", fs::copy_options::recursive);
    const std::string damage = Damage(session, directory / "data");
    if (damage.empty()) continue;
    e2e::DaemonProcess daemon(directory.string());
    daemon.Launch(session.arguments());
    const absl::Status started = daemon.AwaitServing();
    session.Count("damaged_copy");
    if (!started.ok()) {
      session.Count("damaged_copy_refused");
      EXPECT_TRUE(started.message().find("error") != std::string::npos) << damage << ": no message";
    } else {
      Client client = *Client::Open({.endpoint = daemon.endpoint()});
      const Verdict verdict = CompareReads(client, expected, damage);
      session.Count(verdict == Verdict::kRight ? "damaged_copy_right" : "damaged_copy_data_loss");
      daemon.Kill();
    }
    if (!HasFailed()) fs::remove_all(directory);
  }
  session.Start();
}

}  // namespace itemdb::torture
