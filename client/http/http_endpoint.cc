#include "client/http/http_endpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "client/errors_internal.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

constexpr std::string_view kDefaultRegion = "us-east-1";
constexpr std::string_view kAwsHosts[] = {".amazonaws.com", ".amazonaws.com.cn", ".api.aws"};

struct Url {
  std::string scheme;
  std::string host;
  std::string port;
};

absl::Status NoUrl(const std::string& endpoint, std::string_view why) {
  return InvalidRequest("the endpoint \"" + endpoint + "\" " + std::string(why) +
                        "; a URL of DynamoDB's HTTP protocol is http://HOST:PORT, such as "
                        "http://127.0.0.1:8000, or https://HOST, such as "
                        "https://dynamodb.eu-central-1.amazonaws.com");
}

absl::StatusOr<Url> ParseUrl(const std::string& endpoint) {
  Url url;
  const size_t scheme_end = endpoint.find("://");
  url.scheme = endpoint.substr(0, scheme_end);
  if (url.scheme != "http" && url.scheme != "https") return NoUrl(endpoint, "has an unknown scheme");
  std::string_view rest = std::string_view(endpoint).substr(scheme_end + 3);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find_first_of("/?#@ ") != std::string_view::npos)
    return NoUrl(endpoint, "has more than a host and a port");
  const size_t bracket = rest.rfind(']');
  const size_t colon = rest.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    url.port = std::string(rest.substr(colon + 1));
    rest = rest.substr(0, colon);
    int number = 0;
    const char* const end = url.port.data() + url.port.size();
    const auto [parsed, error] = std::from_chars(url.port.data(), end, number);
    if (error != std::errc() || parsed != end || number < 1 || number > 65'535)
      return NoUrl(endpoint, "has no port of 1 to 65535 after the colon");
  }
  url.host = std::string(rest);
  if (url.host.empty()) return NoUrl(endpoint, "has no host");
  return url;
}

bool IsLoopback(std::string_view host) {
  const bool is_v4 =
      host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || is_v4 || host == "[::1]";
}

// "eu-central-1" of "dynamodb.eu-central-1.amazonaws.com"; empty for other hosts.
std::string RegionOfHost(std::string_view host) {
  const auto* suffix = std::find_if(std::begin(kAwsHosts), std::end(kAwsHosts),
                                    [&](std::string_view one) { return host.ends_with(one); });
  if (suffix == std::end(kAwsHosts)) return "";
  host.remove_suffix(suffix->size());
  const size_t dot = host.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? std::string_view() : host.substr(dot + 1);
  return last.find('-') == std::string_view::npos ? "" : std::string(last);
}

std::string_view Stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

absl::StatusOr<common::SigningCredentials> FromFile(const std::string& profile,
                                                    const Environment& environment) {
  std::string path = environment("AWS_SHARED_CREDENTIALS_FILE");
  if (path.empty()) path = environment("HOME") + "/.aws/credentials";
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::optional<common::SigningCredentials> found = CredentialsIn(text, profile);
  if (found.has_value()) return *std::move(found);
  return InvalidRequest(
      "there are no credentials: ClientOptions has no access key, the environment no "
      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and " +
      path + " no profile " + profile + " with aws_access_key_id and aws_secret_access_key");
}

absl::StatusOr<common::SigningCredentials> FindCredentials(const ClientOptions& options, bool on_loopback,
                                                           const Environment& environment) {
  if (!options.access_key_id.empty() || !options.secret_access_key.empty()) {
    if (options.access_key_id.empty() || options.secret_access_key.empty())
      return InvalidRequest("an access key has an id and a secret; only one of them is given");
    return common::SigningCredentials{options.access_key_id, options.secret_access_key,
                                      options.http.session_token};
  }
  std::string profile = options.http.profile;
  if (profile.empty()) {
    common::SigningCredentials found{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
                                     environment("AWS_SESSION_TOKEN")};
    if (!found.key_id.empty() && !found.secret.empty()) return found;
    profile = environment("AWS_PROFILE");
  }
  const bool is_named = !profile.empty();
  absl::StatusOr<common::SigningCredentials> of_file = FromFile(is_named ? profile : "default", environment);
  // Services without keys want a signature of any key.
  if (!of_file.ok() && on_loopback && !is_named) return common::SigningCredentials{"local", "local", ""};
  return of_file;
}

}  // namespace

std::string ProcessEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<common::SigningCredentials> CredentialsIn(std::string_view text, std::string_view profile) {
  common::SigningCredentials found;
  bool is_inside = false;
  while (!text.empty()) {
    const std::string_view line = Stripped(text.substr(0, text.find('\n')));
    text.remove_prefix(
        std::min(text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') + 1, text.size()));
    if (line.starts_with('[')) {
      is_inside = Stripped(line.substr(1, line.find(']') - 1)) == profile;
      continue;
    }
    const size_t equals = line.find('=');
    if (!is_inside || line.starts_with('#') || equals == std::string_view::npos) continue;
    const std::string_view name = Stripped(line.substr(0, equals));
    const std::string value(Stripped(line.substr(equals + 1)));
    if (name == "aws_access_key_id") found.key_id = value;
    if (name == "aws_secret_access_key") found.secret = value;
    if (name == "aws_session_token") found.session_token = value;
  }
  if (found.key_id.empty() || found.secret.empty()) return std::nullopt;
  return found;
}

absl::StatusOr<HttpEndpoint> MakeHttpEndpoint(const ClientOptions& options, const Environment& environment) {
  ITEMDB_ASSIGN_OR_RETURN(Url url, ParseUrl(options.endpoint));
  HttpEndpoint endpoint;
  const std::string own_port = url.scheme == "http" ? "80" : "443";
  endpoint.host = url.host;
  if (!url.port.empty() && url.port != own_port) endpoint.host += ":" + url.port;
  endpoint.url = url.scheme + "://" + endpoint.host + "/";
  for (const std::string& region :
       {options.http.region, environment("AWS_REGION"), environment("AWS_DEFAULT_REGION"),
        RegionOfHost(url.host), std::string(kDefaultRegion)}) {
    if (endpoint.region.empty()) endpoint.region = region;
  }
  ITEMDB_ASSIGN_OR_RETURN(endpoint.credentials, FindCredentials(options, IsLoopback(url.host), environment));
  return endpoint;
}

}  // namespace itemdb
