#include "storage/vectors/graph_file.h"

#include <charconv>
#include <cstring>

#include "storage/base/xxh3.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kMagic = "itemdb vector graphs 1\n";
constexpr size_t kFrameBytes = 256 << 10;
constexpr char kNextSuffix[] = ".next";

struct FrameHeader {
  uint32_t bytes = 0;
  uint64_t hash = 0;
};
constexpr size_t kFrameHeaderBytes = sizeof(uint32_t) + sizeof(uint64_t);

std::string EncodeFrameHeader(const FrameHeader& header) {
  std::string bytes(kFrameHeaderBytes, '\0');
  std::memcpy(bytes.data(), &header.bytes, sizeof(header.bytes));
  std::memcpy(bytes.data() + sizeof(header.bytes), &header.hash, sizeof(header.hash));
  return bytes;
}

uint64_t HashOfFrame(std::string_view bytes, uint64_t number) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), number);
}

// Reads a file frame by frame. After an error it has no more bytes.
class FrameReader {
 public:
  FrameReader(std::unique_ptr<rocksdb::SequentialFile> file, absl::FunctionRef<absl::Status()> check)
      : file_(std::move(file)), check_(check), scratch_(kFrameBytes, '\0') {}

  bool Read(void* bytes, size_t size) {
    auto* to = static_cast<char*>(bytes);
    while (size > 0) {
      if (rest_.empty() && !NextFrame()) return false;
      const size_t part = std::min(size, rest_.size());
      std::memcpy(to, rest_.data(), part);
      rest_.remove_prefix(part);
      to += part;
      size -= part;
    }
    return true;
  }
  template <typename Integer>
  bool ReadInteger(Integer* integer) {
    return Read(integer, sizeof(*integer));
  }
  // Whether the end is here, and is intact.
  bool AtEnd() { return rest_.empty() && !NextFrame() && is_complete_; }
  // OK while there was no error but the end.
  const absl::Status& status() const { return status_; }

 private:
  bool NextFrame() {
    if (!status_.ok() || is_complete_) return false;
    status_ = check_();
    if (!status_.ok()) return false;
    FrameHeader header;
    std::string_view encoded;
    if (!ReadBytes(kFrameHeaderBytes, &encoded)) return false;
    std::memcpy(&header.bytes, encoded.data(), sizeof(header.bytes));
    std::memcpy(&header.hash, encoded.data() + sizeof(header.bytes), sizeof(header.hash));
    if (header.bytes > kFrameBytes) return Damaged();
    if (!ReadBytes(header.bytes, &rest_)) return false;
    if (HashOfFrame(rest_, frames_++) != header.hash) return Damaged();
    is_complete_ = header.bytes == 0;
    return !is_complete_;
  }
  bool ReadBytes(size_t size, std::string_view* bytes) {
    size_t have = 0;
    while (have < size) {
      rocksdb::Slice part;
      const rocksdb::Status read = file_->Read(size - have, &part, scratch_.data() + have);
      if (!read.ok()) {
        status_ = absl::UnavailableError(read.ToString());
        return false;
      }
      if (part.empty()) return Damaged();
      if (part.data() != scratch_.data() + have)
        std::memmove(scratch_.data() + have, part.data(), part.size());
      have += part.size();
    }
    *bytes = std::string_view(scratch_.data(), size);
    return true;
  }
  bool Damaged() {
    rest_ = {};
    status_ = absl::DataLossError("the file is damaged");
    return false;
  }

  const std::unique_ptr<rocksdb::SequentialFile> file_;
  const absl::FunctionRef<absl::Status()> check_;
  std::string scratch_;
  std::string_view rest_;
  uint64_t frames_ = 0;
  bool is_complete_ = false;
  absl::Status status_;
};

absl::Status OtherError(std::string_view what) {
  return absl::FailedPreconditionError("the file is of another " + std::string(what));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GraphFiles::Writer>> GraphFiles::Write(const GraphFileIndex& index,
                                                                      uint64_t change_sequence,
                                                                      size_t graphs) const {
  std::unique_ptr<rocksdb::WritableFile> file;
  rocksdb::Status status = env_->CreateDirIfMissing(directory_);
  const std::string path = PathOf(index.storage_id);
  if (status.ok()) status = env_->NewWritableFile(path + kNextSuffix, &file, rocksdb::EnvOptions());
  if (!status.ok()) return absl::UnavailableError(status.ToString());
  auto writer = std::make_unique<Writer>(env_, path, std::move(file));
  const auto distance = static_cast<uint32_t>(index.distance);
  const auto dimensions = static_cast<uint32_t>(index.dimensions);
  const auto count = static_cast<uint32_t>(graphs);
  const bool appended = writer->Append(kMagic.data(), kMagic.size()) &&
                        writer->Append(&index.storage_id, sizeof(index.storage_id)) &&
                        writer->Append(&change_sequence, sizeof(change_sequence)) &&
                        writer->Append(&distance, sizeof(distance)) &&
                        writer->Append(&dimensions, sizeof(dimensions)) &&
                        writer->Append(&count, sizeof(count));
  if (!appended) return writer->Error();
  return writer;
}

GraphFiles::Writer::~Writer() {
  if (file_ == nullptr) return;
  (void)file_->Close();
  (void)env_->DeleteFile(path_ + kNextSuffix);
}

absl::Status GraphFiles::Writer::Error() const { return absl::UnavailableError(status_.ToString()); }

bool GraphFiles::Writer::Append(const void* bytes, size_t size) {
  const auto* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const size_t part = std::min(size, kFrameBytes - frame_.size());
    frame_.append(from, part);
    from += part;
    size -= part;
    if (frame_.size() == kFrameBytes && !WriteFrame().ok()) return false;
  }
  return status_.ok();
}

