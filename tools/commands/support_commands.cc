#include "tools/commands/support_commands.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"
#include "tools/cli/command_table.h"
#include "tools/cli/help.h"
#include "tools/cli/http_page.h"
#include "tools/json/status_json.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

constexpr char kDefaultConfig[] = "/etc/itemdb/itemd.toml";
constexpr size_t kLogLines = 2'000;
constexpr size_t kMostTables = 1'000;

// The parts of a bundle, as files in a directory.
class Bundle {
 public:
  explicit Bundle(std::string directory) : directory_(std::move(directory)) {}

  // Secrets are struck out of every part.
  void Add(const std::string& name, const absl::StatusOr<std::string>& text) {
    if (!text.ok()) {
      absl::StrAppend(&errors_, name, ": ", std::string(text.status().message()), "\n");
      return;
    }
    Write(name, WithoutSecrets(*text));
  }

  // Writes what could not be had.
  void Finish() {
    if (!errors_.empty()) Write("errors.txt", WithoutSecrets(errors_));
  }
  bool ok() const { return ok_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  void Write(const std::string& name, const std::string& text) {
    std::ofstream file(directory_ + "/" + name, std::ios::binary);
    file << text;
    if (!text.ends_with('\n')) file << '\n';
    file.close();
    ok_ = ok_ && file.good();
    names_.push_back(name);
  }

  const std::string directory_;
  std::string errors_;
  std::vector<std::string> names_;
  bool ok_ = true;
};

// The last kLogLines lines of `in`.
std::string LastLines(std::istream& in) {
  std::deque<std::string> lines;
  std::string line;
  while (std::getline(in, line)) {
    lines.push_back(std::move(line));
    if (lines.size() > kLogLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& kept : lines) absl::StrAppend(&text, kept, "\n");
  return text;
}

absl::StatusOr<std::string> ReadLog(const std::string& path) {
  if (!path.empty()) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open()) return UsageError(absl::StrFormat("cannot read %s: %s", path, std::strerror(errno)));
    return LastLines(file);
  }
  std::FILE* journal =
      popen("journalctl --quiet --no-pager --output=short-iso --unit=itemd --lines=2000 2>/dev/null", "r");
  if (journal == nullptr) return UsageError("journalctl cannot be run");
  std::string text;
  char bytes[4096];
  for (size_t got = 0; (got = std::fread(bytes, 1, sizeof(bytes), journal)) > 0;) text.append(bytes, got);
  if (pclose(journal) != 0 || text.empty())
    return UsageError("journalctl shows no log of the service itemd; name a file with --log");
  return text;
}

absl::StatusOr<std::string> ReadConfig(Context& context, const std::string& path) {
  return context.ReadFile(path.empty() ? kDefaultConfig : path);
}

// The first address of metrics-listen in the configuration file; empty without one.
std::string MetricsAddressIn(const std::string& config) {
  static const std::regex kLine(R"re((?:^|\n)\s*metrics-listen\s*=\s*\[?\s*["']([^"']+)["'])re");
  std::smatch match;
  return std::regex_search(config, match, kLine) ? match[1].str() : "";
}

// The body of the page /metrics at `address`, HOST:PORT or a URL, read with TLS if itemctl has options for
// it.
absl::StatusOr<std::string> ReadMetrics(const std::string& address, const GlobalOptions& options) {
  if (address.empty())
    return UsageError("the address of --metrics-listen is not known; give it with --metrics");
  const bool is_url = address.find("://") != std::string::npos;
  std::vector<std::string> schemes = {"http://"};
  if (is_url) schemes = {""};
  if (!is_url && TlsOf(options).has_value()) schemes = {"https://", "http://"};
  absl::Status error;
  for (const std::string& scheme : schemes) {
    const absl::StatusOr<HttpPage> page =
        GetPage({.url = scheme + address + "/metrics", .with_key = true}, options);
    if (page.ok() && page->status == 200) return page->body;
    std::string message = std::string(page.status().message());
    if (page.ok()) {
      message = absl::StrFormat("%s answered %d: %s", address, page->status,
                                page->body.substr(0, page->body.find('\n')));
      if (page->status == 401 && options.access_key_id.empty()) message += "; give --access-key-id";
      if (page->status == 400 && !TlsOf(options).has_value()) message += "; give --tls-ca if it uses TLS";
    }
    if (error.ok()) error = UsageError(message);
  }
  return error;
}

