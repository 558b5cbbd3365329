// The configuration: the sources of values, their precedence, and the errors for bad values.
#include "daemon/config/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_format.h"
#include "daemon/config/settings.h"
#include "daemon/process/version.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::daemon {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kGiB = uint64_t{1} << 30;

class OptionsTest : public ::testing::Test {
 protected:
  OptionsTest() { sources_.default_config_file = directory_.path() + "/itemd.toml"; }

  ParsedOptions Parse(std::vector<std::string> arguments) const {
    std::vector<const char*> argv = {"itemd"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return ParseOptions(static_cast<int>(argv.size()), argv.data(), sources_);
  }

  // The configuration file that is read by default.
  void WriteConfig(const std::string& text) { std::ofstream(sources_.default_config_file) << text; }

  const std::string& config_file() const { return sources_.default_config_file; }

  testing::TemporaryDirectory directory_;
  OptionSources sources_{.environment = {}, .default_config_file = "", .machine_memory_bytes = 8 * kGiB};
};

TEST_F(OptionsTest, HaveDefaults) {
  ParsedOptions parsed = Parse({"--data-dir", "/data"});
  ASSERT_TRUE(parsed.options.has_value()) << parsed.text;
  EXPECT_EQ(parsed.options->data_directory, "/data");
  EXPECT_TRUE(parsed.options->durable());
  EXPECT_FALSE(parsed.options->recover_last_good());
  EXPECT_EQ(parsed.options->address_file, "");
  EXPECT_EQ(parsed.options->memory_bytes, 2 * kGiB) << "a quarter of the machine";
  EXPECT_EQ(parsed.options->log_level, "info");
  EXPECT_EQ(parsed.options->shutdown_timeout, absl::Seconds(10));
  EXPECT_EQ(parsed.options->socket_permissions, 0660u);
  EXPECT_FALSE(parsed.options->tls());
  ASSERT_FALSE(parsed.options->addresses.empty());
  EXPECT_EQ(parsed.options->addresses.back().text, "127.0.0.1:7420");
  EXPECT_EQ(parsed.options->addresses.back().setting, "--listen (default)");
  EXPECT_EQ(parsed.config_file, "");
}

TEST_F(OptionsTest, AreAllReadFromFlags) {
  ParsedOptions parsed = Parse({"--data-dir=/data",
                                "--listen",
                                "127.0.0.1:0",
                                "--listen",
                                "unix:/tmp/s",
                                "--address-file",
                                "/a.json",
                                "--durability",
                                "relaxed",
                                "--recover=last-good",
                                "--memory",
                                "512MiB",
                                "--log-level",
                                "debug",
                                "--log-format=json",
                                "--slow-request",
                                "250ms",
                                "--trace-endpoint",
                                "http://127.0.0.1:4318",
                                "--trace-ratio=0.5%",
                                "--socket-mode",
                                "0600",
                                "--max-item-collection-bytes=3GiB",
                                "--max-connections",
                                "7",
                                "--change-retention",
                                "36h",
                                "--max-change-log-bytes=5GiB",
                                "--time-to-live-wait",
                                "1h",
                                "--status-delay=3s",
                                "--background-check-rate=700",
                                "--file-check-rate",
                                "3KiB"});
  ASSERT_TRUE(parsed.options.has_value()) << parsed.text;
  ASSERT_EQ(parsed.options->addresses.size(), 2u);
  EXPECT_EQ(parsed.options->addresses[0].text, "127.0.0.1:0");
  EXPECT_EQ(parsed.options->addresses[1].socket_path, "/tmp/s");
  EXPECT_EQ(parsed.options->addresses[1].setting, "--listen");
  EXPECT_EQ(parsed.options->address_file, "/a.json");
  EXPECT_FALSE(parsed.options->durable());
  EXPECT_TRUE(parsed.options->recover_last_good());
  EXPECT_EQ(parsed.options->memory_bytes, kGiB / 2);
  EXPECT_EQ(parsed.options->log_level, "debug");
  EXPECT_EQ(parsed.options->log_format, "json");
  EXPECT_EQ(parsed.options->slow_request, absl::Milliseconds(250));
  EXPECT_EQ(parsed.options->trace_url, "http://127.0.0.1:4318/v1/traces");
  EXPECT_EQ(parsed.options->traced_share, 0.005);
  EXPECT_EQ(parsed.options->socket_permissions, 0600u);
  EXPECT_EQ(parsed.options->max_item_collection_bytes, 3 * kGiB);
  EXPECT_EQ(parsed.options->max_connections, 7);
  EXPECT_EQ(parsed.options->change_retention, absl::Hours(36));
  EXPECT_EQ(parsed.options->background_check_rate, 700);
  EXPECT_EQ(parsed.options->file_check_rate, 3 * 1024u);
  EXPECT_EQ(parsed.options->max_change_log_bytes, 5 * kGiB);
  EXPECT_EQ(parsed.options->time_to_live_wait, absl::Hours(1));
  EXPECT_EQ(parsed.options->status_delay, absl::Seconds(3));
}

// The precedence holds for each setting separately: if a flag replaces one setting of a file, the others
// still count.
TEST_F(OptionsTest, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  WriteConfig(
      "data-dir = '/file'\nlog-level = 'warn'\nmemory = '1GiB'\nlisten = ['127.0.0.1:1', '127.0.0.1:2']\n");
  sources_.environment = {"ITEMD_LOG_LEVEL=error", "ITEMD_MEMORY=2GiB", "PATH=/bin",
                          "ITEMD_LISTEN=127.0.0.1:3,unix:/s"};
  ParsedOptions parsed = Parse({"--memory", "3GiB"});
  ASSERT_TRUE(parsed.options.has_value()) << parsed.text;
  EXPECT_EQ(parsed.options->data_directory, "/file");
  EXPECT_EQ(parsed.options->log_level, "error");
  EXPECT_EQ(parsed.options->memory_bytes, 3 * kGiB);
  EXPECT_THAT(parsed.options->listen, ElementsAre("127.0.0.1:3", "unix:/s"))
      << "lists are replaced, not joined";
  EXPECT_EQ(parsed.options->log_format, "text");
  EXPECT_EQ(parsed.config_file, config_file());
}

TEST_F(OptionsTest, TheConfigurationFileIsNamedByFlagThenEnvironment) {
  const std::string one = directory_.path() + "/one", two = directory_.path() + "/two";
  std::ofstream(one) << "data-dir = '/one'\n";
  std::ofstream(two) << "data-dir = '/two'\n";
  WriteConfig("data-dir = '/default'\n");
  EXPECT_EQ(Parse({}).options->data_directory, "/default");
  sources_.environment = {"ITEMD_CONFIG=" + one};
  EXPECT_EQ(Parse({}).options->data_directory, "/one");
  EXPECT_EQ(Parse({"--config", two}).options->data_directory, "/two");
}

// All settings are in one table, so that none can be forgotten in one of the three sources.
TEST_F(OptionsTest, EverySettingIsTakenFromFlagVariableAndFile) {
  for (const Setting& setting : Settings()) {
    SCOPED_TRACE(setting.key());
    sources_.environment = {};
    std::string text(setting.fallback);
    if (setting.is_list()) text = "127.0.0.1:9";
    if (text.empty()) text = std::holds_alternative<int Options::*>(setting.field) ? "3" : "/some/path";
    const std::string quoted =
        setting.is_boolean() || text.find_first_not_of("0123456789") == std::string::npos ? text
                                                                                          : "'" + text + "'";
    const bool octal = setting.name == "socket-mode";
    WriteConfig(setting.key() + " = " + (octal ? "'" + text + "'" : quoted) + "\n");
    EXPECT_THAT(Parse({"--print-config"}).text, HasSubstr("# " + config_file() + ":1")) << Parse({}).text;
    sources_.environment = {setting.variable() + "=" + text};
    EXPECT_THAT(Parse({"--print-config"}).text,
                HasSubstr(absl::StrFormat("# environment %s", setting.variable())));
    EXPECT_THAT(Parse({"--print-config", setting.flag() + "=" + text}).text,
                HasSubstr(absl::StrFormat("# flag %s", setting.flag())));
    EXPECT_THAT(Parse({"--help"}).text, HasSubstr(setting.flag()));
  }
}

TEST_F(OptionsTest, PrintConfigIsAConfigurationFileAgain) {
  WriteConfig(
      "data-dir = \"/with \\\"quotes\\\"\"\nlisten = ['127.0.0.1:1', 'unix:/s']\nmax-connections = 12\n");
  sources_.environment = {"ITEMD_TLS_WITHOUT_CLIENT_CERTIFICATES=true"};
  const ParsedOptions printed = Parse({"--print-config", "--slow-request", "2s"});
  EXPECT_EQ(printed.exit_code, 0);
  for (const Setting& setting : Settings()) EXPECT_THAT(printed.text, HasSubstr(setting.key()));
  EXPECT_THAT(printed.text, HasSubstr("# default: 2GiB"));
  WriteConfig(printed.text);
  sources_.environment = {};
  const ParsedOptions again = Parse({});
  ASSERT_TRUE(again.options.has_value()) << again.text;
  EXPECT_EQ(again.options->data_directory, "/with \"quotes\"");
  EXPECT_THAT(again.options->listen, ElementsAre("127.0.0.1:1", "unix:/s"));
  EXPECT_EQ(again.options->max_connections, 12);
  EXPECT_EQ(again.options->slow_request, absl::Seconds(2));
  EXPECT_TRUE(again.options->tls_without_client_certificates);
}

TEST_F(OptionsTest, CheckConfigSaysWhetherItIsValid) {
  const ParsedOptions good = Parse({"--data-dir", "/data", "--check-config"});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.text, "the configuration is valid\n");
  EXPECT_EQ(Parse({"--data-dir", "/data", "--check-config", "--memory", "1"}).exit_code, 64);
  EXPECT_EQ(Parse({"--check-config"}).exit_code, 64) << "it would not start";
  // Directories that cannot be.
  WriteConfig("");
  for (const std::string flag : {"--backup-directory", "--archive-directory", "--export-directory"}) {
    const ParsedOptions file =
        Parse({"--data-dir", directory_.path() + "/data", "--check-config", flag, config_file() + "/folder"});
    EXPECT_EQ(file.exit_code, 74) << flag;
    EXPECT_THAT(file.text, HasSubstr(flag + ": " + config_file() + " is not a directory"));
  }
  EXPECT_EQ(Parse({"--data-dir", config_file(), "--check-config"}).exit_code, 74);
  // As a start does, which makes one folder.
  const std::string above = directory_.path() + "/none";
  const ParsedOptions deep = Parse({"--data-dir", above + "/data", "--check-config"});
  EXPECT_EQ(deep.exit_code, 74);
  EXPECT_THAT(deep.text, HasSubstr("--data-dir: " + above + " is not there"));
  EXPECT_EQ(Parse({"--data-dir", above + "/", "--check-config"}).exit_code, 0);
  const ParsedOptions same = Parse({"--data-dir", directory_.path() + "/data", "--check-config",
                                    "--backup-directory", directory_.path() + "/x/../data"});
  EXPECT_EQ(same.exit_code, 64);
  EXPECT_THAT(same.text, HasSubstr("--backup-directory: it is the data directory"));
}

