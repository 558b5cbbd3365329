#include "storage/imports/import_source.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/limits.h"
#include "storage/base/mutex.h"
#include "storage/buckets/open_bucket.h"
#include "storage/imports/export_check.h"
#include "storage/imports/import_report.h"
#include "storage/imports/line_chunks.h"
#include "storage/imports/line_parser.h"
#include "storage/imports/object_reader.h"
#include "storage/indexes/index_entry.h"
#include "storage/indexes/record_sorter.h"
#include "storage/values/canonical.h"
#include "storage/values/item_size.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr size_t kImportChunkBytes = 256 << 10;
constexpr size_t kMaxParsers = 4;
// Sorted keys end with this many bytes, which order equal keys.
constexpr size_t kOrderBytes = 8;

// The object that a chunk is of.
struct ObjectState {
  std::string key;
  // Of CSV.
  std::vector<CsvColumn> columns;
  // Only for the thread that reads: what follows in this object is not imported.
  bool failed = false;
};

struct ParsedChunk {
  struct Record {
    uint32_t key_bytes;
    uint32_t value_bytes;
  };
  struct Error {
    uint64_t line;
    std::string reason;
  };

  std::shared_ptr<ObjectState> object;
  LineChunk chunk;
  // Where the lines begin: after the header.
  size_t begin = 0;
  // One after another: the encoded key with kOrderBytes to be set, the size of the item as varint, the item.
  std::string bytes;
  std::vector<Record> records;
  std::vector<Error> errors;
  // The last error is a line that cannot be parsed.
  bool has_bad_line = false;
  bool done = false;
};

char DelimiterOf(const v1::ImportDescription& import) {
  const std::string& delimiter = import.csv_options().delimiter();
  return delimiter.empty() ? ',' : delimiter[0];
}

LineEnds LineEndsOf(const v1::ImportDescription& import) {
  return import.input_format() == v1::INPUT_FORMAT_CSV ? LineEnds::kNewlinesOutsideOfQuotes
                                                       : LineEnds::kEveryNewline;
}

// Parses the lines of chunks, one chunk after another.
class ChunkParser {
 public:
  ChunkParser(const v1::ImportDescription& import, const Table& table) : import_(import), table_(table) {}

  void Parse(ParsedChunk* chunk) {
    if (parser_ == nullptr || (import_.input_format() == v1::INPUT_FORMAT_CSV && object_ != chunk->object))
      parser_ = NewParser(*chunk->object);
    object_ = chunk->object;
    const LineEnds ends = LineEndsOf(import_);
    std::string_view lines = chunk->chunk.lines().substr(chunk->begin);
    chunk->bytes.reserve(lines.size());
    for (uint64_t line_number = chunk->chunk.first_line; !lines.empty();) {
      const uint64_t number = line_number;
      const std::string_view line = TakeLine(ends, &lines, &line_number);
      LineKind kind = parser_->Parse(line, &item_, &reason_);
      if (kind == LineKind::kNothing) continue;
      if (kind == LineKind::kItem) {
        const absl::Status added = AddItem(chunk);
        if (added.ok()) continue;
        reason_ = MessageOf(added);
        kind = LineKind::kBadItem;
      }
      chunk->errors.push_back({number, reason_});
      chunk->has_bad_line = kind == LineKind::kBadLine;
      if (chunk->has_bad_line) return;
    }
  }

 private:
  std::unique_ptr<LineParser> NewParser(const ObjectState& object) const {
    switch (import_.input_format()) {
      case v1::INPUT_FORMAT_CSV:
        return NewCsvLineParser(object.columns, DelimiterOf(import_));
      case v1::INPUT_FORMAT_ION:
        return NewIonLineParser();
      default:
        return NewJsonLineParser();
    }
  }

