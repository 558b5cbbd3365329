#include "tests/support/test_certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdlib>

#include "absl/time/clock.h"

namespace itemdb {
namespace {

// For tests only: a failure ends the process.
template <typename T>
T* Must(T* pointer) {
  if (pointer == nullptr) std::abort();
  return pointer;
}

template <typename Write>
std::string ToPem(Write write) {
  BIO* bio = Must(BIO_new(BIO_s_mem()));
  write(bio);
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio, &data);
  std::string pem(data, length);
  BIO_free(bio);
  return pem;
}

std::string KeyPem(EVP_PKEY* key) {
  return ToPem(
      [&](BIO* bio) { PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = Must(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// A certificate for `key`, signed by `issuer` with `issuer_key`; self-signed if `issuer` is null.
X509* MakeCertificate(const std::string& name, absl::Duration valid_for, EVP_PKEY* key, X509* issuer,
                      EVP_PKEY* issuer_key) {
  static long serial = 1;
  X509* certificate = Must(X509_new());
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  const absl::Time end = absl::Now() + valid_for;
  ASN1_TIME_set(X509_getm_notBefore(certificate),
                absl::ToTimeT(std::min(absl::Now(), end) - absl::Hours(24)));
  ASN1_TIME_set(X509_getm_notAfter(certificate), absl::ToTimeT(end));
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509* signer = issuer == nullptr ? certificate : issuer;
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  if (issuer == nullptr) {
    AddExtension(certificate, signer, NID_basic_constraints, "critical,CA:TRUE");
  } else {
    AddExtension(certificate, signer, NID_subject_alt_name, "DNS:" + name);
  }
  if (X509_sign(certificate, issuer_key, EVP_sha256()) == 0) std::abort();
  return certificate;
}

}  // namespace

struct TestAuthority::Keys {
  EVP_PKEY* key;
  X509* certificate;
};

TestAuthority::TestAuthority(const std::string& name) : keys_(std::make_unique<Keys>()) {
  keys_->key = Must(EVP_EC_gen("P-256"));
  keys_->certificate = MakeCertificate(name, absl::Hours(24), keys_->key, nullptr, keys_->key);
  certificate_ = ToPem([&](BIO* bio) { PEM_write_bio_X509(bio, keys_->certificate); });
}

TestAuthority::~TestAuthority() {
  X509_free(keys_->certificate);
  EVP_PKEY_free(keys_->key);
}

TestCertificate TestAuthority::Sign(const Request& request) const {
  EVP_PKEY* key = Must(EVP_EC_gen("P-256"));
  X509* certificate = MakeCertificate(request.name, request.valid_for, key, keys_->certificate, keys_->key);
  TestCertificate made{.certificate = ToPem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); }),
                       .key = KeyPem(key)};
  X509_free(certificate);
  EVP_PKEY_free(key);
  return made;
}

}  // namespace itemdb