TEST_F(OptionsTest, CheckConfigLooksAtFiles) {
  WriteConfig("");
  const std::string data = directory_.path() + "/data", missing = directory_.path() + "/none/file";
  const auto check = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--data-dir", data, "--check-config"});
    return Parse(arguments);
  };
  // Files that itemd makes, in a folder that is there.
  for (const auto& [flag, prefix] : {std::pair<std::string, std::string>{"--audit-log", ""},
                                     {"--address-file", ""},
                                     {"--listen", "unix:"}}) {
    const ParsedOptions none = check({flag, prefix + missing});
    EXPECT_EQ(none.exit_code, 74) << flag;
    EXPECT_THAT(none.text, HasSubstr(flag + ": " + directory_.path() + "/none is not there")) << flag;
    const ParsedOptions file = check({flag, prefix + config_file() + "/file"});
    EXPECT_EQ(file.exit_code, 74) << flag;
    EXPECT_THAT(file.text, HasSubstr(flag + ": " + config_file() + " is not a directory")) << flag;
    const ParsedOptions folder = check({flag, prefix + directory_.path()});
    EXPECT_EQ(folder.exit_code, 74) << flag;
    EXPECT_THAT(folder.text, HasSubstr(directory_.path() + " is a directory")) << flag;
    EXPECT_EQ(check({flag, prefix + directory_.path() + "/file"}).text, "the configuration is valid\n")
        << flag;
  }
  EXPECT_THAT(check({"--listen", "unix:" + config_file()}).text, HasSubstr("is not a socket"));
  EXPECT_THAT(check({"--audit-log", "/dev/null"}).text,
              HasSubstr("--audit-log: the audit log /dev/null is not"));
  EXPECT_EQ(check({"--audit-log", config_file()}).exit_code, 0) << "it is continued";
  EXPECT_FALSE(fs::exists(data) || fs::exists(directory_.path() + "/file")) << "nothing is made";

  // Files that must be there.
  const std::string key = directory_.path() + "/key.pem";
  std::ofstream(key) << "a key";
  const auto with = [&](const std::string& ca, const std::string& cert, const std::string& private_key) {
    return check({"--standby", "10.0.0.7:7420", "--standby-ca", ca, "--standby-cert", cert, "--standby-key",
                  private_key});
  };
  EXPECT_EQ(with(key, key, key).exit_code, 0);
  EXPECT_EQ(with("system", key, key).exit_code, 0);
  EXPECT_THAT(with(missing, key, key).text,
              HasSubstr("--standby-ca: " + missing + " cannot be used: No such file"));
  EXPECT_THAT(with(key, directory_.path(), key).text,
              HasSubstr("--standby-cert: " + directory_.path() + " is a dir"));
  EXPECT_THAT(with(key, key, missing).text, HasSubstr("--standby-key: " + missing));
  EXPECT_EQ(with(key, key, missing).exit_code, 74);
  const ParsedOptions access = check({"--standby", "10.0.0.7:7420", "--standby-access-key", missing});
  EXPECT_EQ(access.exit_code, 74);
  EXPECT_THAT(access.text, HasSubstr("--standby-access-key: "));
  // Directories of another itemd.
  const ParsedOptions archive = check({"--standby", missing, "--standby-backups", directory_.path()});
  EXPECT_EQ(archive.exit_code, 74);
  EXPECT_THAT(archive.text, HasSubstr("--standby: " + missing + " cannot be used"));
  EXPECT_THAT(check({"--standby", directory_.path(), "--standby-backups", config_file()}).text,
              HasSubstr("--standby-backups: " + config_file() + " is not a directory"));

  const ParsedOptions same = check({"--backup-directory", directory_.path() + "/backups",
                                    "--archive-directory", directory_.path() + "/x/../backups"});
  EXPECT_EQ(same.exit_code, 64);
  EXPECT_THAT(same.text, HasSubstr("--archive-directory: it is the directory of --backup-directory"));
  // A start compares the paths, and asks no disk.
  const ParsedOptions started =
      Parse({"--data-dir", directory_.path() + "/data", "--backup-directory", directory_.path() + "/backups",
             "--archive-directory", directory_.path() + "/x/../backups/"});
  EXPECT_EQ(started.exit_code, 64);
  EXPECT_EQ(started.text, same.text);
  const std::string loop = directory_.path() + "/loop";
  std::filesystem::create_symlink(loop, loop);
  const ParsedOptions unknown =
      Parse({"--data-dir", directory_.path() + "/data", "--backup-directory", loop + "/backups",
             "--archive-directory", loop + "/archive", "--export-directory", loop + "/backups"});
  EXPECT_TRUE(unknown.options.has_value()) << unknown.text;
}

