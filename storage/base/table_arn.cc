#include "storage/base/table_arn.h"

#include <algorithm>
#include <array>

#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kTablePart = "table/";
constexpr std::string_view kBackupPart = "/backup/";
constexpr std::string_view kImportPart = "/import/";
constexpr size_t kTimeDigits = 14;
constexpr size_t kRandomDigits = 8;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

// "us-gov-west-1": letters, hyphens and a number.
bool IsRegion(std::string_view text) {
  if (text == kRegion) return true;
  if (text.size() < 5 || text.size() > 32 || !IsLetter(text[0]) || !IsDigit(text.back())) return false;
  const size_t number = text.rfind('-');
  const bool legal = std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(number),
                                 [](char c) { return IsLetter(c) || c == '-'; });
  return number != std::string_view::npos && number >= 2 && number + 1 < text.size() && legal &&
         text.substr(0, number).find('-') != std::string_view::npos &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(number) + 1, text.end(), IsDigit);
}

bool IsIdOfTimeAndHex(std::string_view id) {
  if (id.size() != kTimeDigits + 1 + kRandomDigits || id[kTimeDigits] != '-') return false;
  const std::string_view random = id.substr(kTimeDigits + 1);
  return std::all_of(id.begin(), id.begin() + kTimeDigits, IsDigit) &&
         std::all_of(random.begin(), random.end(),
                     [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); });
}

bool IsTableName(std::string_view name) {
  return name.size() >= kMinTableNameBytes && name.size() <= kMaxTableNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return IsDigit(c) || IsLetter(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
         });
}

// The colon-separated parts of an ARN; empty if it has fewer.
std::array<std::string_view, 6> PartsOfArn(std::string_view arn) {
  // arn : partition : service : region : account : resource
  std::array<std::string_view, 6> parts;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const size_t end = arn.find(':');
    if (end == std::string_view::npos) return {};
    parts[i] = arn.substr(0, end);
    arn.remove_prefix(end + 1);
  }
  parts.back() = arn;
  return parts;
}

absl::Status InvalidArn() { return ValidationError("BAK-16", "Invalid Backup ARN"); }

}  // namespace

std::string TableArn(std::string_view table_name) {
  return std::string("arn:aws:dynamodb:")
      .append(kRegion)
      .append(":")
      .append(kAccount)
      .append(":")
      .append(kTablePart)
      .append(table_name);
}

std::string BackupArnOf(std::string_view table_name, std::string_view backup_id) {
  return TableArn(table_name).append(kBackupPart).append(backup_id);
}

absl::StatusOr<BackupArn> ParseBackupArn(std::string_view arn) {
  const std::array<std::string_view, 6> parts = PartsOfArn(arn);
  const std::string_view rest = parts.back();
  if (arn.size() > kMaxTableArnBytes) return InvalidArn();
  if (parts[0] != "arn") return InvalidArn();
  if (parts[1] != "aws" || parts[2] != "dynamodb" || !IsRegion(parts[3]))
    return ValidationError("BAK-16", "BackupArn is not valid");
  if (parts[4] != kAccount) {
    return WithRule("BAK-16",
                    MakeError(absl::StatusCode::kPermissionDenied, kReasonAccessDenied, "Access is denied"));
  }
  const size_t backup = rest.find(kBackupPart);
  if (!rest.starts_with(kTablePart) || backup == std::string_view::npos) return InvalidArn();
  const BackupArn parsed{.region = parts[3],
                         .table_name = rest.substr(kTablePart.size(), backup - kTablePart.size()),
                         .backup_id = rest.substr(backup + kBackupPart.size())};
  if (!IsTableName(parsed.table_name) || !IsArnId(parsed.backup_id)) return InvalidArn();
  return parsed;
}

std::string ImportArnOf(std::string_view table_name, std::string_view import_id) {
  return TableArn(table_name).append(kImportPart).append(import_id);
}

absl::StatusOr<ImportArn> ParseImportArn(std::string_view arn) {
  const absl::Status invalid = ValidationError("IMP-21", "Invalid Import ARN");
  const std::array<std::string_view, 6> parts = PartsOfArn(arn);
  if (arn.size() > kMaxTableArnBytes || parts[0] != "arn" || parts[1] != "aws" || parts[2] != "dynamodb" ||
      !IsRegion(parts[3]))
    return invalid;
  if (parts[4] != kAccount) {
    return WithRule("IMP-21",
                    MakeError(absl::StatusCode::kPermissionDenied, kReasonAccessDenied, "Access is denied"));
  }
  const std::string_view rest = parts.back();
  const size_t import = rest.find(kImportPart);
  if (!rest.starts_with(kTablePart) || import == std::string_view::npos) return invalid;
  const ImportArn parsed{.region = parts[3],
                         .table_name = rest.substr(kTablePart.size(), import - kTablePart.size()),
                         .import_id = rest.substr(import + kImportPart.size())};
  if (!IsTableName(parsed.table_name) || !IsArnId(parsed.import_id)) return invalid;
  return parsed;
}

bool IsArnId(std::string_view id) { return IsIdOfTimeAndHex(id); }

}  // namespace itemdb::storage
