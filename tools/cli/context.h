// What every command runs with: its streams, the options given to all commands, and the connection.
#pragma once

#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "tools/base/text_table.h"
#include "tools/cli/output.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {

// Borrowed; they outlive the command.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // Whether somebody sits there. Of `out` it decides the default of --output; of `in` and `err` together
  // whether there is somebody to ask; of `err` whether progress is shown.
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// Options that every command takes.
struct GlobalOptions {
  // "HOST:PORT" or "unix:/PATH"; empty for the client's default.
  std::string endpoint;
  // "table", "json" or "jsonl"; empty for table on a terminal and jsonl otherwise.
  std::string output;
  // In the table form, rows stand upright.
  bool expanded = false;
  // Of one call; for answers of several pages, of each page. Default 30.
  std::optional<double> timeout_seconds;
  // TLS: any of these turns it on. Paths of PEM files.
  bool tls = false;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  // The access key to send. Its secret stands in this file, else in the environment, and nowhere here.
  std::string access_key_id;
  std::string secret_access_key_file;

  bool operator==(const GlobalOptions&) const = default;
};

// Nothing when no TLS was asked for.
std::optional<TlsOptions> TlsOf(const GlobalOptions& options);

// Where the secret of --access-key-id is looked for.
inline constexpr char kSecretVariable[] = "ITEMDB_SECRET_ACCESS_KEY";

// The secret of the access key that `options` name; empty when they name none. UsageError: there is none, it
// cannot be read, or there is one without an id.
absl::StatusOr<std::string> SecretOf(const GlobalOptions& options);

// What the statements of one interactive shell share, and a single command has for itself. Used by one thread
// at a time.
class Session {
 public:
  // For statements that do not say otherwise; the shell's own command line and \x, \o change them.
  GlobalOptions defaults;
  // The statements come from the streams' `in`, so that a command cannot read it.
  bool is_shell = false;

  // From any thread: the statement under way, and its calls, are to end early.
  void Interrupt() { cancel_.Cancel(); }
  bool interrupted() const { return cancel_.cancelled(); }
  // For the next statement.
  void ResetInterrupt() { cancel_ = CancelToken(); }
  const CancelToken& cancel() const { return cancel_; }

  // The client for `options`: the one of the statement before when nothing about the connection differs.
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
  // "table", "json" or "jsonl" was asked for, not just the default.
  bool format_is_explicit() const { return !options_.output.empty(); }
  Session& session() { return session_; }

  // A client for the endpoint. Does not connect yet: an unreachable daemon shows at the first call.
  // UsageError: endpoint or timeout are malformed, a TLS file cannot be used, or an access key is not whole.
  absl::StatusOr<Client> OpenClient();

  // For every call: what lets Ctrl-C end it.
  CallOptions Call() const;
  // Also carries --timeout when it was given, for calls whose default differs from the client's.
  CallOptions ExplicitTimeout() const;

  // The whole of the file at `path`, or of standard input for "-". UsageError: it cannot be read.
  absl::StatusOr<std::string> ReadFile(const std::string& path);

  // Writes columns, upright with --expanded.
  void Print(const TextTable& table) { table.Print(out(), {.expanded = options_.expanded}); }

  // Writes one object; as a table, its members are the columns of one line.
  void PrintSummary(const JsonValue& summary);

 private:
  GlobalOptions options_;
  Streams streams_;
  OutputFormat format_;
  Session& session_;
};

// A parsed command line, ready to run.
using Command = std::function<absl::Status(Context&)>;

}  // namespace itemdb::tools
