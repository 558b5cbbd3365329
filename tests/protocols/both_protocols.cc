#include "tests/protocols/both_protocols.h"

#include <regex>

#include "tests/protocols/requests.h"

namespace itemdb::protocols {

std::unique_ptr<BothProtocols::Daemons> BothProtocols::daemons_;

void BothProtocols::SetUpTestSuite() {
  daemons_ = std::make_unique<Daemons>();
  // Relaxed durability, because these tests compare answers only.
  absl::Status grpc_started = daemons_->grpc_daemon.Start({"--durability", "relaxed"});
  ASSERT_TRUE(grpc_started.ok()) << grpc_started;
  absl::Status http_started =
      daemons_->http_daemon.Start({"--durability", "relaxed", "--http-listen", "127.0.0.1:0"});
  ASSERT_TRUE(http_started.ok()) << http_started;
  daemons_->grpc = std::make_unique<e2e::RawClient>(daemons_->grpc_daemon.endpoint());
  daemons_->http = std::make_unique<http::RawHttpClient>(daemons_->http_daemon.http_endpoint());
  for (const Json& table : Tables()) {
    const Method& create = MethodOf("CreateTable");
    const e2e::RawReply reply = daemons_->grpc->Call(create.name, EncodeRequest(create, table));
    ASSERT_TRUE(reply.status.ok()) << reply.status.error_message();
    const Answer answer = AskHttp("CreateTable", table);
    ASSERT_TRUE(answer.ok()) << answer.body;
  }
}

void BothProtocols::TearDownTestSuite() {
  for (e2e::DaemonProcess* daemon : {&daemons_->grpc_daemon, &daemons_->http_daemon}) {
    if (!daemon->running()) continue;
    const int exit_code = daemon->Terminate();
    EXPECT_EQ(exit_code, 0) << daemon->log();
  }
  daemons_.reset();
}

Answer BothProtocols::AskHttp(const std::string& operation, const Json& body) {
  EXPECT_TRUE(daemons_->http->Send(http::PostRequest(operation, body.dump())));
  const http::RawReply reply = daemons_->http->ReadReply().value_or(http::RawReply());
  // TagResource and UntagResource are answered without a body.
  if (reply.status == 200 && reply.body.empty()) return {reply.status, Json::object()};
  Json json = Json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(json.is_object()) << reply.body;
  return {reply.status, std::move(json)};
}

Answer BothProtocols::Ask(const Request& request) {
  const Method& method = MethodOf(request.operation);
  const e2e::RawReply reply = daemons_->grpc->Call(method.name, EncodeRequest(method, request.body));
  const Answer expected = ExpectedAnswer(method, request.body, reply);
  Answer answer = WithoutExtras(method, AskHttp(request.operation, request.body));

  static const std::regex violations(
      "[0-9]+ validation errors? detected: Value [^]*|The requestItems parameter is required for Batch[^]*");
  const bool bounds = std::regex_match(answer.message(), violations);
  switch (request.difference) {
    case Difference::kNone:
      EXPECT_EQ(answer.http_status, expected.http_status);
      EXPECT_EQ(answer.body, expected.body);
      break;
    case Difference::kBoundsFirst:
      EXPECT_TRUE(bounds) << answer.body;
      EXPECT_TRUE(!expected.ok() || expected.body.dump().find("\"Error\":") != std::string::npos)
          << expected.body;
      break;
    case Difference::kEmptyIsSaid:
      EXPECT_EQ(answer.http_status, 400) << answer.body;
      EXPECT_NE(answer, expected);
      break;
    case Difference::kConsistentIndexRead:
      EXPECT_EQ(answer.message(), "Consistent reads are not supported on global secondary indexes");
      EXPECT_TRUE(expected.ok()) << expected.body;
      break;
    case Difference::kShorterReply:
      EXPECT_TRUE(answer.ok() && expected.ok()) << answer.message() << expected.message();
      EXPECT_LT(expected.body.dump().size(), answer.body.dump().size());
      break;
  }
  return answer;
}

void BothProtocols::Expect(const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    const std::string shown = request.body.dump();
    SCOPED_TRACE(request.operation + " " + shown.substr(0, 2'000));
    ++(Ask(request).ok() ? succeeded_ : failed_);
  }
}

Json BothProtocols::Succeed(const std::string& operation, const Json& body) {
  SCOPED_TRACE(operation + " " + body.dump());
  const Answer answer = Ask({operation, body});
  EXPECT_TRUE(answer.ok()) << answer.body;
  return answer.body;
}

}  // namespace itemdb::protocols