absl::Status GraphFiles::Writer::WriteFrame() {
  const std::string header = EncodeFrameHeader(
      {.bytes = static_cast<uint32_t>(frame_.size()), .hash = HashOfFrame(frame_, frames_++)});
  if (status_.ok()) status_ = file_->Append(header);
  if (status_.ok()) status_ = file_->Append(frame_);
  bytes_ += header.size() + frame_.size();
  frame_.clear();
  return status_.ok() ? absl::OkStatus() : Error();
}

absl::Status GraphFiles::Writer::Add(const VectorCopy::PartitionGraph& graph,
                                     const std::vector<uint64_t>& hashes, absl::FunctionRef<bool()> go_on) {
  const auto key_bytes = static_cast<uint32_t>(graph.partition.size());
  const uint64_t entries = hashes.size();
  const bool appended =
      Append(&key_bytes, sizeof(key_bytes)) && Append(graph.partition.data(), graph.partition.size()) &&
      Append(&entries, sizeof(entries)) && Append(hashes.data(), hashes.size() * sizeof(uint64_t));
  if (!appended) return Error();
  bool is_wanted = true;
  uint64_t frames = frames_;
  const auto append = [&](const void* bytes, size_t size) {
    if (frames != frames_) {
      frames = frames_;
      is_wanted = go_on();
    }
    return is_wanted && Append(bytes, size);
  };
  if (graph.graph->SaveLinks(append)) return absl::OkStatus();
  return is_wanted ? Error() : absl::CancelledError("the graphs are not wanted any more");
}

absl::StatusOr<uint64_t> GraphFiles::Writer::Finish() {
  if (!frame_.empty()) ITEMDB_RETURN_IF_ERROR(WriteFrame());
  // The end.
  ITEMDB_RETURN_IF_ERROR(WriteFrame());
  // The name may be newer on disk than a file that is not synced.
  status_ = file_->Sync();
  if (status_.ok()) status_ = file_->Close();
  if (status_.ok()) status_ = env_->RenameFile(path_ + kNextSuffix, path_);
  if (!status_.ok()) return Error();
  file_ = nullptr;
  return bytes_;
}

absl::StatusOr<GraphFiles::Restored> GraphFiles::Restore(const GraphFileIndex& index,
                                                         absl::FunctionRef<absl::Status()> check,
                                                         VectorCopy* copy) const {
  const std::string path = PathOf(index.storage_id);
  if (env_->FileExists(path).IsNotFound()) return absl::NotFoundError("there is no file");
  std::unique_ptr<rocksdb::SequentialFile> file;
  uint64_t file_bytes = 0;
  rocksdb::Status opened = env_->GetFileSize(path, &file_bytes);
  if (opened.ok()) opened = env_->NewSequentialFile(path, &file, rocksdb::EnvOptions());
  if (!opened.ok()) return absl::UnavailableError(opened.ToString());
  FrameReader reader(std::move(file), check);
  const auto error = [&] {
    return reader.status().ok() ? absl::DataLossError("the file is damaged") : reader.status();
  };

  std::string magic(kMagic.size(), '\0');
  if (!reader.Read(magic.data(), magic.size())) return error();
  if (magic != kMagic) return OtherError("version");
  Restored restored;
  uint64_t storage_id = 0;
  uint32_t distance = 0, dimensions = 0, graphs = 0;
  if (!reader.ReadInteger(&storage_id) || !reader.ReadInteger(&restored.change_sequence) ||
      !reader.ReadInteger(&distance) || !reader.ReadInteger(&dimensions) || !reader.ReadInteger(&graphs))
    return error();
  if (storage_id != index.storage_id || distance != static_cast<uint32_t>(index.distance) ||
      dimensions != index.dimensions)
    return OtherError("index");

  for (uint32_t i = 0; i < graphs; ++i) {
    uint32_t key_bytes = 0;
    if (!reader.ReadInteger(&key_bytes) || key_bytes > kFrameBytes) return error();
    std::string partition(key_bytes, '\0');
    uint64_t entries = 0;
    if (!reader.Read(partition.data(), key_bytes) || !reader.ReadInteger(&entries)) return error();
    if (entries == 0 || entries > file_bytes / sizeof(uint64_t)) return error();
    std::vector<uint64_t> hashes(entries);
    if (!reader.Read(hashes.data(), entries * sizeof(uint64_t))) return error();
    const auto read = [&](void* bytes, size_t wanted) { return reader.Read(bytes, wanted); };
    std::unique_ptr<VectorGraph> graph = VectorGraph::WithLinks(index.distance, index.dimensions,
                                                                copy->RoomForGraph(partition), entries, read);
    if (graph == nullptr) return reader.status().ok() ? OtherError("version") : error();
    size_t replaced = 0;
    if (!copy->GiveGraph(partition, hashes, std::move(graph), &replaced)) {
      ++restored.unused_graphs;
      continue;
    }
    restored.entries += entries - replaced;
    restored.replaced += replaced;
  }
  if (!reader.AtEnd()) return error();
  return restored;
}

void GraphFiles::DeleteAllBut(const std::set<uint64_t>& storage_ids) const {
  std::vector<std::string> names;
  if (!env_->GetChildren(directory_, &names).ok()) return;
  for (const std::string& name : names) {
    uint64_t id = 0;
    // Also of a file that was not finished.
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error == std::errc() && !storage_ids.contains(id)) (void)env_->DeleteFile(directory_ + "/" + name);
  }
}

}  // namespace itemdb::storage
