#include "storage/indexes/record_sorter.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <queue>

#include "storage/engine/store.h"
#include "storage/values/wire.h"

namespace itemdb {
namespace {

// Files read at once. More are merged into one before.
constexpr size_t kMaxRuns = 64;
constexpr size_t kMinReaderBytes = 16 << 10;
constexpr size_t kMaxReaderBytes = 1 << 20;
constexpr size_t kWriterBytes = 256 << 10;

absl::Status DamagedRunError(const std::string& path) {
  return DataLossError("the sorted records in " + path + " are not as they were written");
}

// A checksum of all bytes given to it.
class Checksum {
 public:
  Checksum() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }
  void Add(std::string_view bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }
  uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

uint64_t HeadOf(std::string_view key) {
  uint64_t head = 0;
  for (size_t i = 0; i < 8; ++i) head = head << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  return head;
}

}  // namespace

// Writes records one after another: both sizes as varints, key, value.
class RecordSorter::RunWriter {
 public:
  RunWriter(rocksdb::Env* env, std::string path) : env_(env), path_(std::move(path)) {}

  absl::Status Open() { return Wrap(env_->NewWritableFile(path_, &file_, rocksdb::EnvOptions())); }
  absl::Status Add(std::string_view key, std::string_view value) {
    wire::AppendVarint(key.size(), &buffer_);
    wire::AppendVarint(value.size(), &buffer_);
    buffer_.append(key).append(value);
    return buffer_.size() < kWriterBytes ? absl::OkStatus() : Flush();
  }
  absl::Status Close(bool durable) {
    ITEMDB_RETURN_IF_ERROR(Flush());
    if (durable) ITEMDB_RETURN_IF_ERROR(Wrap(file_->Sync()));
    return Wrap(file_->Close());
  }
  SortedRuns::Run run() const { return {path_, checksum_.value()}; }

 private:
  absl::Status Flush() {
    checksum_.Add(buffer_);
    absl::Status appended = Wrap(file_->Append(buffer_));
    buffer_.clear();
    return appended;
  }
  absl::Status Wrap(const rocksdb::Status& status) const {
    return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + path_, status);
  }

  rocksdb::Env* const env_;
  const std::string path_;
  std::unique_ptr<rocksdb::WritableFile> file_;
  std::string buffer_;
  Checksum checksum_;
};

class RecordSorter::RunReader {
 public:
  RunReader(const SortedRuns::Run& run, size_t buffer_bytes)
      : path_(run.path), expected_checksum_(run.checksum), buffer_bytes_(buffer_bytes) {}

  absl::Status Open(rocksdb::Env* env) {
    rocksdb::Status status = env->NewSequentialFile(path_, &file_, rocksdb::EnvOptions());
    if (!status.ok()) return FromRocksDB("cannot read " + path_, status);
    return Next();
  }
  // Goes to the next record.
  absl::Status Next() {
    std::string_view rest = std::string_view(buffer_).substr(position_);
    std::optional<size_t> taken = Parse(rest);
    while (!taken.has_value() && !at_end_) {
      ITEMDB_RETURN_IF_ERROR(Fill());
      rest = buffer_;
      taken = Parse(rest);
    }
    valid_ = taken.has_value();
    if (!valid_ && position_ < buffer_.size()) return DamagedRunError(path_);
    if (valid_) position_ += *taken;
    return absl::OkStatus();
  }
  bool valid() const { return valid_; }
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  // Bytes of the record at the front of `rest`; nothing when it is not all there.
  std::optional<size_t> Parse(std::string_view rest) {
    const size_t before = rest.size();
    uint64_t key_size, value_size;
    if (!wire::ConsumeVarint(&rest, &key_size) || !wire::ConsumeVarint(&rest, &value_size) ||
        key_size > rest.size() || value_size > rest.size() - key_size) {
      return std::nullopt;
    }
    key_ = rest.substr(0, key_size);
    value_ = rest.substr(key_size, value_size);
    return before - rest.size() + key_size + value_size;
  }
  // Drops what was read and reads more behind the rest.
  absl::Status Fill() {
    buffer_.erase(0, position_);
    position_ = 0;
    const size_t kept = buffer_.size();
    // A record longer than the buffer makes it grow.
    const size_t wanted = std::max(buffer_bytes_, 2 * kept) - kept;
    buffer_.resize(kept + wanted);
    rocksdb::Slice read;
    rocksdb::Status status = file_->Read(wanted, &read, buffer_.data() + kept);
    if (!status.ok()) return FromRocksDB("cannot read " + path_, status);
    if (read.data() != buffer_.data() + kept && !read.empty())
      std::copy(read.data(), read.data() + read.size(), buffer_.data() + kept);
    buffer_.resize(kept + read.size());
    checksum_.Add(std::string_view(buffer_).substr(kept));
    at_end_ = read.empty();
    if (at_end_ && checksum_.value() != expected_checksum_) return DamagedRunError(path_);
    return absl::OkStatus();
  }

  const std::string path_;
  const uint64_t expected_checksum_;
  const size_t buffer_bytes_;
  Checksum checksum_;
  std::unique_ptr<rocksdb::SequentialFile> file_;
  std::string buffer_;
  size_t position_ = 0;
  bool at_end_ = false;
  bool valid_ = false;
  std::string_view key_;
  std::string_view value_;
};

