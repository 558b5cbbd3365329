#include "storage/items/expiry.h"

#include "storage/base/check.h"
#include "storage/base/limits.h"
#include "storage/keys/key_codec.h"
#include "storage/values/number.h"

namespace itemdb::storage {
namespace {

constexpr int kMicrosExponent = -6;
constexpr int64_t kMicrosPerSecond = 1'000'000;

Number SecondsOf(int64_t micros) {
  const uint64_t magnitude = micros < 0 ? -static_cast<uint64_t>(micros) : static_cast<uint64_t>(micros);
  absl::StatusOr<Number> seconds = Number::FromParts(micros < 0, magnitude, kMicrosExponent);
  ITEMDB_CHECK(seconds.ok());
  return *seconds;
}

// The range of times that count as expired: five years ago to now.
Number OldestTime(int64_t now_us) { return SecondsOf(now_us - kMaxExpiredSeconds * kMicrosPerSecond); }
Number LatestTime(int64_t now_us) { return SecondsOf(now_us); }

std::string EncodeTime(const Number& time) {
  std::string key;
  AppendKeyValue(ValueView(EncodeValue(ValueType::kN, time.ToString())), &key);
  return key;
}

}  // namespace

KeyRange ExpiredEntries(int64_t now_us) {
  return {EncodeTime(OldestTime(now_us)), PrefixSuccessor(EncodeTime(LatestTime(now_us)))};
}

bool HasExpired(const Table& table, ItemView item, int64_t now_us) {
  const Index* index = table.FindTimeToLiveIndex();
  if (index == nullptr || index->state != IndexState::kActive) return false;
  std::optional<ValueView> value = item.Find(index->partition[0].name);
  if (!value.has_value() || value->type() != ValueType::kN) return false;
  absl::StatusOr<Number> time = Number::Parse(value->payload());
  return time.ok() && *time >= OldestTime(now_us) && *time <= LatestTime(now_us);
}

}  // namespace itemdb::storage
