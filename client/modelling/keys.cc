#include "itemdb/keys.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/errors_internal.h"

namespace itemdb {
namespace {

constexpr char kSeparator = '#';
constexpr size_t kTimeDigits = 10;
constexpr size_t kRandomDigits = 16;
constexpr int kBitsPerDigit = 5;
constexpr uint64_t kMaxMs = (uint64_t{1} << 48) - 1;
// Crockford's base 32: characters in ascending order, without letters that look like digits.
constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

uint64_t MsOf(absl::Time time) {
  return static_cast<uint64_t>(
      std::clamp<int64_t>(absl::ToUnixMillis(time), 0, static_cast<int64_t>(kMaxMs)));
}

std::string TimeText(uint64_t ms) {
  std::string text(kTimeDigits, '0');
  for (size_t i = kTimeDigits; i-- > 0; ms >>= kBitsPerDigit) text[i] = kDigits[ms & 31];
  return text;
}

using RandomPart = std::array<unsigned char, kRandomDigits>;

// From the kernel each time: a generator in this process would repeat itself in a forked child.
RandomPart NewRandomPart() {
  RandomPart part = {};
  size_t filled = 0;
  while (filled < part.size()) {
    const ssize_t got = getrandom(part.data() + filled, part.size() - filled, 0);
    if (got > 0) filled += static_cast<size_t>(got);
  }
  for (unsigned char& digit : part) digit &= 31;
  // The highest bit is 0, so that Increment cannot overflow within a millisecond.
  part[0] &= 15;
  return part;
}

void Increment(RandomPart& part) {
  for (size_t i = part.size(); i-- > 0;) {
    if (++part[i] < 32) return;
    part[i] = 0;
  }
}

}  // namespace

absl::StatusOr<std::string> CompositeKey(const std::vector<std::string>& parts) {
  std::string key;
  for (const std::string& part : parts) {
    if (part.empty()) return InvalidRequest("a part of a composite key is empty");
    if (part.find(kSeparator) != std::string::npos) {
      return InvalidRequest(
          absl::StrFormat("the part \"%s\" of a composite key contains '#', which separates parts", part));
    }
    key += part;
    key += kSeparator;
  }
  return key;
}

absl::StatusOr<std::vector<std::string>> PartsOfKey(std::string_view key) {
  std::vector<std::string> parts = absl::StrSplit(std::string(key), kSeparator);
  const bool closed = parts.back().empty();
  parts.pop_back();
  if (!closed ||
      std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); })) {
    return InvalidRequest(
        absl::StrFormat("\"%s\" is no composite key: parts that are not empty, each followed by '#'", key));
  }
  return parts;
}

std::string TimeOrderedId(absl::Time time) {
  struct Last {
    std::mutex mutex;
    uint64_t ms = UINT64_MAX;
    RandomPart random;
  };
  static Last& last = *new Last;
  const uint64_t ms = MsOf(time);
  RandomPart random;
  {
    std::lock_guard<std::mutex> lock(last.mutex);
    if (ms == last.ms) {
      Increment(last.random);
    } else {
      last.ms = ms;
      last.random = NewRandomPart();
    }
    random = last.random;
  }
  std::string id = TimeText(ms);
  for (const unsigned char digit : random) id += kDigits[digit];
  return id;
}

absl::StatusOr<absl::Time> TimeOfId(std::string_view id) {
  uint64_t ms = 0;
  bool is_id = id.size() == kTimeDigits + kRandomDigits;
  for (size_t i = 0; is_id && i < id.size(); ++i) {
    const size_t digit = kDigits.find(id[i]);
    is_id = digit != std::string_view::npos && (i > 0 || digit < 8);
    if (i < kTimeDigits) ms = ms << kBitsPerDigit | digit;
  }
  if (!is_id)
    return InvalidRequest(
        absl::StrFormat("\"%s\" is no time-ordered id of 26 digits and upper-case letters", id));
  return absl::FromUnixMillis(static_cast<int64_t>(ms));
}

std::string FirstIdOf(absl::Time time) { return TimeText(MsOf(time)) + std::string(kRandomDigits, '0'); }

}  // namespace itemdb
