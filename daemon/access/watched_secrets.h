// Certificates and access keys that are read again while the daemon runs, for every server of the process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/access/access_keys.h"
#include "daemon/access/file_watcher.h"
#include "daemon/access/tls_files.h"

namespace itemdb::daemon {

// Read the files, call `publish` with their content, and return what a FileWatcher needs to call it again
// when the content changes. Errors of reading (ReadTlsFiles(), AccessKeys::Read()) and of `publish`.
absl::StatusOr<WatchedFiles> WatchTlsFiles(const TlsOptions& files,
                                           std::function<absl::Status(const TlsContent&)> publish);
absl::StatusOr<WatchedFiles> WatchAccessKeys(
    const std::string& path, std::function<void(const std::shared_ptr<const AccessKeys>&)> publish);

}  // namespace itemdb::daemon
