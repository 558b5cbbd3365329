#include "storage/archive/archive_segment.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "storage/base/xxh3.h"
#include "storage/store/sequence_key.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kMagic = "itemdb archive 1\n";
constexpr std::string_view kNamePrefix = "segment-";
constexpr size_t kNameDigits = 12;
constexpr size_t kNumberBytes = 8;
constexpr size_t kHeaderNumbers = 7;
constexpr size_t kFrameNumbers = 7;
constexpr uint64_t kFollowsIngestion = 1;
// Ids are UUIDs.
constexpr uint64_t kMaxIdBytes = 256;
// Larger than any batch: a damaged length must not take all memory.
constexpr uint64_t kMaxBatchBytes = uint64_t{4} << 30;
constexpr size_t kBufferBytes = 256 << 10;

uint64_t Hash(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

void AppendNumber(uint64_t number, std::string* to) { *to += SequenceKey(number); }

uint64_t NumberAt(std::string_view bytes, size_t index) {
  return *ParseSequenceKey(bytes.substr(index * kNumberBytes, kNumberBytes));
}

std::string EncodeHeader(const SegmentHeader& header) {
  std::string bytes(kMagic);
  for (const uint64_t number :
       {header.number, header.previous, header.chain_id, header.after_sequence, header.after_change,
        header.after_hash, static_cast<uint64_t>(header.begin_time_us)})
    AppendNumber(number, &bytes);
  for (const std::string& id : {header.database_id, header.store_id}) {
    AppendNumber(id.size(), &bytes);
    bytes += id;
  }
  return bytes;
}

std::string EncodeFrameNumbers(const ArchivedGroup& group) {
  std::string bytes;
  bytes.reserve(kFrameNumbers * kNumberBytes);
  for (const uint64_t number :
       {uint64_t{group.batch.GetDataSize()}, group.first_sequence, group.last_sequence, group.first_change,
        group.last_change, static_cast<uint64_t>(group.commit_time_us),
        group.follows_ingestion ? kFollowsIngestion : 0})
    AppendNumber(number, &bytes);
  return bytes;
}

}  // namespace

std::string SegmentName(uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < kNameDigits) digits.insert(0, kNameDigits - digits.size(), '0');
  return std::string(kNamePrefix) + digits;
}

std::optional<uint64_t> ParseSegmentName(const std::string& name) {
  if (!name.starts_with(kNamePrefix)) return std::nullopt;
  uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kNamePrefix.size(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || SegmentName(number) != name) return std::nullopt;
  return number;
}

absl::StatusOr<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(rocksdb::Env* env,
                                                                     const std::string& directory,
                                                                     const SegmentHeader& header) {
  const std::string path = directory + "/" + SegmentName(header.number);
  std::unique_ptr<rocksdb::WritableFile> file;
  if (const rocksdb::Status made = env->NewWritableFile(path, &file, rocksdb::EnvOptions()); !made.ok())
    return FromRocksDB("cannot make " + path, made);
  std::unique_ptr<SegmentWriter> writer(new SegmentWriter(std::move(file), header.number));
  writer->buffer_ = EncodeHeader(header);
  writer->hash_ = Hash(writer->buffer_, header.after_hash);
  AppendNumber(writer->hash_, &writer->buffer_);
  ITEMDB_RETURN_IF_ERROR(writer->Sync());
  return writer;
}

absl::Status SegmentWriter::Append(const ArchivedGroup& group) {
  const std::string numbers = EncodeFrameNumbers(group);
  hash_ = Hash(group.batch.Data(), Hash(numbers, hash_));
  buffer_ += numbers;
  AppendNumber(hash_, &buffer_);
  if (group.batch.GetDataSize() < kBufferBytes) {
    buffer_ += group.batch.Data();
    return buffer_.size() < kBufferBytes ? absl::OkStatus() : Write();
  }
  // Too large to be copied.
  ITEMDB_RETURN_IF_ERROR(Write());
  const rocksdb::Status written = file_->Append(group.batch.Data());
  if (!written.ok()) return FromRocksDB("cannot write " + SegmentName(number_), written);
  bytes_ += group.batch.GetDataSize();
  return absl::OkStatus();
}

absl::Status SegmentWriter::Write() {
  const rocksdb::Status written = file_->Append(buffer_);
  if (!written.ok()) return FromRocksDB("cannot write " + SegmentName(number_), written);
  bytes_ += buffer_.size();
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status SegmentWriter::Sync() {
  ITEMDB_RETURN_IF_ERROR(Write());
  const rocksdb::Status synced = file_->Sync();
  return synced.ok() ? absl::OkStatus() : FromRocksDB("cannot sync " + SegmentName(number_), synced);
}

absl::StatusOr<std::unique_ptr<SegmentReader>> SegmentReader::Open(rocksdb::Env* env,
                                                                   const std::string& directory,
                                                                   uint64_t number) {
  const std::string path = directory + "/" + SegmentName(number);
  std::unique_ptr<rocksdb::SequentialFile> file;
  uint64_t bytes = 0;
  rocksdb::Status opened = env->GetFileSize(path, &bytes);
  if (opened.ok()) opened = env->NewSequentialFile(path, &file, rocksdb::EnvOptions());
  if (IsMissingFile(opened))
    return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound, path + " is missing");
  if (!opened.ok()) return FromRocksDB("cannot open " + path, opened);
  std::unique_ptr<SegmentReader> reader(new SegmentReader(env, path, std::move(file), bytes));
  ITEMDB_ASSIGN_OR_RETURN(const bool is_whole, reader->ReadHeader());
  if (!is_whole || reader->header_.number != number)
    return DataLossError("the segment " + path + " of the archive is damaged: its header");
  reader->end_of_frames_ = bytes - reader->bytes_left_;
  return reader;
}

