#include "daemon/process/address_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"

namespace itemdb::daemon {

absl::Status AddressFile::Write(const std::vector<std::string>& grpc_addresses,
                                const std::vector<std::string>& http_addresses,
                                const std::vector<std::string>& metrics_addresses) {
  if (path_.empty()) return absl::OkStatus();
  nlohmann::ordered_json json;
  json["grpc"] = grpc_addresses;
  json["http"] = http_addresses;
  if (!metrics_addresses.empty()) json["metrics"] = metrics_addresses;
  // A path need not be UTF-8. `replace` keeps dump() from throwing an exception for it.
  std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";

  std::string temporary = absl::StrFormat("%s.%d.tmp", path_, getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out || chmod(temporary.c_str(), mode_) != 0 || std::rename(temporary.c_str(), path_.c_str()) != 0) {
    std::string reason = std::strerror(errno);
    unlink(temporary.c_str());
    return absl::UnavailableError(absl::StrFormat("cannot write the address file %s: %s", path_, reason));
  }
  written_ = std::move(text);
  return absl::OkStatus();
}

void AddressFile::Remove() {
  if (written_.empty()) return;
  std::ifstream in(path_, std::ios::binary);
  std::string now((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (now == written_) unlink(path_.c_str());
  written_.clear();
}

}  // namespace itemdb::daemon