// What only permissions forbid is no error, because the service may run as another user.
TEST_F(OptionsTest, CheckConfigMayRunAsAnotherUser) {
  const std::string folder = directory_.path() + "/of_others";
  fs::create_directory(folder);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  const std::vector<std::string> arguments = {"--data-dir", folder + "/data", "--check-config", "--audit-log",
                                              folder + "/audit.log"};
  const uid_t before = geteuid();
  constexpr uid_t kNobody = 65'534;
  ASSERT_TRUE(before != 0 || seteuid(kNobody) == 0);
  const ParsedOptions parsed = Parse(arguments);
  ASSERT_EQ(seteuid(before), 0);
  EXPECT_EQ(parsed.exit_code, 0) << parsed.text;
  EXPECT_THAT(parsed.text, StartsWith("the configuration is valid\n--data-dir: "));
  EXPECT_THAT(parsed.text, HasSubstr("\n--audit-log: the user of this check may not use " + folder + ";"));
}

TEST_F(OptionsTest, OnlyTheChangeLogMayBeUnlimited) {
  const ParsedOptions parsed = Parse({"--data-dir", "/data"});
  ASSERT_TRUE(parsed.options.has_value()) << parsed.text;
  EXPECT_EQ(parsed.options->max_change_log_bytes, 0u) << "no bound";
  EXPECT_THAT(Parse({"--print-config"}).text, HasSubstr("max-change-log-bytes = \"unlimited\""));
  sources_.environment = {"ITEMD_MAX_CHANGE_LOG_BYTES=1GiB"};
  EXPECT_EQ(Parse({"--data-dir", "/d", "--max-change-log-bytes", "unlimited"}).options->max_change_log_bytes,
            0u);
  EXPECT_EQ(Parse({"--data-dir", "/data", "--memory", "unlimited"}).exit_code, 64);
}

