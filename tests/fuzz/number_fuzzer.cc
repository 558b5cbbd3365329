// Numbers: parsing, the canonical text, order and exact arithmetic. An input is two texts with a space
// between.
#include <cstdint>
#include <string>

#include "storage/base/check.h"
#include "storage/values/number.h"

namespace itemdb {
namespace {

Number Checked(const Number& number) {
  std::string text = number.ToString();
  auto again = Number::Parse(text);
  ITEMDB_CHECK(again.ok() && *again == number && again->ToString() == text);
  ITEMDB_CHECK(Number::SizeBytes(text) == number.SizeBytes() && number.SizeBytes() <= 22);
  auto parts = Number::FromParts(number.is_negative(), number.coefficient(), number.exponent());
  ITEMDB_CHECK(parts.ok() && *parts == number);
  return number;
}

void Run(const Number& a, const Number& b) {
  ITEMDB_CHECK((a < b) + (b < a) + (a == b) == 1);
  ITEMDB_CHECK((a == b) == (a.ToString() == b.ToString()));
  auto sum = Number::Add(a, b);
  auto mirrored = Number::Add(b, a);
  ITEMDB_CHECK(sum.ok() == mirrored.ok());
  if (sum.ok()) {
    ITEMDB_CHECK(Checked(*sum) == *mirrored);
    // Exact, so that it can be taken back.
    auto back = Number::Subtract(*sum, b);
    ITEMDB_CHECK(back.ok() && *back == a);
    if (b > Number()) ITEMDB_CHECK(*sum > a);
  }
  auto difference = Number::Subtract(a, b);
  if (difference.ok()) {
    Checked(*difference);
    ITEMDB_CHECK((*difference > Number()) == (a > b) && difference->is_zero() == (a == b));
  }
}

}  // namespace
}  // namespace itemdb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  std::string_view input(reinterpret_cast<const char*>(data), bytes);
  size_t space = input.find(' ');
  auto a = itemdb::Number::Parse(input.substr(0, space));
  if (!a.ok()) ITEMDB_CHECK(absl::IsInvalidArgument(a.status()) && !a.status().message().empty());
  if (a.ok()) itemdb::Checked(*a);
  if (space == std::string_view::npos) return 0;
  auto b = itemdb::Number::Parse(input.substr(space + 1));
  if (a.ok() && b.ok()) itemdb::Run(*a, itemdb::Checked(*b));
  return 0;
}
