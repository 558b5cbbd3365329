#include "client/modelling/position.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/convert.h"
#include "client/errors_internal.h"

namespace itemdb {

std::string EncodePosition(const Item& position) {
  v1::Item message;
  // The only error is a value that nests too deeply, and keys do not nest.
  (void)ToProto(position, &message);
  return absl::WebSafeBase64Escape(message.SerializeAsString());
}

absl::StatusOr<Item> DecodePosition(std::string_view text) {
  std::string bytes;
  v1::Item message;
  if (!absl::WebSafeBase64Unescape(std::string(text), &bytes) || !message.ParseFromString(bytes))
    return WrongPosition(text);
  absl::StatusOr<Item> position = FromProto(message);
  if (!position.ok()) return WrongPosition(text);
  return position;
}

absl::Status WrongPosition(std::string_view text) {
  constexpr size_t kShownBytes = 60;
  return MakeError(
      absl::StatusCode::kInvalidArgument, kReasonValidation,
      absl::StrCat(
          "not a position of this read: \"", absl::CEscape(std::string(text.substr(0, kShownBytes))),
          text.size() > kShownBytes ? "...\"" : "\"",
          "; positions come from an earlier run with the same request, and an empty one begins anew"));
}

}  // namespace itemdb
