#include "storage/store/empty_heads.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "rocksdb/slice.h"

namespace itemdb::storage {
namespace {

// Each write compares its keys with all heads, so heads that no reader uses any more are looked for.
constexpr uint64_t kWritesBetweenLooks = 10'000;

}  // namespace

// The puts of a batch, noted in the heads of their ranges.
class EmptyHeads::Puts : public rocksdb::WriteBatch::Handler {
 public:
  explicit Puts(std::array<Head, kMaxHeads>& slots) : slots_(slots) {}

  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice&) override {
    return Note(family, key);
  }
  rocksdb::Status MergeCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice&) override {
    return Note(family, key);
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return rocksdb::Status::OK(); }
  rocksdb::Status SingleDeleteCF(uint32_t, const rocksdb::Slice&) override { return rocksdb::Status::OK(); }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override {
    return rocksdb::Status::OK();
  }
  void LogData(const rocksdb::Slice&) override {}

 private:
  rocksdb::Status Note(uint32_t family, const rocksdb::Slice& key) {
    const std::string_view view(key.data(), key.size());
    for (Head& head : slots_) {
      if (!head.lower.empty() && head.family == family && head.lower <= view) head.Note(view);
    }
    return rocksdb::Status::OK();
  }

  std::array<Head, kMaxHeads>& slots_;
};

void EmptyHeads::Head::Clear() {
  lower.clear();
  end.clear();
  since = after_write = usable_from = 0;
  smallest_put.reset();
  used = false;
}

void EmptyHeads::Head::Note(std::string_view key) {
  if (since != 0 && key < end) end = key;
  if (after_write != 0 && (!smallest_put.has_value() || key < *smallest_put)) smallest_put = key;
}

void EmptyHeads::BeginWrite(const rocksdb::WriteBatch& batch) {
  ++begun_;
  if (heads_ == 0) return;
  MutexLock lock(mutex_);
  if (++writes_to_look_ >= kWritesBetweenLooks) ForgetUnused();
  Puts puts(slots_);
  // A record that the handler does not know may put a key.
  if (!batch.Iterate(&puts).ok()) {
    for (Head& head : slots_) Forget(head);
  }
}

void EmptyHeads::BeginIngestion() {
  MutexLock lock(mutex_);
  ++ingestions_;
  ++ingestion_steps_;
  for (Head& head : slots_) Forget(head);
}

void EmptyHeads::EndIngestion() {
  MutexLock lock(mutex_);
  --ingestions_;
  ++ingestion_steps_;
}

std::optional<std::string> EmptyHeads::EndOf(uint32_t family, std::string_view lower,
                                             uint64_t snapshot) const {
  if ((mask_ & MaskOf(family, lower)) == 0) return std::nullopt;
  MutexLock lock(mutex_);
  for (const Head& head : slots_) {
    if (head.family != family || head.lower != lower) continue;
    head.used = true;
    if (head.since == 0 || snapshot < head.since) return std::nullopt;
    return head.end;
  }
  return std::nullopt;
}

void EmptyHeads::Found(uint32_t family, std::string_view lower, std::string_view end, uint64_t snapshot,
                       uint64_t ingestion_steps, absl::FunctionRef<uint64_t()> last_sequence) {
  if (lower.empty() || end <= lower) return;
  MutexLock lock(mutex_);
  if (ingestions_ > 0 || ingestion_steps != ingestion_steps_) return;
  Head* head = Find(family, lower);
  if (head == nullptr) {
    head = &Take();
    head->family = family;
    head->lower = lower;
    ++heads_;
    mask_ |= MaskOf(family, lower);
  }
  head->used = true;
  if (head->after_write == 0) {
    // In this order; see begun_. The number of the first write is 1.
    head->smallest_put.reset();
    head->usable_from = 0;
    head->after_write = begun_ + 1;
  }
  if (head->usable_from == 0) {
    // What had begun when the head became expected is applied.
    if (ended_ + 1 < head->after_write) return;
    head->usable_from = std::max<uint64_t>(last_sequence(), 1);
  }
  if (snapshot < head->usable_from) return;
  head->end = head->smallest_put.has_value() ? std::min<std::string_view>(end, *head->smallest_put) : end;
  head->since = snapshot;
  head->after_write = 0;
}

EmptyHeads::Head* EmptyHeads::Find(uint32_t family, std::string_view lower) {
  for (Head& head : slots_) {
    if (head.family == family && head.lower == lower) return &head;
  }
  return nullptr;
}

EmptyHeads::Head& EmptyHeads::Take() {
  for (Head& head : slots_) {
    if (head.lower.empty()) return head;
  }
  // The next one that was not used since the last round.
  for (size_t i = 0; i <= kMaxHeads; ++i) {
    Head& head = slots_[next_victim_++ % kMaxHeads];
    if (head.used.exchange(false)) continue;
    Forget(head);
    return head;
  }
  Head& head = slots_[next_victim_++ % kMaxHeads];
  Forget(head);
  return head;
}

void EmptyHeads::ForgetUnused() {
  writes_to_look_ = 0;
  for (Head& head : slots_) {
    if (!head.used.exchange(false)) Forget(head);
  }
}

void EmptyHeads::Forget(Head& head) {
  if (head.lower.empty()) return;
  head.Clear();
  --heads_;
  uint64_t mask = 0;
  for (const Head& other : slots_) {
    if (!other.lower.empty()) mask |= MaskOf(other.family, other.lower);
  }
  mask_ = mask;
}

uint64_t EmptyHeads::MaskOf(uint32_t family, std::string_view lower) {
  return uint64_t{1} << (absl::HashOf(family, lower) & 63);
}

}  // namespace itemdb::storage
