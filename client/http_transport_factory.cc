#include "client/http_transport_factory.h"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "client/errors_internal.h"

namespace itemdb {
namespace {

std::atomic<HttpTransportFactory> http_transport_factory = nullptr;

#ifdef ITEMDB_HTTP_LIBRARY
// In the installed library. Loads the one with the transport, which registers it, from the folder of this
// one. Returns why not, or nothing.
std::string LoadHttpLibrary() {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&RegisterHttpTransport), &own);
  const std::string path = own.dli_fname == nullptr ? "" : own.dli_fname;
  const std::string library = path.substr(0, path.rfind('/') + 1) + ITEMDB_HTTP_LIBRARY;
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return "";
  const char* const error = dlerror();
  return error == nullptr ? library : error;
}
constexpr char kHowToHaveIt[] = "install it beside libitemdb_client.so";
#else
std::string LoadHttpLibrary() { return "this program is not linked with it"; }
constexpr char kHowToHaveIt[] = "link itemdb_client_http";
#endif

}  // namespace

void RegisterHttpTransport(HttpTransportFactory factory) { http_transport_factory = factory; }

absl::StatusOr<std::unique_ptr<Transport>> MakeHttpTransport(const ClientOptions& options, Timer& timer) {
  std::string missing;
  if (http_transport_factory == nullptr) missing = LoadHttpLibrary();
  const HttpTransportFactory factory = http_transport_factory;
  if (factory != nullptr) return factory(options, timer);
  return MakeError(
      absl::StatusCode::kUnimplemented, "UNIMPLEMENTED",
      "the endpoint \"" + options.endpoint +
          "\" is a URL of DynamoDB's HTTP protocol, and the library for that is missing (" + missing +
          "): " + kHowToHaveIt +
          ", or use an address of itemd's --listen: HOST:PORT, such as 127.0.0.1:7420, or unix:/PATH");
}

}  // namespace itemdb
