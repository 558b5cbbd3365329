// URLs, regions and credentials; the signature against one that AWS publishes.
#include "client/http/http_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "common/signature/sigv4.h"
#include "itemdb/client.h"
#include "itemdb/errors.h"
#include "tests/client/http/scripted_server.h"
#include "tests/support/temporary_directory.h"

namespace itemdb {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

absl::StatusOr<HttpEndpoint> Make(const ClientOptions& options, const Variables& variables = {}) {
  return MakeHttpEndpoint(options, [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

TEST(HttpEndpoint, UrlsHaveHostPortAndRegion) {
  struct Row {
    std::string endpoint, url, host, region;
  };
  const Row kRows[] = {
      {"http://127.0.0.1:8000", "http://127.0.0.1:8000/", "127.0.0.1:8000", "us-east-1"},
      {"http://localhost:80/", "http://localhost/", "localhost", "us-east-1"},
      {"https://dynamodb.eu-central-1.amazonaws.com", "https://dynamodb.eu-central-1.amazonaws.com/",
       "dynamodb.eu-central-1.amazonaws.com", "eu-central-1"},
      {"https://dynamodb.cn-north-1.amazonaws.com.cn", "https://dynamodb.cn-north-1.amazonaws.com.cn/",
       "dynamodb.cn-north-1.amazonaws.com.cn", "cn-north-1"},
      {"https://[::1]:8443", "https://[::1]:8443/", "[::1]:8443", "us-east-1"},
  };
  for (const Row& row : kRows) {
    const absl::StatusOr<HttpEndpoint> endpoint =
        Make({.endpoint = row.endpoint, .access_key_id = "A", .secret_access_key = "s"});
    ASSERT_TRUE(endpoint.ok()) << endpoint.status();
    EXPECT_EQ(endpoint->url, row.url);
    EXPECT_EQ(endpoint->host, row.host);
    EXPECT_EQ(endpoint->region, row.region);
  }
  for (const char* bad : {"ftp://host", "http://", "http://host:0", "http://host:x", "http://host/path",
                          "http://u@host", "https://host:70000"}) {
    const absl::Status status =
        Client::Open({.endpoint = bad, .access_key_id = "A", .secret_access_key = "s"}).status();
    EXPECT_EQ(ReasonOf(status), kReasonValidation) << bad;
    EXPECT_THAT(std::string(status.message()),
                ::testing::AllOf(HasSubstr(bad), HasSubstr("http://HOST:PORT")));
  }
}

TEST(HttpEndpoint, TheRegionIsTheFirstThatIsNamed) {
  const std::string aws = "https://dynamodb.eu-central-1.amazonaws.com";
  ClientOptions options{.endpoint = aws, .access_key_id = "A", .secret_access_key = "s"};
  EXPECT_EQ(Make(options, {{"AWS_DEFAULT_REGION", "r3"}})->region, "r3");
  EXPECT_EQ(Make(options, {{"AWS_REGION", "r2"}, {"AWS_DEFAULT_REGION", "r3"}})->region, "r2");
  options.http.region = "r1";
  EXPECT_EQ(Make(options, {{"AWS_REGION", "r2"}})->region, "r1");
}

TEST(HttpEndpoint, CredentialsComeFromOptionsEnvironmentOrFile) {
  testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/credentials";
  std::ofstream(path)
      << "# a comment\n[default]\naws_access_key_id = DEFAULT\naws_secret_access_key=d=1\n\n"
         "[ other ]\r\naws_access_key_id=OTHER\r\naws_secret_access_key = o\r\naws_session_token = t\r\n"
         "[half]\naws_access_key_id = HALF\n";
  const std::string url = "https://db.example.com";
  const Variables file{{"AWS_SHARED_CREDENTIALS_FILE", path}};
  const Variables environment{{"AWS_SHARED_CREDENTIALS_FILE", path},
                              {"AWS_ACCESS_KEY_ID", "ENV"},
                              {"AWS_SECRET_ACCESS_KEY", "e"},
                              {"AWS_SESSION_TOKEN", "et"}};
  EXPECT_EQ(Make({.endpoint = url, .access_key_id = "GIVEN", .secret_access_key = "g"}, environment)
                ->credentials.key_id,
            "GIVEN");
  EXPECT_EQ(Make({.endpoint = url}, environment)->credentials.session_token, "et");
  EXPECT_EQ(Make({.endpoint = url}, file)->credentials.secret, "d=1");
  EXPECT_EQ(Make({.endpoint = url, .http = {.profile = "other"}}, environment)->credentials.session_token,
            "t");
  Variables named = file;
  named["AWS_PROFILE"] = "other";
  EXPECT_EQ(Make({.endpoint = url}, named)->credentials.key_id, "OTHER");
  // As in AWS's own tools, keys in the environment come before a profile that the environment names.
  named = environment;
  named["AWS_PROFILE"] = "other";
  EXPECT_EQ(Make({.endpoint = url}, named)->credentials.key_id, "ENV");
  for (const char* profile : {"half", "none"}) {
    const absl::Status status = Make({.endpoint = url, .http = {.profile = profile}}, file).status();
    EXPECT_THAT(std::string(status.message()), ::testing::AllOf(HasSubstr(path), HasSubstr(profile)));
  }
  // Only on loopback a service may take any key.
  EXPECT_EQ(ReasonOf(Make({.endpoint = url}).status()), kReasonValidation);
  EXPECT_TRUE(Make({.endpoint = "http://127.0.0.1:8000"}).ok());
  EXPECT_FALSE(Make({.endpoint = "http://127.0.0.1:8000", .access_key_id = "A"}).ok());
}

// The example "get-vanilla" of AWS's test suite for Signature Version 4.
TEST(HttpEndpoint, SignsAsAwsPublishes) {
  const common::NamesAndValues headers = common::SignedHeaders(
      {.method = "GET",
       .path = "/",
       .query = "",
       .headers = {{"host", "example.amazonaws.com"}},
       .body_hash = common::Hex(common::HashOf("")),
       .region = "us-east-1",
       .service = "service"},
      {.key_id = "AKIDEXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", .session_token = ""},
      absl::FromCivil(absl::CivilSecond(2015, 8, 30, 12, 36, 0), absl::UTCTimeZone()));
  EXPECT_THAT(headers.back().second,
              HasSubstr("Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));
}

TEST(HttpEndpoint, RequestsCarryTargetTokenAndMetadata) {
  ScriptedServer server({ScriptedAnswer{}});
  ClientOptions options{.endpoint = server.endpoint(),
                        .metadata = {{"x-tenant", "blue"}},
                        .access_key_id = "AKID",
                        .secret_access_key = "secret"};
  options.http.session_token = "session";
  options.http.region = "eu-north-1";
  ASSERT_TRUE(Client::Open(options)->DescribeLimits().ok());
  const std::string request = server.requests().at(0);
  EXPECT_THAT(request, HasSubstr("x-amz-target: DynamoDB_20120810.DescribeLimits\r\n"));
  EXPECT_THAT(request, HasSubstr("x-amz-security-token: session\r\n"));
  EXPECT_THAT(request, HasSubstr("x-tenant: blue\r\n"));
  EXPECT_THAT(request, HasSubstr("/eu-north-1/dynamodb/aws4_request"));
  EXPECT_THAT(request, ::testing::Not(HasSubstr("secret\r\n")));
  EXPECT_THAT(request, ::testing::EndsWith("\r\n\r\n{}"));
}

TEST(HttpEndpoint, OptionsThatDoNotFitAreRefused) {
  EXPECT_FALSE(Client::Open({.endpoint = "http://127.0.0.1:8000", .tls = TlsOptions{}}).ok());
  EXPECT_FALSE(Client::Open({.endpoint = "http://127.0.0.1:8000", .metadata = {{"x", "a\r\nb: c"}}}).ok());
  EXPECT_FALSE(Client::Open({.endpoint = "http://127.0.0.1:8000", .http = {.max_connections = 0}}).ok());
}

}  // namespace
}  // namespace itemdb
