#include "client/access_key.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/escaping.h"
#include "client/errors_internal.h"

namespace itemdb {
namespace {

absl::Status NotAllowed(const std::string& message) {
  return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation, message);
}

bool IsOnThisMachine(std::string_view endpoint) {
  const std::string_view host = endpoint.substr(0, endpoint.rfind(':'));
  // Only digits and dots: 127.example.com is not loopback.
  const bool is_loopback_v4 =
      host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
  return endpoint.starts_with("unix:") || host == "localhost" || is_loopback_v4 || host == "[::1]";
}

}  // namespace

absl::StatusOr<std::string> AuthorizationOf(const ClientOptions& options) {
  const std::string& id = options.access_key_id;
  if (id.empty() && options.secret_access_key.empty()) return std::string();
  if (id.empty()) return NotAllowed("there is a secret access key, but no access key id");
  if (options.secret_access_key.empty())
    return NotAllowed("the access key " + id + " needs its secret access key");
  const auto is_of_an_id = [](char c) { return c > ' ' && c <= '~' && c != ':'; };
  if (!std::all_of(id.begin(), id.end(), is_of_an_id))
    return NotAllowed("an access key id has printable ASCII characters, without spaces and ':'");
  if (options.metadata.contains(kAuthorization)) {
    return NotAllowed("the metadata key authorization carries the access key; set only one of the two");
  }
  if (!options.tls.has_value() && !IsOnThisMachine(options.endpoint)) {
    return NotAllowed("the secret of the access key " + id + " would be sent to " + options.endpoint +
                      " without encryption, where others can read it: connect with TLS");
  }
  return "Basic " + absl::Base64Escape(id + ":" + options.secret_access_key);
}

}  // namespace itemdb