  // Adds item_. INVALID_ARGUMENT: PutItem would refuse it.
  absl::Status AddItem(ParsedChunk* chunk) {
    ITEMDB_ASSIGN_OR_RETURN(const std::string item, CanonicalizeItem(item_));
    const ItemView view(item);
    const size_t size = ItemSizeBytes(view);
    if (size > kMaxItemBytes) {
      return ValidationError("SEM-001", "Item size has exceeded the maximum allowed size of " +
                                            std::to_string(kMaxItemBytes) + " bytes");
    }
    ITEMDB_RETURN_IF_ERROR(CheckHasKey(table_, view));
    ITEMDB_ASSIGN_OR_RETURN(const std::string key, EncodePrimaryKey(table_, view));
    for (const Index& index : table_.indexes) ITEMDB_RETURN_IF_ERROR(MakeEntryKey(index, view, key).status());
    chunk->bytes.append(key).append(kOrderBytes, '\0');
    const size_t begin = chunk->bytes.size();
    wire::AppendVarint(size, &chunk->bytes);
    chunk->bytes.append(item);
    chunk->records.push_back({static_cast<uint32_t>(key.size() + kOrderBytes),
                              static_cast<uint32_t>(chunk->bytes.size() - begin)});
    return absl::OkStatus();
  }

  const v1::ImportDescription& import_;
  const Table& table_;
  std::unique_ptr<LineParser> parser_;
  // Of parser_.
  std::shared_ptr<ObjectState> object_;
  std::string item_;
  std::string reason_;
};

// Threads that parse chunks. The chunks are taken in the order in which they were submitted. Thread-safe.
class ParserThreads {
 public:
  ParserThreads(const v1::ImportDescription& import, const Table& table)
      : import_(import),
        table_(table),
        count_(std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMaxParsers)) {
    for (size_t i = 0; i < count_; ++i) threads_.emplace_back([this] { Run(); });
  }
  ~ParserThreads() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }
  ParserThreads(const ParserThreads&) = delete;
  ParserThreads& operator=(const ParserThreads&) = delete;

  // Chunks that may wait: enough that no thread is idle.
  size_t max_chunks() const { return 2 * count_ + 2; }

  void Submit(std::shared_ptr<ParsedChunk> chunk) {
    MutexLock lock(mutex_);
    queue_.push_back(std::move(chunk));
    changed_.NotifyAll();
  }
  void Await(const ParsedChunk& chunk) {
    MutexLock lock(mutex_);
    while (!chunk.done) changed_.Wait(mutex_);
  }

 private:
  void Run() {
    ChunkParser parser(import_, table_);
    for (;;) {
      std::shared_ptr<ParsedChunk> chunk;
      {
        MutexLock lock(mutex_);
        while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
        if (stopping_) return;
        chunk = std::move(queue_.front());
        queue_.pop_front();
      }
      parser.Parse(chunk.get());
      MutexLock lock(mutex_);
      chunk->done = true;
      changed_.NotifyAll();
    }
  }

  const v1::ImportDescription& import_;
  const Table& table_;
  const size_t count_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::shared_ptr<ParsedChunk>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// What sorting takes from the block cache while items are sorted.
size_t SortingBytes(const Engine& engine) { return engine.options().index_build_bytes; }

class ImportedItems final : public ItemSource {
 public:
  ImportedItems(Engine& engine, const ReadView& view, const std::string& directory)
      : memory_(view.store(), SortingBytes(engine)),
        sorter_(engine.env(), directory + "/import-", SortingBytes(engine)) {}

  // `key` ends with kOrderBytes that fall from item to item.
  absl::Status Add(std::string_view key, std::string_view value) { return sorter_.Add(key, value); }

  absl::StatusOr<bool> Next(Item* item) override {
    for (std::string_view key, value;;) {
      ITEMDB_ASSIGN_OR_RETURN(const bool has_item, sorter_.Next(&key, &value));
      if (!has_item) return false;
      key.remove_suffix(kOrderBytes);
      // Of equal keys the last item comes first.
      if (has_last_ && key == last_key_) continue;
      has_last_ = true;
      last_key_ = key;
      uint64_t size = 0;
      if (!wire::ConsumeVarint(&value, &size)) return DataLossError("a sorted item of an import is damaged");
      *item = {.key = last_key_, .size = size, .item = value};
      return true;
    }
  }

