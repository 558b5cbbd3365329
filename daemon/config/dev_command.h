// `itemd dev`: a database in memory for a developer, served over HTTP at the port of DynamoDB Local, without
// keys. It is a serving itemd with other defaults, so every setting may be added.
#pragma once

#include <string>
#include <vector>

#include "daemon/config/options.h"
#include "daemon/config/settings.h"

namespace itemdb::daemon {

// The defaults of `itemd dev`. Environment and flags replace them; the default configuration file, which is
// that of a service, is not read.
std::vector<SettingValue> DevValues();

// What is printed when it serves: what to point at it.
std::string DevGreeting(const std::vector<std::string>& http_addresses,
                        const std::vector<std::string>& grpc_addresses, const Options& options);

}  // namespace itemdb::daemon
