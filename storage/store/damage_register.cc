#include "storage/store/damage_register.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "storage/base/wall_clock.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kTableFileEnding = ".sst";

bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

// The number behind `word` in `text`.
std::optional<uint64_t> NumberAfter(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(at + word.size());
  uint64_t number = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (end.ec != std::errc()) return std::nullopt;
  return number;
}

// "000042.sst" of "/000042.sst".
std::string_view WithoutSlash(std::string_view name) { return name.substr(name.rfind('/') + 1); }

}  // namespace

DamagedFile DescribeFile(const rocksdb::LiveFileMetaData& file) {
  DamagedFile described;
  described.name = WithoutSlash(file.name);
  described.path = file.db_path + file.name;
  described.family = file.column_family_name;
  described.level = file.level;
  described.bytes = file.size;
  described.smallest_key = file.smallestkey;
  described.largest_key = file.largestkey;
  return described;
}

std::string_view NameOf(DamageMetBy met_by) {
  switch (met_by) {
    case DamageMetBy::kRead:
      return "read";
    case DamageMetBy::kCheck:
      return "check";
    case DamageMetBy::kCompaction:
      return "compaction";
  }
  std::abort();
}

std::optional<DamagedPlace> PlaceOfDamage(const rocksdb::Status& error) {
  const std::string text = error.ToString();
  // "IO error: While pread offset 8192 len 4096: /data/rocksdb/000042.sst: Input/output error".
  const bool failed_read = error.IsIOError() && text.find("While pread ") != std::string::npos;
  if (!error.IsCorruption() && !failed_read) return std::nullopt;
  const size_t ending = text.rfind(kTableFileEnding);
  if (ending == std::string::npos) return std::nullopt;
  size_t begin = ending;
  while (begin > 0 && IsDigit(text[begin - 1])) --begin;
  if (begin == ending) return std::nullopt;
  return DamagedPlace{text.substr(begin, ending + kTableFileEnding.size() - begin),
                      NumberAfter(text, " offset ").value_or(0), NumberAfter(text, " len ").value_or(0)};
}

void DamageRegister::Record(const rocksdb::Status& error, DamageMetBy met_by) {
  std::optional<DamagedPlace> place = PlaceOfDamage(error);
  if (!place.has_value()) return;
  const Block block(place->file, place->offset);
  Entry entry{{*std::move(place), met_by, NowMicros(), WithoutDirectories(error.ToString())}};
  MutexLock lock(mutex_);
  if (blocks_.size() + failed_reads_.size() >= kMaxBlocks || blocks_.contains(block)) return;
  if (error.IsIOError()) {
    failed_reads_.emplace(block, std::move(entry));
  } else {
    blocks_.emplace(block, std::move(entry));
    has_new_ = true;
  }
}

bool DamageRegister::HasFailedReads() {
  MutexLock lock(mutex_);
  return !failed_reads_.empty();
}

std::optional<Damage> DamageRegister::RecheckOne(const std::function<bool(const DamagedPlace&)>& fails) {
  Block block;
  DamagedPlace place;
  {
    MutexLock lock(mutex_);
    if (failed_reads_.empty()) return std::nullopt;
    auto next = failed_reads_.upper_bound(last_rechecked_);
    if (next == failed_reads_.end()) next = failed_reads_.begin();
    last_rechecked_ = block = next->first;
    place = next->second.damage.place;
  }
  const bool failed_again = fails(place);
  MutexLock lock(mutex_);
  Entry entry = std::move(failed_reads_.extract(block).mapped());
  if (!failed_again) return std::move(entry.damage);
  if (blocks_.emplace(block, std::move(entry)).second) has_new_ = true;
  return std::nullopt;
}

std::vector<DamagedFile> DamageRegister::List(rocksdb::DB& db) {
  {
    MutexLock lock(mutex_);
    if (blocks_.empty()) return {};
  }
  std::vector<rocksdb::LiveFileMetaData> files;
  db.GetLiveFilesMetaData(&files);
  std::map<std::string_view, const rocksdb::LiveFileMetaData*> by_name;
  for (const rocksdb::LiveFileMetaData& file : files) by_name[WithoutSlash(file.name)] = &file;
  std::vector<DamagedFile> damaged;
  MutexLock lock(mutex_);
  std::erase_if(blocks_, [&](const auto& block) { return !by_name.contains(block.first.first); });
  for (const auto& [block, entry] : blocks_) {
    if (damaged.empty() || damaged.back().name != block.first)
      damaged.push_back(DescribeFile(*by_name.at(block.first)));
    damaged.back().blocks.push_back(entry.damage);
  }
  return damaged;
}

std::vector<DamagedFile> DamageRegister::TakeNew(rocksdb::DB& db) {
  {
    MutexLock lock(mutex_);
    if (!std::exchange(has_new_, false)) return {};
  }
  std::vector<DamagedFile> files = List(db);
  MutexLock lock(mutex_);
  for (DamagedFile& file : files) {
    std::vector<Damage> found;
    for (Damage& damage : file.blocks) {
      const auto entry = blocks_.find({file.name, damage.place.offset});
      if (entry != blocks_.end() && std::exchange(entry->second.is_new, false))
        found.push_back(std::move(damage));
    }
    file.blocks = std::move(found);
  }
  std::erase_if(files, [](const DamagedFile& file) { return file.blocks.empty(); });
  return files;
}

}  // namespace itemdb::storage
