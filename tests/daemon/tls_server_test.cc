// TLS: which certificate files are accepted, which clients can connect, and what happens when the files
// change.
#include <gmock/gmock.h>
#include <grpc/support/log.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "daemon/access/tls_files.h"
#include "tests/daemon/server_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/support/test_certificates.h"

namespace itemdb::daemon {
namespace {

using ::testing::HasSubstr;

class TlsTest : public ServerTest {
 protected:
  void SetUp() override {
    // gRPC logs a line for every failed handshake; here many fail on purpose.
    gpr_set_log_function([](gpr_log_func_args*) {});
    ServerTest::SetUp();
  }

  void TearDown() override {
    ServerTest::TearDown();
    gpr_set_log_function(nullptr);
  }

  // Waits until a line with this text was logged.
  bool AwaitLog(const std::string& text) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < give_up) {
      for (const std::string& line : logged_->last_formatted()) {
        if (line.find(text) != std::string::npos) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  void WriteFile(const std::string& name, const std::string& content) {
    std::ofstream(Path(name), std::ios::trunc) << content;
    ASSERT_EQ(chmod(Path(name).c_str(), 0600), 0);
  }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  void WriteIdentity(const TestCertificate& identity) {
    WriteFile("cert", identity.certificate);
    WriteFile("key", identity.key);
  }

  TlsOptions Files(bool clients_known = true) const {
    return {.certificate_file = Path("cert"),
            .key_file = Path("key"),
            .client_ca_file = clients_known ? Path("ca") : ""};
  }

  void StartWithTls(bool clients_known) {
    server_.reset();
    ServerOptions options = OptionsFor("127.0.0.1:0");
    options.http.addresses = {*ParseListenAddress("127.0.0.1:0")};
    options.tls = Files(clients_known);
    options.reload_interval = absl::Milliseconds(20);
    options.log = std::make_shared<spdlog::logger>("test", logged_);
    auto server = Server::Start(*database_, std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // A new connection that trusts `authority` and presents the certificate `identity`, if there is one.
  std::unique_ptr<v1::Admin::Stub> Connect(const TestAuthority& authority,
                                           const TestCertificate& identity = {}) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = authority.certificate();
    options.pem_cert_chain = identity.certificate;
    options.pem_private_key = identity.key;
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("localhost");
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return v1::Admin::NewStub(
        grpc::CreateCustomChannel(server_->addresses()[0], grpc::SslCredentials(options), arguments));
  }

  // Whether a request on a new HTTP connection that trusts `authority` is answered.
  bool AnswersHttp(const TestAuthority& authority, const TestCertificate& identity) {
    http::RawHttpClient client(server_->http_addresses()[0]);
    if (!client.StartTls({.authority = authority.certificate(),
                          .certificate = identity.certificate,
                          .key = identity.key})) {
      return false;
    }
    client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return client.ReadReply().value_or(http::RawReply()).status == 200;
  }

  static grpc::StatusCode Call(v1::Admin::Stub& stub) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    v1::GetStatusReply reply;
    return stub.GetStatus(&context, {}, &reply).error_code();
  }

  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> logged_ =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
  TestAuthority authority_{"the right authority"};
  TestAuthority other_{"the wrong authority"};
};

TEST_F(TlsTest, RefusesFilesThatAreNotFitForUse) {
  const TestCertificate good = authority_.Sign();
  const TestCertificate expired = authority_.Sign({.valid_for = -absl::Hours(1)});
  struct Row {
    std::string name;
    std::string certificate, key, ca;
    std::string says;
  };
  const Row rows[] = {
      {"no certificate", "hello", good.key, authority_.certificate(),
       "--tls-cert: " + Path("cert") + " holds no certificate"},
      {"empty", "", good.key, authority_.certificate(), "holds no certificate"},
      {"cut", good.certificate.substr(0, good.certificate.size() / 2), good.key, authority_.certificate(),
       "holds no certificate"},
      {"no key", good.certificate, good.certificate, authority_.certificate(),
       "--tls-key: " + Path("key") + " holds no private key"},
      {"another's key", good.certificate, other_.Sign().key, authority_.certificate(),
       "--tls-key: " + Path("key") + " is not the key of the certificate " + Path("cert")},
      {"expired", expired.certificate, expired.key, authority_.certificate(),
       "--tls-cert: " + Path("cert") + " expired at 20"},
      {"no authority", good.certificate, good.key, "junk",
       "--tls-client-ca: " + Path("ca") + " holds no certificate"},
      {"expired authority", good.certificate, good.key, expired.certificate,
       "--tls-client-ca: " + Path("ca") + " expired at"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    WriteIdentity({.certificate = row.certificate, .key = row.key});
    WriteFile("ca", row.ca);
    absl::Status status = ReadTlsFiles(Files()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(storage::MessageOf(status), HasSubstr(row.says));
  }
  WriteIdentity(good);
  WriteFile("ca", expired.certificate + authority_.certificate());
  EXPECT_TRUE(ReadTlsFiles(Files()).ok()) << "one authority of several is enough";
  for (const char* name : {"cert", "key", "ca"}) {
    SCOPED_TRACE(name);
    std::filesystem::rename(Path(name), Path("away"));
    absl::Status status = ReadTlsFiles(Files()).status();
    EXPECT_TRUE(absl::IsUnavailable(status));
    EXPECT_THAT(storage::MessageOf(status), HasSubstr(Path(name) + " cannot be read: No such file"));
    std::filesystem::rename(Path("away"), Path(name));
  }
}

TEST_F(TlsTest, LetsInWhomTheAuthoritySigned) {
  WriteIdentity(authority_.Sign());
  WriteFile("ca", authority_.certificate());
  const TestCertificate right = authority_.Sign({.name = "client"});
  struct Row {
    std::string name;
    TestCertificate identity;
    bool with_client_ca, without;
  };
  const Row rows[] = {
      {"none", {}, false, true},
      {"of the wrong authority", other_.Sign({.name = "client"}), false, true},
      {"expired", authority_.Sign({.name = "client", .valid_for = -absl::Hours(1)}), false, true},
      {"right", right, true, true},
  };
  for (bool clients_known : {true, false}) {
    StartWithTls(clients_known);
    for (const Row& row : rows) {
      SCOPED_TRACE(row.name + (clients_known ? ", client CA" : ", no client CA"));
      const bool gets_in = clients_known ? row.with_client_ca : row.without;
      EXPECT_EQ(Call(*Connect(authority_, row.identity)),
                gets_in ? grpc::StatusCode::OK : grpc::StatusCode::UNAVAILABLE);
    }
    EXPECT_EQ(Call(*Connect(other_, right)), grpc::StatusCode::UNAVAILABLE)
        << "a client that does not trust us";
    auto plain = v1::Admin::NewStub(ServerTest::Connect(server_->addresses()[0]));
    EXPECT_EQ(Call(*plain), grpc::StatusCode::UNAVAILABLE) << "a client without TLS";
    EXPECT_EQ(Call(*Connect(authority_, right)), grpc::StatusCode::OK) << "after all of them";
  }
}

// Calls run all the time, on an old connection and on new ones. The authority changes with the certificate,
// so after the change only clients that trust the new authority can connect. In between, key and certificate
// do not match.
TEST_F(TlsTest, ReloadsCertificatesWithoutDroppingCalls) {
  WriteIdentity(authority_.Sign());
  WriteFile("ca", authority_.certificate());
  StartWithTls(true);
  const TestCertificate identity = authority_.Sign({.name = "client"});
  std::shared_ptr<v1::Admin::Stub> old_connection = Connect(authority_, identity);
  ASSERT_EQ(Call(*old_connection), grpc::StatusCode::OK);
  ASSERT_TRUE(AnswersHttp(authority_, identity));
  std::atomic<bool> stop = false;
  std::atomic<int> failed = 0, answered = 0;
  std::thread caller([&] {
    while (!stop) (Call(*old_connection) == grpc::StatusCode::OK ? answered : failed)++;
  });

  const TestCertificate renewed = other_.Sign();
  WriteFile("key", renewed.key);
  // The new key without its certificate is noticed and not used.
  EXPECT_TRUE(AwaitLog("certificates not reloaded"));
  EXPECT_EQ(Call(*Connect(authority_, identity)), grpc::StatusCode::OK) << "the old pair serves on";
  WriteFile("cert", renewed.certificate);
  WriteFile("ca", other_.certificate());
  const TestCertificate new_identity = other_.Sign({.name = "client"});
  EXPECT_TRUE(AwaitLog("certificates reloaded"));
  EXPECT_TRUE(AnswersHttp(other_, new_identity)) << "HTTP has them at once";
  EXPECT_FALSE(AnswersHttp(authority_, new_identity));
  // gRPC uses the new files within another second.
  grpc::StatusCode code = grpc::StatusCode::UNAVAILABLE;
  for (int attempt = 0; attempt < 1'200 && code != grpc::StatusCode::OK; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    code = Call(*Connect(other_, new_identity));
  }
  EXPECT_EQ(code, grpc::StatusCode::OK) << "the new certificate is in effect";
  EXPECT_EQ(Call(*Connect(other_, identity)), grpc::StatusCode::UNAVAILABLE) << "so is the new authority";
  EXPECT_EQ(Call(*Connect(authority_, new_identity)), grpc::StatusCode::UNAVAILABLE);

  stop = true;
  caller.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(answered, 0);
}

}  // namespace
}  // namespace itemdb::daemon
