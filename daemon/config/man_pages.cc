#include "daemon/config/man_pages.h"

#include "absl/strings/str_cat.h"
#include "common/roff.h"
#include "daemon/config/help_text.h"
#include "daemon/config/settings.h"
#include "daemon/process/version.h"

namespace itemdb::daemon {
namespace {

using common::Roff;

std::string Begin(std::string_view name, std::string_view section, std::string_view summary) {
  return ".TH " + Roff(name) + " " + std::string(section) + " \"\" \"itemdb " + std::string(Version()) +
         "\" \"itemdb\"\n.SH NAME\n" + Roff(name) + " \\- " + Roff(summary) + "\n";
}

void AppendHeading(std::string_view heading, std::string* out) {
  out->append(".SH ").append(heading).append("\n");
}

void AppendText(std::string_view text, std::string* out) { *out += Roff(text) + "\n"; }

void AppendTerm(const std::string& term, const std::string& text, std::string* out) {
  *out += ".TP\n.B " + Roff(term) + "\n" + Roff(text) + "\n";
}

// Appends `text` with its line breaks kept.
void AppendVerbatim(std::string_view text, std::string* out) {
  *out += ".PP\n.nf\n.RS 4\n" + Roff(text) + "\n.RE\n.fi\n";
}

// What a value may be, and the default.
std::string ValuesOf(const Setting& setting) {
  std::string text = std::string(setting.help) + ".";
  const std::string allowed = setting.allowed();
  if (allowed != "a text" && allowed != "texts" && allowed != "true or false")
    text += " Allowed: " + allowed + ".";
  if (!setting.fallback.empty()) text += " Default: " + std::string(setting.fallback) + ".";
  return text;
}

// How the value is written in the configuration file.
std::string TomlOf(const Setting& setting) {
  if (setting.is_boolean()) return setting.key() + " = true";
  const std::string value = "\"" + std::string(setting.value_name) + "\"";
  return setting.key() + " = " + (setting.is_list() ? "[" + value + ", ...]" : value);
}

void AppendSeeAlso(std::string_view pages, std::string* out) {
  AppendHeading("SEE ALSO", out);
  AppendText(pages, out);
}

}  // namespace

std::string DaemonManPage() {
  std::string out = Begin("itemd", "8", "database server with DynamoDB's data model");
  AppendHeading("SYNOPSIS", &out);
  out += ".B itemd \\-\\-data\\-dir DIR\n[SETTING]...\n.br\n";
  for (const char* command : {"dev", "inspect DIR", "salvage DIR TO", "restore BACKUPS TO",
                              "keys add ID ROLE", "keys rotate ID", "keys remove ID"})
    out += ".B itemd " + Roff(command) + "\n.br\n";
  AppendHeading("DESCRIPTION", &out);
  AppendText("itemd is a " + std::string(kDaemonDescription), &out);
  AppendHeading("OPTIONS", &out);
  AppendTerm("--config FILE",
             "The configuration file; ITEMD_CONFIG in the environment. Default: /etc/itemdb/itemd.toml if "
             "there is one.",
             &out);
  AppendTerm("--print-config", "Print each setting, its value and where it comes from, and exit.", &out);
  AppendTerm("--check-config",
             "Say whether the configuration is valid, certificates included, and exit with the exit status "
             "that a start would have.",
             &out);
  AppendTerm("--version", "Print the version and exit.", &out);
  AppendTerm("-h, --help", "Print all settings, examples, signals and exit codes, and exit.", &out);
  for (const Setting& setting : Settings()) {
    const std::string value = setting.is_boolean() ? "" : " " + std::string(setting.value_name);
    AppendTerm(setting.flag() + value, ValuesOf(setting) + " Environment: " + setting.variable() + ".", &out);
  }
  AppendHeading("NOTES", &out);
  AppendVerbatim(kHelpNotes, &out);
  AppendHeading("FILES", &out);
  AppendTerm("/etc/itemdb/itemd.toml", "The configuration, see itemd.toml(5).", &out);
  AppendTerm("/var/lib/itemdb", "The data directory of the service.", &out);
  AppendTerm("/run/itemdb/itemd.sock", "The socket of the service, for members of the group itemdb.", &out);
  AppendSeeAlso("itemd.toml(5), itemctl(1)", &out);
  return out;
}

std::string ConfigFileManPage() {
  std::string out = Begin("itemd.toml", "5", "configuration of itemd");
  AppendHeading("DESCRIPTION", &out);
  AppendText(
      "A file in the format TOML with one line for each setting. A flag of itemd and a variable of its "
      "environment win over the file. itemd reads it when it starts; certificates and access keys are read "
      "again while it runs. An unknown name is an error.",
      &out);
  AppendText(
      "itemd --check-config says whether the file is valid; itemd --print-config shows every value and "
      "where it comes from.",
      &out);
  AppendHeading("SETTINGS", &out);
  for (const Setting& setting : Settings()) AppendTerm(TomlOf(setting), ValuesOf(setting), &out);
  AppendSeeAlso("itemd(8)", &out);
  return out;
}

}  // namespace itemdb::daemon