// A value that the setting `name` refuses, and a part of the error.
struct BadValue {
  std::string name;
  std::string text;
  std::string says;
};

std::vector<BadValue> BadValues() {
  std::vector<BadValue> rows;
  for (const Setting& setting : Settings()) {
    rows.push_back({setting.key(), "", "missing"});
    struct Add {
      const Setting& setting;
      std::vector<BadValue>& rows;
      void operator()(std::string Options::*) const {
        if (!setting.choices.empty()) rows.push_back({setting.key(), "loud", setting.allowed()});
      }
      void operator()(std::vector<std::string> Options::*) const {
        rows.push_back({setting.key(), "nonsense", "HOST:PORT"});
        rows.push_back({setting.key(), "127.0.0.1:70000", "65535"});
        rows.push_back({setting.key(), std::string("unix:").append(200, '/'), "at most 107 bytes"});
      }
      void operator()(uint64_t Options::*) const {
        rows.push_back({setting.key(), "lots", "512MiB"});
        rows.push_back({setting.key(), "-1", "512MiB"});
        rows.push_back({setting.key(), "1e9", "512MiB"});
        rows.push_back({setting.key(), "12 parsecs", "512MiB"});
        if (setting.min > 1024) rows.push_back({setting.key(), "1KiB", setting.allowed()});
        rows.push_back({setting.key(), "99999999999TiB", "512MiB"});
        rows.push_back({setting.key(), "101%", "at most 100%"});
      }
      void operator()(int Options::*) const {
        for (const char* text : {"many", "-5", "1.5", "12x", "99999999999"}) {
          rows.push_back({setting.key(), text, setting.allowed()});
        }
        rows.push_back({setting.key(), std::to_string(setting.min - 1), setting.allowed()});
      }
      void operator()(absl::Duration Options::*) const {
        for (const char* text : {"soon", "10", "-1s", "inf", "1 s"})
          rows.push_back({setting.key(), text, "10s"});
        rows.push_back({setting.key(), "9999h", setting.allowed()});
      }
      void operator()(bool Options::*) const {
        for (const char* text : {"perhaps", "TRUE", "2"})
          rows.push_back({setting.key(), text, "true or false"});
      }
    };
    std::visit(Add{setting, rows}, setting.field);
  }
  rows.push_back({"backup-schedule", "daily", "five fields"});
  rows.push_back({"backup-schedule", "0 24 * * *", "the hour may be"});
  for (const char* text : {"2", "-0.1", "half", "101%"})
    rows.push_back({"trace-ratio", text, "a fraction from 0 to 1"});
  for (const char* text : {"127.0.0.1:4318", "http://", "http://user@collector"})
    rows.push_back({"trace-endpoint", text, "such as http://127.0.0.1:4318"});
  rows.push_back({"socket-mode", "rw-rw----", "octal"});
  rows.push_back({"socket-mode", "0888", "octal"});
  rows.push_back({"socket-mode", "0060", "octal"});
  return rows;
}

