// Calls of both protocols that are traced: their spans reach a collector, and the trace is named in the log
// and in the audit log.
#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>

#include "tests/daemon/server_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/trace_collector.h"

namespace itemdb::daemon {
namespace {

using testing::CollectedSpan;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TraceCollector;

constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kSampled[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr char kNotSampled[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

class TracingTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    StartTraced(/*ratio=*/0);
    ASSERT_TRUE(CreateTable("orders").ok());
  }
  void TearDown() override {
    ServerTest::TearDown();
    // The spans of calls that were answered are sent by now.
    collector_.reset();
  }

  void StartTraced(double ratio) {
    ServerOptions options = OptionsFor("127.0.0.1:0");
    options.tracer =
        std::make_unique<Tracer>(TracerOptions{.url = collector_->url(), .ratio = ratio, .log = options.log});
    Restart(std::move(options));
  }
  void Restart(ServerOptions options) {
    server_.reset();
    options.http.addresses = {*ParseListenAddress("127.0.0.1:0")};
    auto server = Server::Start(*database_, std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = Connect(server_->addresses()[0]);
    data_ = v1::Data::NewStub(channel_);
    tables_ = v1::Tables::NewStub(channel_);
  }

  grpc::Status PutTraced(const char* traceparent, const char* sort_key = "1") {
    v1::PutItemRequest request;
    request.set_table_name("orders");
    *request.mutable_item() = Key("a", sort_key);
    v1::PutItemReply reply;
    grpc::ClientContext context;
    if (traceparent != nullptr) context.AddMetadata("traceparent", traceparent);
    return data_->PutItem(&context, request, &reply);
  }
  grpc::Status GetTraced() {
    v1::GetItemRequest request;
    request.set_table_name("orders");
    *request.mutable_key() = Key("a", "1");
    v1::GetItemReply reply;
    grpc::ClientContext context;
    context.AddMetadata("traceparent", kSampled);
    return data_->GetItem(&context, request, &reply);
  }

  // The names of the steps of `call`, which are in order and within it.
  std::vector<std::string> StepsOf(const CollectedSpan& call) {
    std::vector<std::string> names;
    int64_t before = call.begin_ns;
    for (const CollectedSpan& step : collector_->Below(call.span_id)) {
      names.push_back(step.name);
      EXPECT_EQ(step.trace_id, call.trace_id);
      EXPECT_EQ(step.kind, 1) << "internal";
      EXPECT_LE(before, step.begin_ns) << step.name;
      EXPECT_LE(step.begin_ns, step.end_ns) << step.name;
      EXPECT_LE(step.end_ns, call.end_ns) << step.name;
      before = step.end_ns;
    }
    return names;
  }

  std::unique_ptr<TraceCollector> collector_ = std::make_unique<TraceCollector>();
};

TEST_F(TracingTest, AWriteHasASpanWithTheStepsOfTheCommitPipeline) {
  const int64_t before = absl::ToUnixNanos(absl::Now());
  ASSERT_TRUE(PutTraced(kSampled).ok());
  const int64_t after = absl::ToUnixNanos(absl::Now());
  const CollectedSpan put = collector_->Await(1, "PutItem").at(0);
  EXPECT_EQ(put.trace_id, kTraceId);
  EXPECT_EQ(put.parent_id, "00f067aa0ba902b7");
  EXPECT_EQ(put.kind, 2) << "server";
  EXPECT_FALSE(put.error);
  EXPECT_LE(before, put.begin_ns);
  EXPECT_LE(put.end_ns, after);
  EXPECT_EQ(put.attributes.at("db.collection.name"), "orders");
  EXPECT_EQ(put.attributes.at("itemdb.code"), "OK");
  EXPECT_EQ(put.attributes.at("network.protocol.name"), "grpc");
  EXPECT_EQ(put.attributes.at("itemdb.items"), "1");
  EXPECT_THAT(StepsOf(put), ElementsAre("read from memory", "queue", "order", "sync", "publish"));
}

TEST_F(TracingTest, AReadHasTheTiersThatItMet) {
  ASSERT_TRUE(PutTraced(nullptr).ok());
  ASSERT_TRUE(GetTraced().ok());
  EXPECT_THAT(StepsOf(collector_->Await(1, "GetItem").at(0)), ElementsAre("read from memory"));

  // After a start the item is in a table file, and no block is in the cache.
  server_.reset();
  database_.reset();
  storage::DatabaseOptions options;
  options.data_directory = directory_.path() + "/data";
  options.free_space_floor_bytes = 0;
  options.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
  database_ = *storage::Database::Open(std::move(options));
  StartTraced(/*ratio=*/0);
  ASSERT_TRUE(GetTraced().ok());
  EXPECT_THAT(StepsOf(collector_->Await(2, "GetItem").at(1)),
              ElementsAre("read from memory", "wait for an I/O thread", "read on an I/O thread"));
}

TEST_F(TracingTest, TheCallersDecisionAndTheRatioAreFollowed) {
  ASSERT_TRUE(PutTraced(nullptr).ok());
  ASSERT_TRUE(PutTraced(kNotSampled).ok());
  ASSERT_TRUE(PutTraced("00-not-a-traceparent-01").ok());
  ASSERT_TRUE(PutTraced(kSampled, "sampled").ok());
  ASSERT_EQ(collector_->Await(1, "PutItem").size(), 1u);
  StartTraced(/*ratio=*/1);
  ASSERT_TRUE(PutTraced(kNotSampled).ok());
  ASSERT_TRUE(PutTraced("00-not-a-traceparent-01").ok());
  const std::vector<CollectedSpan> puts = collector_->Await(2, "PutItem");
  ASSERT_EQ(puts.size(), 2u);
  EXPECT_EQ(puts[1].parent_id, "") << "a malformed traceparent is as good as none: the call begins a trace";
  EXPECT_NE(puts[1].trace_id, kTraceId);
}

TEST_F(TracingTest, AFailedCallHasItsCodeAndReason) {
  v1::GetItemRequest request;
  request.set_table_name("no_such_table");
  *request.mutable_key() = Key("a", "1");
  v1::GetItemReply reply;
  grpc::ClientContext context;
  context.AddMetadata("traceparent", kSampled);
  ASSERT_FALSE(data_->GetItem(&context, request, &reply).ok());
  const CollectedSpan get = collector_->Await(1, "GetItem").at(0);
  EXPECT_EQ(get.attributes.at("itemdb.code"), "NOT_FOUND");
  EXPECT_EQ(get.attributes.at("error.type"), "RESOURCE_NOT_FOUND");
  EXPECT_FALSE(get.error) << "the caller's mistake";
}

TEST_F(TracingTest, EachPageOfAStreamHasASpan) {
  for (const char* sort_key : {"1", "2", "3"}) ASSERT_TRUE(PutTraced(nullptr, sort_key).ok());
  v1::ScanStreamRequest request;
  request.mutable_scan()->set_table_name("orders");
  request.mutable_scan()->set_limit(2);
  grpc::ClientContext context;
  context.AddMetadata("traceparent", kSampled);
  auto stream = data_->ScanStream(&context, request);
  v1::ScanReply page;
  while (stream->Read(&page)) {
  }
  ASSERT_TRUE(stream->Finish().ok());
  const std::vector<CollectedSpan> pages = collector_->Await(2, "ScanStream");
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_NE(pages[0].span_id, pages[1].span_id);
  for (const CollectedSpan& one : pages) {
    EXPECT_EQ(one.parent_id, "00f067aa0ba902b7");
    EXPECT_THAT(StepsOf(one), ElementsAre("read from memory"));
  }
  EXPECT_EQ(pages[0].attributes.at("itemdb.items"), "2");
}

// Chunks are applied at the same time; each has the steps of its own.
TEST_F(TracingTest, EachChunkOfABulkWriteHasTheStepsOfAWrite) {
  grpc::ClientContext context;
  context.AddMetadata("traceparent", kSampled);
  auto stream = data_->BulkWrite(&context);
  constexpr int kChunks = 3;
  for (int number = 1; number <= kChunks; ++number) {
    v1::BulkWriteChunk chunk;
    chunk.set_chunk_number(static_cast<uint64_t>(number));
    v1::TableWriteRequests* table = chunk.add_request_items();
    table->set_table_name("orders");
    for (const char* sort_key : {"1", "2"})
      *table->add_write_requests()->mutable_put_request()->mutable_item() =
          Key(absl::StrCat("bulk", number), sort_key);
    ASSERT_TRUE(stream->Write(chunk));
  }
  ASSERT_TRUE(stream->WritesDone());
  v1::BulkWriteReply reply;
  int replies = 0;
  while (stream->Read(&reply)) ++replies;
  EXPECT_EQ(replies, kChunks);
  ASSERT_TRUE(stream->Finish().ok());
  const std::vector<CollectedSpan> chunks = collector_->Await(kChunks, "BulkWrite");
  ASSERT_EQ(chunks.size(), static_cast<size_t>(kChunks));
  for (const CollectedSpan& chunk : chunks) {
    EXPECT_EQ(chunk.trace_id, kTraceId);
    EXPECT_EQ(chunk.parent_id, "00f067aa0ba902b7");
    EXPECT_EQ(chunk.attributes.at("db.collection.name"), "orders");
    EXPECT_EQ(chunk.attributes.at("itemdb.items"), "2");
    EXPECT_THAT(StepsOf(chunk), ElementsAre("read from memory", "queue", "order", "sync", "publish"));
  }
}

TEST_F(TracingTest, HttpRequestsAreTracedByBothHeaders) {
  http::RawHttpClient client(server_->http_addresses()[0]);
  const std::string body = R"({"TableName": "orders", "Item": {"pk": {"S": "a"}, "sk": {"S": "1"}}})";
  ASSERT_TRUE(client.Send(http::PostRequest(
      "PutItem", body,
      "X-Amzn-Trace-Id: Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1\r\n")));
  ASSERT_EQ(client.ReadReply()->status, 200);
  const CollectedSpan put = collector_->Await(1, "PutItem").at(0);
  EXPECT_EQ(put.trace_id, "5759e988bd862e3fe1be46a994272793");
  EXPECT_EQ(put.parent_id, "53995c3f42cd8ad8");
  EXPECT_EQ(put.attributes.at("network.protocol.name"), "http");
  EXPECT_EQ(put.attributes.at("db.collection.name"), "orders");
  EXPECT_THAT(StepsOf(put), ElementsAre("read from memory", "queue", "order", "sync", "publish"));

  ASSERT_TRUE(
      client.Send(http::PostRequest("PutItem", body, std::string("traceparent: ") + kSampled + "\r\n")));
  ASSERT_EQ(client.ReadReply()->status, 200);
  EXPECT_EQ(collector_->Await(2, "PutItem").at(1).trace_id, kTraceId);
  // Two values contradict each other.
  ASSERT_TRUE(client.Send(http::PostRequest(
      "PutItem", body, std::string("traceparent: ") + kSampled + "\r\ntraceparent: " + kSampled + "\r\n")));
  ASSERT_EQ(client.ReadReply()->status, 200);
  ASSERT_TRUE(PutTraced(kSampled).ok());
  EXPECT_EQ(collector_->Await(3, "PutItem").size(), 3u);
}

// Also where no span is sent anywhere.
TEST_F(TracingTest, SlowCallsAndAuditRecordsNameTheTrace) {
  std::ostringstream lines;
  const std::string audit_file = directory_.path() + "/audit.jsonl";
  ServerOptions options = OptionsFor("127.0.0.1:0");
  options.slow_request = absl::Nanoseconds(1);
  options.log =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines, true));
  options.audit_log = *AuditLog::Open(audit_file, options.log);
  options.audit_all_calls = true;
  Restart(std::move(options));
  ASSERT_TRUE(PutTraced(kNotSampled).ok());
  ASSERT_TRUE(PutTraced("00-malformed").ok());
  http::RawHttpClient client(server_->http_addresses()[0]);
  ASSERT_TRUE(client.Send(http::PostRequest(
      "ListTables", "{}", "X-Amzn-Trace-Id: Root=1-5759e988-bd862e3fe1be46a994272793\r\n")));
  ASSERT_EQ(client.ReadReply()->status, 200);
  server_.reset();
  const std::string log = lines.str();
  EXPECT_THAT(log, HasSubstr(std::string("code=OK trace_id=") + kTraceId));
  EXPECT_THAT(log, HasSubstr("code=OK trace_id=-"));
  EXPECT_THAT(log, HasSubstr("code=OK trace_id=5759e988bd862e3fe1be46a994272793"));
  std::istringstream records(testing::ReadFile(audit_file));
  std::vector<std::string> traces;
  for (std::string line; std::getline(records, line);) {
    if (line.find("\"event\":\"call\"") == std::string::npos) continue;
    const size_t at = line.find("\"trace_id\":\"");
    traces.push_back(at == std::string::npos ? "-" : line.substr(at + 12, 32));
  }
  EXPECT_THAT(traces, ElementsAre(kTraceId, "-", "5759e988bd862e3fe1be46a994272793"));
}

}  // namespace
}  // namespace itemdb::daemon
