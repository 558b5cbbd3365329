#include "client/http_transport_factory.h"

#include <atomic>

#include "client/errors_internal.h"

namespace itemdb {
namespace {

std::atomic<HttpTransportFactory> http_transport_factory = nullptr;

}  // namespace

void RegisterHttpTransport(HttpTransportFactory factory) { http_transport_factory = factory; }

absl::StatusOr<std::unique_ptr<Transport>> MakeHttpTransport(const ClientOptions& options, Timer& timer) {
  const HttpTransportFactory factory = http_transport_factory;
  if (factory != nullptr) return factory(options, timer);
  return MakeError(absl::StatusCode::kUnimplemented, "UNIMPLEMENTED",
                   "the endpoint \"" + options.endpoint +
                       "\" is a URL of DynamoDB's HTTP protocol, for which this program is not linked: link "
                       "itemdb::client_http, or use an address of itemd's --listen: HOST:PORT, such as "
                       "127.0.0.1:7420, or unix:/PATH");
}

}  // namespace itemdb
