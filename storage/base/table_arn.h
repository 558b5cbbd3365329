// ARNs of tables, their backups, exports, imports and bulk puts. There is one region and one account.
#pragma once

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb::storage {

inline constexpr std::string_view kRegion = "local";
inline constexpr std::string_view kAccount = "000000000000";

// "arn:aws:dynamodb:local:000000000000:table/NAME".
std::string TableArn(std::string_view table_name);

// The parts of the ARN of a backup. Borrows from the text that was parsed.
struct BackupArn {
  std::string_view region;
  std::string_view table_name;
  // 14 digits, a hyphen and 8 hexadecimal digits (BAK-03), so it can be the name of a folder.
  std::string_view backup_id;
};

// The ARN of the table and "/backup/ID".
std::string BackupArnOf(std::string_view table_name, std::string_view backup_id);

// The parts of the ARN of an export. Borrows from the text that was parsed.
struct ExportArn {
  std::string_view table_name;
  // 14 digits, a hyphen and 8 hexadecimal digits (XPT-10).
  std::string_view export_id;
};

// The ARN of the table and "/export/ID".
std::string ExportArnOf(std::string_view table_name, std::string_view export_id);

// INVALID_ARGUMENT: `arn` is not the ARN of an export. PERMISSION_DENIED: it is of another account (XPT-13).
absl::StatusOr<ExportArn> ParseExportArn(std::string_view arn);

// The table whose ARN `arn` is, in this region. Borrows from `arn`. For the table of an export (XPT-02):
// INVALID_ARGUMENT: `arn` is not the ARN of a table. PERMISSION_DENIED: it is of another account. NOT_FOUND
// (TABLE_NOT_FOUND): it is of another region.
absl::StatusOr<std::string_view> ParseTableArn(std::string_view arn);

// INVALID_ARGUMENT: `arn` is not the ARN of a backup, or names a region that cannot be one.
// PERMISSION_DENIED: it is of another account (BAK-16). Any possible region is accepted.
absl::StatusOr<BackupArn> ParseBackupArn(std::string_view arn);

// The parts of the ARN of an import. Borrows from the text that was parsed.
struct ImportArn {
  std::string_view region;
  std::string_view table_name;
  // As the id of a backup (IMP-02), so it can be the name of a file.
  std::string_view import_id;
};

// The ARN of the table and "/import/ID".
std::string ImportArnOf(std::string_view table_name, std::string_view import_id);

// INVALID_ARGUMENT: `arn` is not the ARN of an import. PERMISSION_DENIED: it is of another account (IMP-21).
absl::StatusOr<ImportArn> ParseImportArn(std::string_view arn);

// The parts of the ARN of a bulk put. Borrows from the text that was parsed.
struct BulkOperationArn {
  std::string_view table_name;
  // As the id of a backup (BLK-10).
  std::string_view operation_id;
};

// The ARN of the table and "/bulk-operation/ID".
std::string BulkOperationArnOf(std::string_view table_name, std::string_view operation_id);

// INVALID_ARGUMENT: `arn` is not the ARN of a bulk put. PERMISSION_DENIED: it is of another account (BLK-09).
absl::StatusOr<BulkOperationArn> ParseBulkOperationArn(std::string_view arn);

// Whether `id` is the id of a backup, export, import or bulk put.
bool IsArnId(std::string_view id);

}  // namespace itemdb::storage