void ExpectUsage(const ParsedOptions& parsed, const std::vector<std::string>& says) {
  EXPECT_FALSE(parsed.options.has_value());
  EXPECT_EQ(parsed.exit_code, 64);
  for (const std::string& part : says) EXPECT_THAT(parsed.text, HasSubstr(part));
  EXPECT_THAT(parsed.text, ::testing::EndsWith("Run itemd --help for the settings.\n"));
  EXPECT_EQ(std::count(parsed.text.begin(), parsed.text.end(), '\n'), 2) << "one sentence: " << parsed.text;
}

TEST_F(OptionsTest, EveryFlagRefusesAWrongValue) {
  for (const BadValue& row : BadValues()) {
    SCOPED_TRACE(row.name + "=" + row.text);
    // A flag without a value means true; CLI11 has its own error for a bad value of such a flag.
    if (FindSetting(row.name)->is_boolean()) continue;
    const ParsedOptions parsed = Parse({"--data-dir=/data", "--" + row.name + "=" + row.text});
    const bool twice = row.name == "data-dir";
    ExpectUsage(parsed, twice ? std::vector<std::string>{"--data-dir"}
                              : std::vector<std::string>{"--" + row.name + ": ", row.text, row.says});
  }
  for (const Setting& setting : Settings()) {
    if (!setting.is_boolean()) continue;
    ExpectUsage(Parse({"--data-dir=/data", setting.flag() + "=perhaps"}), {setting.flag(), "perhaps"});
  }
}

