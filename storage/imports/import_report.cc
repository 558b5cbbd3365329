#include "storage/imports/import_report.h"

#include "storage/base/limits.h"
#include "storage/json/json_writer.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {

std::string ImportReportDirectory(const std::string& data_directory) { return data_directory + "/imports"; }

std::string ImportReportPath(const std::string& data_directory, std::string_view import_id) {
  return ImportReportDirectory(data_directory) + "/" + std::string(import_id) + ".jsonl";
}

ImportReport::ImportReport(rocksdb::Env* env, const std::string& data_directory, std::string_view import_id)
    : env_(env),
      directory_(ImportReportDirectory(data_directory)),
      path_(ImportReportPath(data_directory, import_id)) {
  (void)env_->DeleteFile(path_);
}

absl::Status ImportReport::Add(std::string_view object, uint64_t line, std::string_view reason) {
  if (++errors_ > kMaxReportedErrors) return absl::OkStatus();
  if (file_ == nullptr) {
    ITEMDB_RETURN_IF_ERROR(Wrap(env_->CreateDirIfMissing(directory_)));
    ITEMDB_RETURN_IF_ERROR(Wrap(env_->NewWritableFile(path_, &file_, rocksdb::EnvOptions())));
  }
  std::string text;
  JsonWriter writer(&text);
  // The name of a file may be any bytes.
  writer.BeginObject().Name("object").String(IsValidUtf8(object) ? object : "(a name that is not UTF-8)");
  if (line > 0) writer.Name("line").Integer(static_cast<int64_t>(line));
  writer.Name("reason").String(IsValidUtf8(reason) ? reason : "(not UTF-8)").EndObject();
  text.push_back('\n');
  return Wrap(file_->Append(text));
}

absl::Status ImportReport::Finish() {
  if (file_ == nullptr) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(Wrap(file_->Fsync()));
  ITEMDB_RETURN_IF_ERROR(Wrap(file_->Close()));
  file_.reset();
  return Wrap(SyncDirectory(env_, directory_));
}

absl::Status ImportReport::Wrap(const rocksdb::Status& status) const {
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + path_, status);
}

}  // namespace itemdb::storage
