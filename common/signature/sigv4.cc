#include "common/signature/sigv4.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace itemdb::common {
namespace {

// Algorithms are fetched once; otherwise OpenSSL would look them up by name for each request.
EVP_MD* Sha256Algorithm() {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return algorithm;
}
EVP_MAC* HmacAlgorithm() {
  static EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  return algorithm;
}

void CheckOpenssl(bool succeeded, const char* call) {
  if (succeeded) return;
  std::fprintf(stderr, "OpenSSL fails: %s\n", call);
  std::abort();
}

const unsigned char* Unsigned(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

Sha256 HashOf(std::string_view bytes) {
  Sha256 hash = {};
  unsigned length = 0;
  CheckOpenssl(EVP_Digest(bytes.data(), bytes.size(), hash.data(), &length, Sha256Algorithm(), nullptr) == 1,
               "EVP_Digest");
  return hash;
}

Sha256 HmacOf(std::string_view key, std::string_view bytes) {
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_new(HmacAlgorithm()),
                                                                          &EVP_MAC_CTX_free);
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                   OSSL_PARAM_construct_end()};
  Sha256 mac = {};
  size_t length = 0;
  CheckOpenssl(context != nullptr, "EVP_MAC_CTX_new");
  CheckOpenssl(EVP_MAC_init(context.get(), Unsigned(key), key.size(), parameters) == 1, "EVP_MAC_init");
  CheckOpenssl(EVP_MAC_update(context.get(), Unsigned(bytes), bytes.size()) == 1, "EVP_MAC_update");
  CheckOpenssl(EVP_MAC_final(context.get(), mac.data(), &length, mac.size()) == 1, "EVP_MAC_final");
  return mac;
}

std::string Hex(const Sha256& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::string_view BytesOf(const Sha256& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string ScopeText(const SigningScope& scope) {
  std::string text;
  for (const std::string_view part : {scope.date, scope.region, scope.service}) text.append(part).append("/");
  return text.append(kScopeEnd);
}

Sha256 DeriveSigningKey(std::string_view secret, const SigningScope& scope) {
  Sha256 key = HmacOf(std::string("AWS4").append(secret), scope.date);
  for (const std::string_view part : {scope.region, scope.service, kScopeEnd})
    key = HmacOf(BytesOf(key), part);
  return key;
}

std::string SignCanonicalRequest(std::string_view canonical_request, std::string_view time,
                                 std::string_view scope, const Sha256& signing_key) {
  std::string text(kSignatureAlgorithm);
  text.append("\n").append(time).append("\n").append(scope).append("\n").append(
      Hex(HashOf(canonical_request)));
  return Hex(HmacOf(BytesOf(signing_key), text));
}

}  // namespace itemdb::common
