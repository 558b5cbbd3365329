// What every command uses: its streams, the options that all commands have, and the connection.
#pragma once

#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "tools/base/number_text.h"
#include "tools/base/terminal_size.h"
#include "tools/base/text_table.h"
#include "tools/cli/output.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {

// Borrowed; they outlive the command.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // `out_is_terminal` decides the default of --output. The user can be asked only if both `in_is_terminal`
  // and `err_is_terminal`. Progress is shown only if `err_is_terminal`.
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  // The size of the terminal that shows `out` and `err`; empty: not known, so tables have any width.
  AskTerminalSize terminal_size = nullptr;
};

// Options that every command takes.
struct GlobalOptions {
  // "HOST:PORT" or "unix:/PATH"; empty: the client's default.
  std::string endpoint;
  // "table", "json", "jsonl" or "csv"; empty: table on a terminal, otherwise jsonl.
  std::string output;
  // How members are named in json, jsonl and csv: 1: as each command named them first; 2: as AWS names them,
  // TableName, in every command, and descriptions are wrapped as AWS wraps them.
  int output_version = 1;
  // In the table form, each cell is printed on a line of its own.
  bool expanded = false;
  // For one call; for an answer of several pages, for each page. Default 30.
  std::optional<double> timeout_seconds;
  // Each of these turns TLS on. The files are PEM.
  bool tls = false;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  // The access key to send. Its secret is in this file, or else in the environment variable kSecretVariable;
  // the secret itself is never an option.
  std::string access_key_id;
  std::string secret_access_key_file;
  // The profile to take other options from (profile.h); empty: "default", if there is one.
  std::string profile;
  // Lines for the shell, instead of a command.
  std::string command;

  bool operator==(const GlobalOptions&) const = default;
};

// Empty if no option turns TLS on.
std::optional<TlsOptions> TlsOf(const GlobalOptions& options);

// The environment variable with the secret of --access-key-id.
inline constexpr char kSecretVariable[] = "ITEMDB_SECRET_ACCESS_KEY";

// The secret of the access key in `options`; empty if they name no key. UsageError: the key has no secret,
// its file cannot be read, or there is a secret without a key id.
absl::StatusOr<std::string> SecretOf(const GlobalOptions& options);

// The state that all statements of one shell share; a single command has a Session of its own. Used by one
// thread at a time.
class Session {
 public:
  // Options of statements that do not set them. Set by the shell's own command line, \x and \o.
  GlobalOptions defaults;
  // The shell reads its statements from Streams::in, so a command must not read from it.
  bool is_shell = false;
  // Long output may be shown with a pager.
  bool may_page = true;

  // Asks the running statement and its calls to end early. Thread-safe.
  void Interrupt() { cancel_.Cancel(); }
  bool interrupted() const { return cancel_.cancelled(); }
  // Called before the next statement.
  void ResetInterrupt() { cancel_ = CancelToken(); }
  const CancelToken& cancel() const { return cancel_; }

  // A client for `options`. Reuses the client of the previous statement if the connection options are the
  // same.
  absl::StatusOr<Client> OpenClient(const GlobalOptions& options);

 private:
  std::optional<Client> client_;
  GlobalOptions client_options_;
  CancelToken cancel_;
};

class Context {
 public:
  // `session` is borrowed and outlives the context.
  Context(const GlobalOptions& options, Streams streams, Session* session);

  std::istream& in() { return streams_.in; }
  std::ostream& out() { return streams_.out; }
  std::ostream& err() { return streams_.err; }
  const Streams& streams() const { return streams_; }
  const GlobalOptions& options() const { return options_; }
  OutputFormat format() const { return format_; }
  // The form was set by --output, not by default.
  bool format_is_explicit() const { return !options_.output.empty(); }
  Session& session() { return session_; }

  // A client for the endpoint. Does not connect: if the daemon is unreachable, the first call fails.
  // UsageError: the endpoint or timeout is malformed, a TLS file cannot be used, or an access key has no
  // secret or no id.
  absl::StatusOr<Client> OpenClient();

  // Options for every call, with the token through which Ctrl-C cancels it.
  CallOptions Call() const;
  // Call() with --timeout, if given. For calls whose default timeout differs from the client's.
  CallOptions ExplicitTimeout() const;

  // The content of the file at `path`, or of standard input for "-". UsageError: it cannot be read.
  absl::StatusOr<std::string> ReadFile(const std::string& path);

  // How tables are printed: with --expanded one cell a line. On a terminal no line is wider than it, and
  // tables that cannot be that narrow are expanded.
  TableLayout layout() const;
  void Print(const TextTable& table) { table.Print(out(), layout()); }
  // Prints a list and below it the number of its rows; only "no tables" if there are none.
  void Print(const TextTable& table, Noun noun);

  // Prints `document`, an object, as json, jsonl or csv; the format must not be kTable. Documents are printed
  // as csv by Finish(), because all of them make the columns.
  void Print(const JsonValue& document);
  // `document` with the names of members in the spelling of --output-version. Not for items, whose attributes
  // have the names that users gave them; the members that hold items are not changed inside.
  JsonValue Spelled(const JsonValue& document) const;
  // Prints what has not been printed yet. Called after the command.
  void Finish();
  // The same for an array of documents: as json one object {name: documents}, as jsonl one line each.
  void PrintList(std::string name, JsonValue documents);

  // Prints one object; in the table form, its members are the columns of one line.
  void PrintSummary(const JsonValue& summary);

 private:
  GlobalOptions options_;
  Streams streams_;
  OutputFormat format_;
  Session& session_;
  std::vector<JsonValue> csv_documents_;
};

// A parsed command line, ready to run.
using Command = std::function<absl::Status(Context&)>;

}  // namespace itemdb::tools