RecordSorter::RecordSorter(rocksdb::Env* env, std::string path_prefix, size_t memory_bytes)
    : RecordSorter(env, std::move(path_prefix), memory_bytes, {}, nullptr) {}

RecordSorter::RecordSorter(rocksdb::Env* env, std::string path_prefix, size_t memory_bytes, SortedRuns runs,
                           Spilled spilled)
    : env_(env),
      path_prefix_(std::move(path_prefix)),
      memory_bytes_(memory_bytes),
      files_(std::move(runs)),
      spilled_(std::move(spilled)),
      size_(files_.records) {}

RecordSorter::~RecordSorter() {
  if (!keep_files_) DeleteFiles(files_.runs);
}

void RecordSorter::DeleteFiles(const std::vector<SortedRuns::Run>& runs) {
  for (const SortedRuns::Run& run : runs) (void)env_->DeleteFile(run.path);
}

absl::Status RecordSorter::Add(std::string_view key, std::string_view value) {
  const size_t record_bytes = key.size() + value.size() + sizeof(Entry);
  if (!entries_.empty() && buffer_.size() + entries_.size() * sizeof(Entry) + record_bytes > memory_bytes_)
    ITEMDB_RETURN_IF_ERROR(Spill());
  if (entries_.empty()) {
    shared_ = key.size();
  } else {
    const std::string_view first = KeyOf(entries_.front());
    shared_ = std::min(shared_, key.size());
    while (first.substr(0, shared_) != key.substr(0, shared_)) --shared_;
  }
  // Address space only, until it is used: growing would need more than twice as much for a moment.
  if (buffer_.capacity() < memory_bytes_) buffer_.reserve(memory_bytes_);
  entries_.push_back(
      {0, buffer_.size(), static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())});
  buffer_.append(key).append(value);
  ++size_;
  return absl::OkStatus();
}

void RecordSorter::SortBuffer() {
  for (Entry& entry : entries_) entry.head = HeadOf(KeyOf(entry).substr(shared_));
  std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    return a.head != b.head ? a.head < b.head : KeyOf(a) < KeyOf(b);
  });
}

absl::Status RecordSorter::Spill() {
  if (files_.runs.size() >= kMaxRuns) ITEMDB_RETURN_IF_ERROR(MergeRuns());
  SortBuffer();
  RunWriter writer(env_, path_prefix_ + std::to_string(files_.next++));
  files_.runs.push_back(writer.run());  // To be deleted, whatever comes.
  ITEMDB_RETURN_IF_ERROR(writer.Open());
  for (const Entry& entry : entries_) ITEMDB_RETURN_IF_ERROR(writer.Add(KeyOf(entry), ValueOf(entry)));
  ITEMDB_RETURN_IF_ERROR(writer.Close(/*durable=*/spilled_ != nullptr));
  files_.runs.back() = writer.run();
  files_.records += static_cast<int64_t>(entries_.size());
  entries_.clear();
  buffer_.clear();
  return spilled_ != nullptr ? spilled_(files_) : absl::OkStatus();
}

absl::Status RecordSorter::MergeRuns() {
  RunWriter merged(env_, path_prefix_ + std::to_string(files_.next++));
  absl::Status status = merged.Open();
  if (status.ok()) {
    status = Merge(files_.runs, kMinReaderBytes, [&merged](std::string_view key, std::string_view value) {
      return merged.Add(key, value);
    });
  }
  if (status.ok()) status = merged.Close(/*durable=*/spilled_ != nullptr);
  SortedRuns replaced = std::exchange(files_, {{merged.run()}, files_.next, files_.records});
  if (status.ok() && spilled_ != nullptr) status = spilled_(files_);
  if (!status.ok()) std::swap(files_.runs, replaced.runs);
  DeleteFiles(replaced.runs);
  return status;
}

absl::Status RecordSorter::ForEach(const Visit& visit) {
  if (files_.runs.empty()) {
    SortBuffer();
    for (const Entry& entry : entries_) ITEMDB_RETURN_IF_ERROR(visit(KeyOf(entry), ValueOf(entry)));
    return absl::OkStatus();
  }
  if (!entries_.empty()) ITEMDB_RETURN_IF_ERROR(Spill());
  buffer_ = std::string();
  entries_ = std::vector<Entry>();
  return Merge(files_.runs, std::clamp(memory_bytes_ / files_.runs.size(), kMinReaderBytes, kMaxReaderBytes),
               visit);
}

absl::Status RecordSorter::Merge(const std::vector<SortedRuns::Run>& runs, size_t reader_bytes,
                                 const Visit& visit) {
  std::vector<std::unique_ptr<RunReader>> readers;
  auto greater = [](const RunReader* a, const RunReader* b) { return a->key() > b->key(); };
  std::priority_queue<RunReader*, std::vector<RunReader*>, decltype(greater)> queue(greater);
  for (const SortedRuns::Run& run : runs) {
    readers.push_back(std::make_unique<RunReader>(run, reader_bytes));
    ITEMDB_RETURN_IF_ERROR(readers.back()->Open(env_));
    if (readers.back()->valid()) queue.push(readers.back().get());
  }
  while (!queue.empty()) {
    RunReader* reader = queue.top();
    queue.pop();
    ITEMDB_RETURN_IF_ERROR(visit(reader->key(), reader->value()));
    ITEMDB_RETURN_IF_ERROR(reader->Next());
    if (reader->valid()) queue.push(reader);
  }
  return absl::OkStatus();
}

}  // namespace itemdb
