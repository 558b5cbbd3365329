// Where Client::Open finds the transport for URLs. It is a library of its own (client/http), with libcurl and
// a JSON parser, which programs that speak gRPC only need not have. Programs of this repository link it; the
// installed library loads it when the first URL is opened.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/timer.h"
#include "client/transport.h"
#include "itemdb/export.h"
#include "itemdb/options.h"

namespace itemdb {

using HttpTransportFactory = absl::StatusOr<std::unique_ptr<Transport>> (*)(const ClientOptions&, Timer&);

// Called when the library with the transport is loaded.
ITEMDB_EXPORT void RegisterHttpTransport(HttpTransportFactory factory);

inline bool IsUrl(std::string_view endpoint) { return endpoint.find("://") != std::string_view::npos; }

// The transport for `options.endpoint`, a URL. UNIMPLEMENTED: the library is missing. Also the errors of the
// factory.
absl::StatusOr<std::unique_ptr<Transport>> MakeHttpTransport(const ClientOptions& options, Timer& timer);

}  // namespace itemdb
