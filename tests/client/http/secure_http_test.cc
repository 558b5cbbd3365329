// TLS and access keys: itemd checks every signature of the client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "itemdb/client.h"
#include "itemdb/errors.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_certificates.h"

namespace itemdb {
namespace {

constexpr char kHttpSecret[] = "secret of 3 keys/+=";

class SecureHttpTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = directory_.path() + "/" + name;
    testing::WriteFile(path, content);
    EXPECT_EQ(chmod(path.c_str(), 0600), 0);
    return path;
  }

  void SetUp() override {
    const TestCertificate certificate = authority_.Sign({.name = "localhost"});
    std::string keys;
    for (const char* role : {"read", "write", "admin"})
      keys += std::string("[[key]]\nid = \"") + role + "\"\nsecret = \"" + kHttpSecret + "\"\nrole = \"" +
              role + "\"\n";
    const absl::Status started = daemon_.Start(
        {"--http-listen", "127.0.0.1:0", "--tls-cert", Write("cert.pem", certificate.certificate),
         "--tls-key", Write("key.pem", certificate.key), "--access-keys", Write("keys.toml", keys)});
    ASSERT_TRUE(started.ok()) << started;
    ca_file_ = Write("ca.pem", authority_.certificate());
  }

  // The endpoint is an address of 127.0.0.1, the certificate that of localhost.
  Client Open(const std::string& id, const std::string& secret = kHttpSecret,
              const std::string& name = "localhost") {
    return *Client::Open({.endpoint = "https://" + daemon_.http_endpoint(),
                          .retry = {.max_attempts = 1},
                          .tls = TlsOptions{.ca_file = ca_file_, .server_name = name},
                          .access_key_id = id,
                          .secret_access_key = secret});
  }

  testing::TemporaryDirectory directory_;
  TestAuthority authority_{"the authority of this test"};
  std::string ca_file_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

TEST_F(SecureHttpTest, RolesOfKeysHold) {
  const TableDefinition table{.table_name = "Things",
                              .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                              .key_schema = {{"pk", KeyType::kHash}}};
  const absl::StatusOr<TableResult> created = Open("admin").CreateTable(table);
  ASSERT_TRUE(created.ok()) << created.status();
  const PutItemRequest put{.table_name = "Things", .item = {{"pk", "a"}, {"text", "ünï \" \\ \n"}}};
  EXPECT_TRUE(Open("write").PutItem(put).ok());
  const absl::StatusOr<GetItemResult> got =
      Open("read").GetItem({.table_name = "Things", .key = {{"pk", "a"}}});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->item, put.item);
  const absl::Status refused = Open("read").PutItem(put).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_EQ(ReasonOf(refused), kReasonAccessDenied);
}

TEST_F(SecureHttpTest, WrongKeysAreUnauthenticated) {
  for (const absl::Status& status :
       {Open("admin", "wrong").ListTables().status(), Open("nobody").ListTables().status()}) {
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
    EXPECT_EQ(ReasonOf(status), kReasonUnauthenticated);
    EXPECT_EQ(status.message().find(kHttpSecret), std::string::npos);
  }
}

TEST_F(SecureHttpTest, TheCertificateIsChecked) {
  const absl::Status name = Open("admin", kHttpSecret, "db.example.com").ListTables().status();
  EXPECT_TRUE(absl::IsUnavailable(name)) << name;
  EXPECT_THAT(std::string(name.message()), ::testing::HasSubstr("db.example.com"));
  // The system's authorities have not signed it.
  ca_file_.clear();
  const absl::Status unsigned_status = Open("admin").ListTables().status();
  EXPECT_TRUE(absl::IsUnavailable(unsigned_status)) << unsigned_status;
  EXPECT_THAT(std::string(unsigned_status.message()), ::testing::HasSubstr("certificate"));
}

}  // namespace
}  // namespace itemdb
