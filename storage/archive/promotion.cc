#include "storage/archive/promotion.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "storage/store/catalog_records.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

constexpr char kPromotedName[] = "PROMOTED";
constexpr char kFencedName[] = "FENCED";

}  // namespace

v1::StandbyPromotion ToMessage(const Promotion& promotion) {
  v1::StandbyPromotion message;
  message.set_database_id(promotion.database_id);
  message.set_change_sequence(promotion.change_sequence);
  message.set_time_us(promotion.time_us);
  return message;
}

Promotion FromMessage(const v1::StandbyPromotion& message) {
  return {.database_id = message.database_id(),
          .change_sequence = message.change_sequence(),
          .time_us = message.time_us()};
}

absl::Status WritePromotion(rocksdb::Env* env, const std::string& archive, const Promotion& promotion) {
  const std::string path = archive + "/" + kPromotedName;
  const std::string record =
      EncodeRecord(kCatalogStorageId, kPromotedName, 0, ToMessage(promotion).SerializeAsString());
  const rocksdb::Status written = ReplaceFile(env, path, record);
  return written.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + path, written);
}

absl::StatusOr<std::optional<Promotion>> ReadPromotion(rocksdb::Env* env, const std::string& archive) {
  const std::string path = archive + "/" + kPromotedName;
  const rocksdb::Status exists = env->FileExists(path);
  if (IsMissingFile(exists)) return std::nullopt;
  std::string record;
  if (const rocksdb::Status read = rocksdb::ReadFileToString(env, path, &record); !read.ok()) {
    if (IsMissingFile(read)) return std::nullopt;
    return FromRocksDB("cannot read " + path, read);
  }
  const std::optional<v1::StandbyPromotion> stored =
      DecodeCatalogMessage<v1::StandbyPromotion>(kPromotedName, record);
  if (!stored.has_value()) return DataLossError(path + " is damaged");
  return FromMessage(*stored);
}

absl::Status DeletePromotion(rocksdb::Env* env, const std::string& archive) {
  const std::string path = archive + "/" + kPromotedName;
  const rocksdb::Status deleted = env->DeleteFile(path);
  return deleted.ok() || IsMissingFile(deleted) ? absl::OkStatus()
                                                : FromRocksDB("cannot delete " + path, deleted);
}

absl::Status FencedError(const Promotion& promotion, const std::string& archive) {
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonFenced,
                   absl::StrCat("this database takes no more writes: its standby was promoted at ",
                                absl::FormatTime(absl::RFC3339_sec, absl::FromUnixMicros(promotion.time_us),
                                                 absl::UTCTimeZone()),
                                "; write to that one. Changes here after change ", promotion.change_sequence,
                                " are not there (the file PROMOTED in ", archive, " says so)"));
}

absl::Status WriteFenced(rocksdb::Env* env, const std::string& archive) {
  const std::string path = archive + "/" + kFencedName;
  const rocksdb::Status written = ReplaceFile(env, path, "");
  return written.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + path, written);
}

void DeleteFenced(rocksdb::Env* env, const std::string& archive) {
  (void)env->DeleteFile(archive + "/" + kFencedName);
}

bool IsFenced(rocksdb::Env* env, const std::string& archive) {
  return env->FileExists(archive + "/" + kFencedName).ok();
}

bool IsClosed(rocksdb::Env* env, const std::string& archive) {
  if (IsFenced(env, archive)) return true;
  rocksdb::FileLock* lock = nullptr;
  if (!rocksdb::Env::Default()->LockFile(archive + "/LOCK", &lock).ok()) return false;
  (void)rocksdb::Env::Default()->UnlockFile(lock);
  return true;
}

}  // namespace itemdb::storage
