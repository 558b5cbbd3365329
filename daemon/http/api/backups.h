// Backups of tables, and point-in-time recovery.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void CreateBackup(JsonCall call);
void DescribeBackup(JsonCall call);
void ListBackups(JsonCall call);
void DeleteBackup(JsonCall call);
void RestoreTableFromBackup(JsonCall call);
void RestoreTableToPointInTime(JsonCall call);
void DescribeContinuousBackups(JsonCall call);
void UpdateContinuousBackups(JsonCall call);

}  // namespace itemdb::http::json
