#include "daemon/config/dev_command.h"

#include "absl/strings/str_format.h"
#include "daemon/process/version.h"

namespace itemdb::daemon {

std::vector<SettingValue> DevValues() {
  std::vector<SettingValue> values;
  for (const auto& [name, text] : {std::pair{"in-memory", "true"}, std::pair{"http-listen", "127.0.0.1:8000"},
                                   std::pair{"listen", "127.0.0.1:7420"},
                                   // The greeting says what a developer wants to know.
                                   std::pair{"log-level", "warn"}}) {
    const Setting* const setting = FindSetting(name);
    values.push_back({setting, {text}, "itemd dev", setting->flag()});
  }
  return values;
}

std::string DevGreeting(const std::vector<std::string>& http_addresses,
                        const std::vector<std::string>& grpc_addresses, const Options& options) {
  const std::string url = (options.tls() ? "https://" : "http://") + http_addresses.front();
  const bool any_key = options.access_keys.empty();
  std::string text = absl::StrFormat(
      "itemd %s serves %s\n", std::string(Version()),
      options.in_memory ? "a new database in memory; it is gone when itemd ends (--data-dir DIR keeps it)"
                        : "the database in " + options.data_directory);
  absl::StrAppendFormat(&text,
                        "\n"
                        "  AWS SDKs, AWS CLI   export AWS_ENDPOINT_URL_DYNAMODB=%s\n",
                        url);
  if (any_key) {
    text +=
        "                      export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any "
        "AWS_DEFAULT_REGION=local\n";
  }
  absl::StrAppendFormat(&text,
                        "                      aws dynamodb list-tables --endpoint-url %s\n"
                        "  itemctl, gRPC       export ITEMDB_ENDPOINT=%s\n"
                        "\n"
                        "Ctrl-C ends it.\n",
                        url, grpc_addresses.front());
  return text;
}

}  // namespace itemdb::daemon