absl::Status SegmentReader::Refresh() {
  uint64_t bytes = 0;
  rocksdb::Status looked = env_->GetFileSize(path_, &bytes);
  // Only what is behind the last whole frame can have changed, and a frame is written from its beginning.
  if (looked.ok() && bytes == bytes_) return absl::OkStatus();
  std::unique_ptr<rocksdb::SequentialFile> file;
  if (looked.ok()) looked = env_->NewSequentialFile(path_, &file, rocksdb::EnvOptions());
  if (looked.ok() && bytes >= end_of_frames_) looked = file->Skip(end_of_frames_);
  if (IsMissingFile(looked))
    return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound, path_ + " is missing");
  if (!looked.ok()) return FromRocksDB("cannot read " + path_, looked);
  file_ = std::move(file);
  bytes_ = bytes;
  bytes_left_ = bytes >= end_of_frames_ ? bytes - end_of_frames_ : 0;
  ends_in_damage_ = false;
  return absl::OkStatus();
}

absl::StatusOr<bool> SegmentReader::Read(size_t count, std::string* to) {
  to->clear();
  if (count > bytes_left_) return false;
  to->resize(count);
  size_t have = 0;
  while (have < count) {
    rocksdb::Slice slice;
    const rocksdb::Status read = file_->Read(count - have, &slice, to->data() + have);
    if (!read.ok()) return FromRocksDB("cannot read " + SegmentName(header_.number), read);
    if (slice.empty()) return false;
    // An implementation may answer with memory of its own.
    if (slice.data() != to->data() + have) std::copy_n(slice.data(), slice.size(), to->data() + have);
    have += slice.size();
  }
  bytes_left_ -= count;
  return true;
}

absl::StatusOr<bool> SegmentReader::ReadHeader() {
  std::string bytes;
  ITEMDB_ASSIGN_OR_RETURN(bool is_there, Read(kMagic.size(), &bytes));
  if (!is_there || bytes != kMagic) return false;
  ITEMDB_ASSIGN_OR_RETURN(is_there, Read(kHeaderNumbers * kNumberBytes, &bytes));
  if (!is_there) return false;
  header_.number = NumberAt(bytes, 0);
  header_.previous = NumberAt(bytes, 1);
  header_.chain_id = NumberAt(bytes, 2);
  header_.after_sequence = NumberAt(bytes, 3);
  header_.after_change = NumberAt(bytes, 4);
  header_.after_hash = NumberAt(bytes, 5);
  header_.begin_time_us = static_cast<int64_t>(NumberAt(bytes, 6));
  for (std::string* id : {&header_.database_id, &header_.store_id}) {
    ITEMDB_ASSIGN_OR_RETURN(is_there, Read(kNumberBytes, &bytes));
    if (!is_there || NumberAt(bytes, 0) > kMaxIdBytes) return false;
    ITEMDB_ASSIGN_OR_RETURN(is_there, Read(NumberAt(bytes, 0), id));
    if (!is_there) return false;
  }
  ITEMDB_ASSIGN_OR_RETURN(is_there, Read(kNumberBytes, &bytes));
  if (!is_there) return false;
  hash_ = Hash(EncodeHeader(header_), header_.after_hash);
  return NumberAt(bytes, 0) == hash_;
}

absl::StatusOr<std::optional<ArchivedGroup>> SegmentReader::Next() {
  if (bytes_left_ == 0 || ends_in_damage_) return std::nullopt;
  ends_in_damage_ = true;
  std::string numbers;
  ITEMDB_ASSIGN_OR_RETURN(bool is_there, Read((kFrameNumbers + 1) * kNumberBytes, &numbers));
  if (!is_there) return std::nullopt;
  ArchivedGroup group;
  const uint64_t batch_bytes = NumberAt(numbers, 0);
  group.first_sequence = NumberAt(numbers, 1);
  group.last_sequence = NumberAt(numbers, 2);
  group.first_change = NumberAt(numbers, 3);
  group.last_change = NumberAt(numbers, 4);
  group.commit_time_us = static_cast<int64_t>(NumberAt(numbers, 5));
  group.follows_ingestion = (NumberAt(numbers, 6) & kFollowsIngestion) != 0;
  const uint64_t hash = NumberAt(numbers, kFrameNumbers);
  if (batch_bytes > kMaxBatchBytes) return std::nullopt;
  std::string batch;
  ITEMDB_ASSIGN_OR_RETURN(is_there, Read(batch_bytes, &batch));
  if (!is_there) return std::nullopt;
  numbers.resize(kFrameNumbers * kNumberBytes);
  if (Hash(batch, Hash(numbers, hash_)) != hash) return std::nullopt;
  group.batch = rocksdb::WriteBatch(std::move(batch));
  hash_ = hash;
  end_of_frames_ = bytes_ - bytes_left_;
  ends_in_damage_ = false;
  return group;
}

}  // namespace itemdb::storage
