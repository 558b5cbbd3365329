// The key codec: round trip, order, no encoding is a prefix of another, and bytes that are not an encoding.
//
// An input is two encoded AttributeValues, the first preceded by one byte with its length. The input is also
// decoded as key bytes from a damaged disk.
#include <cstdint>
#include <string>

#include "storage/base/check.h"
#include "storage/keys/key_codec.h"
#include "storage/values/canonical.h"
#include "storage/values/number.h"

namespace itemdb::fuzz {
namespace {

bool IsKey(const absl::StatusOr<std::string>& value) {
  if (!value.ok()) return false;
  storage::ValueType type = storage::ValueView(*value).type();
  return type == storage::ValueType::kS || type == storage::ValueType::kN || type == storage::ValueType::kB;
}

std::string EncodeKey(const std::string& value) {
  std::string encoded;
  storage::AppendKeyValue(storage::ValueView(value), &encoded);
  std::string_view rest = encoded;
  auto decoded = storage::ConsumeKeyValue(&rest);
  ITEMDB_CHECK(decoded.ok() && *decoded == value && rest.empty());
  ITEMDB_CHECK(storage::KeyValueLength(encoded) == encoded.size());
  return encoded;
}

// Compares by the data model, without the codec.
int Compare(storage::ValueView a, storage::ValueView b) {
  if (a.type() != storage::ValueType::kN) return a.payload().compare(b.payload());
  auto order = *storage::Number::Parse(a.payload()) <=> *storage::Number::Parse(b.payload());
  return order < 0 ? -1 : order > 0;
}

int Sign(int order) { return order < 0 ? -1 : order > 0; }

void ComparePair(const std::string& a, const std::string& b) {
  std::string a_key = EncodeKey(a);
  std::string b_key = EncodeKey(b);
  ITEMDB_CHECK(a == b || !b_key.starts_with(a_key));
  storage::ValueView a_view(a), b_view(b);
  if (a_view.type() != b_view.type()) return;
  ITEMDB_CHECK(Sign(a_key.compare(b_key)) == Sign(Compare(a_view, b_view)));
  if (a_view.type() == storage::ValueType::kN) return;
  // The keys for which begins_with is true are a range of encoded keys.
  std::string lower;
  storage::AppendKeyPrefix(a_view, &lower);
  std::string upper = storage::PrefixSuccessor(lower);
  bool in_range = b_key >= lower && (upper.empty() || b_key < upper);
  ITEMDB_CHECK(in_range == b_view.payload().starts_with(a_view.payload()));
}

// If bytes decode, encoding the value gives the same bytes.
void DecodeDamaged(std::string_view bytes) {
  std::string_view rest = bytes;
  auto value = storage::ConsumeKeyValue(&rest);
  if (!value.ok()) {
    ITEMDB_CHECK(absl::IsDataLoss(value.status()));
    return;
  }
  std::string_view consumed = bytes.substr(0, bytes.size() - rest.size());
  std::string again;
  storage::AppendKeyValue(storage::ValueView(*value), &again);
  ITEMDB_CHECK(again == consumed);
  ITEMDB_CHECK(storage::KeyValueLength(bytes) == consumed.size());
}

}  // namespace
}  // namespace itemdb::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  std::string_view input(reinterpret_cast<const char*>(data), bytes);
  itemdb::fuzz::DecodeDamaged(input);
  if (input.empty()) return 0;
  size_t length = data[0];
  auto a = itemdb::storage::CanonicalizeValue(input.substr(1, length));
  auto b = itemdb::storage::CanonicalizeValue(input.substr(std::min(input.size(), 1 + length)));
  if (itemdb::fuzz::IsKey(a)) itemdb::fuzz::EncodeKey(*a);
  if (itemdb::fuzz::IsKey(a) && itemdb::fuzz::IsKey(b)) itemdb::fuzz::ComparePair(*a, *b);
  return 0;
}
