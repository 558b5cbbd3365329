#include "storage/catalog/catalog.h"

#include <algorithm>
#include <utility>

#include "storage/base/check.h"
#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kArn = "arn:";
constexpr std::string_view kTableResource = ":table/";

// With 10,000 tables the list of chunks is then about as long as one chunk.
constexpr size_t kMaxChunkTables = 128;

bool IsLess(const std::shared_ptr<const Table>& table, std::string_view name) { return table->name < name; }

}  // namespace

std::string_view TableNameOf(std::string_view name) {
  // A table name has no colon, so an ARN is never a table name.
  while (name.starts_with(kArn) && name.size() <= kMaxTableArnBytes) {
    const size_t resource = name.find(kTableResource);
    if (resource == std::string_view::npos) break;
    name.remove_prefix(resource + kTableResource.size());
  }
  return name;
}

Catalog::Iterator::Iterator(const Catalog* catalog, size_t chunk, size_t place)
    : catalog_(catalog), chunk_(chunk), place_(place) {
  if (chunk_ < catalog_->chunks_.size() && place_ == catalog_->chunks_[chunk_]->size()) {
    ++chunk_;
    place_ = 0;
  }
}

Catalog::Iterator& Catalog::Iterator::operator++() {
  *this = Iterator(catalog_, chunk_, place_ + 1);
  return *this;
}

Catalog::Iterator Catalog::Iterator::operator++(int) {
  const Iterator before = *this;
  ++*this;
  return before;
}

Catalog::Catalog(const std::vector<std::shared_ptr<const Table>>& tables) : size_(tables.size()) {
  // Chunks are half full, like the two halves of a chunk that was split.
  constexpr size_t kTables = kMaxChunkTables / 2;
  for (size_t begin = 0; begin < tables.size(); begin += kTables) {
    const auto first = tables.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kTables, tables.size() - begin));
    chunks_.push_back(std::make_shared<const Tables>(first, first + count));
  }
}

size_t Catalog::ChunkOf(std::string_view name) const {
  const auto behind = std::upper_bound(
      chunks_.begin(), chunks_.end(), name,
      [](std::string_view wanted, const auto& chunk) { return wanted < chunk->front()->name; });
  return behind == chunks_.begin() ? 0 : static_cast<size_t>(behind - chunks_.begin()) - 1;
}

Catalog::Iterator Catalog::LowerBound(std::string_view name) const {
  if (chunks_.empty()) return end();
  const size_t chunk = ChunkOf(name);
  const Tables& tables = *chunks_[chunk];
  const auto found = std::lower_bound(tables.begin(), tables.end(), name, IsLess);
  return Iterator(this, chunk, static_cast<size_t>(found - tables.begin()));
}

Catalog::Iterator Catalog::UpperBound(std::string_view name) const {
  Iterator found = LowerBound(name);
  if (found != end() && (*found)->name == name) ++found;
  return found;
}

std::shared_ptr<const Table> Catalog::FindByName(std::string_view name) const {
  const Iterator found = LowerBound(name);
  return found != end() && (*found)->name == name ? *found : nullptr;
}

absl::StatusOr<std::shared_ptr<const Table>> Catalog::Find(std::string_view name) const {
  name = TableNameOf(name);
  if (auto found = FindByName(name); found != nullptr) return found;
  ITEMDB_RETURN_IF_ERROR(CheckName("TableName", name));
  return NotFoundError("Requested resource not found: Table: " + std::string(name) + " not found");
}

std::shared_ptr<const Catalog> Catalog::With(std::shared_ptr<const Table> table) const {
  auto changed = std::make_shared<Catalog>(*this);
  if (chunks_.empty()) {
    changed->chunks_.push_back(std::make_shared<const Tables>(1, std::move(table)));
    changed->size_ = 1;
    return changed;
  }
  const size_t number = ChunkOf(table->name);
  Tables tables = *chunks_[number];
  const auto place = std::lower_bound(tables.begin(), tables.end(), table->name, IsLess);
  if (place != tables.end() && (*place)->name == table->name) {
    *place = std::move(table);
  } else {
    tables.insert(place, std::move(table));
    ++changed->size_;
  }
  const auto chunk = changed->chunks_.begin() + static_cast<std::ptrdiff_t>(number);
  if (tables.size() > kMaxChunkTables) {
    const auto middle = tables.begin() + kMaxChunkTables / 2;
    auto behind = std::make_shared<const Tables>(middle, tables.end());
    tables.erase(middle, tables.end());
    *chunk = std::make_shared<const Tables>(std::move(tables));
    changed->chunks_.insert(chunk + 1, std::move(behind));
  } else {
    *chunk = std::make_shared<const Tables>(std::move(tables));
  }
  return changed;
}

std::shared_ptr<const Catalog> Catalog::Without(std::string_view name) const {
  const Iterator found = LowerBound(name);
  ITEMDB_CHECK(found != end() && (*found)->name == name);
  auto changed = std::make_shared<Catalog>(*this);
  --changed->size_;
  const auto chunk = changed->chunks_.begin() + static_cast<std::ptrdiff_t>(found.chunk_);
  Tables tables = **chunk;
  tables.erase(tables.begin() + static_cast<std::ptrdiff_t>(found.place_));
  const auto next = chunk + 1;
  if (next != changed->chunks_.end() && tables.size() + (*next)->size() <= kMaxChunkTables / 2) {
    tables.insert(tables.end(), (*next)->begin(), (*next)->end());
    changed->chunks_.erase(next);
  }
  if (tables.empty()) {
    changed->chunks_.erase(chunk);
  } else {
    *chunk = std::make_shared<const Tables>(std::move(tables));
  }
  return changed;
}

}  // namespace itemdb::storage
