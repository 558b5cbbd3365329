#include "storage/engine/list_damage.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/sst_file_reader.h"
#include "storage/engine/damage_owners.h"
#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/damaged_block.h"
#include "storage/store/sequence_key.h"

namespace itemdb::storage {
namespace {

// Two stored keys of a file between which it cannot be read; nullopt: the beginning or end of the file.
struct UnreadableKeys {
  std::optional<std::string> after;
  std::optional<std::string> before;
};

// Reads a file and finds where it cannot be read. A file that cannot be opened is one such place.
std::vector<UnreadableKeys> FindUnreadable(rocksdb::Env* env, const std::string& path) {
  rocksdb::Options options;
  options.env = env;
  rocksdb::SstFileReader reader(options);
  if (!reader.Open(path).ok()) return {{}};
  rocksdb::ReadOptions once;
  once.total_order_seek = true;
  once.fill_cache = false;
  const auto make = [&] { return std::unique_ptr<rocksdb::Iterator>(reader.NewIterator(once)); };
  std::vector<UnreadableKeys> found;
  std::unique_ptr<rocksdb::Iterator> it = make();
  std::optional<std::string> last;
  it->SeekToFirst();
  while (true) {
    for (; it->Valid(); it->Next()) last = it->key().ToString();
    if (it->status().ok()) return found;
    UnreadableKeys& here = found.emplace_back(UnreadableKeys{last, std::nullopt});
    // An I/O error: where it ends is not known.
    if (!StepPastDamage(make, last.value_or(""), kBehindAllKeys, &it)) return found;
    if (it->Valid()) here.before = it->key().ToString();
  }
}

// Consumes the values of `attributes` from the front of `*key` and adds them to `*item`.
bool ConsumeAttributes(const std::vector<KeyAttribute>& attributes, std::string_view* key, v1::Item* item) {
  for (const KeyAttribute& attribute : attributes) {
    absl::StatusOr<std::string> value = ConsumeKeyValue(key);
    if (!value.ok()) return false;
    v1::Attribute* added = item->add_attributes();
    added->set_name(attribute.name);
    if (!added->mutable_value()->ParseFromString(*value)) return false;
  }
  return true;
}

// The key attributes of a stored key: of the table, or of an entry first those of its index. nullopt: the key
// is of another table or index, or does not decode.
std::optional<v1::Item> KeyOf(const KeyspaceOwner& owner, std::string_view stored_key) {
  const uint64_t storage_id = owner.index != nullptr ? owner.index->storage_id : owner.table->storage_id;
  if (ConsumeStorageId(&stored_key) != storage_id) return std::nullopt;
  v1::Item index_key;
  v1::Item item;
  if (owner.index != nullptr && (!ConsumeAttributes(owner.index->partition, &stored_key, &index_key) ||
                                 !ConsumeAttributes(owner.index->sort, &stored_key, &index_key)))
    return std::nullopt;
  if (!ConsumeAttributes(owner.table->partition, &stored_key, &item) ||
      !ConsumeAttributes(owner.table->sort, &stored_key, &item))
    return std::nullopt;
  for (const v1::Attribute& attribute : index_key.attributes()) {
    if (!owner.table->IsKeyAttribute(attribute.name())) *item.add_attributes() = attribute;
  }
  return item;
}

// Adds what lies between two keys, once for each table or index that has one of them.
void AddRange(const Catalog& catalog, const UnreadableKeys& keys, v1::DamagedFile* file) {
  std::vector<uint64_t> storage_ids;
  for (const auto* key : {&keys.after, &keys.before}) {
    if (!key->has_value()) continue;
    std::string_view rest = **key;
    const std::optional<uint64_t> storage_id = ConsumeStorageId(&rest);
    if (storage_id.has_value() && (storage_ids.empty() || storage_ids.front() != *storage_id))
      storage_ids.push_back(*storage_id);
  }
  if (storage_ids.empty()) file->add_ranges();
  for (const uint64_t storage_id : storage_ids) {
    v1::DamagedRange* range = file->add_ranges();
    const KeyspaceOwner owner = FindKeyspaceOwner(catalog, storage_id);
    if (owner.table == nullptr) continue;
    range->set_table_name(owner.table->name);
    if (owner.index != nullptr) range->set_index_name(owner.index->name);
    if (keys.after.has_value()) {
      if (auto key = KeyOf(owner, *keys.after); key.has_value())
        *range->mutable_after_key() = *std::move(key);
    }
    if (keys.before.has_value()) {
      if (auto key = KeyOf(owner, *keys.before); key.has_value())
        *range->mutable_before_key() = *std::move(key);
    }
  }
}

void AddSequences(const UnreadableKeys& keys, v1::DamagedFile* file) {
  v1::DamagedRange* range = file->add_ranges();
  if (keys.after.has_value()) range->set_after_sequence(ParseSequenceKey(*keys.after).value_or(0));
  if (keys.before.has_value()) range->set_before_sequence(ParseSequenceKey(*keys.before).value_or(0));
}

// `known`, and those of `found_by_check` that are not known and that the store still has; by name.
std::vector<DamagedFile> Combine(const Store& store, std::vector<DamagedFile> known,
                                 std::vector<DamagedFile> found_by_check) {
  if (found_by_check.empty()) return known;
  std::vector<rocksdb::LiveFileMetaData> live;
  store.db()->GetLiveFilesMetaData(&live);
  const auto has = [](const auto& files, const std::string& name) {
    return std::any_of(files.begin(), files.end(), [&name](const auto& file) { return file.name == name; });
  };
  for (DamagedFile& file : found_by_check) {
    if (!has(known, file.name) && has(live, "/" + file.name)) known.push_back(std::move(file));
  }
  std::sort(known.begin(), known.end(),
            [](const DamagedFile& a, const DamagedFile& b) { return a.name < b.name; });
  return known;
}

}  // namespace

absl::StatusOr<v1::ListDamageReply> ListDamage(const Engine& engine,
                                               std::vector<DamagedFile> found_by_check) {
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
  v1::ListDamageReply reply;
  const std::vector<DamagedFile> files =
      Combine(*view->store(), view->store()->ListDamage(), std::move(found_by_check));
  for (const DamagedFile& damaged : files) {
    v1::DamagedFile* file = reply.add_files();
    file->set_name(damaged.name);
    file->set_family(damaged.family);
    file->set_level(damaged.level);
    file->set_size_bytes(static_cast<int64_t>(damaged.bytes));
    file->set_owner(OwnersOf(view->catalog(), damaged));
    const Damage* first = &damaged.blocks.front();
    for (const Damage& block : damaged.blocks) {
      if (block.first_met_us < first->first_met_us) first = &block;
    }
    file->set_met_by(std::string(NameOf(first->met_by)));
    file->set_first_met_time_us(first->first_met_us);
    file->set_error(first->error);
    const bool is_changes = damaged.family == Store::kFamilyNames[Store::kChanges];
    if (!is_changes && !BelongsToTables(damaged.family)) continue;
    for (const UnreadableKeys& keys : FindUnreadable(engine.env(), damaged.path)) {
      if (is_changes) {
        AddSequences(keys, file);
      } else {
        AddRange(view->catalog(), keys, file);
      }
    }
  }
  for (std::string& family : view->store()->PausedFamilies()) reply.add_paused_families(std::move(family));
  return reply;
}

}  // namespace itemdb::storage
