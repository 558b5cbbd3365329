#include "storage/imports/line_chunks.h"

#include <algorithm>
#include <utility>

namespace itemdb::storage {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

LineChunks::LineChunks(ObjectReader& reader, LineEnds ends, size_t chunk_bytes)
    : reader_(reader), ends_(ends), chunk_bytes_(std::max(chunk_bytes, kByteOrderMark.size())) {}

absl::StatusOr<bool> LineChunks::Next(LineChunk* chunk) {
  for (size_t wanted = chunk_bytes_;; wanted = std::max(chunk_bytes_, 2 * buffer_.size())) {
    Fill(wanted);
    if (const size_t end = FindEnd(); end > 0) {
      Take(end, chunk);
      return true;
    }
    if (error_.ok() && buffer_.size() > kMaxLineBytes) {
      error_ = ValidationError("IMP-12", "the line is longer than " + std::to_string(kMaxLineBytes) +
                                             " bytes, which is the limit");
    }
    if (!error_.ok()) return error_;
    if (!at_end_) continue;
    if (buffer_.empty()) return false;
    // The last line has no newline.
    Take(buffer_.size(), chunk);
    return true;
  }
}

void LineChunks::Fill(size_t wanted) {
  size_t filled = buffer_.size();
  if (filled >= wanted) return;
  buffer_.resize(wanted);
  while (filled < wanted && error_.ok() && !at_end_) {
    const absl::StatusOr<size_t> count = reader_.Read(buffer_.data() + filled, wanted - filled);
    if (!count.ok()) error_ = count.status();
    filled += count.value_or(0);
    at_end_ = count.ok() && *count == 0;
  }
  buffer_.resize(filled);
  if (std::exchange(at_begin_, false) && buffer_.starts_with(kByteOrderMark))
    buffer_.erase(0, kByteOrderMark.size());
}

size_t LineChunks::FindEnd() {
  if (ends_ == LineEnds::kEveryNewline) {
    const size_t newline = buffer_.rfind('\n');
    return newline == std::string::npos ? 0 : newline + 1;
  }
  for (; scanned_ < buffer_.size(); ++scanned_) {
    if (buffer_[scanned_] == '"') in_quotes_ = !in_quotes_;
    if (buffer_[scanned_] == '\n' && !in_quotes_) end_ = scanned_ + 1;
  }
  return end_;
}

void LineChunks::Take(size_t size, LineChunk* chunk) {
  chunk->bytes.clear();
  chunk->bytes.reserve(size + kLinePadding);
  chunk->bytes.append(buffer_, 0, size);
  chunk->bytes.append(kLinePadding, '\0');
  chunk->first_line = next_line_;
  next_line_ += static_cast<uint64_t>(
      std::count(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
  buffer_.erase(0, size);
  scanned_ -= std::min(scanned_, size);
  end_ = 0;
}

std::string_view TakeLine(LineEnds ends, std::string_view* lines, uint64_t* line_number) {
  size_t end = 0;
  if (ends == LineEnds::kEveryNewline) {
    end = std::min(lines->find('\n'), lines->size());
    *line_number += end < lines->size() ? 1 : 0;
  } else {
    bool in_quotes = false;
    for (; end < lines->size(); ++end) {
      const char c = (*lines)[end];
      if (c == '"') in_quotes = !in_quotes;
      if (c != '\n') continue;
      ++*line_number;
      if (!in_quotes) break;
    }
  }
  const std::string_view line = lines->substr(0, end);
  lines->remove_prefix(std::min(end + 1, lines->size()));
  return line;
}

}  // namespace itemdb::storage