std::string MachineText() {
  std::string text = absl::StrCat("itemctl ", std::string(ToolVersion()), "\n");
  if (utsname name = {}; uname(&name) == 0)
    absl::StrAppend(&text, name.sysname, " ", name.release, " ", name.machine, "\n");
  absl::StrAppend(&text, NumberOf(std::thread::hardware_concurrency(), {.one = "core", .many = "cores"}),
                  ", ", BytesText(int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE)), " of memory\n");
  for (const char* path : {"/etc/os-release", "/proc/meminfo", "/proc/loadavg"}) {
    std::ifstream file(path);
    std::ostringstream content;
    if (file.is_open()) content << file.rdbuf();
    absl::StrAppend(&text, "\n", path, ":\n", content.str());
  }
  return text;
}

absl::StatusOr<std::string> TablesText(Context& context, const Client& client) {
  JsonValue tables = JsonValue::Array();
  ListTablesRequest request;
  do {
    ITEMDB_ASSIGN_OR_RETURN(const ListTablesResult page, client.ListTables(request, context.Call()));
    for (const std::string& name : page.table_names) {
      const absl::StatusOr<TableResult> table = client.DescribeTable(name, context.Call());
      if (table.ok()) tables.elements.push_back(TableToJson(table->table));
    }
    request.exclusive_start_table_name = page.last_evaluated_table_name.value_or("");
  } while (!request.exclusive_start_table_name.empty() && tables.elements.size() < kMostTables);
  return Indented(JsonValue::Object().Add("Tables", std::move(tables)));
}

// What the daemon itself tells.
void AddAnswers(Context& context, const Client& client, Bundle& bundle) {
  const absl::StatusOr<DaemonStatus> status = client.GetStatus({.with_tables = true}, context.Call());
  bundle.Add("status.json",
             status.ok() ? absl::StatusOr<std::string>(Indented(StatusToJson(*status, client.endpoint())))
                         : status.status());
  // Later parts would only wait for the same timeout.
  if (!status.ok()) return;
  const absl::StatusOr<AccessPatternsResult> patterns = client.GetAccessPatterns("", context.Call());
  bundle.Add("patterns.json", patterns.ok() ? absl::StatusOr<std::string>(Indented(PatternsToJson(*patterns)))
                                            : patterns.status());
  bundle.Add("tables.json", TablesText(context, client));
}

constexpr char kReadme[] =
    "Made by itemctl support-bundle. It has no contents of items and no secrets: they were struck out as "
    "(struck "
    "out).\nIt has names: of tables, indexes, attributes, files, hosts and access keys. Look through it "
    "before you "
    "send it.\n\n"
    "status.json    itemctl status            patterns.json  itemctl patterns, without values\n"
    "tables.json    itemctl table describe    config.toml    the configuration file of itemd\n"
    "metrics.txt    the metrics page          log.txt        the last 2000 lines of the log\n"
    "machine.txt    operating system, memory  errors.txt     what could not be had, and why\n";

absl::Status Pack(const std::string& parent, const std::string& folder, const std::string& file) {
  const std::vector<std::string> words = {"tar", "-czf", file, "-C", parent, folder};
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // The bundle is for its maker: tar creates it with the mode that the umask leaves.
  const mode_t before = umask(0077);
  pid_t child = 0;
  const int error = posix_spawnp(&child, "tar", nullptr, nullptr, argv.data(), environ);
  umask(before);
  int exit_status = 0;
  if (error != 0) return UsageError(absl::StrFormat("cannot run tar: %s", std::strerror(error)));
  if (waitpid(child, &exit_status, 0) != child || exit_status != 0)
    return UsageError(absl::StrFormat("tar could not write %s", file));
  return absl::OkStatus();
}

}  // namespace

