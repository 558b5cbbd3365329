#include "storage/base/table_arn.h"

#include <algorithm>
#include <array>
#include <optional>

#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kTablePart = "table/";
constexpr std::string_view kBackupPart = "/backup/";
constexpr std::string_view kExportPart = "/export/";
constexpr std::string_view kImportPart = "/import/";
constexpr std::string_view kBulkOperationPart = "/bulk-operation/";
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

bool IsTableName(std::string_view name) {
  return name.size() >= kMinTableNameBytes && name.size() <= kMaxTableNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return IsDigit(c) || IsLetter(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
         });
}

// arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE.
struct ArnParts {
  std::string_view partition;
  std::string_view service;
  std::string_view region;
  std::string_view account;
  std::string_view resource;

  bool IsOfService() const { return partition == "aws" && service == "dynamodb"; }
};

std::optional<ArnParts> SplitArn(std::string_view arn) {
  if (arn.size() > kMaxTableArnBytes) return std::nullopt;
  std::array<std::string_view, 5> parts;
  for (std::string_view& part : parts) {
    const size_t end = arn.find(':');
    if (end == std::string_view::npos) return std::nullopt;
    part = arn.substr(0, end);
    arn.remove_prefix(end + 1);
  }
  if (parts[0] != "arn") return std::nullopt;
  return ArnParts{
      .partition = parts[1], .service = parts[2], .region = parts[3], .account = parts[4], .resource = arn};
}

absl::Status OtherAccount(std::string_view rule) {
  return WithRule(rule,
                  MakeError(absl::StatusCode::kPermissionDenied, kReasonAccessDenied, "Access is denied"));
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

std::string ExportArnOf(std::string_view table_name, std::string_view export_id) {
  return TableArn(table_name).append(kExportPart).append(export_id);
}

absl::StatusOr<BackupArn> ParseBackupArn(std::string_view arn) {
  const std::optional<ArnParts> parts = SplitArn(arn);
  if (!parts.has_value()) return InvalidArn();
  if (!parts->IsOfService() || !IsRegion(parts->region))
    return ValidationError("BAK-16", "BackupArn is not valid");
  if (parts->account != kAccount) return OtherAccount("BAK-16");
  const std::string_view rest = parts->resource;
  const size_t backup = rest.find(kBackupPart);
  if (!rest.starts_with(kTablePart) || backup == std::string_view::npos) return InvalidArn();
  const BackupArn parsed{.region = parts->region,
                         .table_name = rest.substr(kTablePart.size(), backup - kTablePart.size()),
                         .backup_id = rest.substr(backup + kBackupPart.size())};
  if (!IsTableName(parsed.table_name) || !IsArnId(parsed.backup_id)) return InvalidArn();
  return parsed;
}

absl::StatusOr<ExportArn> ParseExportArn(std::string_view arn) {
  const absl::Status invalid = ValidationError("XPT-13", "Invalid Export ARN");
  const std::optional<ArnParts> parts = SplitArn(arn);
  if (!parts.has_value() || !parts->IsOfService()) return invalid;
  if (parts->account != kAccount) return OtherAccount("XPT-13");
  const std::string_view rest = parts->resource;
  const size_t found = rest.find(kExportPart);
  if (!rest.starts_with(kTablePart) || found == std::string_view::npos) return invalid;
  const ExportArn parsed{.table_name = rest.substr(kTablePart.size(), found - kTablePart.size()),
                         .export_id = rest.substr(found + kExportPart.size())};
  if (!IsTableName(parsed.table_name) || !IsArnId(parsed.export_id)) return invalid;
  return parsed;
}

absl::StatusOr<std::string_view> ParseTableArn(std::string_view arn) {
  if (arn.empty()) return ValidationError("XPT-02", "Invalid TableArn: Invalid Table ARN");
  const std::optional<ArnParts> parts = SplitArn(arn);
  if (!parts.has_value() || !parts->IsOfService() || !parts->resource.starts_with(kTablePart)) {
    return ValidationError("XPT-02",
                           "One or more parameter values were invalid: tableArn is not a valid ARN");
  }
  if (parts->account != kAccount) return OtherAccount("XPT-02");
  const std::string_view name = parts->resource.substr(kTablePart.size());
  if (!IsTableName(name)) return ValidationError("XPT-02", "Invalid Request: Table ARN is invalid.");
  if (parts->region == kRegion) return name;
  return WithRule("XPT-02", MakeError(absl::StatusCode::kNotFound, kReasonTableNotFound,
                                      std::string("Table not found: ").append(arn)));
}

std::string ImportArnOf(std::string_view table_name, std::string_view import_id) {
  return TableArn(table_name).append(kImportPart).append(import_id);
}

absl::StatusOr<ImportArn> ParseImportArn(std::string_view arn) {
  const absl::Status invalid = ValidationError("IMP-21", "Invalid Import ARN");
  const std::optional<ArnParts> parts = SplitArn(arn);
  if (!parts.has_value() || !parts->IsOfService() || !IsRegion(parts->region)) return invalid;
  if (parts->account != kAccount) return OtherAccount("IMP-21");
  const std::string_view rest = parts->resource;
  const size_t import = rest.find(kImportPart);
  if (!rest.starts_with(kTablePart) || import == std::string_view::npos) return invalid;
  const ImportArn parsed{.region = parts->region,
                         .table_name = rest.substr(kTablePart.size(), import - kTablePart.size()),
                         .import_id = rest.substr(import + kImportPart.size())};
  if (!IsTableName(parsed.table_name) || !IsArnId(parsed.import_id)) return invalid;
  return parsed;
}

std::string BulkOperationArnOf(std::string_view table_name, std::string_view operation_id) {
  return TableArn(table_name).append(kBulkOperationPart).append(operation_id);
}

absl::StatusOr<BulkOperationArn> ParseBulkOperationArn(std::string_view arn) {
  const absl::Status invalid = ValidationError("BLK-09", "Invalid Bulk Operation ARN");
  const std::optional<ArnParts> parts = SplitArn(arn);
  if (!parts.has_value() || !parts->IsOfService()) return invalid;
  if (parts->account != kAccount) return OtherAccount("BLK-09");
  const std::string_view rest = parts->resource;
  const size_t found = rest.find(kBulkOperationPart);
  if (!rest.starts_with(kTablePart) || found == std::string_view::npos) return invalid;
  const BulkOperationArn parsed{.table_name = rest.substr(kTablePart.size(), found - kTablePart.size()),
                                .operation_id = rest.substr(found + kBulkOperationPart.size())};
  if (!IsTableName(parsed.table_name) || !IsArnId(parsed.operation_id)) return invalid;
  return parsed;
}

bool IsArnId(std::string_view id) {
  if (id.size() != kTimeDigits + 1 + kRandomDigits || id[kTimeDigits] != '-') return false;
  const std::string_view random = id.substr(kTimeDigits + 1);
  return std::all_of(id.begin(), id.begin() + kTimeDigits, IsDigit) &&
         std::all_of(random.begin(), random.end(),
                     [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); });
}

}  // namespace itemdb::storage
