#include "daemon/access/tls_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "daemon/process/file_bytes.h"

namespace itemdb::daemon {
namespace {

// Four times the size of a bundle with all public authorities.
constexpr size_t kMaxPemBytes = 1 << 20;

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

absl::Status Unfit(std::string_view setting, const std::string& path, const std::string& what) {
  return storage::ValidationError(absl::StrFormat("--%s: %s %s", setting, path, what));
}

Bio Reader(const std::string& pem) { return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))); }

// The certificates of `pem` up to the first block that is not a certificate.
std::vector<Certificate> Certificates(const std::string& pem) {
  std::vector<Certificate> certificates;
  Bio reader = Reader(pem);
  while (X509* certificate = PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  ERR_clear_error();
  return certificates;
}

PrivateKey KeyOf(const std::string& pem) {
  // Without this callback OpenSSL asks for the passphrase of an encrypted key on the terminal.
  auto no_passphrase = [](char*, int, int, void*) { return -1; };
  PrivateKey key(PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  return key;
}

std::string TimeText(const ASN1_TIME* time) {
  tm fields = {};
  if (ASN1_TIME_to_tm(time, &fields) != 1) return "an unknown time";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromTM(fields, absl::UTCTimeZone()),
                          absl::UTCTimeZone());
}

// Empty when `certificate` is valid now.
std::string InvalidNow(const X509* certificate) {
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
    return "is not valid before " + TimeText(X509_get0_notBefore(certificate));
  }
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) {
    return "expired at " + TimeText(X509_get0_notAfter(certificate));
  }
  return "";
}

// `read` is ReadFileBytes or ReadSecretFile.
absl::StatusOr<std::string> ReadPem(std::string_view setting, const std::string& path,
                                    decltype(ReadFileBytes)* read = ReadFileBytes) {
  absl::StatusOr<std::string> pem = read(path, kMaxPemBytes);
  if (pem.ok()) return pem;
  return absl::Status(pem.status().code(),
                      absl::StrFormat("--%s: %s", setting, storage::MessageOf(pem.status())));
}

absl::Status CheckIdentity(const TlsOptions& options, const TlsContent& content) {
  std::vector<Certificate> chain = Certificates(content.certificate);
  if (chain.empty()) return Unfit("tls-cert", options.certificate_file, "holds no certificate in PEM form");
  PrivateKey key = KeyOf(content.key);
  if (key == nullptr) {
    return Unfit("tls-key", options.key_file, "holds no private key in PEM form, or one under a passphrase");
  }
  bool fits = X509_check_private_key(chain.front().get(), key.get()) == 1;
  ERR_clear_error();
  if (!fits)
    return Unfit("tls-key", options.key_file,
                 "is not the key of the certificate " + options.certificate_file);
  std::string invalid = InvalidNow(chain.front().get());
  if (!invalid.empty()) return Unfit("tls-cert", options.certificate_file, invalid);
  return absl::OkStatus();
}

absl::Status CheckClientCa(const TlsOptions& options, const TlsContent& content) {
  std::vector<Certificate> authorities = Certificates(content.client_ca);
  if (authorities.empty())
    return Unfit("tls-client-ca", options.client_ca_file, "holds no certificate in PEM form");
  std::string invalid;
  for (const Certificate& authority : authorities) {
    invalid = InvalidNow(authority.get());
    // One valid authority is enough: bundles contain expired certificates beside their successors.
    if (invalid.empty()) return absl::OkStatus();
  }
  return Unfit("tls-client-ca", options.client_ca_file, invalid);
}

}  // namespace

absl::StatusOr<TlsContent> ReadTlsFiles(const TlsOptions& options) {
  TlsContent content;
  ITEMDB_ASSIGN_OR_RETURN(content.certificate, ReadPem("tls-cert", options.certificate_file));
  ITEMDB_ASSIGN_OR_RETURN(content.key, ReadPem("tls-key", options.key_file, ReadSecretFile));
  ITEMDB_RETURN_IF_ERROR(CheckIdentity(options, content));
  if (!options.client_ca_file.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(content.client_ca, ReadPem("tls-client-ca", options.client_ca_file));
    ITEMDB_RETURN_IF_ERROR(CheckClientCa(options, content));
  }
  return content;
}

}  // namespace itemdb::daemon
