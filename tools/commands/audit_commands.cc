#include "tools/commands/audit_commands.h"

#include <openssl/sha.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"

namespace itemdb::tools {
namespace {

// A record ends in ,"previous":"HASH","hash":"HASH"}
constexpr size_t kHashDigits = 2 * SHA256_DIGEST_LENGTH;
constexpr std::string_view kPreviousMember = ",\"previous\":\"";
constexpr std::string_view kHashMember = "\",\"hash\":\"";
constexpr std::string_view kEnd = "\"}";
// Longer than any record.
constexpr size_t kMaxLineBytes = 64 << 10;

std::string HashOf(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest), sizeof(digest)});
}

// Removes `part` from the end of `text`; false if `text` does not end with it.
bool ConsumeEnd(std::string_view& text, std::string_view part) {
  if (!text.ends_with(part)) return false;
  text.remove_suffix(part.size());
  return true;
}

// Removes a hash from the end of `text`; empty if `text` is shorter than one.
std::string_view ConsumeHash(std::string_view& text) {
  if (text.size() < kHashDigits) return "";
  const std::string_view hash = text.substr(text.size() - kHashDigits);
  text.remove_suffix(kHashDigits);
  return hash;
}

// The chain of records, from file to file.
class Chain {
 public:
  // Empty: `line` is the next record. Otherwise why it is not.
  std::string Add(std::string_view line) {
    std::string_view left = line;
    if (!ConsumeEnd(left, kEnd)) return "it is not a whole record";
    const std::string_view hash = ConsumeHash(left);
    // The hash is that of the text before its member, which begins with the quote that ends `previous`.
    if (!ConsumeEnd(left, kHashMember)) return "it is not a record";
    if (HashOf(line.substr(0, left.size() + 1)) != hash)
      return "it was changed: its hash is not that of its text";
    const std::string_view previous = ConsumeHash(left);
    if (!ConsumeEnd(left, kPreviousMember)) return "it is not a record";
    if (records_ > 0 && previous != last_hash_)
      return "records before it were removed, inserted or changed: it does not follow the record before";
    if (records_ == 0) begins_anew_ = previous.find_first_not_of('0') == std::string_view::npos;
    last_hash_ = hash;
    ++records_;
    return "";
  }

  int64_t records() const { return records_; }
  const std::string& last_hash() const { return last_hash_; }
  // False: the first record follows one in an earlier file.
  bool begins_anew() const { return begins_anew_; }

 private:
  int64_t records_ = 0;
  std::string last_hash_;
  bool begins_anew_ = true;
};

absl::Status AddFile(const std::string& path, Chain& chain) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    return UsageError(absl::StrFormat("cannot read %s: %s", path, std::strerror(errno == 0 ? EIO : errno)));
  }
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    // Without its newline the last line is not whole, whatever it says.
    const std::string wrong = file.eof()                    ? "its end is missing"
                              : line.size() > kMaxLineBytes ? "it is longer than any record"
                                                            : chain.Add(line);
    if (!wrong.empty())
      return ToolError(ExitCode::kFindings, absl::StrFormat("%s: line %d: %s", path, number, wrong));
  }
  if (file.bad()) return UsageError(absl::StrFormat("cannot read %s: %s", path, std::strerror(EIO)));
  return absl::OkStatus();
}

}  // namespace

absl::Status RunAuditVerify(Context& context, const AuditVerifyOptions& options) {
  Chain chain;
  for (const std::string& file : options.files) {
    if (absl::Status added = AddFile(file, chain); !added.ok()) return added;
  }
  if (context.format() != OutputFormat::kTable) {
    context.Print(JsonValue::Object()
                      .Add("records", JsonValue::Number(chain.records()))
                      .Add("begins_anew", JsonValue::Bool(chain.begins_anew()))
                      .Add("last_hash", JsonValue::String(chain.last_hash())));
    return absl::OkStatus();
  }
  context.out() << WithSeparators(chain.records()) << " records, each follows the one before\n";
  if (chain.records() == 0) return absl::OkStatus();
  if (!chain.begins_anew()) context.out() << "the first follows a record of an earlier file\n";
  context.out() << "last hash " << chain.last_hash() << '\n';
  return absl::OkStatus();
}

void RegisterAuditCommands(CommandTable& table) {
  CLI::App* group = table.AddGroup({.name = "audit", .summary = "The audit log of itemd"});
  auto verify = std::make_shared<AuditVerifyOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "verify",
       .summary = "Check that no record of an audit log was changed, removed or inserted",
       .details =
           "Each record has the hash of the record before. Records that are missing at the end do not show: "
           "keep the printed last hash elsewhere, and search for it later. Ends with exit code 7 and the "
           "name "
           "of the first wrong line if the chain is broken. Needs no daemon.",
       .examples = {{"itemctl audit verify audit.jsonl", "one file"},
                    {"itemctl audit verify audit.jsonl.2 audit.jsonl.1 audit.jsonl",
                     "a rotated log, the oldest file first: the chain goes on from file to file"}}},
      [verify](Context& context) { return RunAuditVerify(context, *verify); });
  command->add_option("FILE", verify->files, "Files of the log, the oldest first")->required();
}

}  // namespace itemdb::tools
