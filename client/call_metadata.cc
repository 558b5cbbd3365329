#include "client/call_metadata.h"

#include <algorithm>

#include "client/errors_internal.h"

namespace itemdb {

// gRPC ends the process when it gets invalid metadata; HTTP would end a header at a line break.
absl::Status CheckMetadata(const std::string& key, const std::string& value) {
  const auto is_key_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  if (key.empty() || !std::all_of(key.begin(), key.end(), is_key_character) || key.starts_with("grpc-") ||
      key.ends_with("-bin")) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "the metadata key \"" + key +
                         "\" is not allowed; keys have lower-case letters, digits, '-', '_' and '.', do not "
                         "begin with grpc- and do not end with -bin");
  }
  if (!std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "the value of the metadata key " + key + " has other characters than printable ASCII");
  }
  return absl::OkStatus();
}

}  // namespace itemdb
