// Compressed data comes back whatever the pieces are, and data that ends too early is noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "common/compression/compressor.h"
#include "common/compression/decompressor.h"

namespace itemdb {
namespace {

class TextBytes final : public ByteSource {
 public:
  TextBytes(std::string text, size_t piece) : text_(std::move(text)), piece_(piece) {}
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    const size_t count = text_.copy(out, std::min(size, piece_), at_);
    at_ += count;
    return count;
  }

 private:
  const std::string text_;
  const size_t piece_;
  size_t at_ = 0;
};

absl::StatusOr<std::string> Decompress(const std::string& compressed, Compression kind, size_t piece) {
  TextBytes source(compressed, piece);
  const std::unique_ptr<ByteSource> bytes = NewDecompressor(source, kind);
  std::string text;
  char buffer[1'000];
  while (true) {
    const absl::StatusOr<size_t> count = bytes->Read(buffer, sizeof buffer);
    if (!count.ok()) return count.status();
    if (*count == 0) return text;
    text.append(buffer, *count);
  }
}

std::string Compress(const std::string& text, Compression kind, size_t piece) {
  const std::unique_ptr<Compressor> compressor = NewCompressor(kind);
  std::string compressed;
  for (size_t at = 0; at < text.size(); at += piece)
    EXPECT_TRUE(compressor->Append(text.substr(at, piece), &compressed).ok());
  EXPECT_TRUE(compressor->Finish(&compressed).ok());
  return compressed;
}

TEST(Compression, GivesTheTextBackInAnyPieces) {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(random() % 1'000) + ",";
  for (const Compression kind : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
    SCOPED_TRACE(static_cast<int>(kind));
    for (const size_t piece : {7, 4'096, 10'000'000}) {
      const std::string compressed = Compress(text, kind, piece);
      EXPECT_TRUE(Decompress(compressed, kind, piece).value_or("") == text) << piece;
      if (kind == Compression::kNone) continue;
      EXPECT_LT(compressed.size(), text.size() * 3 / 4);
      EXPECT_TRUE(absl::IsInvalidArgument(
          Decompress(compressed.substr(0, compressed.size() - 1), kind, piece).status()));
      std::string damaged = compressed;
      damaged[damaged.size() / 2] ^= 1;
      EXPECT_TRUE(absl::IsInvalidArgument(Decompress(damaged, kind, piece).status()));
      // Members and frames may follow each other.
      EXPECT_TRUE(Decompress(compressed + compressed, kind, piece).value_or("") == text + text);
    }
    EXPECT_EQ(Decompress(Compress("", kind, 1), kind, 1).value_or("?"), "");
  }
}

// The service's exports have this header, without the time and the system of the machine.
TEST(Compression, GzipHasTheHeaderOfExports) {
  EXPECT_EQ(Compress("text", Compression::kGzip, 4).substr(0, 10),
            std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10));
}

}  // namespace
}  // namespace itemdb
