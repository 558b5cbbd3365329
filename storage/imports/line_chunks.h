// Cuts the contents of an object into chunks of whole lines, which several threads can parse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "storage/imports/object_reader.h"

namespace itemdb::storage {

// Readable bytes after each line of a chunk: simdjson reads in blocks.
inline constexpr size_t kLinePadding = 64;
// A line may be this long. The JSON of the largest item takes less: each of its bytes at most 6 bytes.
inline constexpr size_t kMaxLineBytes = 8 << 20;

// What ends a line.
enum class LineEnds : uint8_t {
  kEveryNewline,
  // Newlines between quotes are part of a line, as in CSV.
  kNewlinesOutsideOfQuotes,
};

struct LineChunk {
  // Whole lines; then kLinePadding bytes, which are not part of them.
  std::string bytes;
  // Of the first line, counted from 1. Lines are counted by newlines, so a line with newlines between quotes
  // counts several times.
  uint64_t first_line = 1;

  std::string_view lines() const { return std::string_view(bytes).substr(0, bytes.size() - kLinePadding); }
};

// Not thread-safe.
class LineChunks {
 public:
  // `reader` is borrowed. A chunk has about `chunk_bytes`, or one line.
  LineChunks(ObjectReader& reader, LineEnds ends, size_t chunk_bytes);

  // Reads the next chunk. False: there are no more. A byte order mark at the beginning of the object is left
  // out. The last line may be without newline. Before an error of the object all whole lines are returned.
  //
  // INVALID_ARGUMENT: a line is longer than kMaxLineBytes; or the error of the reader. The chunks end there;
  // next_line() is the line of the error.
  absl::StatusOr<bool> Next(LineChunk* chunk);
  uint64_t next_line() const { return next_line_; }

 private:
  // Reads until buffer_ has `wanted` bytes; at the end of the object, or after an error, fewer.
  void Fill(size_t wanted);
  // The end of the last whole line in buffer_, 0 if there is none. Looks only at bytes that are new.
  size_t FindEnd();
  void Take(size_t size, LineChunk* chunk);

  ObjectReader& reader_;
  const LineEnds ends_;
  const size_t chunk_bytes_;
  // What was read and not returned yet.
  std::string buffer_;
  // How far FindEnd has looked, the end that it found, and whether it was between quotes.
  size_t scanned_ = 0;
  size_t end_ = 0;
  bool in_quotes_ = false;
  bool at_begin_ = true;
  bool at_end_ = false;
  absl::Status error_;
  uint64_t next_line_ = 1;
};

// Takes the first line off `*lines`, which must not be empty, without its newline. Counts the newlines of the
// line in `*line_number`.
std::string_view TakeLine(LineEnds ends, std::string_view* lines, uint64_t* line_number);

}  // namespace itemdb::storage
