// The method of CallJson: not one of the daemon's, so only the transport for URLs has it.
#pragma once

namespace itemdb {

// The request is the value of the header X-Amz-Target, a line feed and a JSON object; the reply is a JSON
// object.
inline constexpr char kJsonMethod[] = "/json/Call";

}  // namespace itemdb
