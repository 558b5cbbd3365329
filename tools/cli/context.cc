#include "tools/cli/context.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"

namespace itemdb::tools {
std::optional<TlsOptions> TlsOf(const GlobalOptions& options) {
  TlsOptions tls{.ca_file = options.tls_ca,
                 .cert_file = options.tls_cert,
                 .key_file = options.tls_key,
                 .server_name = options.tls_server_name};
  const bool wanted = options.tls || !tls.ca_file.empty() || !tls.cert_file.empty() ||
                      !tls.key_file.empty() || !tls.server_name.empty();
  if (!wanted) return std::nullopt;
  return tls;
}

absl::StatusOr<std::string> SecretOf(const GlobalOptions& options) {
  const char* variable = std::getenv(kSecretVariable);
  std::string secret = variable == nullptr ? "" : variable;
  if (!options.secret_access_key_file.empty()) {
    errno = 0;
    std::ifstream file(options.secret_access_key_file, std::ios::binary);
    std::ostringstream content;
    // istreambuf_iterator would throw if the file is a directory.
    if (file.is_open()) content << file.rdbuf();
    if (!file.is_open() || errno != 0) {
      return UsageError(
          absl::StrFormat("cannot read %s: %s", options.secret_access_key_file, std::strerror(errno)));
    }
    secret = content.str();
    // Editors and echo append a newline.
    while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
    if (secret.empty())
      return UsageError(absl::StrFormat("%s holds no secret", options.secret_access_key_file));
  }
  if (options.access_key_id.empty() && !secret.empty()) {
    return UsageError(
        "there is a secret access key, but no id: give --access-key-id, or set ITEMDB_ACCESS_KEY_ID");
  }
  if (!options.access_key_id.empty() && secret.empty()) {
    return UsageError(
        absl::StrFormat("the access key %s needs its secret: set %s, or name a file that holds it with "
                        "--secret-access-key-file",
                        options.access_key_id, kSecretVariable));
  }
  return secret;
}

absl::StatusOr<Client> Session::OpenClient(const GlobalOptions& options) {
  // Output options do not affect the connection.
  GlobalOptions of_connection = options;
  of_connection.output.clear();
  of_connection.expanded = false;
  if (client_.has_value() && of_connection == client_options_) return *client_;

  ITEMDB_ASSIGN_OR_RETURN(std::string secret, SecretOf(options));
  ClientOptions client_options{.endpoint = options.endpoint,
                               .tls = TlsOf(options),
                               .access_key_id = options.access_key_id,
                               .secret_access_key = std::move(secret)};
  if (options.timeout_seconds.has_value()) client_options.timeout = absl::Seconds(*options.timeout_seconds);
  absl::StatusOr<Client> client = Client::Open(std::move(client_options));
  if (!client.ok()) return UsageError(std::string(client.status().message()));
  client_ = *client;
  client_options_ = std::move(of_connection);
  return client;
}

Context::Context(const GlobalOptions& options, Streams streams, Session* session)
    : options_(options),
      streams_(streams),
      format_(OutputFormatFromName(options.output)
                  .value_or(streams.out_is_terminal ? OutputFormat::kTable : OutputFormat::kJsonLines)),
      session_(*session) {}

absl::StatusOr<Client> Context::OpenClient() { return session_.OpenClient(options_); }

CallOptions Context::Call() const { return {.cancel = session_.cancel()}; }

CallOptions Context::ExplicitTimeout() const {
  CallOptions call_options = Call();
  if (options_.timeout_seconds.has_value()) call_options.timeout = absl::Seconds(*options_.timeout_seconds);
  return call_options;
}

absl::StatusOr<std::string> Context::ReadFile(const std::string& path) {
  if (path == "-" && session_.is_shell) {
    return UsageError(
        "the shell reads its statements from standard input, so this command cannot read it; name a file, or "
        "run itemctl outside the shell");
  }
  if (path == "-") return std::string(std::istreambuf_iterator<char>(streams_.in), {});
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  // An empty file sets failbit on `content`, which is not an error.
  if (file.is_open()) content << file.rdbuf();
  if (!file.is_open() || file.bad() || errno == EISDIR) {
    return UsageError(absl::StrFormat("cannot read %s: %s", path, std::strerror(errno)));
  }
  return std::move(content).str();
}

void Context::PrintList(std::string name, JsonValue documents) {
  if (format_ == OutputFormat::kJson)
    return Print(JsonValue::Object().Add(std::move(name), std::move(documents)));
  for (const JsonValue& document : documents.elements) Print(document);
}

void Context::PrintSummary(const JsonValue& summary) {
  if (format_ != OutputFormat::kTable) return Print(summary);
  std::vector<TableColumn> columns;
  std::vector<std::string> cells;
  for (const auto& [name, value] : summary.members) {
    columns.push_back(value.kind == JsonValue::Kind::kNumber ? NumberColumn(name) : name);
    cells.push_back(value.kind == JsonValue::Kind::kString ? value.text : OneLine(value));
  }
  TextTable table(std::move(columns));
  table.AddRow(cells);
  Print(table);
}

}  // namespace itemdb::tools