TEST_F(OptionsTest, EveryVariableRefusesAWrongValue) {
  for (const BadValue& row : BadValues()) {
    SCOPED_TRACE(row.name + "=" + row.text);
    const std::string variable = FindSetting(row.name)->variable();
    sources_.environment = {variable + "=" + row.text};
    ExpectUsage(Parse({}), {variable + ": ", row.text, row.says});
  }
}

TEST_F(OptionsTest, EveryKeyRefusesAWrongValueNamingFileAndLine) {
  for (const BadValue& row : BadValues()) {
    SCOPED_TRACE(row.name + "=" + row.text);
    if (FindSetting(row.name)->is_boolean()) continue;  // A string has another type: tested below.
    WriteConfig("# a comment\n\n" + row.name + " = '" + row.text + "'\n");
    ExpectUsage(Parse({}), {config_file() + ":3: " + row.name + ": ", row.text, row.says});
  }
}

// TOML has types that no setting accepts: dates, tables and fractions.
TEST_F(OptionsTest, EveryKeyRefusesAValueOfAnotherType) {
  for (const Setting& setting : Settings()) {
    for (const char* value : {"1.5", "1979-05-27", "{ a = 1 }", "[1, 2]"}) {
      SCOPED_TRACE(setting.key() + " = " + value);
      WriteConfig("\n" + setting.key() + " = " + value + "\n");
      ExpectUsage(Parse({}), {config_file() + ":2: " + setting.key() + ": ", " is ", "it takes "});
    }
    WriteConfig(setting.key() + (setting.is_boolean() ? " = 'true'\n" : " = true\n"));
    ExpectUsage(Parse({}),
                {config_file() + ":1: " + setting.key() + ": ",
                 setting.is_boolean() ? "is a text: it takes true or false" : "is true or false: it takes "});
  }
  WriteConfig("log-level = 3");
  ExpectUsage(Parse({}), {":1: log-level: 3 is a whole number: it takes one of debug, info, warn, error"});
  WriteConfig("slow-request = 3");
  ExpectUsage(Parse({}), {":1: slow-request: 3 is a whole number: it takes a duration"});
}

TEST_F(OptionsTest, NamesTheNearestMatch) {
  ExpectUsage(Parse({"--data-dri", "/d"}), {"--data-dri is not a flag; did you mean \"--data-dir\"?"});
  ExpectUsage(Parse({"--data_dir=/d"}), {"--data_dir is not a flag; did you mean \"--data-dir\"?"});
  ExpectUsage(Parse({"--check-conf"}), {"did you mean \"--check-config\"?"});
  ExpectUsage(Parse({"--data-dir", "/d", "--colour"}), {"--colour is not a flag\n"});
  ExpectUsage(Parse({"--data-dir", "/d", "stray"}), {"stray is not a flag"});
  WriteConfig("\n\nlog_levl = 'info'\n");
  ExpectUsage(Parse({}), {config_file() + ":3: log_levl is not a setting; did you mean \"log-level\"?"});
  WriteConfig("[tls]\ncert = 'x'\n");
  ExpectUsage(Parse({}), {config_file() + ":1: table tls is not a setting"});
  WriteConfig("");
  sources_.environment = {"ITEMD_LOGLEVEL=debug"};
  ExpectUsage(Parse({}), {"ITEMD_LOGLEVEL is not a setting; did you mean \"ITEMD_LOG_LEVEL\"?"});
}

TEST_F(OptionsTest, RefusesWhatIsNotTomlNamingTheLine) {
  WriteConfig("data-dir = '/d'\nlisten = [\n");
  ExpectUsage(Parse({}), {config_file() + ":", "this is not TOML"});
  WriteConfig("data-dir = '/d'\ndata-dir = '/e'\n");
  ExpectUsage(Parse({}), {config_file() + ":2: this is not TOML"});
}

TEST_F(OptionsTest, AConfigurationFileThatCannotBeReadExitsWith74) {
  for (const std::string& path : {std::string("/nonexistent/itemd.toml"), directory_.path()}) {
    const ParsedOptions parsed = Parse({"--config", path});
    EXPECT_EQ(parsed.exit_code, 74);
    EXPECT_THAT(parsed.text, HasSubstr("the configuration file " + path + " cannot be read: "));
  }
  std::ofstream(config_file()) << std::string(2 << 20, '#');
  EXPECT_THAT(Parse({}).text, HasSubstr("longer than 1048576 bytes"));
  ExpectUsage(Parse({"--config", ""}), {"--config"});
}

