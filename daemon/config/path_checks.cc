#include "daemon/config/path_checks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "daemon/access/access_keys.h"

namespace itemdb::daemon {
namespace {

namespace fs = std::filesystem;

class PathChecks {
 public:
  PathChecks(absl::FunctionRef<std::string(std::string_view)> subject_of, std::vector<std::string>* notes)
      : subject_of_(subject_of), notes_(notes) {}

  // A directory that itemd makes, with the folders above it that are missing.
  absl::Status MadeDirectory(std::string_view setting, const std::string& path) {
    std::error_code error;
    fs::path at = fs::absolute(path, error);
    while (!fs::exists(at, error) && at.has_relative_path()) {
      if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
        return CannotBeUsed(setting, at.string(), error);
      at = at.parent_path();
    }
    if (!fs::is_directory(at, error)) return Wrong(setting, at.string() + " is not a directory");
    return MayBe(setting, at.string(), W_OK | X_OK);
  }

  // A file that itemd makes, or replaces, in a folder that must be there.
  absl::Status MadeFile(std::string_view setting, const std::string& path) {
    std::error_code error;
    const fs::path file = fs::absolute(path, error);
    const fs::path folder = file.parent_path();
    const fs::file_status folder_status = fs::status(folder, error);
    if (folder_status.type() == fs::file_type::none) return CannotBeUsed(setting, folder.string(), error);
    if (!fs::exists(folder_status)) {
      // systemd makes it when it starts the service (RuntimeDirectory=).
      if (folder.string().starts_with("/run/")) {
        notes_->push_back(subject_of_(setting) + ": " + folder.string() +
                          " is not there; the service makes it when it starts, itemd by hand does not");
        return absl::OkStatus();
      }
      return Wrong(setting, folder.string() +
                                " is not there, and itemd makes only the file, not the folder that it is in");
    }
    if (!fs::is_directory(folder_status)) return Wrong(setting, folder.string() + " is not a directory");
    if (fs::is_directory(file, error)) return Wrong(setting, file.string() + " is a directory");
    return MayBe(setting, folder.string(), W_OK | X_OK);
  }

  // A file that must be there.
  absl::Status ReadFile(std::string_view setting, const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::none || !fs::exists(status))
      return CannotBeUsed(setting, path, error);
    if (fs::is_directory(status)) return Wrong(setting, path + " is a directory");
    return MayBe(setting, path, R_OK);
  }

  // A directory that another itemd makes.
  absl::Status ReadDirectory(std::string_view setting, const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::none || !fs::exists(status))
      return CannotBeUsed(setting, path, error);
    if (!fs::is_directory(status)) return Wrong(setting, path + " is not a directory");
    return MayBe(setting, path, R_OK | X_OK);
  }

  absl::Status Wrong(std::string_view setting, const std::string& why) const {
    return absl::UnavailableError(absl::StrFormat("%s: %s", subject_of_(setting), why));
  }

  // That this user may read or write `path` (R_OK, W_OK, X_OK).
  absl::Status MayBe(std::string_view setting, const std::string& path, int access_mode) {
    if (faccessat(AT_FDCWD, path.c_str(), access_mode, AT_EACCESS) == 0) return absl::OkStatus();
    return CannotBeUsed(setting, path, std::error_code(errno, std::generic_category()));
  }

 private:
  absl::Status CannotBeUsed(std::string_view setting, const std::string& path, const std::error_code& error) {
    if (error != std::errc::permission_denied)
      return Wrong(setting, absl::StrFormat("%s cannot be used: %s", path, std::strerror(error.value())));
    notes_->push_back(
        absl::StrFormat("%s: the user of this check may not use %s; the user of itemd must be able to",
                        subject_of_(setting), path));
    return absl::OkStatus();
  }

  const absl::FunctionRef<std::string(std::string_view)> subject_of_;
  std::vector<std::string>* const notes_;
};

absl::Status SameDirectoryError(std::string_view name, std::string_view other,
                                absl::FunctionRef<std::string(std::string_view)> subject_of) {
  return storage::ValidationError(absl::StrFormat(
      "%s: it is the %s; give it a directory of its own", subject_of(name),
      other == "data-dir" ? std::string("data directory") : "directory of --" + std::string(other)));
}

