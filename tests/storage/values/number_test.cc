#include "storage/values/number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>

#include "tests/storage/values/decimal_oracle.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::storage {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kOverflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr std::string_view kUnderflow =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";
constexpr std::string_view kTooManyDigits = "Attempting to store more than 38 significant digits in a Number";
constexpr std::string_view kNotANumber = "The parameter cannot be converted to a numeric value";

std::string Nines(size_t count) { return std::string(count, '9'); }
std::string Zeros(size_t count) { return std::string(count, '0'); }

Number N(std::string_view text) {
  absl::StatusOr<Number> number = Number::Parse(text);
  EXPECT_TRUE(number.ok()) << text << ": " << number.status();
  return number.value_or(Number());
}

std::string ErrorOf(std::string_view text) {
  absl::StatusOr<Number> number = Number::Parse(text);
  if (number.ok()) return "accepted as " + number->ToString();
  EXPECT_EQ(ReasonOf(number.status()), kReasonValidation);
  return MessageOf(number.status());
}

TEST(Number, PrintsThePlainForm_SEM_012) {
  const struct {
    std::string text, expected;
  } rows[] = {
      {"0", "0"},
      {"-0", "0"},
      {"+0.000", "0"},
      {"0e125", "0"},
      {"0.0e126", "0"},
      {"0e-999999999999999999", "0"},
      {"-0e-5", "0"},
      {"25.00", "25"},
      {"1000", "1000"},
      {"1e3", "1000"},
      {"1000.0", "1000"},
      {"+1.E3", "1000"},
      {".5", "0.5"},
      {"5.", "5"},
      {"-000.0500", "-0.05"},
      {"12.50e1", "125"},
      {"12.5e-3", "0.0125"},
      {"1E125", "1" + Zeros(125)},
      {"1E-130", "0." + Zeros(129) + "1"},
      {"1e-000000000000000000000000000002", "0.01"},
      {"10000000000000000000000000000000000000000", "1" + Zeros(40)},
      {"1" + Zeros(125), "1" + Zeros(125)},
      {Zeros(100'000) + "7" + Zeros(3) + "." + Zeros(100'000), "7000"},
      {"0." + Zeros(100'000) + "7e100001", "7"},
      {"123456789012345678901234567890.12345678", "123456789012345678901234567890.12345678"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text.substr(0, 60));
    EXPECT_EQ(N(row.text).ToString(), row.expected);
    EXPECT_EQ(N(row.expected).ToString(), row.expected);
  }
}

TEST(Number, AcceptsTheWholeRangeAndNothingBeyond_SEM_011) {
  for (std::string sign : {"", "-"}) {
    SCOPED_TRACE(sign);
    EXPECT_EQ(N(sign + "9." + Nines(37) + "E+125").ToString(), sign + Nines(38) + Zeros(88));
    EXPECT_EQ(N(sign + "1E-130").exponent(), -130);
    EXPECT_EQ(N(sign + "1." + Nines(37) + "E-130").exponent(), -167);
    EXPECT_EQ(N(sign + Nines(38)).ToString(), sign + Nines(38));
    EXPECT_EQ(N(sign + "0." + Nines(38)).ToString(), sign + "0." + Nines(38));

    EXPECT_EQ(ErrorOf(sign + "1E126"), kOverflow);
    EXPECT_EQ(ErrorOf(sign + "10E125"), kOverflow);
    EXPECT_EQ(ErrorOf(sign + "1" + Zeros(126)), kOverflow);
    // A zero has an exponent too.
    EXPECT_EQ(ErrorOf(sign + "0E126"), kOverflow);
    EXPECT_EQ(ErrorOf(sign + "00.0E127"), kOverflow);
    EXPECT_EQ(ErrorOf(sign + "0E999999999999999999"), kOverflow);
    EXPECT_EQ(ErrorOf(sign + "0.1E-129"), "accepted as " + N(sign + "1e-130").ToString());
    EXPECT_EQ(ErrorOf(sign + "9." + Nines(37) + "E-131"), kUnderflow);
    EXPECT_EQ(ErrorOf(sign + "0." + Zeros(130) + "1"), kUnderflow);

    EXPECT_EQ(ErrorOf(sign + Nines(39)), kTooManyDigits);
    EXPECT_EQ(ErrorOf(sign + "1" + Zeros(37) + "1"), kTooManyDigits);
    EXPECT_EQ(ErrorOf(sign + "1." + Zeros(37) + "1"), kTooManyDigits);
    EXPECT_EQ(ErrorOf(sign + "1" + Zeros(200) + "1"), kTooManyDigits);
  }
}

// An exponent of any length must not overflow an int, and must not take much time or memory.
TEST(Number, BoundsTheExponent_SEM_012) {
  EXPECT_EQ(ErrorOf("1e999999999999999999"), kOverflow);
  EXPECT_EQ(ErrorOf("1e-999999999999999999"), kUnderflow);
  EXPECT_EQ(ErrorOf("1e" + Nines(100'000)), kOverflow);
  EXPECT_EQ(ErrorOf("-1e-" + Nines(100'000)), kUnderflow);
  EXPECT_EQ(ErrorOf("1e2147483648"), kOverflow);
  EXPECT_EQ(ErrorOf("1e-9223372036854775809"), kUnderflow);
  EXPECT_EQ(ErrorOf("1e18446744073709551617"), kOverflow);
}

TEST(Number, RefusesWhatIsNotANumber_SEM_011) {
  const std::string texts[] = {
      "",
      "+",
      "-",
      ".",
      "-.",
      "e5",
      ".e5",
      "1e",
      "1e+",
      "1e-",
      "1e1.5",
      "1 ",
      " 1",
      "1.2.3",
      "--1",
      "+-1",
      "1-",
      "0x10",
      "1f",
      "Inf",
      "NaN",
      "1,5",
      "1_0",
      "1e5e5",
      "٣",
      "1\n",
      "abc",
      Nines(50) + "x",
      std::string("1\0", 2),
      std::string("\0", 1),
  };
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ErrorOf(text), HasSubstr(kNotANumber));
  }
  EXPECT_EQ(ErrorOf("abc"), std::string(kNotANumber) + ": abc");
}

TEST(Number, CutsLongTextInTheError) {
  EXPECT_THAT(ErrorOf("x" + Nines(100'000)).size(), testing::Lt(200u));
  // Unprintable characters are escaped, because the text is sent in a header.
  EXPECT_EQ(ErrorOf("1\n\xff"), std::string(kNotANumber) + ": 1\\n\\xff");
}

TEST(Number, CountsItsBytes_SEM_003) {
  const struct {
    std::string text;
    size_t expected;
  } rows[] = {
      {"0", 1},      {"123456", 4}, {"3.14159", 5}, {"100.5", 4},  {Nines(38), 20}, {"-" + Nines(38), 21},
      {"1", 2},      {"-1", 3},     {"10", 2},      {"100", 2},    {"12", 2},       {"123", 3},
      {"1E125", 2},  {"1E-130", 2}, {"0.5", 2},     {"0.0005", 2}, {"0.0105", 3},   {"1.05", 3},
      {"-0.001", 3}, {"1.5", 3},    {"1200", 2},    {"1200.5", 4}, {"10.01", 3},    {"12.345", 4},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(N(row.text).SizeBytes(), row.expected);
  }
}

TEST(Number, IsEqualByValue_SEM_013) {
  EXPECT_EQ(N("1000"), N("1e3"));
  EXPECT_EQ(N("1000"), N("1000.0"));
  EXPECT_EQ(N("-0"), N("0"));
  EXPECT_NE(N("1"), N("-1"));
  EXPECT_NE(N(Nines(38)), N("1e38"));
}

TEST(Number, OrdersNumerically_SEM_014) {
  const std::string ascending[] = {"-9e125",
                                   "-1e125",
                                   "-" + Nines(38),
                                   "-1000.5",
                                   "-1000",
                                   "-1.01",
                                   "-1",
                                   "-0.99",
                                   "-1e-129",
                                   "-1e-130",
                                   "0",
                                   "1e-130",
                                   "1." + Nines(37) + "e-130",
                                   "2e-130",
                                   "0.99",
                                   "1",
                                   "1.01",
                                   "9",
                                   "10",
                                   "11",
                                   "99",
                                   "100",
                                   Nines(38),
                                   "1e38",
                                   "9e125"};
  for (size_t i = 0; i < std::size(ascending); ++i) {
    for (size_t j = 0; j < std::size(ascending); ++j) {
      SCOPED_TRACE(ascending[i] + " against " + ascending[j]);
      EXPECT_EQ(N(ascending[i]) <=> N(ascending[j]), i <=> j);
    }
  }
}

TEST(Number, AddsExactlyOrRefuses_EXP_30) {
  const struct {
    std::string a, b, expected;
  } rows[] = {
      {"0.1", "0.2", "0.3"},
      {"1", "-1", "0"},
      {"1e37", "1", "1" + Zeros(36) + "1"},
      {"1e38", "1", std::string(kTooManyDigits)},
      {"1e38", "-1", Nines(38)},
      {"-1e38", "1", "-" + Nines(38)},
      {"1e39", "-1", std::string(kTooManyDigits)},
      {"2e38", "-1", std::string(kTooManyDigits)},
      {"2e38", "-" + Nines(38), std::string(kTooManyDigits)},
      {"1.9e38", "-" + Nines(38), "9" + Zeros(36) + "1"},
      {Nines(38), "1", "1" + Zeros(38)},
      {Nines(38), "2", std::string(kTooManyDigits)},
      {Nines(38), Nines(38), std::string(kTooManyDigits)},
      {"9." + Nines(37) + "e125", "1e88", std::string(kOverflow)},
      {"9e125", "1e125", std::string(kOverflow)},
      {"1e125", "1e-130", std::string(kTooManyDigits)},
      {"1.1e-130", "-1e-130", std::string(kUnderflow)},
      {"9e125", "0", "9" + Zeros(125)},
      {"0", "1e-130", "0." + Zeros(129) + "1"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.a + " + " + row.b);
    for (bool swapped : {false, true}) {
      absl::StatusOr<Number> sum = Number::Add(N(swapped ? row.b : row.a), N(swapped ? row.a : row.b));
      EXPECT_EQ(sum.ok() ? sum->ToString() : MessageOf(sum.status()), row.expected);
    }
  }
  EXPECT_EQ(Number::Subtract(N("0"), N("5"))->ToString(), "-5");
  EXPECT_EQ(Number::Subtract(N("0"), N("0"))->ToString(), "0");
  EXPECT_FALSE(Number::Subtract(N("5"), N("5"))->is_negative());
  EXPECT_EQ(Number::Subtract(N("-9e125"), N("1e125")).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Number, FromPartsNormalisesAndChecks) {
  EXPECT_EQ(*Number::FromParts(false, 2500, -2), N("25"));
  EXPECT_EQ(*Number::FromParts(true, 0, 1000), N("0"));
  unsigned __int128 all = ~static_cast<unsigned __int128>(0);
  EXPECT_EQ(MessageOf(Number::FromParts(false, all, 0).status()), kTooManyDigits);
  EXPECT_EQ(MessageOf(Number::FromParts(false, 1, INT_MAX).status()), kOverflow);
  EXPECT_EQ(MessageOf(Number::FromParts(false, 10, INT_MAX).status()), kOverflow);
  EXPECT_EQ(MessageOf(Number::FromParts(false, 1, INT_MIN).status()), kUnderflow);
}

// Compared with arithmetic that shares no code with number.h.
TEST(Number, AgreesWithSchoolbookArithmetic) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int sums = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string a_text = RandomNumberText(random), b_text = RandomNumberText(random);
    SCOPED_TRACE(a_text + " and " + b_text);
    Number a = N(a_text), b = N(b_text);
    DecimalOracle oracle_a = DecimalOracle::Parse(a_text), oracle_b = DecimalOracle::Parse(b_text);
    ASSERT_EQ(a.ToString(), oracle_a.ToString());
    ASSERT_EQ(N(a.ToString()), a);
    int order = oracle_a.Compare(oracle_b);
    ASSERT_EQ(a <=> b, order <=> 0);
    ASSERT_EQ(a == b, order == 0);
    for (bool subtract : {false, true}) {
      DecimalOracle expected = oracle_a.Plus(subtract ? oracle_b.Negated() : oracle_b);
      absl::StatusOr<Number> result = subtract ? Number::Subtract(a, b) : Number::Add(a, b);
      ASSERT_EQ(result.ok(), expected.InRange()) << expected.ToString();
      if (result.ok()) {
        ASSERT_EQ(result->ToString(), expected.ToString());
        ++sums;
      }
    }
  }
  // If most sums were out of range, the test would show little.
  EXPECT_GT(sums, 10'000);
}

}  // namespace
}  // namespace itemdb::storage
