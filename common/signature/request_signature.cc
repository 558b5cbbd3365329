#include "common/signature/request_signature.h"

#include <algorithm>

#include "common/signature/sigv4.h"

namespace itemdb::common {

NamesAndValues SignedHeaders(RequestToSign request, const SigningCredentials& credentials, absl::Time now) {
  const std::string time = absl::FormatTime("%E4Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
  const std::string date = time.substr(0, time.find('T'));
  NamesAndValues headers = std::move(request.headers);
  headers.emplace_back("x-amz-date", time);
  if (!credentials.session_token.empty())
    headers.emplace_back("x-amz-security-token", credentials.session_token);
  std::sort(headers.begin(), headers.end());
  std::string canonical;
  canonical.append(request.method).append("\n").append(request.path).append("\n");
  canonical.append(request.query).append("\n");
  std::string names;
  for (const auto& [name, value] : headers) {
    canonical.append(name).append(":").append(value).append("\n");
    names.append(names.empty() ? "" : ";").append(name);
  }
  canonical.append("\n").append(names).append("\n").append(request.body_hash);
  const SigningScope scope{.date = date, .region = request.region, .service = request.service};
  const std::string scope_text = ScopeText(scope);
  const std::string signature =
      SignCanonicalRequest(canonical, time, scope_text, DeriveSigningKey(credentials.secret, scope));
  std::string authorization(kSignatureAlgorithm);
  authorization.append(" Credential=").append(credentials.key_id).append("/").append(scope_text);
  authorization.append(",SignedHeaders=").append(names).append(",Signature=").append(signature);
  headers.emplace_back("authorization", std::move(authorization));
  return headers;
}

}  // namespace itemdb::common
