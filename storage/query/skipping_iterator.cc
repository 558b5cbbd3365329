#include "storage/query/skipping_iterator.h"

#include <optional>
#include <utility>

#include "storage/engine/table_files.h"
#include "storage/store/damage_register.h"

namespace itemdb::storage {

SkippingIterator::SkippingIterator(const Store& store, const Keyspace& keyspace,
                                   const rocksdb::ReadOptions& options, const KeyRange& range)
    : store_(store),
      keyspace_(keyspace),
      options_(options),
      range_(range),
      main_(store, keyspace, options, range),
      from_(range.lower) {}

void SkippingIterator::SeekToFirst() {
  main_.SeekToFirst();
  SettleMain();
}

void SkippingIterator::Next() {
  from_.assign(key());
  from_.push_back('\0');
  if (between_ != nullptr) {
    between_->Next();
    SettleBetween();
  } else {
    main_.Next();
    SettleMain();
  }
}

rocksdb::Status SkippingIterator::status() const {
  if (!failure_.ok()) return failure_;
  return main_ended_ ? rocksdb::Status::OK() : main_.status();
}

void SkippingIterator::SettleMain() {
  if (main_ended_ || !main_.status().IsCorruption()) return;
  skipped_ = true;
  (void)Exclude(main_.status());
  // Its status is OK, or a corruption when everything up to the end is damaged.
  const bool goes_on = main_.StepPastDamage(from_);
  if (!main_.status().ok() && !main_.status().IsCorruption()) return;
  main_ended_ = !goes_on;
  between_end_ = goes_on && main_.Valid() ? std::string(main_.key()) : range_.upper;
  OpenBetween(from_);
  SettleBetween();
}

void SkippingIterator::SettleBetween() {
  while (true) {
    for (; between_->Valid(); between_->Next()) {
      record_.Reset();
      const rocksdb::Status newest = GetRecord(store_, keyspace_, options_, between_->key(), &record_);
      if (newest.ok()) return;
      if (newest.IsCorruption()) {
        skipped_ = true;
      } else if (!newest.IsNotFound()) {
        failure_ = newest;
        return;
      }
      from_.assign(between_->key());
      from_.push_back('\0');
    }
    if (between_->status().ok()) break;
    if (!between_->status().IsCorruption()) {
      failure_ = between_->status();
      return;
    }
    // Another damaged file in the same range. One that cannot be told from the others ends this part.
    skipped_ = true;
    if (!Exclude(between_->status())) break;
    OpenBetween(from_);
  }
  between_.reset();
  if (!main_ended_ && main_.Valid()) from_.assign(main_.key());
}

bool SkippingIterator::Exclude(const rocksdb::Status& error) {
  // Registers the damage.
  (void)store_.ReadError("", error);
  const std::optional<DamagedPlace> place = PlaceOfDamage(error);
  if (!place.has_value()) return false;
  const absl::StatusOr<FileExamination> file =
      ExamineTableFile(store_.db()->GetEnv(), store_.db()->GetName() + "/" + place->file, /*whole=*/false);
  return file.ok() && !file->id.empty() && excluded_.insert(file->id).second;
}

void SkippingIterator::OpenBetween(std::string lower) {
  rocksdb::ReadOptions options = options_;
  options.total_order_seek = true;
  options.table_filter = [this](const rocksdb::TableProperties& properties) {
    return !excluded_.contains(TableFileId(properties));
  };
  between_ = std::make_unique<KeyspaceIterator>(store_, keyspace_, options,
                                                KeyRange{std::move(lower), between_end_});
  between_->SeekToFirst();
}

}  // namespace itemdb::storage
