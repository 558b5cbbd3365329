#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "itemdb/errors.h"
#include "itemdb/value.h"

namespace itemdb {
namespace {

Number N(const std::string& text) {
  absl::StatusOr<Number> number = Number::Parse(text);
  EXPECT_TRUE(number.ok()) << text << ": " << number.status();
  return number.value_or(Number());
}

TEST(ClientNumber, KeepsEveryDigitOfItsText) {
  const std::string digits = "12345678901234567890123456789012345678";
  EXPECT_EQ(N(digits).text(), digits);
  EXPECT_EQ(N("25.00").text(), "25.00");
  EXPECT_EQ(Number(std::numeric_limits<int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(Number(std::numeric_limits<uint64_t>::max()).text(), "18446744073709551615");
  EXPECT_EQ(Number().text(), "0");
}

TEST(ClientNumber, RefusesWhatIsNoNumber) {
  for (const std::string text : {"", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "1 ", " 1", "0x10",
                                 "1e1234567", "nan", "inf", "1,5", "--1", "1e5.0"}) {
    SCOPED_TRACE(text);
    const absl::StatusOr<Number> number = Number::Parse(text);
    ASSERT_FALSE(number.ok());
    EXPECT_EQ(number.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReasonOf(number.status()), kReasonValidation);
  }
  EXPECT_TRUE(Number::Parse(std::string(Number::kMaxTextBytes, '1')).ok());
  EXPECT_FALSE(Number::Parse(std::string(Number::kMaxTextBytes + 1, '1')).ok());
}

// Numbers are equal by value: 1000 = 1e3 = 1000.0 (SEM-013).
TEST(ClientNumber, EqualsByValueHoweverWritten) {
  EXPECT_EQ(N("1000"), N("1e3"));
  EXPECT_EQ(N("1000"), N("1000.0"));
  EXPECT_EQ(N("25.00"), N("25"));
  EXPECT_EQ(N(".5"), N("0.50"));
  EXPECT_EQ(N("5."), N("+5"));
  EXPECT_EQ(N("-0"), N("0e5"));
  EXPECT_EQ(N("0.001"), N("1E-3"));
  EXPECT_EQ(N("1e000000000001"), N("10"));
  EXPECT_NE(N("0.1"), N("0.10000000000000000000000000000000000001"));
}

TEST(ClientNumber, OrdersByValue) {
  const std::vector<std::string> ascending = {
      "-1e125", "-1001", "-1000.5", "-1000", "-12", "-2",  "-1.5", "-1", "-0.5", "-0.05", "-1e-130", "0",
      "1e-130", "0.05",  "0.45",    "0.5",   "1",   "1.5", "2",    "9",  "10",   "99",    "100",     "1e125"};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      SCOPED_TRACE(ascending[i] + " and " + ascending[j]);
      EXPECT_EQ(N(ascending[i]) <=> N(ascending[j]), i <=> j);
    }
  }
}

// Integers scaled by a random power of ten, written in a random form, compare like the integers.
TEST(ClientNumber, OrdersRandomNumbersLikeIntegers) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> number(-2'000, 2'000);
  std::uniform_int_distribution<int> zeros(0, 5);
  const auto scaled = [&](int value) {
    const int n = zeros(random);
    // value * 10^3, written as the value, n zeros and the rest as exponent.
    return N(std::to_string(value) + std::string(value == 0 ? 0 : n, '0') + "e" + std::to_string(3 - n));
  };
  for (int i = 0; i < 5'000; ++i) {
    const int a = number(random);
    const int b = number(random);
    ASSERT_EQ(scaled(a) <=> scaled(b), a <=> b) << a << " " << b;
  }
}

TEST(ClientNumber, BecomesAnIntegerOnlyWhenItIsOne) {
  EXPECT_EQ(*N("25.00").ToInt64(), 25);
  EXPECT_EQ(*N("-1.2e1").ToInt64(), -12);
  EXPECT_EQ(*N("0.0").ToInt64(), 0);
  EXPECT_EQ(*N("9223372036854775807").ToInt64(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(*N("-9223372036854775808").ToInt64(), std::numeric_limits<int64_t>::min());
  for (const std::string text :
       {"0.5", "9223372036854775808", "-9223372036854775809", "1e19", "1e125", "1e-130"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(N(text).ToInt64().status().code(), absl::StatusCode::kOutOfRange);
  }
}

TEST(ClientNumber, BecomesTheNearestDouble) {
  EXPECT_EQ(N("0.1").ToDouble(), 0.1);
  EXPECT_EQ(N("-125.75").ToDouble(), -125.75);
  EXPECT_EQ(N("0").ToDouble(), 0.0);
  EXPECT_EQ(N("1e125").ToDouble(), 1e125);
  EXPECT_EQ(N("1e999999").ToDouble(), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace itemdb
