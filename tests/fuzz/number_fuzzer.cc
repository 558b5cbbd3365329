// Numbers: parsing, canonical text, order and exact arithmetic. An input is two texts separated by a space.
#include <cstdint>
#include <string>

#include "storage/base/check.h"
#include "storage/values/number.h"

namespace itemdb::fuzz {
namespace {

storage::Number Checked(const storage::Number& number) {
  std::string text = number.ToString();
  auto again = storage::Number::Parse(text);
  ITEMDB_CHECK(again.ok() && *again == number && again->ToString() == text);
  ITEMDB_CHECK(storage::Number::SizeBytes(text) == number.SizeBytes() && number.SizeBytes() <= 22);
  auto parts = storage::Number::FromParts(number.is_negative(), number.coefficient(), number.exponent());
  ITEMDB_CHECK(parts.ok() && *parts == number);
  return number;
}

void Run(const storage::Number& a, const storage::Number& b) {
  ITEMDB_CHECK((a < b) + (b < a) + (a == b) == 1);
  ITEMDB_CHECK((a == b) == (a.ToString() == b.ToString()));
  auto sum = storage::Number::Add(a, b);
  auto mirrored = storage::Number::Add(b, a);
  ITEMDB_CHECK(sum.ok() == mirrored.ok());
  if (sum.ok()) {
    ITEMDB_CHECK(Checked(*sum) == *mirrored);
    // Addition is exact, so subtraction gives the first number again.
    auto back = storage::Number::Subtract(*sum, b);
    ITEMDB_CHECK(back.ok() && *back == a);
    if (b > storage::Number()) ITEMDB_CHECK(*sum > a);
  }
  auto difference = storage::Number::Subtract(a, b);
  if (difference.ok()) {
    Checked(*difference);
    ITEMDB_CHECK((*difference > storage::Number()) == (a > b) && difference->is_zero() == (a == b));
  }
}

}  // namespace
}  // namespace itemdb::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  std::string_view input(reinterpret_cast<const char*>(data), bytes);
  size_t space = input.find(' ');
  auto a = itemdb::storage::Number::Parse(input.substr(0, space));
  if (!a.ok()) ITEMDB_CHECK(absl::IsInvalidArgument(a.status()) && !a.status().message().empty());
  if (a.ok()) itemdb::fuzz::Checked(*a);
  if (space == std::string_view::npos) return 0;
  auto b = itemdb::storage::Number::Parse(input.substr(space + 1));
  if (a.ok() && b.ok()) itemdb::fuzz::Run(*a, itemdb::fuzz::Checked(*b));
  return 0;
}
