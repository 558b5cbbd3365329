// What a daemon tells about itself, as JSON: its status, the holds of its change log, and the access patterns
// that it has seen.
#pragma once

#include <string>
#include <vector>

#include "itemdb/client.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

// All sizes in bytes. Parts that the daemon does not have are left out. `endpoint` is where the daemon was
// asked.
JsonValue StatusToJson(const DaemonStatus& status, const std::string& endpoint);

// "held", "expired", "disk full".
std::string ChangeHoldStateName(ChangeHoldState state);
// Without the bytes, which only lists of holds have.
JsonValue HoldToJson(const ChangeHold& hold);
JsonValue HoldsToJson(const std::vector<ChangeHold>& holds);

JsonValue PlacesToJson(const BackupPlaces& places);

// Tables with their sizes, as in the status.
JsonValue TablesToJson(const std::vector<TableStatistics>& tables);

// What is wrong with the pattern, in one sentence without a full stop: it scans, or its filter discards most
// of what it reads. Empty if nothing is.
std::string AdviceFor(const AccessPattern& pattern);
JsonValue PatternToJson(const AccessPattern& pattern);
JsonValue PatternsToJson(const AccessPatternsResult& result);

}  // namespace itemdb::tools
