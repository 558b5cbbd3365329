// itemd as a process: addresses, health, reflection, and its stop.
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <future>
#include <thread>

#include "tests/e2e/e2e_fixture.h"
#include "tests/processes/raw_client.h"
#include "tests/support/crash_model.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::UnorderedElementsAre;

class DaemonTest : public E2eTest {
 protected:
  // The grpc.health.v1.HealthCheckResponse for a service: "\x08\x01" is SERVING.
  static RawReply Health(const std::string& endpoint, const std::string& service) {
    std::string request;
    if (!service.empty()) request = std::string("\x0a") + static_cast<char>(service.size()) + service;
    return RawClient(endpoint).Call("grpc.health.v1.Health/Check", request);
  }

  // 200 items of 400 KB, so that a check takes long.
  void FillWithLargeItems() {
    Client client = OpenClient();
    ASSERT_TRUE(client
                    .CreateTable({.table_name = "large",
                                  .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                  .key_schema = {{"id", KeyType::kHash}}})
                    .ok());
    for (int batch = 0; batch < 8; ++batch) {
      BatchWriteItemRequest request;
      for (int i = 0; i < 25; ++i) {
        request.writes.push_back(
            BatchPut{.table_name = "large",
                     .item = {{"id", std::to_string(batch * 25 + i)}, {"text", std::string(400'000, 'x')}}});
      }
      ASSERT_TRUE(client.BatchWriteItem(request).ok());
    }
  }
};

TEST_F(DaemonTest, HealthIsServingForTheServerAndEachService) {
  for (const char* service : {"", "itemdb.v1.Data", "itemdb.v1.Tables", "itemdb.v1.Backups",
                              "itemdb.v1.Changes", "itemdb.v1.Admin"}) {
    const RawReply reply = Health(daemon_.endpoint(), service);
    EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
    EXPECT_EQ(reply.bytes, "\x08\x01") << service;
  }
  EXPECT_EQ(Health(daemon_.endpoint(), "itemdb.v1.Nothing").status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(DaemonTest, ReflectionListsTheServicesAndKnowsTheirFiles) {
  const RawClient client(daemon_.endpoint());
  const char* const method = "grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  // ServerReflectionRequest.list_services = 7.
  const RawReply services = client.Exchange(method, std::string("\x3a\x01*"));
  ASSERT_TRUE(services.status.ok()) << services.status.error_message();
  for (const char* name : {"itemdb.v1.Data", "itemdb.v1.Tables", "itemdb.v1.Backups", "itemdb.v1.Changes",
                           "itemdb.v1.Admin", "grpc.health.v1.Health"}) {
    EXPECT_THAT(services.bytes, HasSubstr(name));
  }
  // file_containing_symbol = 4: the descriptor of the whole file comes back.
  const RawReply file = client.Exchange(method, std::string("\x22\x0eitemdb.v1.Data"));
  EXPECT_THAT(file.bytes, HasSubstr("itemdb/v1/data.proto"));
  EXPECT_THAT(file.bytes, HasSubstr("TransactWriteItemsRequest"));
}

TEST_F(DaemonTest, TheAddressFileTellsThePortAndGoesWithTheDaemon) {
  EXPECT_THAT(daemon_.endpoint(), MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
  EXPECT_EQ(testing::ReadFile(daemon_.address_file()),
            "{\"grpc\":[\"" + daemon_.endpoint() + "\"],\"http\":[]}\n");
  // The file was created by rename, so there is no temporary file.
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    files.push_back(entry.path().filename());
  }
  EXPECT_THAT(files, UnorderedElementsAre("data", "itemd.json", "itemd.log"));

  const std::string first = daemon_.endpoint();
  EXPECT_EQ(daemon_.Terminate(), 0);
  EXPECT_FALSE(std::filesystem::exists(daemon_.address_file()));
  ASSERT_TRUE(daemon_.Start().ok());
  // A file that another process has created at this path since must not be removed.
  std::filesystem::remove(daemon_.address_file());
  std::filesystem::copy_file(directory_.path() + "/itemd.log", daemon_.address_file());
  EXPECT_EQ(daemon_.Terminate(), 0);
  EXPECT_TRUE(std::filesystem::exists(daemon_.address_file()));
}

TEST_F(DaemonTest, ServesSeveralAddressesAndUnixSockets) {
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::string socket = directory_.path() + "/itemd.sock";
  daemon_.set_listen({"unix:" + socket, "127.0.0.1:0", "127.0.0.1:0"});
  absl::Status started = daemon_.Start();
  ASSERT_TRUE(started.ok()) << started;
  const Json addresses = Json::parse(testing::ReadFile(daemon_.address_file()))["grpc"];
  ASSERT_EQ(addresses.size(), 3u);
  EXPECT_EQ(addresses[0], "unix:" + socket);
  EXPECT_NE(addresses[1], addresses[2]);
  for (const Json& address : addresses) {
    const CommandResult status = Itemctl({"--endpoint", address.get<std::string>(), "status"});
    EXPECT_EQ(status.exit_code, 0) << status.err;
    EXPECT_EQ(Health(address, "").bytes, "\x08\x01");
  }
  LoadOrderEntry();

  // kill -9 leaves the socket file; the next start takes it over.
  KillAndRestart();
  EXPECT_EQ(daemon_.endpoint(), "unix:" + socket);
  ExpectCheckIsClean();
  EXPECT_EQ(daemon_.Terminate(), 0);
  EXPECT_FALSE(std::filesystem::exists(socket));
}

// The daemon is stopped between accepting a connection and sending its first byte, as may happen on a busy
// machine.
TEST_F(DaemonTest, AClientWaitsForADaemonThatIsSlowToGreet) {
  daemon_.Signal(SIGSTOP);
  auto call = std::async(std::launch::async, [this] { return OpenClient().GetStatus(); });
  // Longer than an earlier limit of connection attempts.
  EXPECT_EQ(call.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  daemon_.Signal(SIGCONT);
  EXPECT_TRUE(call.get().ok());
}

TEST_F(DaemonTest, SigtermFinishesCallsInFlightAndExitsWith0) {
  FillWithLargeItems();
  bool was_in_flight = false;
  // If the check ends before the signal is sent, the attempt shows nothing and is repeated.
  for (int attempt = 0; attempt < 10 && !was_in_flight; ++attempt) {
    if (!daemon_.running()) {
      ASSERT_TRUE(daemon_.Start().ok());
    }
    Client client = OpenClient();
    ASSERT_TRUE(client.GetStatus().ok());
    auto check = std::async(std::launch::async, [client]() mutable { return client.CheckDatabase(); });
    // Sent after the check on the same connection: when this is answered, the check has arrived.
    ASSERT_TRUE(client.GetStatus().ok());
    daemon_.Signal(SIGTERM);
    was_in_flight = check.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
    absl::StatusOr<CheckDatabaseResult> result = check.get();
    EXPECT_EQ(daemon_.Wait(), 0);
    if (!result.ok()) {
      // Only possible if the check arrived after the signal.
      EXPECT_TRUE(absl::IsUnavailable(result.status())) << result.status();
      was_in_flight = false;
      continue;
    }
    EXPECT_EQ(result->items_checked, 200);
    EXPECT_EQ(result->finding_count, 0);
  }
  EXPECT_TRUE(was_in_flight);
  EXPECT_THAT(daemon_.log(), HasSubstr("stopped change_sequence=201"));
}

// While the daemon stops, the error of a write must say correctly whether the write was applied.
TEST_F(DaemonTest, SigtermUnderWritersLosesAndInventsNothing) {
  ASSERT_TRUE(OpenClient().CreateTable(LedgerDefinition()).ok());
  CrashModel model;
  std::atomic<int> acknowledged = 0;
  std::vector<std::thread> writers;
  for (int thread = 0; thread < 6; ++thread) {
    writers.emplace_back([&, thread, client = OpenClient()]() mutable {
      for (bool gone = false; !gone;) {
        const std::string id = "writer-" + std::to_string(thread);
        const int64_t version = model.NextCellVersion(id);
        const auto result = client.PutItem({.table_name = kLedgerTable, .item = LedgerItem(id, version)});
        gone = !result.ok();
        const bool unknown = ReasonOf(result.status()) == kReasonWriteOutcomeUnknown;
        EXPECT_TRUE(result.ok() || absl::IsUnavailable(result.status())) << result.status();
        model.RecordCell(id, version,
                         {.outcome = result.ok() ? Outcome::kApplied
                                     : unknown   ? Outcome::kUnknown
                                                 : Outcome::kNotApplied,
                          .change_sequence = result.ok() ? result->change_sequence : 0});
        if (result.ok()) model.RecordSequence(result->change_sequence);
        if (++acknowledged == 200) acknowledged.notify_all();
      }
    });
  }
  for (int count = acknowledged; count < 200; count = acknowledged) acknowledged.wait(count);
  EXPECT_EQ(daemon_.Terminate(), 0);
  for (std::thread& writer : writers) writer.join();

  ASSERT_TRUE(daemon_.Start().ok());
  Client client = OpenClient();
  model.CompareChanges(client);
  model.CompareCells(client);
  EXPECT_EQ(ChangeSequence(), model.last_sequence()) << "nothing beyond what was acknowledged";
  ExpectCheckIsClean();
}

TEST_F(DaemonTest, SigintStopsToo) {
  daemon_.Signal(SIGINT);
  EXPECT_EQ(daemon_.Wait(), 0);
}

TEST_F(DaemonTest, HelpAndVersionGoToStdout) {
  const CommandResult version = RunProgram(testing::ProgramPath("itemd"), {"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, MatchesRegex("itemd [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  const CommandResult help = RunProgram(testing::ProgramPath("itemd"), {"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* part : {"--data-dir", "--listen", "--address-file", "--recover", "Exit codes"}) {
    EXPECT_THAT(help.out, HasSubstr(part));
  }
}

// itemctl and the documentation rely on these defaults.
TEST_F(DaemonTest, StatusNamesTheDaemonAndItsDatabase) {
  const Json status = Document({"status"});
  EXPECT_EQ(status["durable"], true);
  EXPECT_EQ(status["table_count"], 0);
  EXPECT_EQ(status["endpoint"], daemon_.endpoint());
  const std::string database_id = status["database_id"];
  EXPECT_THAT(database_id, MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
  KillAndRestart();
  EXPECT_EQ(Document({"status"})["database_id"], database_id);
}

}  // namespace
}  // namespace itemdb::e2e
