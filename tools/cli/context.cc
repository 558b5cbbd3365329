#include "tools/cli/context.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"

namespace itemdb::tools {
namespace {

// Members whose values hold items, or names that users chose.
constexpr std::string_view kOfUsers[] = {
    "key",     "old_image",  "new_image",        "items",   "Item",      "Items", "Key", "Keys", "Responses",
    "Missing", "Attributes", "LastEvaluatedKey", "Request", "Parameters"};

// "table_name" as "TableName"; another spelling stays.
std::string AwsName(const std::string& name) {
  if (name.empty() || !absl::ascii_islower(static_cast<unsigned char>(name.front()))) return name;
  std::string spelled;
  bool capital = true;
  for (const char c : name) {
    if (c != '_') spelled += capital ? absl::ascii_toupper(static_cast<unsigned char>(c)) : c;
    capital = c == '_';
  }
  return spelled;
}

JsonValue WithAwsNames(JsonValue value) {
  for (JsonValue& element : value.elements) element = WithAwsNames(std::move(element));
  for (auto& [name, member] : value.members) {
    const bool of_users = std::find(std::begin(kOfUsers), std::end(kOfUsers), name) != std::end(kOfUsers);
    if (!of_users) member = WithAwsNames(std::move(member));
    name = AwsName(name);
  }
  return value;
}

}  // namespace

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
  of_connection.output_version = GlobalOptions().output_version;
  of_connection.expanded = false;
  of_connection.profile.clear();
  of_connection.command.clear();
  if (client_.has_value() && of_connection == client_options_) return *client_;

  ITEMDB_ASSIGN_OR_RETURN(std::string secret, SecretOf(options));
  ClientOptions client_options{.endpoint = options.endpoint,
                               .tls = TlsOf(options),
                               .access_key_id = options.access_key_id,
                               .secret_access_key = std::move(secret)};
  if (options.timeout_seconds.has_value()) client_options.timeout = absl::Seconds(*options.timeout_seconds);
  absl::StatusOr<Client> client = Client::Open(std::move(client_options));
  if (absl::StartsWith(client.status().message(), "there are no credentials")) {
    return UsageError(absl::StrFormat(
        "%s needs an access key: give --access-key-id, and its secret in %s or "
        "--secret-access-key-file; or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write "
        "them into ~/.aws/credentials",
        options.endpoint, kSecretVariable));
  }
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

TableLayout Context::layout() const {
  const bool bounded = streams_.out_is_terminal && streams_.terminal_size != nullptr;
  return {.expanded = options_.expanded,
          .max_width = bounded ? streams_.terminal_size().columns : 0,
          .expand_if_too_wide = true};
}

void Context::Print(const TextTable& table, Noun noun) {
  if (!table.empty()) Print(table);
  out() << CountText(static_cast<int64_t>(table.row_count()), noun) << '\n';
}

JsonValue Context::Spelled(const JsonValue& document) const {
  return options_.output_version == 1 ? document : WithAwsNames(document);
}

void Context::Print(const JsonValue& document) {
  if (format_ == OutputFormat::kCsv) {
    csv_documents_.push_back(Spelled(document));
  } else {
    PrintDocument(Spelled(document), format_, out());
  }
}

void Context::Finish() {
  PrintCsv(csv_documents_, out());
  csv_documents_.clear();
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
    std::string text = value.kind == JsonValue::Kind::kString ? value.text : OneLine(value);
    int64_t whole = 0;
    if (value.kind == JsonValue::Kind::kNumber && absl::SimpleAtoi(text, &whole))
      text = WithSeparators(whole);
    cells.push_back(std::move(text));
  }
  TextTable table(std::move(columns));
  table.AddRow(cells);
  Print(table);
}

}  // namespace itemdb::tools
