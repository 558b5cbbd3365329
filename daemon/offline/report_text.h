// The reports of storage/offline.h as text, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "storage/api/damage_report.h"
#include "storage/restore.h"

namespace itemdb::daemon {

// What --recover=last-good would keep and lose.
std::string PlanText(const std::string& directory, const storage::RecoveryReport& report);
// What salvage has written to `target`.
std::string SalvageText(const std::string& directory, const std::string& target,
                        const storage::RecoveryReport& report);
// What `itemd restore` has made in `directory`.
std::string RestoreText(const std::string& directory, const storage::RestoredDatabase& restored);
// One line a file, then the sums of each column family.
std::string FilesText(const std::vector<storage::FileReport>& files);

}  // namespace itemdb::daemon
