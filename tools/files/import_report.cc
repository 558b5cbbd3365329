#include "tools/files/import_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/status_macros.h"
#include "tools/base/durable_file.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

ImportReport::~ImportReport() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status ImportReport::Open() {
  if (descriptor_ >= 0) return absl::OkStatus();
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0 || ftruncate(descriptor_, bytes_) != 0 || lseek(descriptor_, 0, SEEK_END) < 0)
    return FileError("write", path_);
  return absl::OkStatus();
}

absl::Status ImportReport::Cut() {
  if (bytes_ > 0) return Open();
  if (std::remove(path_.c_str()) != 0 && errno != ENOENT) return FileError("delete", path_);
  return absl::OkStatus();
}

absl::Status ImportReport::Add(std::string_view file, int64_t line, std::string_view reason) {
  if (++lines_ > kMaxReportLines) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(Open());
  const std::string text =
      OneLine(JsonValue::Object().Add("file", file).Add("line", line).Add("reason", reason)) + "\n";
  bytes_ += static_cast<int64_t>(text.size());
  return WriteAll(descriptor_, text, path_);
}

absl::Status ImportReport::Sync() {
  if (descriptor_ < 0 || fsync(descriptor_) == 0) return absl::OkStatus();
  return FileError("write", path_);
}

}  // namespace itemdb::tools
