// What is listening where no itemd answers: an HTTP server, a TLS port, something that never says a word.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

enum class Listener {
  // Nobody, or the address does not resolve.
  kNone,
  // Speaks HTTP/2 without TLS, as itemd does.
  kHttp2,
  kHttp1,
  kTls,
  // Takes connections, and closes them or says something else.
  kOther,
  // Takes connections, and says nothing.
  kSilent,
};

// Connects to `endpoint`, "HOST:PORT" or "unix:/PATH", and looks at what comes back. Blocks for about two
// seconds at most.
Listener ProbeEndpoint(const std::string& endpoint);

// `status`, an unreachable daemon, with the reason found by a probe of the context's endpoint; unchanged when
// the probe knows no better.
absl::Status Diagnosed(const absl::Status& status, Context& context);

}  // namespace itemdb::tools
