#include "storage/buckets/s3_request.h"

#include <algorithm>

#include "common/signature/request_signature.h"
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
  const std::string body_hash = common::Hex(common::HashOf(request.body));
  const std::string path = UriEncode(request.path, /*keeps_slashes=*/true);
  const std::string query = QueryOf(request);
  NamesAndValues headers = request.headers;
  headers.emplace_back("host", host);
  headers.emplace_back("x-amz-content-sha256", body_hash);
  return common::SignedHeaders({.method = request.method,
                                .path = path,
                                .query = query,
                                .headers = std::move(headers),
                                .body_hash = body_hash,
                                .region = region,
                                .service = "s3"},
                               {.key_id = credentials.key_id,
                                .secret = credentials.secret,
                                .session_token = credentials.session_token},
                               now);
}

}  // namespace itemdb::storage
