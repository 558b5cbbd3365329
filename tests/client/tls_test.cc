// TLS between client and daemon: which handshakes succeed, and the errors of those that fail.
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_certificates.h"

namespace itemdb {
namespace {

using ::testing::HasSubstr;

class TlsTest : public ::testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& content) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::string CaFile(const TestAuthority& authority) { return File("ca.pem", authority.certificate()); }

  // With `client_authority` the daemon requires a client certificate signed by it.
  static std::unique_ptr<FakeDaemon> Daemon(const TestCertificate& certificate,
                                            const TestAuthority* client_authority = nullptr) {
    grpc::SslServerCredentialsOptions options(
        client_authority == nullptr ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                    : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_key_cert_pairs.push_back({certificate.key, certificate.certificate});
    if (client_authority != nullptr) options.pem_root_certs = client_authority->certificate();
    auto daemon = std::make_unique<FakeDaemon>("127.0.0.1:0", grpc::SslServerCredentials(options));
    daemon->get_status = [](const v1::GetStatusRequest&, v1::GetStatusReply*) { return grpc::Status::OK; };
    return daemon;
  }

  // The status of the first call of a new client. It connects to an IP address, because not every machine can
  // resolve its own name, and expects the certificate's name "localhost" unless `tls` has another.
  static absl::Status Ask(const std::string& endpoint, std::optional<TlsOptions> tls) {
    if (tls.has_value() && tls->server_name.empty()) tls->server_name = "localhost";
    absl::StatusOr<Client> client =
        Client::Open({.endpoint = endpoint, .retry = {.max_attempts = 1}, .tls = std::move(tls)});
    if (!client.ok()) return client.status();
    return client->GetStatus().status();
  }

  // Expects UNAVAILABLE with a message that contains the endpoint and `text`.
  static void ExpectRefused(const absl::Status& status, const std::string& endpoint,
                            const std::string& text) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_EQ(ReasonOf(status), kReasonUnavailable);
    EXPECT_THAT(status.message(), HasSubstr(endpoint)) << status;
    EXPECT_THAT(status.message(), HasSubstr(text)) << status;
  }

  testing::TemporaryDirectory directory_;
  TestAuthority authority_{"the right authority"};
  TestAuthority other_{"another authority"};
};

TEST_F(TlsTest, CertificateOfTheRightAuthorityIsAccepted) {
  const auto daemon = Daemon(authority_.Sign());
  EXPECT_TRUE(Ask(daemon->endpoint(), TlsOptions{.ca_file = CaFile(authority_)}).ok());
}

TEST_F(TlsTest, CertificateOfAnotherAuthorityIsNotTrusted) {
  const auto daemon = Daemon(authority_.Sign());
  const std::string endpoint = daemon->endpoint();
  ExpectRefused(Ask(endpoint, TlsOptions{.ca_file = CaFile(other_)}), endpoint, "is not trusted");
}

TEST_F(TlsTest, ExpiredCertificateIsNotTrusted) {
  const auto daemon = Daemon(authority_.Sign({.valid_for = -absl::Hours(1)}));
  const std::string endpoint = daemon->endpoint();
  ExpectRefused(Ask(endpoint, TlsOptions{.ca_file = CaFile(authority_)}), endpoint, "expired");
}

TEST_F(TlsTest, CertificateMustBearTheNameAskedFor) {
  const auto daemon = Daemon(authority_.Sign({.name = "db.example.com"}));
  const std::string endpoint = daemon->endpoint();
  TlsOptions tls{.ca_file = CaFile(authority_)};
  ExpectRefused(Ask(endpoint, tls), endpoint, "does not bear the name");
  tls.server_name = "db.example.com";
  EXPECT_TRUE(Ask(endpoint, tls).ok());
}

