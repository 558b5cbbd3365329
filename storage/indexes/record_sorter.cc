#include "storage/indexes/record_sorter.h"

#include <algorithm>
#include <queue>

#include "storage/base/xxh3.h"
#include "storage/store/store.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

// Files that are read at once. When there are so many, they are merged into one.
constexpr size_t kMaxRuns = 64;

absl::Status DamagedRunError(const std::string& path) {
  return DataLossError("the sorted records in " + path + " are not as they were written");
}

// The first runs are of this size: sorting in the processor's cache and merging many runs takes less time
// than sorting few large ones. Durable runs are not, because each is synced.
constexpr size_t kSmallRunBytes = 16 << 20;
constexpr size_t kSmallRuns = 40;

// Records are written and read in blocks of about this size, each after a BlockHeader.
constexpr size_t kBlockBytes = 64 << 10;

struct BlockHeader {
  uint64_t bytes = 0;
  uint64_t checksum = 0;
};

uint64_t ChecksumOf(std::string_view block) { return XXH3_64bits(block.data(), block.size()); }

// Fewer records are compared by their keys.
constexpr std::ptrdiff_t kSmallRange = 12;

constexpr size_t kHeadBytes = 8;
uint64_t HeadOf(std::string_view key) {
  uint64_t head = 0;
  for (size_t i = 0; i < kHeadBytes; ++i)
    head = head << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  return head;
}

}  // namespace

// Writes records one after another: both sizes as varints, key, value.
class RecordSorter::RunWriter {
 public:
  RunWriter(rocksdb::Env* env, std::string path) : env_(env), run_{std::move(path), 0} {}

  absl::Status Open() { return Wrap(env_->NewWritableFile(run_.path, &file_, rocksdb::EnvOptions())); }
  absl::Status Add(std::string_view key, std::string_view value) {
    wire::AppendVarint(key.size(), &block_);
    wire::AppendVarint(value.size(), &block_);
    block_.append(key).append(value);
    return block_.size() < kBlockBytes ? absl::OkStatus() : WriteBlock();
  }
  absl::Status Close(bool durable) {
    if (!block_.empty()) ITEMDB_RETURN_IF_ERROR(WriteBlock());
    if (durable) ITEMDB_RETURN_IF_ERROR(Wrap(file_->Sync()));
    return Wrap(file_->Close());
  }
  const SortedRuns::Run& run() const { return run_; }

 private:
  absl::Status WriteBlock() {
    const BlockHeader header{block_.size(), ChecksumOf(block_)};
    const rocksdb::Slice header_bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    ITEMDB_RETURN_IF_ERROR(Wrap(file_->Append(header_bytes)));
    ITEMDB_RETURN_IF_ERROR(Wrap(file_->Append(block_)));
    run_.bytes += header_bytes.size() + block_.size();
    block_.clear();
    return absl::OkStatus();
  }
  absl::Status Wrap(const rocksdb::Status& status) const {
    return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + run_.path, status);
  }

  rocksdb::Env* const env_;
  SortedRuns::Run run_;
  std::unique_ptr<rocksdb::WritableFile> file_;
  std::string block_;
};

class RecordSorter::RunReader {
 public:
  explicit RunReader(const SortedRuns::Run& run) : path_(run.path), left_(run.bytes) {}

  absl::Status Open(rocksdb::Env* env) {
    rocksdb::Status status = env->NewSequentialFile(path_, &file_, rocksdb::EnvOptions());
    if (!status.ok()) return FromRocksDB("cannot read " + path_, status);
    return Next();
  }
  // Goes to the next record.
  absl::Status Next() {
    if (rest_.empty()) {
      valid_ = left_ > 0;
      if (!valid_) return absl::OkStatus();
      ITEMDB_RETURN_IF_ERROR(ReadBlock());
    }
    uint64_t key_size, value_size;
    if (!wire::ConsumeVarint(&rest_, &key_size) || !wire::ConsumeVarint(&rest_, &value_size) ||
        key_size > rest_.size() || value_size > rest_.size() - key_size)
      return DamagedRunError(path_);
    key_ = rest_.substr(0, key_size);
    value_ = rest_.substr(key_size, value_size);
    rest_.remove_prefix(key_size + value_size);
    return absl::OkStatus();
  }
  bool valid() const { return valid_; }
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  absl::Status ReadBlock() {
    BlockHeader header;
    ITEMDB_RETURN_IF_ERROR(Read(sizeof(header), reinterpret_cast<char*>(&header)));
    if (header.bytes == 0 || header.bytes > left_) return DamagedRunError(path_);
    block_.resize(header.bytes);
    ITEMDB_RETURN_IF_ERROR(Read(block_.size(), block_.data()));
    if (ChecksumOf(block_) != header.checksum) return DamagedRunError(path_);
    rest_ = block_;
    return absl::OkStatus();
  }
  absl::Status Read(size_t bytes, char* to) {
    if (bytes > left_) return DamagedRunError(path_);
    rocksdb::Slice read;
    rocksdb::Status status = file_->Read(bytes, &read, to);
    if (!status.ok()) return FromRocksDB("cannot read " + path_, status);
    if (read.size() != bytes) return DamagedRunError(path_);
    if (read.data() != to) std::copy(read.data(), read.data() + bytes, to);
    left_ -= bytes;
    return absl::OkStatus();
  }

