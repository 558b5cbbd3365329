// GET of one page of an HTTP server, with the TLS files and the access key that itemctl was given.
#pragma once

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

struct HttpPage {
  long status = 0;
  std::string body;
};

struct PageRequest {
  // http:// or https://.
  std::string url;
  // Send the access key by HTTP Basic authentication. Never over http:// to another machine.
  bool with_key = false;
  std::chrono::milliseconds patience{5'000};
};

// A page of at most 16 MiB. Redirects are not followed and proxies not used. Fails with a message that names
// the URL and the reason.
absl::StatusOr<HttpPage> GetPage(const PageRequest& request, const GlobalOptions& options);

}  // namespace itemdb::tools