 private:
  const CacheReservation memory_;
  RecordSorter sorter_;
  bool has_last_ = false;
  std::string last_key_;
};

class ImportReader {
 public:
  ImportReader(Engine& engine, const ReadView& view, const ImportSettings& settings,
               const Cancellation& cancellation, ImportProgress* progress)
      : engine_(engine),
        settings_(settings),
        cancellation_(cancellation),
        progress_(*progress),
        table_(MakeTable(settings.definition)),
        report_(rocksdb::Env::Default(), engine.options().data_directory, settings.import_id),
        items_(std::make_unique<ImportedItems>(engine, view, settings.directory)),
        parsers_(settings.import, table_) {}

  absl::StatusOr<std::unique_ptr<ItemSource>> Run() {
    const v1::S3BucketSource& source = settings_.import.s3_bucket_source();
    ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<Bucket> bucket,
                            OpenBucket(engine_.options(), source.s3_bucket(), cancellation_));
    ITEMDB_ASSIGN_OR_RETURN(const std::vector<BucketObject> objects,
                            bucket->List(source.s3_key_prefix(), kMaxImportObjects));
    ITEMDB_ASSIGN_OR_RETURN(
        checksums_, CheckExport(*bucket, source.s3_key_prefix(), settings_.import.input_format(), objects));
    for (const BucketObject& object : objects) ITEMDB_RETURN_IF_ERROR(ReadObject(*bucket, object));
    ITEMDB_RETURN_IF_ERROR(Drain(/*left=*/0));
    ITEMDB_RETURN_IF_ERROR(report_.Finish());
    return std::move(items_);
  }

 private:
  absl::Status ReadObject(const Bucket& bucket, const BucketObject& object) {
    const auto state = std::make_shared<ObjectState>();
    state->key = object.key;
    absl::StatusOr<std::unique_ptr<ReadableObject>> opened = bucket.Open(object);
    if (!opened.ok()) return EndObject(state.get(), 0, opened.status());
    const ExportChecksum* const checksum = FindChecksum(checksums_, object.key);
    if (checksum == nullptr) return ReadLines(state, **opened);
    opened = WithChecksum(*std::move(opened), object.key, *checksum);
    ITEMDB_RETURN_IF_ERROR(ReadLines(state, **opened));
    // Also a file that has ended early is compared as a whole.
    const absl::Status rest = ReadToEnd(**opened, [&] { return cancellation_.Check(); });
    return rest.ok() ? rest : EndObject(state.get(), 0, rest);
  }

  absl::Status ReadLines(const std::shared_ptr<ObjectState>& state, ReadableObject& object) {
    const std::unique_ptr<ObjectReader> reader =
        NewObjectReader(object, settings_.import.input_compression_type(), &progress_.file_bytes);
    LineChunks chunks(*reader, LineEndsOf(settings_.import), kImportChunkBytes);
    for (bool is_first = true; !state->failed; is_first = false) {
      ITEMDB_RETURN_IF_ERROR(cancellation_.Check());
      ITEMDB_RETURN_IF_ERROR(engine_.disk_space().CheckNow());
      auto chunk = std::make_shared<ParsedChunk>();
      chunk->object = state;
      const absl::StatusOr<bool> has_chunk = chunks.Next(&chunk->chunk);
      if (!has_chunk.ok()) return EndObject(state.get(), chunks.next_line(), has_chunk.status());
      if (!*has_chunk) break;
      if (is_first && settings_.import.input_format() == v1::INPUT_FORMAT_CSV) {
        if (const absl::Status header = ReadHeader(state.get(), chunk.get()); !header.ok())
          return EndObject(state.get(), 1, header);
      }
      parsers_.Submit(chunk);
      chunks_.push_back(std::move(chunk));
      ITEMDB_RETURN_IF_ERROR(Drain(parsers_.max_chunks()));
    }
    return absl::OkStatus();
  }

  absl::Status ReadHeader(ObjectState* state, ParsedChunk* chunk) const {
    const v1::CsvOptions& options = settings_.import.csv_options();
    if (!options.header_list().empty()) {
      ITEMDB_ASSIGN_OR_RETURN(
          state->columns, CsvColumnsOf({options.header_list().begin(), options.header_list().end()}, table_));
      return absl::OkStatus();
    }
    std::string_view lines = chunk->chunk.lines();
    const std::string_view header = TakeLine(LineEndsOf(settings_.import), &lines, &chunk->chunk.first_line);
    chunk->begin = chunk->chunk.lines().size() - lines.size();
    ITEMDB_ASSIGN_OR_RETURN(state->columns, ParseCsvHeader(header, DelimiterOf(settings_.import), table_));
    return absl::OkStatus();
  }

  // Ends an object because of `error`. OK if it is an error of the object: its contents are not what they
  // should be, or were changed. Then the import goes on with the next object. The error counts only if no
  // line before it has ended the object. Any other error, such as one of the file system, ends the import.
  absl::Status EndObject(ObjectState* state, uint64_t line, const absl::Status& error) {
    const bool is_changed = ReasonOf(error) == kReasonObjectChanged;
    if (!absl::IsInvalidArgument(error) && !is_changed) return error;
    ITEMDB_RETURN_IF_ERROR(Drain(/*left=*/0));
    if (std::exchange(state->failed, true)) return absl::OkStatus();
    ++progress_.errors;
    return report_.Add(state->key, is_changed ? 0 : line,
                       is_changed ? "the object was changed after the import had begun" : MessageOf(error));
  }

  // Adds parsed chunks to the sorter until only `left` are left.
  absl::Status Drain(size_t left) {
    for (; chunks_.size() > left; chunks_.pop_front()) {
      parsers_.Await(*chunks_.front());
      ITEMDB_RETURN_IF_ERROR(AddChunk(chunks_.front().get()));
    }
    return absl::OkStatus();
  }

  absl::Status AddChunk(ParsedChunk* chunk) {
    if (chunk->object->failed) return absl::OkStatus();
    chunk->object->failed = chunk->has_bad_line;
    char* record = chunk->bytes.data();
    for (const auto& [key_bytes, value_bytes] : chunk->records) {
      const uint64_t order = ~next_item_++;
      for (size_t i = 0; i < kOrderBytes; ++i)
        record[key_bytes - kOrderBytes + i] = static_cast<char>(order >> (8 * (kOrderBytes - 1 - i)));
      ITEMDB_RETURN_IF_ERROR(items_->Add({record, key_bytes}, {record + key_bytes, value_bytes}));
      record += key_bytes + value_bytes;
    }
    const auto items = static_cast<int64_t>(chunk->records.size());
    const auto errors = static_cast<int64_t>(chunk->errors.size());
    progress_.processed_items += items + errors;
    progress_.imported_items += items;
    progress_.errors += errors;
    for (const ParsedChunk::Error& error : chunk->errors)
      ITEMDB_RETURN_IF_ERROR(report_.Add(chunk->object->key, error.line, error.reason));
    return absl::OkStatus();
  }

  Engine& engine_;
  const ImportSettings& settings_;
  const Cancellation& cancellation_;
  ImportProgress& progress_;
  const Table table_;
  ImportReport report_;
  std::unique_ptr<ImportedItems> items_;
  uint64_t next_item_ = 0;
  // Of the files of an export.
  ExportChecksums checksums_;
  // Chunks that were submitted and not added, in their order.
  std::deque<std::shared_ptr<ParsedChunk>> chunks_;
  // Destroyed first: the threads use the chunks, the table and the settings.
  ParserThreads parsers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ItemSource>> ReadImport(Engine& engine, const ImportSettings& settings,
                                                       const Cancellation& cancellation,
                                                       ImportProgress* progress) {
  std::optional<ImportReader> reader;
  {
    // Is not kept, because reading may take hours.
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
    reader.emplace(engine, *view, settings, cancellation, progress);
  }
  return reader->Run();
}

}  // namespace itemdb::storage
