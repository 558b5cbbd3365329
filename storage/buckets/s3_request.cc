#include "storage/buckets/s3_request.h"

#include <algorithm>

#include "absl/time/civil_time.h"
#include "common/signature/sigv4.h"

namespace itemdb::storage {
namespace {

bool IsUnreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

// The parameters encoded and sorted, as they are sent and signed.
std::string QueryOf(const S3Request& request) {
  NamesAndValues encoded;
  for (const auto& [name, value] : request.query)
    encoded.emplace_back(UriEncode(name, /*keeps_slashes=*/false), UriEncode(value, /*keeps_slashes=*/false));
  std::sort(encoded.begin(), encoded.end());
  std::string text;
  for (const auto& [name, value] : encoded)
    text.append(text.empty() ? "" : "&").append(name).append("=").append(value);
  return text;
}

}  // namespace

std::string UriEncode(std::string_view text, bool keeps_slashes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c) || (keeps_slashes && c == '/')) {
      encoded.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return encoded;
}

std::string TargetOf(const S3Request& request) {
  std::string target = UriEncode(request.path, /*keeps_slashes=*/true);
  if (const std::string query = QueryOf(request); !query.empty()) target.append("?").append(query);
  return target;
}

NamesAndValues SignedHeadersOf(const S3Request& request, const std::string& host, const std::string& region,
                               const S3Credentials& credentials, absl::Time now) {
  const std::string time = absl::FormatTime("%E4Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
  const std::string date = time.substr(0, time.find('T'));
  const std::string body_hash = common::Hex(common::HashOf(request.body));
  NamesAndValues headers = request.headers;
  headers.emplace_back("host", host);
  headers.emplace_back("x-amz-content-sha256", body_hash);
  headers.emplace_back("x-amz-date", time);
  if (!credentials.session_token.empty())
    headers.emplace_back("x-amz-security-token", credentials.session_token);
  std::sort(headers.begin(), headers.end());
  std::string canonical = request.method + "\n" + UriEncode(request.path, /*keeps_slashes=*/true) + "\n" +
                          QueryOf(request) + "\n";
  std::string names;
  for (const auto& [name, value] : headers) {
    canonical.append(name).append(":").append(value).append("\n");
    names.append(names.empty() ? "" : ";").append(name);
  }
  canonical.append("\n").append(names).append("\n").append(body_hash);
  const common::SigningScope scope{.date = date, .region = region, .service = "s3"};
  const std::string scope_text = common::ScopeText(scope);
  const std::string signature = common::SignCanonicalRequest(
      canonical, time, scope_text, common::DeriveSigningKey(credentials.secret, scope));
  headers.emplace_back("authorization", std::string(common::kSignatureAlgorithm) +
                                            " Credential=" + credentials.key_id + "/" + scope_text +
                                            ",SignedHeaders=" + names + ",Signature=" + signature);
  return headers;
}

}  // namespace itemdb::storage
