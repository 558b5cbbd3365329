// Access keys: the header that is sent, and keys that the client refuses before it connects.
#include "client/access_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "itemdb/errors.h"

namespace itemdb {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ClientOptions WithKey(std::string endpoint, std::string id, std::string secret) {
  return {.endpoint = std::move(endpoint),
          .access_key_id = std::move(id),
          .secret_access_key = std::move(secret)};
}

TEST(AccessKey, IsSentAsRfc7617WritesIt) {
  EXPECT_EQ(AuthorizationOf({.endpoint = "127.0.0.1:1"}).value(), "");
  // The example of RFC 7617, section 2.
  EXPECT_EQ(AuthorizationOf(WithKey("127.0.0.1:1", "Aladdin", "open sesame")).value(),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

TEST(AccessKey, ThatCannotBeSentIsRefusedWithoutTellingTheSecret) {
  struct Row {
    ClientOptions options;
    std::string says;
  };
  ClientOptions twice = WithKey("127.0.0.1:1", "AK", "hidden hidden");
  twice.metadata = {{"authorization", "Bearer x"}};
  const Row rows[] = {
      {WithKey("127.0.0.1:1", "", "hidden hidden"), "no access key id"},
      {WithKey("127.0.0.1:1", "AK", ""), "the access key AK needs its secret"},
      {WithKey("127.0.0.1:1", "A:K", "hidden hidden"), "without spaces and ':'"},
      {WithKey("127.0.0.1:1", "A K", "hidden hidden"), "without spaces and ':'"},
      {WithKey("127.0.0.1:1", "A\nK", "hidden hidden"), "without spaces and ':'"},
      {WithKey("db.example.com:7420", "AK", "hidden hidden"), "connect with TLS"},
      {WithKey("10.0.0.1:7420", "AK", "hidden hidden"), "connect with TLS"},
      {WithKey("[fe80::1]:7420", "AK", "hidden hidden"), "connect with TLS"},
      {twice, "the metadata key authorization"},
  };
  for (const Row& row : rows) {
    const absl::Status status = Client::Open(row.options).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << row.says;
    EXPECT_EQ(ReasonOf(status), kReasonValidation);
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.says));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("hidden")));
  }
}

TEST(AccessKey, StaysOnThisMachineOrGoesOverTls) {
  EXPECT_FALSE(AuthorizationOf(WithKey("127.example.com:1", "AK", "hidden hidden")).ok());
  for (const char* endpoint : {"127.0.0.1:1", "127.1.2.3:1", "localhost:1", "[::1]:1", "unix:/tmp/s"})
    EXPECT_TRUE(Client::Open(WithKey(endpoint, "AK", "secret")).ok()) << endpoint;
  ClientOptions remote = WithKey("db.example.com:7420", "AK", "secret");
  remote.tls = TlsOptions{};
  EXPECT_TRUE(Client::Open(remote).ok());
}

}  // namespace
}  // namespace itemdb