  const std::string path_;
  // Bytes of the file that are not read yet.
  uint64_t left_;
  std::unique_ptr<rocksdb::SequentialFile> file_;
  std::string block_;
  // The part of block_ after the current record.
  std::string_view rest_;
  bool valid_ = false;
  std::string_view key_;
  std::string_view value_;
};

// Returns the records of several runs in order.
class RecordSorter::Merger {
 public:
  absl::Status Open(rocksdb::Env* env, const std::vector<SortedRuns::Run>& runs) {
    for (const SortedRuns::Run& run : runs) {
      readers_.push_back(std::make_unique<RunReader>(run));
      ITEMDB_RETURN_IF_ERROR(readers_.back()->Open(env));
      if (readers_.back()->valid()) queue_.push(readers_.back().get());
    }
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Next(std::string_view* key, std::string_view* value) {
    if (current_ != nullptr) {
      ITEMDB_RETURN_IF_ERROR(current_->Next());
      if (current_->valid()) queue_.push(current_);
      current_ = nullptr;
    }
    if (queue_.empty()) return false;
    current_ = queue_.top();
    queue_.pop();
    *key = current_->key();
    *value = current_->value();
    return true;
  }

 private:
  struct Greater {
    bool operator()(const RunReader* a, const RunReader* b) const { return a->key() > b->key(); }
  };

  std::vector<std::unique_ptr<RunReader>> readers_;
  std::priority_queue<RunReader*, std::vector<RunReader*>, Greater> queue_;
  // The reader of the record that was returned last, which is not in the queue.
  RunReader* current_ = nullptr;
};

RecordSorter::RecordSorter(rocksdb::Env* env, std::string path_prefix, size_t memory_bytes)
    : RecordSorter(env, std::move(path_prefix), memory_bytes, {}, nullptr) {}

RecordSorter::RecordSorter(rocksdb::Env* env, std::string path_prefix, size_t memory_bytes, SortedRuns runs,
                           OnRunsChanged on_runs_changed)
    : env_(env),
      path_prefix_(std::move(path_prefix)),
      memory_bytes_(memory_bytes),
      files_(std::move(runs)),
      on_runs_changed_(std::move(on_runs_changed)),
      size_(files_.records) {}

RecordSorter::~RecordSorter() {
  if (!keep_files_) DeleteFiles(files_.runs);
}

void RecordSorter::DeleteFiles(const std::vector<SortedRuns::Run>& runs) {
  for (const SortedRuns::Run& run : runs) (void)env_->DeleteFile(run.path);
}

absl::Status RecordSorter::Add(std::string_view key, std::string_view value) {
  const size_t record_bytes = key.size() + value.size() + sizeof(Entry);
  const size_t memory_bytes = RunBytes();
  if (!entries_.empty() && buffer_.size() + entries_.size() * sizeof(Entry) + record_bytes > memory_bytes)
    ITEMDB_RETURN_IF_ERROR(Spill());
  if (entries_.empty()) {
    shared_ = key.size();
  } else {
    const std::string_view first = KeyOf(entries_.front());
    shared_ = std::min(shared_, key.size());
    while (first.substr(0, shared_) != key.substr(0, shared_)) --shared_;
  }
  // Reserves address space only; pages take memory when they are used. Growing the buffer would need more
  // than twice its memory for a moment.
  if (buffer_.capacity() < memory_bytes) buffer_.reserve(memory_bytes);
  entries_.push_back(
      {0, buffer_.size(), static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())});
  buffer_.append(key).append(value);
  ++size_;
  return absl::OkStatus();
}

size_t RecordSorter::RunBytes() const {
  const bool small = files_.runs.size() < kSmallRuns && on_runs_changed_ == nullptr;
  return small ? std::min(memory_bytes_, kSmallRunBytes) : memory_bytes_;
}

