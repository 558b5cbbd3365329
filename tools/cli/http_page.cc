#include "tools/cli/http_page.h"

#include <curl/curl.h>

#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"

namespace itemdb::tools {
namespace {

constexpr size_t kMaxPageBytes = 16 << 20;

size_t AppendBytes(char* bytes, size_t size, size_t count, void* body) {
  auto* text = static_cast<std::string*>(body);
  if (text->size() + size * count > kMaxPageBytes) return 0;
  text->append(bytes, size * count);
  return size * count;
}

// "127.0.0.1:9000" of "https://127.0.0.1:9000/metrics".
std::string HostAndPort(const std::string& url) {
  const size_t begin = url.find("://") == std::string::npos ? 0 : url.find("://") + 3;
  return url.substr(begin, url.find('/', begin) - begin);
}

bool IsOnThisMachine(const std::string& host_and_port) {
  const std::string host = host_and_port.substr(0, host_and_port.rfind(':'));
  return host.starts_with("127.") || host == "localhost" || host == "[::1]";
}

}  // namespace

absl::StatusOr<HttpPage> GetPage(const PageRequest& request, const GlobalOptions& options) {
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  if (curl == nullptr) return UsageError("libcurl cannot be used");
  HttpPage page;
  std::string url = request.url;
  const std::string server = HostAndPort(url);
  const bool is_secure = url.starts_with("https://");
  std::string connect_to;
  if (is_secure && !options.tls_server_name.empty()) {
    // The certificate is checked for the name in the URL.
    const std::string port = server.substr(server.rfind(':') + 1);
    connect_to = absl::StrCat(options.tls_server_name, ":", port, ":", server);
    url = absl::StrCat("https://", options.tls_server_name, ":", port,
                       request.url.substr(request.url.find(server) + server.size()));
  }
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> connect(
      connect_to.empty() ? nullptr : curl_slist_append(nullptr, connect_to.c_str()), curl_slist_free_all);
  if (connect != nullptr) curl_easy_setopt(curl.get(), CURLOPT_CONNECT_TO, connect.get());
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(request.patience.count()));
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, AppendBytes);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &page.body);
  if (!options.tls_ca.empty()) curl_easy_setopt(curl.get(), CURLOPT_CAINFO, options.tls_ca.c_str());
  if (!options.tls_cert.empty()) curl_easy_setopt(curl.get(), CURLOPT_SSLCERT, options.tls_cert.c_str());
  if (!options.tls_key.empty()) curl_easy_setopt(curl.get(), CURLOPT_SSLKEY, options.tls_key.c_str());
  if (request.with_key && !options.access_key_id.empty() && (is_secure || IsOnThisMachine(server))) {
    ITEMDB_ASSIGN_OR_RETURN(const std::string secret, SecretOf(options));
    curl_easy_setopt(curl.get(), CURLOPT_USERNAME, options.access_key_id.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_PASSWORD, secret.c_str());
  }
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK)
    return UsageError(absl::StrFormat("%s cannot be read: %s", request.url, curl_easy_strerror(code)));
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &page.status);
  return page;
}

}  // namespace itemdb::tools
