// Lines of imported files. An input is one byte that chooses the format, and lines.
//
// Each line is an item, nothing, or has a reason why not; an item that becomes canonical stays as it is when
// it is made canonical again. Chunks of any size have the same lines.
#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/check.h"
#include "storage/imports/line_chunks.h"
#include "storage/imports/line_parser.h"
#include "storage/values/canonical.h"

namespace itemdb::fuzz {
namespace {

using storage::LineEnds;
using storage::LineKind;

class TextReader final : public storage::ObjectReader {
 public:
  explicit TextReader(std::string_view text) : rest_(text) {}
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    const size_t count = rest_.copy(out, size);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

std::vector<std::string> LinesOf(std::string_view text, LineEnds ends, size_t chunk_bytes) {
  TextReader reader(text);
  storage::LineChunks chunks(reader, ends, chunk_bytes);
  std::vector<std::string> lines;
  for (storage::LineChunk chunk; *chunks.Next(&chunk);) {
    std::string_view rest = chunk.lines();
    for (uint64_t number = chunk.first_line; !rest.empty();)
      lines.emplace_back(storage::TakeLine(ends, &rest, &number));
  }
  return lines;
}

std::unique_ptr<storage::LineParser> ParserOf(char format) {
  if (format == 'i') return storage::NewIonLineParser();
  if (format == 'j') return storage::NewJsonLineParser();
  return storage::NewCsvLineParser({{.name = "s"},
                                    {.name = "n", .type = v1::SCALAR_ATTRIBUTE_TYPE_N},
                                    {.name = "b", .type = v1::SCALAR_ATTRIBUTE_TYPE_B}},
                                   ',');
}

// The same lines as bulk puts read them.
void RunPuts(char format, const std::vector<std::string>& lines) {
  const std::unique_ptr<storage::PutLineParser> parser =
      format == 'i' ? storage::NewIonPutParser() : storage::NewJsonPutParser();
  wire::WriteItemRequest put;
  std::string reason;
  for (const std::string& line : lines) {
    std::string padded = line;
    padded.append(storage::kLinePadding, '\0');
    const LineKind kind = parser->Parse(std::string_view(padded).substr(0, line.size()), &put, &reason);
    ITEMDB_CHECK(kind == LineKind::kItem || kind == LineKind::kNothing || !reason.empty());
  }
}

void Run(std::string_view input) {
  if (input.empty()) return;
  const char format = input[0];
  const LineEnds ends =
      format == 'i' || format == 'j' ? LineEnds::kEveryNewline : LineEnds::kNewlinesOutsideOfQuotes;
  const std::vector<std::string> lines = LinesOf(input.substr(1), ends, 1 << 16);
  ITEMDB_CHECK(lines == LinesOf(input.substr(1), ends, 5));
  if (format == 'i' || format == 'j') RunPuts(format, lines);
  const auto parser = ParserOf(format);
  std::string item, reason;
  for (const std::string& line : lines) {
    std::string padded = line;
    padded.append(storage::kLinePadding, '\0');
    const LineKind kind = parser->Parse(std::string_view(padded).substr(0, line.size()), &item, &reason);
    ITEMDB_CHECK(kind == LineKind::kItem || kind == LineKind::kNothing || !reason.empty());
    if (kind != LineKind::kItem) continue;
    const absl::StatusOr<std::string> canonical = storage::CanonicalizeItem(item);
    if (canonical.ok()) ITEMDB_CHECK(*storage::CanonicalizeItem(*canonical) == *canonical);
  }
}

}  // namespace
}  // namespace itemdb::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  itemdb::fuzz::Run({reinterpret_cast<const char*>(data), bytes});
  return 0;
}