std::string WithoutSecrets(const std::string& text) {
  constexpr char kStruck[] = "(struck out)";
  // A name with one of these words and its value, in quotes or up to a space. Names of files stay.
  static const std::regex kNamed(
      R"re(((?:secret|password|passwd|token|authorization)[a-z0-9_-]*["']?\s*[=:]\s*)("[^"\n]*"|'[^'\n]*'|[^\s,;]+(?: +[A-Za-z0-9+/=_-]{16,})?))re",
      std::regex::icase);
  static const std::regex kInUrl(R"re((://[^/\s:@]*:)[^/\s@]+(@))re");
  static const std::regex kItemKey(R"re(((?:\b|_)(?:key|entry)["']?[\s:=]+"?)[0-9a-fA-F]{4,})re");
  std::string struck = std::regex_replace(text, kNamed, std::string("$1") + kStruck);
  struck = std::regex_replace(struck, kInUrl, std::string("$1") + kStruck + "$2");
  return std::regex_replace(struck, kItemKey, std::string("$1") + kStruck);
}

absl::Status RunSupportBundle(Context& context, const SupportBundleOptions& options) {
  const std::string name =
      "itemdb-support-" + absl::FormatTime("%Y%m%d-%H%M%S", absl::Now(), absl::UTCTimeZone());
  const std::string file = options.file.empty() ? name + ".tar.gz" : options.file;
  std::error_code ignored;
  std::string parent = (std::filesystem::temp_directory_path(ignored) / "itemctl-XXXXXX").string();
  if (mkdtemp(parent.data()) == nullptr)
    return UsageError(absl::StrFormat("cannot make a directory %s: %s", parent, std::strerror(errno)));
  const absl::Cleanup remove = [&parent] {
    std::error_code error;
    std::filesystem::remove_all(parent, error);
  };
  const std::string directory = parent + "/" + name;
  std::filesystem::create_directory(directory, ignored);
  Bundle bundle(directory);
  bundle.Add("README.txt", std::string(kReadme));
  bundle.Add("machine.txt", MachineText());
  const absl::StatusOr<std::string> config = ReadConfig(context, options.config);
  bundle.Add("config.toml", config);
  bundle.Add("log.txt", ReadLog(options.log));
  const std::string metrics = !options.metrics.empty() ? options.metrics
                              : config.ok()            ? MetricsAddressIn(*config)
                                                       : "";
  bundle.Add("metrics.txt", ReadMetrics(metrics, context.options()));
  absl::StatusOr<Client> client = context.OpenClient();
  if (client.ok()) {
    AddAnswers(context, *client, bundle);
  } else {
    bundle.Add("status.json", client.status());
  }
  bundle.Finish();
  if (!bundle.ok()) return UsageError("cannot write into " + directory);
  ITEMDB_RETURN_IF_ERROR(Pack(parent, name, file));
  context.PrintSummary(JsonValue::Object().Add("file", file).Add("parts", bundle.names()));
  return absl::OkStatus();
}

void RegisterSupportCommands(CommandTable& table) {
  auto options = std::make_shared<SupportBundleOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "support-bundle",
       .summary = "Write what is needed for help into one file, without contents of items and secrets",
       .details = "Configuration, status, access patterns, table definitions, metrics and the end of the "
                  "log. A part "
                  "that cannot be had is left out, and errors.txt in the bundle says why. Names of tables, "
                  "attributes and hosts are in it: look through it before you send it.",
       .examples = {{"itemctl support-bundle", "into a file in the current directory"},
                    {"itemctl support-bundle help.tar.gz --log audit.jsonl",
                     "into a file of this name, with a log that is not in the journal"}}},
      [options](Context& context) { return RunSupportBundle(context, *options); });
  command->add_option(std::string(kFileName), options->file,
                      "The file to write. Default: itemdb-support-TIME.tar.gz");
  command
      ->add_option("--config", options->config,
                   "The configuration file of itemd. Default: /etc/itemdb/itemd.toml")
      ->type_name(std::string(kFileName));
  command->add_option("--log", options->log, "The log of itemd. Default: the journal of the service itemd")
      ->type_name(std::string(kFileName));
  command
      ->add_option("--metrics", options->metrics,
                   "HOST:PORT or URL of --metrics-listen, read with the access key and the TLS files of "
                   "itemctl's other options. Default: the one in the configuration file")
      ->type_name("ADDRESS");
}

}  // namespace itemdb::tools
