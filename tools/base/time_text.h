// Times as itemctl prints them: ISO 8601, UTC.
#pragma once

#include <string>

#include "absl/time/time.h"

namespace itemdb::tools {

inline std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

}  // namespace itemdb::tools
