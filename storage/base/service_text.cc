#include "storage/base/service_text.h"

#include "absl/strings/cord.h"
#include "storage/base/status.h"

namespace itemdb::storage {
namespace {

constexpr char kServiceTextUrl[] = "itemdb/service_text";

std::string Joined(std::string_view first, std::string_view second, std::string_view third = {},
                   std::string_view fourth = {}) {
  std::string text;
  text.reserve(first.size() + second.size() + third.size() + fourth.size());
  return text.append(first).append(second).append(third).append(fourth);
}

}  // namespace

absl::Status WithServiceText(std::string_view text, absl::Status status) {
  status.SetPayload(kServiceTextUrl, absl::Cord(absl::string_view(text.data(), text.size())));
  return status;
}

std::string ServiceTextOf(const absl::Status& status) {
  auto payload = status.GetPayload(kServiceTextUrl);
  return payload.has_value() ? std::string(*payload) : MessageOf(status);
}

absl::Status DetailedError(std::string_view rule, std::string_view text, std::string_view addition) {
  return WithServiceText(text, ValidationError(rule, Joined(text, addition)));
}

absl::Status Reworded(const absl::Status& status, const Around& around) {
  const std::string message = Joined(around.before, MessageOf(status), around.after, around.addition);
  absl::Status reworded(status.code(), message);
  status.ForEachPayload(
      [&reworded](absl::string_view url, const absl::Cord& payload) { reworded.SetPayload(url, payload); });
  const std::string text = Joined(around.before, ServiceTextOf(status), around.after);
  if (text == message) {
    reworded.ErasePayload(kServiceTextUrl);
    return reworded;
  }
  return WithServiceText(text, std::move(reworded));
}

}  // namespace itemdb::storage
