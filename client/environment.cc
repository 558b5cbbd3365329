// Options from the environment, under the names that itemctl takes too.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "client/errors_internal.h"
#include "common/status_macros.h"
#include "itemdb/options.h"

namespace itemdb {
namespace {

// Empty: it is not set.
std::string Variable(const char* name) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): as all of getenv
  return text == nullptr ? "" : text;
}

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (file.is_open()) content << file.rdbuf();
  if (!file.is_open() || errno != 0)
    return InvalidRequest("cannot read " + path + ": " + std::strerror(errno));
  std::string secret = content.str();
  // Editors and echo append a newline.
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  if (secret.empty()) return InvalidRequest(path + " holds no secret");
  return secret;
}

}  // namespace

absl::StatusOr<ClientOptions> OptionsFromEnvironment(ClientOptions options) {
  if (options.endpoint.empty()) options.endpoint = Variable("ITEMDB_ENDPOINT");
  if (!options.tls.has_value()) {
    TlsOptions tls = {.ca_file = Variable("ITEMDB_TLS_CA"),
                      .cert_file = Variable("ITEMDB_TLS_CERT"),
                      .key_file = Variable("ITEMDB_TLS_KEY"),
                      .server_name = Variable("ITEMDB_TLS_SERVER_NAME")};
    if (!tls.ca_file.empty() || !tls.cert_file.empty() || !tls.key_file.empty() || !tls.server_name.empty())
      options.tls = std::move(tls);
  }
  if (options.access_key_id.empty() && options.secret_access_key.empty()) {
    options.access_key_id = Variable("ITEMDB_ACCESS_KEY_ID");
    options.secret_access_key = Variable("ITEMDB_SECRET_ACCESS_KEY");
    const std::string file = Variable("ITEMDB_SECRET_ACCESS_KEY_FILE");
    if (!file.empty()) {
      ITEMDB_ASSIGN_OR_RETURN(options.secret_access_key, ReadSecret(file));
    }
  }
  return options;
}

}  // namespace itemdb