absl::Status CheckDirectories(const Options& options,
                              absl::FunctionRef<std::string(std::string_view)> subject_of,
                              PathChecks& checks) {
  if (!options.in_memory) {
    std::error_code unknown;
    const fs::path data = fs::absolute(options.data_directory, unknown).lexically_normal();
    const fs::path above = (data.has_filename() ? data : data.parent_path()).parent_path();
    const fs::file_status above_status = fs::status(above, unknown);
    // A copy of the primary makes all of them.
    if (options.standby.empty() && above_status.type() == fs::file_type::not_found) {
      return checks.Wrong(
          "data-dir", above.string() + " is not there, and itemd makes only the last folder of this path");
    }
  }
  const std::pair<const char*, const std::string*> kDirectories[] = {
      {"data-dir", &options.data_directory},
      {"backup-directory", &options.backup_directory},
      {"archive-directory", &options.archive_directory},
      {"export-directory", &options.export_directory}};
  for (const auto& [name, directory] : kDirectories) {
    if (directory->empty()) continue;
    ITEMDB_RETURN_IF_ERROR(checks.MadeDirectory(name, *directory));
    for (const auto& [other, earlier] : kDirectories) {
      if (other == name) break;
      if (earlier->empty()) continue;
      std::error_code unknown;
      std::error_code earlier_unknown;
      const fs::path path = fs::weakly_canonical(*directory, unknown);
      if (path != fs::weakly_canonical(*earlier, earlier_unknown) || unknown || earlier_unknown) continue;
      return SameDirectoryError(name, other, subject_of);
    }
  }
  if (options.standby.empty() || options.follows_address()) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(checks.ReadDirectory("standby", options.standby));
  return checks.ReadDirectory("standby-backups", options.standby_backups);
}

}  // namespace

absl::Status CheckDirectoriesDiffer(const Options& options,
                                    absl::FunctionRef<std::string(std::string_view)> subject_of) {
  const std::string* const directories[] = {&options.data_directory, &options.backup_directory,
                                            &options.archive_directory};
  const char* const names[] = {"data-dir", "backup-directory", "archive-directory"};
  const auto written = [](const std::string& path) {
    std::error_code ignored;
    // With and without a slash at its end.
    return (fs::absolute(path, ignored) / "").lexically_normal();
  };
  for (size_t i = 0; i < std::size(directories); ++i) {
    for (size_t other = 0; other < i; ++other) {
      if (directories[i]->empty() || directories[other]->empty()) continue;
      if (written(*directories[i]) != written(*directories[other])) continue;
      return SameDirectoryError(names[i], names[other], subject_of);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPaths(const Options& options, absl::FunctionRef<std::string(std::string_view)> subject_of,
                        std::vector<std::string>* notes) {
  PathChecks checks(subject_of, notes);
  ITEMDB_RETURN_IF_ERROR(CheckDirectories(options, subject_of, checks));
  std::error_code ignored;
  if (!options.audit_log.empty()) {
    const fs::file_status log = fs::status(options.audit_log, ignored);
    if (fs::exists(log) && !fs::is_regular_file(log) && !fs::is_directory(log)) {
      return storage::ValidationError(absl::StrFormat("%s: the audit log %s is not a regular file",
                                                      subject_of("audit-log"), options.audit_log));
    }
    ITEMDB_RETURN_IF_ERROR(checks.MadeFile("audit-log", options.audit_log));
    if (fs::exists(log)) ITEMDB_RETURN_IF_ERROR(checks.MayBe("audit-log", options.audit_log, R_OK | W_OK));
  }
  if (!options.address_file.empty())
    ITEMDB_RETURN_IF_ERROR(checks.MadeFile("address-file", options.address_file));
  for (const ListenAddress& address : options.addresses) {
    if (address.socket_path.empty()) continue;
    ITEMDB_RETURN_IF_ERROR(checks.MadeFile("listen", address.socket_path));
    const fs::file_status socket = fs::status(address.socket_path, ignored);
    if (fs::exists(socket) && !fs::is_socket(socket))
      return checks.Wrong("listen", address.socket_path + " is not a socket");
  }
  if (!options.standby_ca.empty() && options.standby_ca != "system")
    ITEMDB_RETURN_IF_ERROR(checks.ReadFile("standby-ca", options.standby_ca));
  for (const auto& [name, file] :
       {std::pair{"standby-cert", &options.standby_cert}, std::pair{"standby-key", &options.standby_key},
        std::pair{"s3-ca-file", &options.s3_ca_file}}) {
    if (!file->empty()) ITEMDB_RETURN_IF_ERROR(checks.ReadFile(name, *file));
  }
  if (options.standby_access_key.empty()) return absl::OkStatus();
  const auto keys = AccessKeys::Read(options.standby_access_key);
  if (keys.ok()) return absl::OkStatus();
  return absl::Status(keys.status().code(),
                      subject_of("standby-access-key") + ": " + storage::MessageOf(keys.status()));
}

}  // namespace itemdb::daemon