void RecordSorter::SortBuffer() { SortRange(entries_.data(), entries_.data() + entries_.size(), shared_); }

void RecordSorter::SortRange(Entry* begin, Entry* end, size_t shared) {
  const auto by_key = [&](const Entry& a, const Entry& b) {
    return KeyOf(a).substr(shared) < KeyOf(b).substr(shared);
  };
  if (end - begin < kSmallRange) return std::sort(begin, end, by_key);
  bool all_are_longer = true;
  for (Entry* entry = begin; entry != end; ++entry) {
    entry->head = HeadOf(KeyOf(*entry).substr(shared));
    all_are_longer &= entry->key_size > shared + kHeadBytes;
  }
  // A head does not tell the end of a key from zeros.
  if (!all_are_longer) {
    return std::sort(begin, end, [&](const Entry& a, const Entry& b) {
      return a.head != b.head ? a.head < b.head : by_key(a, b);
    });
  }
  std::sort(begin, end, [](const Entry& a, const Entry& b) { return a.head < b.head; });
  while (begin != end) {
    Entry* const same_end =
        std::find_if(begin, end, [head = begin->head](const Entry& entry) { return entry.head != head; });
    if (same_end - begin > 1) SortRange(begin, same_end, shared + kHeadBytes);
    begin = same_end;
  }
}

absl::Status RecordSorter::Spill() {
  SortBuffer();
  RunWriter writer(env_, path_prefix_ + std::to_string(files_.next++));
  files_.runs.push_back(writer.run());  // Before the first error, so that the file is always deleted.
  ITEMDB_RETURN_IF_ERROR(writer.Open());
  for (const Entry& entry : entries_) ITEMDB_RETURN_IF_ERROR(writer.Add(KeyOf(entry), ValueOf(entry)));
  ITEMDB_RETURN_IF_ERROR(writer.Close(/*durable=*/on_runs_changed_ != nullptr));
  files_.runs.back() = writer.run();
  files_.records += static_cast<int64_t>(entries_.size());
  entries_.clear();
  buffer_.clear();
  if (files_.runs.size() >= kMaxRuns) return MergeRuns();
  return on_runs_changed_ != nullptr ? on_runs_changed_(files_) : absl::OkStatus();
}

absl::Status RecordSorter::MergeRuns() {
  RunWriter merged(env_, path_prefix_ + std::to_string(files_.next++));
  absl::Status status = merged.Open();
  if (status.ok()) {
    Merger merger;
    status = merger.Open(env_, files_.runs);
    for (std::string_view key, value; status.ok();) {
      const absl::StatusOr<bool> has_record = merger.Next(&key, &value);
      status = has_record.status();
      if (!status.ok() || !*has_record) break;
      status = merged.Add(key, value);
    }
  }
  if (status.ok()) status = merged.Close(/*durable=*/on_runs_changed_ != nullptr);
  SortedRuns replaced = std::exchange(files_, {{merged.run()}, files_.next, files_.records});
  if (status.ok() && on_runs_changed_ != nullptr) status = on_runs_changed_(files_);
  if (!status.ok()) std::swap(files_.runs, replaced.runs);
  DeleteFiles(replaced.runs);
  return status;
}

absl::Status RecordSorter::BeginReading() {
  reading_ = true;
  if (files_.runs.empty()) {
    SortBuffer();
    return absl::OkStatus();
  }
  if (!entries_.empty()) ITEMDB_RETURN_IF_ERROR(Spill());
  buffer_ = std::string();
  entries_ = std::vector<Entry>();
  merger_ = std::make_unique<Merger>();
  return merger_->Open(env_, files_.runs);
}

absl::StatusOr<bool> RecordSorter::Next(std::string_view* key, std::string_view* value) {
  if (!reading_) ITEMDB_RETURN_IF_ERROR(BeginReading());
  if (merger_ != nullptr) return merger_->Next(key, value);
  if (next_entry_ == entries_.size()) return false;
  const Entry& entry = entries_[next_entry_++];
  *key = KeyOf(entry);
  *value = ValueOf(entry);
  return true;
}

absl::Status RecordSorter::ForEach(const Visit& visit) {
  for (std::string_view key, value;;) {
    ITEMDB_ASSIGN_OR_RETURN(const bool has_record, Next(&key, &value));
    if (!has_record) return absl::OkStatus();
    ITEMDB_RETURN_IF_ERROR(visit(key, value));
  }
}

}  // namespace itemdb::storage
