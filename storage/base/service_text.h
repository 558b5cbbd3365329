// The text of an error as DynamoDB sends it.
//
// The message of a status is for a person: it may add names, positions and limits to DynamoDB's own sentence.
// Programs that were written for DynamoDB compare that sentence. So a status whose message says more, or says
// it otherwise, also carries the sentence, the service text. The HTTP endpoint sends the service text as
// `message` and the message as `Detail`; gRPC sends the message.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace itemdb::storage {

// Returns `status` with `text` as its service text, in place of one that it had. Empty: DynamoDB sends none.
absl::Status WithServiceText(std::string_view text, absl::Status status);

// The service text of `status`: its message, unless WithServiceText() gave it another.
std::string ServiceTextOf(const absl::Status& status);

// A ValidationError() with the message `text` followed by `addition`, and with the service text `text`.
absl::Status DetailedError(std::string_view rule, std::string_view text, std::string_view addition);

// `status` with another text around it: `before` begins and `after` ends both its message and its service
// text. `addition` follows at the end of the message only. Code, reason, rule and the time for a retry stay.
struct Around {
  std::string_view before = {};
  std::string_view after = {};
  std::string_view addition = {};
};
absl::Status Reworded(const absl::Status& status, const Around& around);

}  // namespace itemdb::storage