TEST_F(OptionsTest, RefusesWhatContradictsItself) {
  struct Row {
    std::vector<std::string> arguments;
    std::string says;
  };
  const Row rows[] = {
      {{}, "the directory of the database is missing: give --data-dir"},
      {{"--listen", "localhost:9", "--listen", "127.0.0.1:9"}, "--listen: 127.0.0.1:9 is given twice"},
      {{"--listen", "0.0.0.0:9"},
       "--listen: other machines can reach 0.0.0.0:9, so it needs TLS (--tls-cert"},
      {{"--listen", "[::]:9"}, "--listen: other machines can reach [::]:9"},
      {{"--http-listen", "0.0.0.0:9"},
       "--http-listen: other machines can reach 0.0.0.0:9, so it needs --tls-cert, --tls-key, "
       "--access-keys; "},
      {{"--http-listen", "0.0.0.0:9", "--access-keys", "k"}, "needs --tls-cert, --tls-key; without, listen"},
      {{"--http-listen", "[::]:9", "--tls-cert", "c", "--tls-key", "k"},
       "--http-listen: other machines can reach [::]:9, so it needs --access-keys; without, listen"},
      {{"--http-listen", "unix:/tmp/s"},
       "--http-listen: unix:/tmp/s is not allowed: HTTP is served at HOST:PORT only"},
      {{"--http-listen", "nowhere"}, "--http-listen: \"nowhere\" is not an address"},
      {{"--http-listen", "[::1]:9", "--http-listen", "[::1]:9"}, "--http-listen: [::1]:9 is given twice"},
      {{"--data-dir", "/d", "--listen", "localhost:9", "--http-listen", "127.0.0.1:9"},
       "--http-listen: 127.0.0.1:9 clashes with 127.0.0.1:9 of --listen"},
      {{"--data-dir", "/d", "--http-listen", "[::1]:9", "--metrics-listen", "[::1]:9"},
       "--metrics-listen: [::1]:9 clashes with [::1]:9 of --http-listen"},
      {{"--data-dir", "/d", "--listen", "0.0.0.0:9", "--listen", "127.0.0.1:9"},
       "--listen: 127.0.0.1:9 clashes with 0.0.0.0:9 of --listen"},
      {{"--listen", "0.0.0.0:9", "--tls-cert", "c", "--tls-key", "k"},
       "so it needs --tls-client-ca or --access-keys"},
      {{"--tls-cert", "c"}, "--tls-cert needs --tls-key"},
      {{"--tls-key", "k"}, "--tls-key needs --tls-cert"},
      {{"--tls-client-ca", "c"}, "--tls-client-ca needs --tls-cert and --tls-key"},
      {{"--tls-cert", "c", "--tls-key", "k", "--tls-client-ca", "a", "--tls-without-client-certificates"},
       "--tls-without-client-certificates is not allowed together with --tls-client-ca"},
      {{"--data-dir", "/d", "--data-dir", "/e"}, "--data-dir"},
      {{"--data-dir", "/d", "--in-memory"}, "--in-memory: not together with --data-dir"},
      {{"--in-memory", "--recover=last-good"}, "--recover: not together with --in-memory"},
      {{"--data-dir", "/d", "--regions-apart", "--archive-directory", "/a"},
       "--archive-directory: not together with --regions-apart"},
      {{"inspect", "/d", "--in-memory"}, "--in-memory: not together with DIR"},
      {{"--data-dir"}, "--data-dir"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.says);
    ExpectUsage(Parse(row.arguments), {row.says});
  }
}

// A service has its directory in the configuration file; the flag is meant for one start.
TEST_F(OptionsTest, InMemoryAndDataDirReplaceEachOther) {
  WriteConfig("data-dir = '/data'\n");
  const ParsedOptions memory = Parse({"--in-memory"});
  ASSERT_TRUE(memory.options.has_value()) << memory.text;
  EXPECT_TRUE(memory.options->in_memory);
  EXPECT_EQ(memory.options->data_directory, "");
  EXPECT_EQ(Parse({"--in-memory=false"}).options->data_directory, "/data");
  sources_.environment = {"ITEMD_IN_MEMORY=true"};
  EXPECT_TRUE(Parse({}).options->in_memory);
  const ParsedOptions disk = Parse({"--data-dir", "/other"});
  ASSERT_TRUE(disk.options.has_value()) << disk.text;
  EXPECT_FALSE(disk.options->in_memory);
  EXPECT_EQ(disk.options->data_directory, "/other");
}

