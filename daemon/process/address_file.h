// Tells scripts at which addresses the daemon listens, mainly when the kernel chose the port:
//
//   {"grpc": ["127.0.0.1:40123", "unix:/run/itemdb/itemd.sock"], "http": ["127.0.0.1:40124"]}
//
// The daemon creates the file when it begins to serve (a temporary file, then a rename, so that a reader
// never sees half of it) and removes it when it stops. Other users may read the file, unlike all other files
// that the daemon creates.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "storage/base/status.h"

namespace itemdb::daemon {

// Owns one address file. Not thread-safe.
class AddressFile {
 public:
  // With an empty `path`, Write() and Remove() do nothing. The file gets `mode`, whatever the umask is.
  AddressFile(std::string path, mode_t mode) : path_(std::move(path)), mode_(mode) {}
  ~AddressFile() { Remove(); }

  AddressFile(const AddressFile&) = delete;
  AddressFile& operator=(const AddressFile&) = delete;

  // Replaces the file. UNAVAILABLE: it cannot be written; the message names the file.
  absl::Status Write(const std::vector<std::string>& grpc_addresses,
                     const std::vector<std::string>& http_addresses,
                     const std::vector<std::string>& metrics_addresses = {});

  // Removes the file that Write() wrote. A file with other content stays: another process has replaced it.
  void Remove();

 private:
  const std::string path_;
  const mode_t mode_;
  std::string written_;
};

}  // namespace itemdb::daemon
