// Objects of a bucket: their decompression, and their lines.
#include "storage/imports/object_reader.h"

#include <zlib.h>
#include <zstd.h>

#include <random>

#include "gmock/gmock.h"
#include "storage/imports/line_chunks.h"

namespace itemdb::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

class ObjectInMemory final : public ReadableObject {
 public:
  explicit ObjectInMemory(std::string_view contents) : rest_(contents) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    const size_t count = rest_.copy(out, size);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

class ObjectReaderTest : public ::testing::Test {
 protected:
  // Reads an object with these contents, in pieces of `piece` bytes.
  absl::StatusOr<std::string> Read(const std::string& contents, v1::InputCompressionType compression,
                                   size_t piece = 1000) {
    ObjectInMemory object(contents);
    bytes_ = 0;
    const auto reader = NewObjectReader(object, compression, &bytes_);
    std::string text;
    for (std::string buffer(piece, '\0');;) {
      ITEMDB_ASSIGN_OR_RETURN(const size_t count, reader->Read(buffer.data(), buffer.size()));
      if (count == 0) return text;
      text.append(buffer, 0, count);
    }
  }
  // The lines of `text`, or "!" and the error.
  std::vector<std::string> Lines(const std::string& text, LineEnds ends, size_t chunk_bytes) {
    ObjectInMemory object(text);
    const auto reader = NewObjectReader(object, v1::INPUT_COMPRESSION_TYPE_NONE, &bytes_);
    LineChunks chunks(*reader, ends, chunk_bytes);
    std::vector<std::string> lines;
    for (LineChunk chunk;;) {
      const auto has_chunk = chunks.Next(&chunk);
      if (!has_chunk.ok()) lines.push_back("!" + MessageOf(has_chunk.status()));
      if (!has_chunk.ok() || !*has_chunk) return lines;
      std::string_view rest = chunk.lines();
      for (uint64_t number = chunk.first_line; !rest.empty();) {
        const uint64_t line = number;
        lines.push_back(std::to_string(line) + ":" + std::string(TakeLine(ends, &rest, &number)));
      }
    }
  }

  std::atomic<int64_t> bytes_ = 0;
};

TEST_F(ObjectReaderTest, ReadsAllCompressions) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < 700'000) text += std::to_string(random()) + (random() % 9 == 0 ? "\n" : " ");
  for (const size_t piece : {size_t{1} << 20, size_t{777}}) {
    EXPECT_EQ(*Read(text, v1::INPUT_COMPRESSION_TYPE_NONE, piece), text);
    EXPECT_EQ(*Read(Gzip(text), v1::INPUT_COMPRESSION_TYPE_GZIP, piece), text);
    EXPECT_EQ(*Read(Zstd(text), v1::INPUT_COMPRESSION_TYPE_ZSTD, piece), text);
    // Several members and frames, some of nothing.
    EXPECT_EQ(*Read(Gzip(text) + Gzip("") + Gzip("end"), v1::INPUT_COMPRESSION_TYPE_GZIP, piece),
              text + "end");
    EXPECT_EQ(*Read(Zstd(text) + Zstd("") + Zstd("end"), v1::INPUT_COMPRESSION_TYPE_ZSTD, piece),
              text + "end");
  }
  EXPECT_EQ(*Read(Gzip(""), v1::INPUT_COMPRESSION_TYPE_GZIP), "");
  EXPECT_GT(bytes_, 0);
}

// IMP-14.
TEST_F(ObjectReaderTest, RefusesWhatIsNotCompressedAsItShouldBe) {
  const std::string text(100'000, 'x');
  const std::string gzip = Gzip(text), zstd = Zstd(text);
  std::string damaged = gzip;
  damaged[damaged.size() - 6] ^= 1;  // In the checksum.
  const std::pair<std::string, v1::InputCompressionType> cases[] = {
      {"plain text", v1::INPUT_COMPRESSION_TYPE_GZIP},
      {"plain text", v1::INPUT_COMPRESSION_TYPE_ZSTD},
      {gzip, v1::INPUT_COMPRESSION_TYPE_ZSTD},
      {zstd, v1::INPUT_COMPRESSION_TYPE_GZIP},
      {gzip.substr(0, gzip.size() - 1), v1::INPUT_COMPRESSION_TYPE_GZIP},
      {gzip.substr(0, gzip.size() / 2), v1::INPUT_COMPRESSION_TYPE_GZIP},
      {gzip.substr(0, 5), v1::INPUT_COMPRESSION_TYPE_GZIP},
      {gzip + "rest", v1::INPUT_COMPRESSION_TYPE_GZIP},
      {damaged, v1::INPUT_COMPRESSION_TYPE_GZIP},
      {zstd.substr(0, zstd.size() - 1), v1::INPUT_COMPRESSION_TYPE_ZSTD},
      {zstd + "rest", v1::INPUT_COMPRESSION_TYPE_ZSTD},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    const auto read = Read(cases[i].first, cases[i].second);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << i << ": " << read.status();
  }
}

// Chunks of every size have the same lines with the same numbers.
TEST_F(ObjectReaderTest, CutsObjectsIntoLines) {
  for (size_t chunk : {1, 2, 3, 7, 100}) {
    SCOPED_TRACE(chunk);
    EXPECT_THAT(Lines("\xEF\xBB\xBF"
                      "a\n\nbcd\nlast",
                      LineEnds::kEveryNewline, chunk),
                ElementsAre("1:a", "2:", "3:bcd", "4:last"));
    EXPECT_THAT(Lines("a,\"b\nc\"\nd\n", LineEnds::kNewlinesOutsideOfQuotes, chunk),
                ElementsAre("1:a,\"b\nc\"", "3:d"));
  }
}

TEST_F(ObjectReaderTest, RefusesLinesThatAreTooLong) {
  const std::string longest(kMaxLineBytes - 1, 'x');
  EXPECT_EQ(Lines("a\n" + longest + "\nb\n", LineEnds::kEveryNewline, 1 << 16).size(), 3);
  const auto lines = Lines("a\n" + longest + "xxx\nb\n", LineEnds::kEveryNewline, 1 << 16);
  ASSERT_GE(lines.size(), 2);
  EXPECT_EQ(lines[0], "1:a");
}

}  // namespace
}  // namespace itemdb::storage
