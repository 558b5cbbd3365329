#include "tests/torture/session.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "storage/base/check.h"
#include "tests/support/paths.h"
#include "tests/torture/failures.h"

namespace itemdb::torture {
namespace {

namespace fs = std::filesystem;
using e2e::kLedgerExpires;
using e2e::kLedgerTable;

DiskControl* MapControl(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ITEMDB_CHECK(file >= 0 && ftruncate(file, sizeof(DiskControl)) == 0);
  void* mapped = mmap(nullptr, sizeof(DiskControl), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ITEMDB_CHECK(mapped != MAP_FAILED);
  close(file);
  auto* const control = new (mapped) DiskControl();
  control->free_bytes = -1;
  return control;
}

// The last change that the first start in `log` found. Later ones may have found changes of that start.
uint64_t FirstRecovered(const std::string& log) {
  const size_t opened = log.find(" database open ");
  constexpr std::string_view kField = " change_sequence=";
  const size_t field = opened == std::string::npos ? opened : log.find(kField, opened);
  ITEMDB_CHECK(field != std::string::npos);
  return std::strtoull(log.c_str() + field + kField.size(), nullptr, 10);
}

}  // namespace

Session::Session(const std::string& directory, uint64_t seed, const std::vector<std::string>& more_arguments)
    : directory_(directory),
      random_(seed),
      relaxed_(Chance(25)),
      disk_(MapControl(directory + "/disk")),
      daemon_(std::make_unique<e2e::DaemonProcess>(directory)) {
  arguments_ = {"--http-listen", "127.0.0.1:0", "--shutdown-timeout", "2s"};
  if (relaxed_) arguments_.insert(arguments_.end(), {"--durability", "relaxed"});
  // With the least memory, memtables are small, and there are many files.
  if (Chance(50)) arguments_.insert(arguments_.end(), {"--memory", "128MiB"});
  arguments_.insert(arguments_.end(), more_arguments.begin(), more_arguments.end());
  fs::create_directory(daemon_->data_directory());
  daemon_->set_environment({"LD_PRELOAD=" + testing::BuildPath("tests/torture/libtorture_disk.so"),
                            std::string(kControlVariable) + "=" + directory + "/disk",
                            std::string(kRootVariable) + "=" + daemon_->data_directory()});
  disk_->sync_microseconds = static_cast<uint32_t>(Chance(50) ? 0 : Pick(50, 2'000));
}

Session::~Session() { munmap(disk_, sizeof(DiskControl)); }

void Session::Begin() {
  Start();
  if (!daemon_->running()) return;
  Client client = OpenClient();
  ASSERT_TRUE(order_entry::CreateTables(client).ok());
  ASSERT_TRUE(order_entry::Load(client).ok());
  ASSERT_TRUE(client.CreateTable(e2e::LedgerDefinition()).ok());
  ASSERT_TRUE(
      client.UpdateTimeToLive({.table_name = kLedgerTable, .enabled = true, .attribute_name = kLedgerExpires})
          .ok());
  e2e::RecordSampleOrders(model_);
  // With relaxed durability change records are readable when they are synced; after a restart all are.
  EXPECT_EQ(daemon_->Terminate(), 0);
  Start();
  if (!daemon_->running()) return;
  Episode nothing;
  Compare(nothing);
}

void Session::PrepareStart() {
  std::error_code ignored;
  // What a process that was killed has kept aside.
  fs::remove_all(daemon_->data_directory() + ".kept", ignored);
  disk_->operations = 0;
  disk_->cut_at = 0;
  disk_->cut_done = 0;
  disk_->cut_any_sectors = 0;
}

void Session::Start() {
  PrepareStart();
  disk_->fault_operations = 0;
  disk_->free_bytes = -1;
  const absl::Status started = daemon_->Start(arguments_);
  ASSERT_TRUE(started.ok()) << "itemd does not start: " << LastLines(std::string(started.message()), 12);
}

Client Session::OpenClient() const {
  absl::StatusOr<Client> client = Client::Open({.endpoint = daemon_->endpoint()});
  ITEMDB_CHECK(client.ok());
  return *std::move(client);
}

void Session::Compare(Episode& episode) {
  Client client = OpenClient();
  for (const auto& look : episode.after_start) look(client);
  episode.after_start.clear();
  std::optional<uint64_t> recovered;
  if (episode.may_lose_changes) recovered = FirstRecovered(daemon_->log().substr(episode.log_bytes));
  model_.CompareChanges(client, recovered);
  if (HasFailed()) return;
  const absl::Time daemon_time = absl::Now() + absl::Seconds(disk_->clock_shift_seconds.load());
  model_.CompareCells(client, daemon_time);
  model_.CompareOrders(client);
  model_.CompareStock(client);
  e2e::RepeatInDoubt(client, model_);
  const absl::StatusOr<CheckDatabaseResult> check = client.CheckDatabase();
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->finding_count, 0) << ::testing::PrintToString(check->findings);
  items_checked_ += check->items_checked + check->index_entries_checked;
}

void Session::AwaitExpiry() {
  // itemd believes a clock that jumped after ten minutes, or when it starts.
  disk_->clock_shift_seconds = 0;
  EXPECT_EQ(daemon_->Terminate(), 0);
  Start();
  if (!daemon_->running()) return;
  Client client = OpenClient();
  const absl::Time begin = absl::Now();
  std::string expired;
  do {
    expired.clear();
    const int64_t now = absl::ToUnixSeconds(absl::Now());
    for (const Item& item : client.ScanAll({.table_name = kLedgerTable})) {
      if (item.contains(kLedgerExpires) && e2e::IntegerOf(item, kLedgerExpires) <= now)
        expired = e2e::TextOf(item, "id");
    }
    if (expired.empty()) return;
    SleepMs(100);
  } while (absl::Now() - begin < absl::Seconds(30));
  ADD_FAILURE() << expired << " expired and was not deleted within 30 s";
}

std::string LastLines(const std::string& log, int lines) {
  size_t begin = log.size();
  for (; lines >= 0 && begin > 0; --lines) {
    begin = log.rfind('\n', begin - 1);
    if (begin == std::string::npos) return log;
  }
  return log.substr(begin + 1);
}

}  // namespace itemdb::torture