TEST_F(OptionsTest, DevHasItsOwnDefaults) {
  // The configuration of a service on the same machine.
  WriteConfig("data-dir = '/data'\nlisten = ['unix:/run/itemdb/itemd.sock']\naccess-keys = '/keys'\n");
  const ParsedOptions dev = Parse({"dev"});
  ASSERT_TRUE(dev.options.has_value()) << dev.text;
  EXPECT_TRUE(dev.options->dev);
  EXPECT_TRUE(dev.options->in_memory);
  EXPECT_THAT(dev.options->http_listen, ElementsAre("127.0.0.1:8000"));
  EXPECT_THAT(dev.options->listen, ElementsAre("127.0.0.1:7420"));
  EXPECT_EQ(dev.options->access_keys, "");
  EXPECT_EQ(dev.config_file, "");
  // What is given goes before.
  sources_.environment = {"ITEMD_LOG_LEVEL=debug"};
  const ParsedOptions other = Parse({"dev", "--http-listen", "127.0.0.1:8001", "--data-dir", "/kept"});
  ASSERT_TRUE(other.options.has_value()) << other.text;
  EXPECT_THAT(other.options->http_listen, ElementsAre("127.0.0.1:8001"));
  EXPECT_FALSE(other.options->in_memory);
  EXPECT_EQ(other.options->data_directory, "/kept");
  EXPECT_EQ(other.options->log_level, "debug");
  EXPECT_EQ(Parse({"dev", "--config", config_file(), "--check-config"}).exit_code, 74) << "/keys is no file";
}

// The example file has every setting in a comment; without the comment marks it is a valid configuration.
TEST_F(OptionsTest, TheExampleInPackagingHasEverySetting) {
  std::ifstream example(testing::SourcePath("packaging/itemd.toml"));
  std::string uncommented;
  for (std::string line; std::getline(example, line);) {
    const bool setting = line.starts_with("#") && !line.starts_with("# ") && line.size() > 1;
    uncommented += (setting ? line.substr(1) : line) + "\n";
  }
  WriteConfig(uncommented);
  const ParsedOptions printed = Parse({"--print-config"});
  ASSERT_EQ(printed.exit_code, 0) << printed.text;
  for (const Setting& setting : Settings()) {
    EXPECT_THAT(printed.text, HasSubstr(absl::StrFormat("%s = ", setting.key()))) << "missing in the example";
    EXPECT_THAT(uncommented, HasSubstr(setting.key() + " = "));
  }
}

TEST_F(OptionsTest, HelpTeachesAndListsTheExitCodes) {
  ParsedOptions parsed = Parse({"--help"});
  EXPECT_FALSE(parsed.options.has_value());
  EXPECT_EQ(parsed.exit_code, 0);
  for (const char* part :
       {"--data-dir", "--config", "ITEMD_", "Examples:", "Exit codes:", "\n  65 ", "\n  69 ", "\n  74 "}) {
    EXPECT_THAT(parsed.text, HasSubstr(part));
  }
}

TEST_F(OptionsTest, VersionNamesTheProgram) {
  ParsedOptions parsed = Parse({"--version"});
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_EQ(parsed.text, "itemd " + std::string(Version()) + "\n");
}

TEST(ExitCodes, TellDamageFromUseFromInputOutput) {
  EXPECT_EQ(ExitCodeForOpen(storage::DataLossError("a hole")), 65);
  EXPECT_EQ(ExitCodeForOpen(storage::MakeError(absl::StatusCode::kFailedPrecondition,
                                               storage::kReasonDataDirectoryForeign, "x")),
            65);
  EXPECT_EQ(ExitCodeForOpen(storage::MakeError(absl::StatusCode::kFailedPrecondition,
                                               storage::kReasonFormatUnknown, "x")),
            65);
  EXPECT_EQ(ExitCodeForOpen(storage::MakeError(absl::StatusCode::kFailedPrecondition,
                                               storage::kReasonDataDirectoryInUse, "x")),
            69);
  EXPECT_EQ(ExitCodeForOpen(absl::InternalError("x")), 70);
  EXPECT_EQ(ExitCodeForOpen(absl::PermissionDeniedError("x")), 74);
  EXPECT_EQ(ExitCodeForOpen(
                storage::MakeError(absl::StatusCode::kResourceExhausted, storage::kReasonDiskFull, "x")),
            74);
}

}  // namespace
}  // namespace itemdb::daemon
