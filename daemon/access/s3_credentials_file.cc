#include "daemon/access/s3_credentials_file.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "daemon/process/file_bytes.h"

namespace itemdb::daemon {
namespace {

constexpr size_t kMaxCredentialsFileBytes = 64 << 10;

bool HasControlCharacter(const std::string& text) {
  for (const char c : text)
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) return true;
  return false;
}

}  // namespace

absl::StatusOr<storage::S3Credentials> ReadS3Credentials(const std::string& path) {
  ITEMDB_ASSIGN_OR_RETURN(const std::string text, ReadSecretFile(path, kMaxCredentialsFileBytes));
  storage::S3Credentials credentials;
  bool in_default = false;
  int number = 0;
  for (const absl::string_view untrimmed : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(untrimmed);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      in_default = line == "[default]";
      continue;
    }
    if (!in_default) continue;
    const std::pair<absl::string_view, absl::string_view> setting =
        absl::StrSplit(line, absl::MaxSplits('=', 1));
    const std::string name(absl::StripAsciiWhitespace(setting.first));
    const std::string value(absl::StripAsciiWhitespace(setting.second));
    if (value.empty() || HasControlCharacter(value)) {
      return storage::ValidationError(absl::StrFormat(
          "%s:%d: a line is NAME = VALUE, a profile such as [default], or a comment after #", path, number));
    }
    if (name == "aws_access_key_id") credentials.key_id = value;
    if (name == "aws_secret_access_key") credentials.secret = value;
    if (name == "aws_session_token") credentials.session_token = value;
  }
  if (credentials.key_id.empty() || credentials.secret.empty()) {
    return storage::ValidationError(
        absl::StrFormat("%s has no %s in a profile [default]", path,
                        credentials.key_id.empty() ? "aws_access_key_id" : "aws_secret_access_key"));
  }
  return credentials;
}

}  // namespace itemdb::daemon
