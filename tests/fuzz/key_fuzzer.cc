// The key codec: round trip, order, no prefixes, and bytes that no encoding has.
//
// An input is two encoded AttributeValues, the first preceded by its length in a byte; or else key bytes from
// a damaged disk.
#include <cstdint>
#include <string>

#include "storage/base/check.h"
#include "storage/keys/key_codec.h"
#include "storage/values/canonical.h"
#include "storage/values/number.h"

namespace itemdb {
namespace {

bool IsKey(const absl::StatusOr<std::string>& value) {
  if (!value.ok()) return false;
  ValueType type = ValueView(*value).type();
  return type == ValueType::kS || type == ValueType::kN || type == ValueType::kB;
}

std::string EncodeKey(const std::string& value) {
  std::string encoded;
  AppendKeyValue(ValueView(value), &encoded);
  std::string_view rest = encoded;
  auto decoded = ConsumeKeyValue(&rest);
  ITEMDB_CHECK(decoded.ok() && *decoded == value && rest.empty());
  ITEMDB_CHECK(KeyValueLength(encoded) == encoded.size());
  return encoded;
}

// By the data model, without the codec.
int Compare(ValueView a, ValueView b) {
  if (a.type() != ValueType::kN) return a.payload().compare(b.payload());
  auto order = *Number::Parse(a.payload()) <=> *Number::Parse(b.payload());
  return order < 0 ? -1 : order > 0;
}

int Sign(int order) { return order < 0 ? -1 : order > 0; }

void ComparePair(const std::string& a, const std::string& b) {
  std::string a_key = EncodeKey(a);
  std::string b_key = EncodeKey(b);
  ITEMDB_CHECK(a == b || !b_key.starts_with(a_key));
  ValueView a_view(a), b_view(b);
  if (a_view.type() != b_view.type()) return;
  ITEMDB_CHECK(Sign(a_key.compare(b_key)) == Sign(Compare(a_view, b_view)));
  if (a_view.type() == ValueType::kN) return;
  // begins_with is a range of encoded keys.
  std::string lower;
  AppendKeyPrefix(a_view, &lower);
  std::string upper = PrefixSuccessor(lower);
  bool in_range = b_key >= lower && (upper.empty() || b_key < upper);
  ITEMDB_CHECK(in_range == b_view.payload().starts_with(a_view.payload()));
}

// Whatever decodes is exactly what encoding writes.
void DecodeDamaged(std::string_view bytes) {
  std::string_view rest = bytes;
  auto value = ConsumeKeyValue(&rest);
  if (!value.ok()) {
    ITEMDB_CHECK(absl::IsDataLoss(value.status()));
    return;
  }
  std::string_view consumed = bytes.substr(0, bytes.size() - rest.size());
  std::string again;
  AppendKeyValue(ValueView(*value), &again);
  ITEMDB_CHECK(again == consumed);
  ITEMDB_CHECK(KeyValueLength(bytes) == consumed.size());
}

}  // namespace
}  // namespace itemdb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  std::string_view input(reinterpret_cast<const char*>(data), bytes);
  itemdb::DecodeDamaged(input);
  if (input.empty()) return 0;
  size_t length = data[0];
  auto a = itemdb::CanonicalizeValue(input.substr(1, length));
  auto b = itemdb::CanonicalizeValue(input.substr(std::min(input.size(), 1 + length)));
  if (itemdb::IsKey(a)) itemdb::EncodeKey(*a);
  if (itemdb::IsKey(a) && itemdb::IsKey(b)) itemdb::ComparePair(*a, *b);
  return 0;
}
