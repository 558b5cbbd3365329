#include "daemon/http/access_keys.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <functional>

#include "absl/strings/str_format.h"

namespace itemdb {
namespace {

constexpr absl::Duration kMaxClockSkew = absl::Minutes(5);
constexpr std::string_view kService = "dynamodb";

Refusal Invalid(std::string message) { return {"InvalidSignatureException", std::move(message)}; }

std::string Basic(absl::Time time) { return absl::FormatTime("%E4Y%m%dT%H%M%SZ", time, absl::UTCTimeZone()); }

bool IsSigned(const Signature& signature, std::string_view name) {
  const auto& names = signature.header_names;
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view NameOf(Role role) {
  switch (role) {
    case Role::kRead:
      return "read";
    case Role::kWrite:
      return "write";
    default:
      return "admin";
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const AccessKeys>> AccessKeys::Make(std::vector<AccessKey> keys) {
  std::shared_ptr<AccessKeys> made(new AccessKeys());
  for (AccessKey& key : keys) {
    auto [entry, is_new] = made->entries_.try_emplace(key.id);
    if (!is_new) return ValidationError(absl::StrFormat("the key id \"%s\" is there twice", key.id));
    entry->second.secret = std::move(key.secret);
    entry->second.role = key.role;
  }
  return made;
}

std::optional<Refusal> AccessKeys::CheckClaim(const HttpHead& head, const Signature& signature,
                                              absl::Time now) const {
  if (entries_.find(signature.key_id) == entries_.end()) {
    return Refusal{"UnrecognizedClientException", "The security token included in the request is invalid."};
  }
  // A header named again and again would make much text of a short request.
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
  // Else a signature for one operation would be good for another.
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

std::optional<Sha256> AccessKeys::CachedKey(const Entry& entry, std::string_view scope) {
  MutexLock lock(entry.mutex);
  if (entry.scope != scope) return std::nullopt;
  return entry.signing_key;
}

std::optional<Refusal> AccessKeys::Check(const HttpHead& head, const Signature& signature,
                                         std::string_view body, const HttpOperation& operation) const {
  const Entry& entry = entries_.find(signature.key_id)->second;
  std::optional<Sha256> cached = CachedKey(entry, signature.scope);
  const Sha256 signing_key = cached.has_value() ? *cached : DeriveSigningKey(entry.secret, signature);
  std::optional<std::string> expected = Sign(head, body, signature, signing_key);
  const bool matches = expected.has_value() && expected->size() == signature.value.size() &&
                       CRYPTO_memcmp(expected->data(), signature.value.data(), expected->size()) == 0;
  if (!matches) {
    return Invalid(
        "The request signature we calculated does not match the signature you provided. Check your AWS "
        "Secret "
        "Access Key and signing method. Consult the service documentation for details.");
  }
  // Only of good signatures, so that nobody else can make it useless.
  if (!cached.has_value()) {
    MutexLock lock(entry.mutex);
    entry.scope = signature.scope;
    entry.signing_key = signing_key;
  }
  if (operation.role > entry.role) {
    return Refusal{
        "AccessDeniedException",
        absl::StrFormat("User: %s is not authorized to perform: dynamodb:%s because its role is %s and "
                        "this takes %s",
                        signature.key_id, operation.name, NameOf(entry.role), NameOf(operation.role))};
  }
  return std::nullopt;
}

}  // namespace itemdb
