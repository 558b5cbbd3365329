#include "daemon/access/watched_secrets.h"

#include <utility>

namespace itemdb::daemon {

absl::StatusOr<WatchedFiles> WatchTlsFiles(const TlsOptions& files,
                                           std::function<absl::Status(const TlsContent&)> publish) {
  ITEMDB_ASSIGN_OR_RETURN(TlsContent content, ReadTlsFiles(files));
  ITEMDB_RETURN_IF_ERROR(publish(content));
  auto read = [files] { return ReadTlsFiles(files); };
  return WatchedFiles{.what = "certificates",
                      .path = files.certificate_file,
                      .reload = MakeReload(std::move(content), read, std::move(publish))};
}

absl::StatusOr<WatchedFiles> WatchAccessKeys(
    const std::string& path, std::function<void(const std::shared_ptr<const AccessKeys>&)> publish) {
  auto read = [path]() -> absl::StatusOr<AccessKeys> {
    ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const AccessKeys> keys, AccessKeys::Read(path));
    return *keys;
  };
  auto publish_changed = [publish = std::move(publish)](const AccessKeys& changed) {
    publish(std::make_shared<const AccessKeys>(changed));
    return absl::OkStatus();
  };
  ITEMDB_ASSIGN_OR_RETURN(AccessKeys keys, read());
  ITEMDB_RETURN_IF_ERROR(publish_changed(keys));
  return WatchedFiles{.what = "access keys",
                      .path = path,
                      .reload = MakeReload(std::move(keys), read, std::move(publish_changed))};
}

}  // namespace itemdb::daemon
