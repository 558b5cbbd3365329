#include "daemon/http/signature/signature_check.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <functional>

#include "absl/strings/str_format.h"

namespace itemdb::http {
namespace {

constexpr absl::Duration kMaxClockSkew = absl::Minutes(5);
constexpr std::string_view kService = "dynamodb";

AuthError Invalid(std::string message) { return {"InvalidSignatureException", std::move(message)}; }

std::string Basic(absl::Time time) { return absl::FormatTime("%E4Y%m%dT%H%M%SZ", time, absl::UTCTimeZone()); }

bool IsSigned(const Signature& signature, std::string_view name) {
  const auto& names = signature.header_names;
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

SignatureCheck::SignatureCheck(std::shared_ptr<const daemon::AccessKeys> keys) : keys_(std::move(keys)) {}

std::optional<AuthError> SignatureCheck::CheckHead(const HttpHead& head, const Signature& signature,
                                                   absl::Time now) const {
  if (keys_->Find(signature.key_id) == nullptr) {
    return AuthError{"UnrecognizedClientException", "The security token included in the request is invalid."};
  }
  // A header named many times would make a short request produce much text to sign.
  if (std::adjacent_find(signature.header_names.begin(), signature.header_names.end(),
                         std::greater_equal<>()) != signature.header_names.end()) {
    return Invalid("'SignedHeaders' must name each header once, in order.");
  }
  if (!IsSigned(signature, "host")) {
    return Invalid("'Host' must be a 'SignedHeader' in the AWS Authorization.");
  }
  const bool own_date = head.Find("X-Amz-Date").has_value();
  if (!IsSigned(signature, own_date ? "x-amz-date" : "date")) {
    return Invalid(absl::StrFormat("'%s' must be a 'SignedHeader' in the AWS Authorization.",
                                   own_date ? "X-Amz-Date" : "Date"));
  }
  // Otherwise an attacker could send the signed body to another operation.
  if (head.Find("X-Amz-Target").has_value() && !IsSigned(signature, "x-amz-target")) {
    return Invalid("'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.");
  }
  if (signature.service != kService) {
    return Invalid(absl::StrFormat("Credential should be scoped to correct service: '%s'.", kService));
  }
  if (!std::string_view(signature.time_text).starts_with(signature.date) || signature.date.size() != 8) {
    return Invalid(absl::StrFormat("Date in Credential scope does not match that of the request, %s.",
                                   signature.time_text));
  }
  if (signature.time < now - kMaxClockSkew) {
    return Invalid(absl::StrFormat("Signature expired: %s is now earlier than %s (%s - 5 min.)",
                                   signature.time_text, Basic(now - kMaxClockSkew), Basic(now)));
  }
  if (signature.time > now + kMaxClockSkew) {
    return Invalid(absl::StrFormat("Signature not yet current: %s is still later than %s (%s + 5 min.)",
                                   signature.time_text, Basic(now + kMaxClockSkew), Basic(now)));
  }
  return std::nullopt;
}

std::optional<AuthError> SignatureCheck::Check(const HttpHead& head, const Signature& signature,
                                               std::string_view body, const HttpOperation& operation,
                                               daemon::Caller* caller) const {
  const daemon::AccessKey& key = *keys_->Find(signature.key_id);
  CachedSigningKey* cached = nullptr;
  std::optional<Sha256> cached_key;
  {
    storage::MutexLock lock(mutex_);
    cached = &signing_keys_[key.id];
    if (cached->scope == signature.scope) cached_key = cached->signing_key;
  }
  const Sha256 signing_key = cached_key.has_value() ? *cached_key : DeriveSigningKey(key.secret, signature);
  std::optional<std::string> expected = Sign(head, body, signature, signing_key);
  const bool matches = expected.has_value() && expected->size() == signature.value.size() &&
                       CRYPTO_memcmp(expected->data(), signature.value.data(), expected->size()) == 0;
  if (!matches) {
    return Invalid(
        "The request signature we calculated does not match the signature you provided. Check your AWS "
        "Secret Access Key and signing method. Consult the service documentation for details.");
  }
  // Cached for correct signatures only; otherwise anyone could replace the cached key with a useless one.
  if (!cached_key.has_value()) {
    storage::MutexLock lock(mutex_);
    cached->scope = signature.scope;
    cached->signing_key = signing_key;
  }
  *caller = daemon::AccessKeys::CallerWith(keys_, key);
  if (operation.role <= key.role) return std::nullopt;
  const absl::Status allowed = daemon::CheckOperation(*caller, absl::StrFormat("dynamodb:%s", operation.name),
                                                      {.role = operation.role, .scope = operation.scope});
  if (allowed.ok()) return std::nullopt;
  return AuthError{"AccessDeniedException", storage::MessageOf(allowed)};
}

}  // namespace itemdb::http