TEST_F(TlsTest, ClientCertificateIsAcceptedWhenTheDaemonTrustsIt) {
  const auto daemon = Daemon(authority_.Sign(), &other_);
  const std::string endpoint = daemon->endpoint();
  const auto with = [&](const TestCertificate& certificate) {
    return Ask(endpoint, TlsOptions{.ca_file = CaFile(authority_),
                                    .cert_file = File("cert.pem", certificate.certificate),
                                    .key_file = File("key.pem", certificate.key)});
  };
  EXPECT_TRUE(with(other_.Sign()).ok());
  ExpectRefused(with(authority_.Sign()), endpoint, "not to trust the client certificate");
  ExpectRefused(with(other_.Sign({.valid_for = -absl::Hours(1)})), endpoint, "client certificate");
  ExpectRefused(Ask(endpoint, TlsOptions{.ca_file = CaFile(authority_)}), endpoint,
                "require a client certificate");
}

TEST_F(TlsTest, TlsAgainstADaemonWithoutItAndTheReverseAreUnavailable) {
  FakeDaemon plain;
  ExpectRefused(Ask(plain.endpoint(), TlsOptions{.ca_file = CaFile(authority_)}), plain.endpoint(),
                "does not speak TLS");
  const auto tls = Daemon(authority_.Sign());
  ExpectRefused(Ask(tls->endpoint(), std::nullopt), tls->endpoint(), "may want TLS");
}

// Each error names the file.
TEST_F(TlsTest, FilesOfNoUseAreRefusedBeforeConnecting) {
  const TestCertificate certificate = authority_.Sign();
  const std::string cert_file = File("cert.pem", certificate.certificate);
  const std::string key_file = File("key.pem", certificate.key);
  const std::string ca_file = CaFile(authority_);
  struct Case {
    std::string name;
    TlsOptions options;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"missing", {.ca_file = "/nonexistent/ca.pem"}, "/nonexistent/ca.pem"},
      {"directory", {.ca_file = directory_.path()}, "is a directory"},
      {"empty", {.ca_file = File("empty.pem", "")}, "empty.pem"},
      {"no certificate", {.ca_file = key_file}, key_file},
      {"key is a certificate",
       {.ca_file = ca_file, .cert_file = cert_file, .key_file = cert_file},
       cert_file},
      {"certificate alone", {.ca_file = ca_file, .cert_file = cert_file}, "needs a private key"},
      {"key alone", {.ca_file = ca_file, .key_file = key_file}, "needs a certificate"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const absl::Status status = Client::Open({.endpoint = "127.0.0.1:7420", .tls = c.options}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(status.message(), HasSubstr(c.expected)) << status;
  }
}

// Damaged PEM text must be an error and must not end the process.
TEST_F(TlsTest, DamagedCertificatesAreUnavailable) {
  const auto daemon = Daemon(authority_.Sign());
  const std::string damaged =
      "-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n";
  const TestCertificate own = authority_.Sign();
  const TestCertificate foreign = authority_.Sign();
  const absl::Status ca = Ask(daemon->endpoint(), TlsOptions{.ca_file = File("damaged.pem", damaged)});
  ExpectRefused(ca, daemon->endpoint(), "no usable certificate");
  const absl::Status mismatch =
      Ask(daemon->endpoint(), TlsOptions{.ca_file = CaFile(authority_),
                                         .cert_file = File("c.pem", own.certificate),
                                         .key_file = File("k.pem", foreign.key)});
  ExpectRefused(mismatch, daemon->endpoint(), "is not the certificate's");
}

// gRPC would end the process for metadata like this.
TEST(ClientMetadata, IsCheckedAtOpen) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"", "x"},
                                                                                   {"Upper", "x"},
                                                                                   {"with space", "x"},
                                                                                   {"grpc-x", "x"},
                                                                                   {"x-bin", "x"},
                                                                                   {"x", "line\nbreak"}}) {
    SCOPED_TRACE(key);
    const absl::Status status =
        Client::Open({.endpoint = "127.0.0.1:7420", .metadata = {{key, value}}}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
}

}  // namespace
}  // namespace itemdb
