#include "storage/expressions/set_algebra.h"

#include "storage/expressions/compare.h"

namespace itemdb::storage {
namespace {

// The order of members in canonical sets.
std::strong_ordering CompareMembers(ValueType type, std::string_view a, std::string_view b) {
  return type == ValueType::kNS ? CompareNumberTexts(a, b) : a <=> b;
}

enum class Keep { kBoth, kOnlyFirst };

// Both sets are sorted, so one merge meets all members in order.
std::string Merge(ValueType type, SetView a, SetView b, Keep keep) {
  std::string result;
  result.reserve(a.encoded().size() + (keep == Keep::kBoth ? b.encoded().size() : 0));
  auto in_a = a.begin();
  auto in_b = b.begin();
  while (in_a != a.end() || in_b != b.end()) {
    std::strong_ordering order = in_b == b.end()   ? std::strong_ordering::less
                                 : in_a == a.end() ? std::strong_ordering::greater
                                                   : CompareMembers(type, *in_a, *in_b);
    bool from_a = order < 0 || (order == 0 && keep == Keep::kBoth);
    if (from_a) {
      AppendSetElement(*in_a, &result);
    } else if (order > 0 && keep == Keep::kBoth) {
      AppendSetElement(*in_b, &result);
    }
    if (order <= 0) ++in_a;
    if (order >= 0) ++in_b;
  }
  return result;
}

}  // namespace

std::string SetUnion(ValueType type, SetView a, SetView b) { return Merge(type, a, b, Keep::kBoth); }

std::string SetDifference(ValueType type, SetView a, SetView b) {
  return Merge(type, a, b, Keep::kOnlyFirst);
}

}  // namespace itemdb::storage
