// Calls that are refused for their access key are counted, and nothing else is.
#include <grpcpp/client_context.h>
#include <sys/stat.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "itemdb/v1/tables.grpc.pb.h"
#include "tests/metrics/metered_daemon.h"
#include "tests/support/files.h"

namespace itemdb::metrics {
namespace {

constexpr char kScrapersSecret[] = "a secret of sufficient length";

TEST_F(MeteredDaemon, CountsRefusedCalls) {
  const std::string keys = directory_.path() + "/keys.toml";
  testing::WriteFile(keys, absl::StrCat("[[key]]\nid = \"SCRAPER\"\nsecret = \"", kScrapersSecret,
                                        "\"\nrole = \"metrics\"\n"));
  ASSERT_EQ(chmod(keys.c_str(), 0600), 0);
  scrape_headers_ = absl::StrCat("Authorization: Bearer SCRAPER:", kScrapersSecret, "\r\n");
  Start({"--access-keys", keys, "--audit-log", directory_.path() + "/audit.jsonl", "--background-check-rate",
         "0", "--file-check-rate", "0"});
  const std::string refused = "itemdb_refused_requests_total{why=\"unauthenticated\"}";
  const std::string written = "itemdb_audit_records_total{state=\"written\"}";

  Run({"Tables/ListTables", "", "", "UNAUTHENTICATED", 0, {{refused, 1}, {written, 1}}});
  // Over HTTP a request whose signature is refused is none of the operation.
  ASSERT_TRUE(http_->Send(http::PostRequest("ListTables", "{}")));
  EXPECT_EQ(http_->ReadReply().value_or(http::RawReply()).status, 400);
  ExpectMoves({{refused, 1}, {written, 1}});

  // With a key whose role is for something else.
  grpc::ClientContext context;
  context.AddMetadata("authorization",
                      "Basic " + absl::Base64Escape(absl::StrCat("SCRAPER:", kScrapersSecret)));
  const std::unique_ptr<v1::Tables::Stub> tables = v1::Tables::NewStub(grpc_->channel());
  v1::ListTablesReply reply;
  EXPECT_EQ(tables->ListTables(&context, {}, &reply).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  Series moves;
  AddCall("grpc",
          {"Tables/ListTables",
           "",
           "",
           "ACCESS_DENIED",
           0,
           {{"itemdb_refused_requests_total{why=\"permission_denied\"}", 1}, {written, 1}}},
          0, 0, &moves);
  ExpectMoves(moves);
}

}  // namespace
}  // namespace itemdb::metrics
