#include "storage/changes/stream_names.h"

#include <charconv>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "storage/base/limits.h"
#include "storage/base/xxh3.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kTableResource = ":table/";
constexpr std::string_view kStreamResource = "/stream/";
// The 20 digits of a change sequence follow this digit. So no sequence number begins with a zero, which a
// program that parses it as a number would lose.
constexpr char kFirstDigit = '1';
constexpr size_t kSequenceDigits = 20;

std::string Hash(std::string_view text) {
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(text.data(), text.size()));
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(hash.digest), sizeof(hash.digest)));
}

}  // namespace

absl::StatusOr<StreamName> ParseStreamArn(std::string_view arn) {
  const size_t table = arn.find(kTableResource);
  const size_t stream = arn.find(kStreamResource);
  if (arn.size() <= kMaxTableArnBytes && arn.starts_with("arn:") && table != std::string_view::npos &&
      stream != std::string_view::npos && stream > table) {
    const size_t name = table + kTableResource.size();
    StreamName parsed{std::string(arn.substr(name, stream - name)),
                      std::string(arn.substr(stream + kStreamResource.size()))};
    if (!parsed.table_name.empty() && !parsed.label.empty() && parsed.label.find('/') == std::string::npos &&
        parsed.table_name.find('/') == std::string::npos)
      return parsed;
  }
  return ValidationError("SEM-106", absl::StrCat("Invalid StreamArn: '", std::string(arn),
                                                 "' is not the ARN of a stream, as ListStreams shows it"));
}

std::string ShardIdOf(const v1::Stream& stream) {
  const std::string name = absl::StrCat(stream.table_storage_id(), "/", stream.stream_label());
  return absl::StrFormat("shardId-%020d-%s", stream.creation_time_ms(), Hash(name).substr(0, 8));
}

std::string SequenceNumberOf(uint64_t change_sequence) {
  return absl::StrFormat("%c%020d", kFirstDigit, change_sequence);
}

absl::StatusOr<uint64_t> ParseSequenceNumber(std::string_view text) {
  uint64_t sequence = 0;
  if (text.size() == 1 + kSequenceDigits && text[0] == kFirstDigit) {
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), sequence);
    if (error == std::errc() && end == text.data() + text.size()) return sequence;
  }
  return ValidationError("SEM-106", absl::StrCat("Invalid SequenceNumber: '", std::string(text),
                                                 "' is not a sequence number of this database"));
}

std::string EventIdOf(std::string_view database_id, uint64_t change_sequence) {
  return Hash(absl::StrCat(std::string(database_id), "/", change_sequence));
}

}  // namespace itemdb::storage
