// itemctl over TLS, with the real daemon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/processes/child_process.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_certificates.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

class ItemctlTls : public ::testing::Test {
 protected:
  void SetUp() override {
    const TestCertificate daemon = authority_.Sign();
    const TestCertificate client = authority_.Sign({.name = "someone"});
    Write("ca.pem", authority_.certificate());
    Write("other-ca.pem", TestAuthority("another authority").certificate());
    Write("daemon.pem", daemon.certificate);
    Write("daemon.key", daemon.key);
    Write("client.pem", client.certificate);
    Write("client.key", client.key);
  }

  void Write(const std::string& name, const std::string& content) {
    std::ofstream(Path(name)) << content;
    ASSERT_EQ(chmod(Path(name).c_str(), 0600), 0);
  }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  void StartDaemon(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--tls-cert", Path("daemon.pem"), "--tls-key", Path("daemon.key")});
    const absl::Status started = daemon_.Start(more);
    ASSERT_TRUE(started.ok()) << started;
  }

  Outcome List(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--endpoint", daemon_.endpoint(), "--timeout", "5", "--tls-server-name",
                               "localhost", "table", "list"});
    return RunTool(std::move(more));
  }

  TestAuthority authority_{"the right authority"};
  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

TEST_F(ItemctlTls, TheRightAuthorityOpensTheDaemonAndAnotherDoesNot) {
  StartDaemon();
  const Outcome right = List({"--tls-ca", Path("ca.pem")});
  EXPECT_EQ(right.exit_code, 0) << right.err;
  const Outcome wrong = List({"--tls-ca", Path("other-ca.pem")});
  EXPECT_EQ(wrong.exit_code, 5) << wrong.err;
  EXPECT_THAT(wrong.err, HasSubstr("certificate"));
  const Outcome missing = List({"--tls-ca", Path("none.pem")});
  EXPECT_EQ(missing.exit_code, 2) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr("none.pem"));
}

// gRPC's server answers a TLS handshake only if it accepts it.
TEST_F(ItemctlTls, AClientWithoutTlsIsToldThatThePortExpectsIt) {
  StartDaemon();
  const Outcome plain = RunTool({"--endpoint", daemon_.endpoint(), "--timeout", "5", "table", "list"});
  EXPECT_EQ(plain.exit_code, 5);
  EXPECT_THAT(plain.err,
              HasSubstr("the server there expects TLS: name its certificate authority with --tls-ca"));
  const Outcome url =
      RunTool({"--endpoint", "http://" + daemon_.endpoint(), "--timeout", "5", "table", "list"});
  EXPECT_EQ(url.exit_code, 5);
  EXPECT_THAT(url.err,
              HasSubstr("expects TLS: begin with https://; or, if it is an itemd's address of --listen"));
  const std::string https = "https://" + daemon_.endpoint();
  const Outcome unknown = RunTool({"--endpoint", https, "--timeout", "5", "table", "list"});
  EXPECT_EQ(unknown.exit_code, 5);
  EXPECT_THAT(unknown.err, HasSubstr("; name its certificate authority with --tls-ca; and if it is an "
                                     "itemd's address of --listen, write " +
                                     daemon_.endpoint() + "\n"));
  const Outcome known = RunTool({"--endpoint", https, "--timeout", "5", "--tls-server-name", "localhost",
                                 "--tls-ca", Path("ca.pem"), "table", "list"});
  EXPECT_EQ(known.exit_code, 5);
  EXPECT_THAT(known.err, HasSubstr("speaks HTTP/2 over TLS: if it is an itemd's address of --listen, write " +
                                   daemon_.endpoint() + "\n"));
}

// Over HTTP with TLS by an authority that the system does not know.
TEST_F(ItemctlTls, AnUnknownAuthorityIsToBeNamed) {
  StartDaemon({"--http-listen", "127.0.0.1:0"});
  const Outcome unknown =
      RunTool({"--endpoint", "https://" + daemon_.http_endpoint(), "--timeout", "5", "table", "list"});
  EXPECT_EQ(unknown.exit_code, 5);
  EXPECT_THAT(unknown.err, HasSubstr("; name its certificate authority with --tls-ca"));
}

// gRPC only says that the server did not select HTTP/2.
TEST_F(ItemctlTls, AddressesOfOtherProtocolsAreExplained) {
  Write("keys.toml", "[[key]]\nid = \"ADMIN\"\nsecret = \"hidden hidden hidden\"\nrole = \"admin\"\n");
  StartDaemon({"--http-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--access-keys",
               Path("keys.toml")});
  const auto says = [&](const std::string& endpoint) {
    const Outcome outcome = RunTool({"--endpoint", endpoint, "--timeout", "5", "--tls-server-name",
                                     "localhost", "--tls-ca", Path("ca.pem"), "table", "list"});
    EXPECT_NE(outcome.exit_code, 0);
    return outcome.err;
  };
  EXPECT_THAT(says(daemon_.http_endpoint()),
              HasSubstr("(--http-listen); write https://" + daemon_.http_endpoint()));
  EXPECT_THAT(says(daemon_.metrics_endpoint()), HasSubstr("an itemd's address for metrics and the console"));
  EXPECT_THAT(says("https://" + daemon_.http_endpoint()),
              HasSubstr("give --access-key-id, and its secret in ITEMDB_SECRET_ACCESS_KEY or"));
  EXPECT_THAT(says("https://db.invalid:8000"),
              HasSubstr("https://db.invalid:8000 needs an access key: give "));
}

// The key and the authority that itemctl has open the metrics page too.
TEST_F(ItemctlTls, ASupportBundleHasTheMetricsOfASecuredDaemon) {
  Write("keys.toml", "[[key]]\nid = \"ADMIN\"\nsecret = \"hidden hidden hidden\"\nrole = \"admin\"\n");
  Write("secret", "hidden hidden hidden");
  StartDaemon({"--metrics-listen", "127.0.0.1:0", "--access-keys", Path("keys.toml")});
  const auto bundle = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"--endpoint", daemon_.endpoint(), "--tls-server-name", "localhost", "support-bundle",
                 Path("help.tar.gz"), "--config", Path("keys.toml"), "--log", Path("keys.toml"), "--metrics",
                 daemon_.metrics_endpoint(), "--tls-ca", Path("ca.pem")});
    const Outcome outcome = RunTool(std::move(more));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return e2e::RunProgram("/usr/bin/env", {"tar", "-xzOf", Path("help.tar.gz")}).out;
  };
  const std::string with = bundle({"--access-key-id", "ADMIN", "--secret-access-key-file", Path("secret")});
  EXPECT_THAT(with, HasSubstr("# TYPE itemdb_"));
  EXPECT_THAT(with, ::testing::Not(HasSubstr("hidden hidden")));
  EXPECT_THAT(bundle({}), HasSubstr("answered 401"));
}

TEST_F(ItemctlTls, ADaemonThatAsksForACertificateTakesTheRightOne) {
  StartDaemon({"--tls-client-ca", Path("ca.pem")});
  const Outcome with =
      List({"--tls-ca", Path("ca.pem"), "--tls-cert", Path("client.pem"), "--tls-key", Path("client.key")});
  EXPECT_EQ(with.exit_code, 0) << with.err;
  EXPECT_EQ(List({"--tls-ca", Path("ca.pem")}).exit_code, 5);
}

}  // namespace
}  // namespace itemdb::tools
