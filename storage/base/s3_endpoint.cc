#include "storage/base/s3_endpoint.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace itemdb::storage {
namespace {

bool IsHostCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_';
}

}  // namespace

absl::StatusOr<S3Endpoint> ParseS3Endpoint(const std::string& url) {
  constexpr std::string_view kTls = "https://";
  constexpr std::string_view kPlain = "http://";
  const auto wrong = [&] {
    return ValidationError(
        "\"" + url +
        "\" is not the address of an S3 endpoint: it takes http:// or https://, a host, and "
        "perhaps a colon and a port, such as https://s3.eu-central-1.amazonaws.com");
  };
  S3Endpoint endpoint{.is_tls = url.starts_with(kTls), .host = {}};
  if (!endpoint.is_tls && !url.starts_with(kPlain)) return wrong();
  std::string_view host = std::string_view(url).substr((endpoint.is_tls ? kTls : kPlain).size());
  if (host.ends_with('/')) host.remove_suffix(1);
  const bool is_bracketed = host.starts_with('[');
  const size_t host_end = is_bracketed ? std::min(host.find(']'), host.size()) + 1 : host.find(':');
  const std::string_view name = host.substr(0, host_end);
  const bool allowed = std::all_of(name.begin(), name.end(), [&](char c) {
    return IsHostCharacter(c) || (is_bracketed && (c == '[' || c == ']' || c == ':'));
  });
  if (name.empty() || !allowed || (is_bracketed && (name.size() < 4 || !name.ends_with(']')))) return wrong();
  std::string_view port = host.substr(std::min(name.size(), host.size()));
  endpoint.host = name;
  if (port.empty()) return endpoint;
  port.remove_prefix(1);
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host[name.size()] != ':' || error != std::errc() || end != port.data() + port.size() || number < 1 ||
      number > 65'535)
    return wrong();
  if (number != (endpoint.is_tls ? 443 : 80)) endpoint.host += ":" + std::to_string(number);
  return endpoint;
}

}  // namespace itemdb::storage
