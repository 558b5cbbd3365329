// The distance functions against sums in doubles, and the texts of floats.
#include "storage/vectors/distance.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "storage/values/float_vector.h"
#include "tests/storage/database/vectors/vector_tables.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::testing {
namespace {

float ScoreOf(v1::VectorDistanceFunction distance, const Vector& vector, const Vector& query) {
  const VectorScorer scorer(distance, query.data(), query.size());
  return scorer.ScoreOfRank(scorer.Rank(vector.data(), InverseLength(vector.data(), vector.size())));
}

TEST(Distance, IsThatOfDoublesForEveryLength) {
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(TestSeed()));
  std::mt19937_64 random(TestSeed());
  std::normal_distribution<float> normal;
  for (size_t dimensions = 1; dimensions < 150; ++dimensions) {
    for (const float scale : {1.0F, 1e-3F, 1e4F}) {
      Vector a(dimensions), b(dimensions);
      double sizes = 0;
      for (size_t i = 0; i < dimensions; ++i) {
        a[i] = normal(random) * scale;
        b[i] = normal(random) * scale;
        sizes += std::abs(static_cast<double>(a[i]) * b[i]) + a[i] * a[i] + b[i] * b[i];
      }
      for (const auto distance : kDistanceFunctions) {
        const double expected = NaiveScore(distance, a, b);
        const double bound = distance == v1::VECTOR_DISTANCE_FUNCTION_COSINE        ? 1e-5
                             : distance == v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT ? sizes * 1e-6
                                                                                    : expected * 1e-5;
        EXPECT_NEAR(ScoreOf(distance, a, b), expected, bound) << dimensions << " " << distance;
      }
    }
  }
}

// Squares of these are beyond floats, or below them.
TEST(Distance, IsFiniteAndRightForTheLargestAndSmallestFloats) {
  const float large = std::numeric_limits<float>::max();
  const float small = std::numeric_limits<float>::denorm_min();
  for (const float size : {large, large / 3, 1e30F, 1e20F, 1e-20F, 1e-30F, 1e-38F}) {
    const Vector a = {size, 0, size}, b = {size, size, 0}, c = {-size, 0, -size};
    for (const Vector& other : {a, b, c}) {
      EXPECT_NEAR(ScoreOf(v1::VECTOR_DISTANCE_FUNCTION_COSINE, a, other),
                  NaiveScore(v1::VECTOR_DISTANCE_FUNCTION_COSINE, a, other), 1e-5)
          << size;
      const double distance = NaiveScore(v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN, a, other);
      const float got = ScoreOf(v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN, a, other);
      EXPECT_NEAR(got, std::min<double>(distance, large), distance * 1e-5) << size;
      const double product = NaiveScore(v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT, a, other);
      const float score = ScoreOf(v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT, a, other);
      ASSERT_TRUE(std::isfinite(score));
      if (std::abs(product) > 1e-37) {
        EXPECT_EQ(std::signbit(score), std::signbit(product)) << size;
      }
    }
  }
  for (const auto distance : kDistanceFunctions) {
    EXPECT_TRUE(std::isfinite(ScoreOf(distance, {small, large}, {large, small})));
    EXPECT_TRUE(std::isfinite(ScoreOf(distance, {0, 0}, {large, large})));
  }
}

// A vector's score does not depend on where the vector is.
TEST(Distance, IsTheSameAtEveryAddress) {
  std::mt19937_64 random(TestSeed());
  std::normal_distribution<float> normal;
  Vector query(37), memory(37 + 16);
  for (float& element : query) element = normal(random);
  Vector vector(37);
  for (float& element : vector) element = normal(random);
  for (const auto distance : kDistanceFunctions) {
    const VectorScorer scorer(distance, query.data(), query.size());
    const float inverse = InverseLength(vector.data(), vector.size());
    const float expected = scorer.Rank(vector.data(), inverse);
    for (size_t at = 0; at < 16; ++at) {
      std::copy(vector.begin(), vector.end(), memory.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_EQ(scorer.Rank(memory.data() + at, inverse), expected) << at;
    }
  }
}

TEST(FloatVector, RoundsNumbersToTheNearestFloat) {  // VEC-13
  EXPECT_EQ(ToFloat("16777217"), 16'777'216.0F);
  EXPECT_EQ(ToFloat("16777219"), 16'777'220.0F);
  EXPECT_EQ(ToFloat("0.1"), 0.1F);
  EXPECT_EQ(ToFloat("-0.00000000000000000000000000000000000000000000000000001"), 0.0F);
  EXPECT_FALSE(std::signbit(*ToFloat("-0.00000000000000000000000000000000000000000000000000001")));
  EXPECT_EQ(ToFloat("340282346638528859811704183484516925440"), std::numeric_limits<float>::max());
  EXPECT_EQ(ToFloat("340282356779733661637539395458142568447"), std::numeric_limits<float>::max());
  EXPECT_EQ(ToFloat("340282356779733661637539395458142568448"), std::nullopt);
  EXPECT_EQ(ToFloat("1" + std::string(125, '0')), std::nullopt);
  EXPECT_EQ(ToFloat("-1" + std::string(125, '0')), std::nullopt);
}

TEST(FloatVector, ShowsTheShortestNumberThatReadsAsTheFloat) {  // VEC-13
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 2'000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value) || value == 0) continue;
    v1::AttributeValue list;
    ASSERT_TRUE(list.ParseFromString(EncodeVector(PackVector(Vector{value}))));
    ASSERT_EQ(list.l().values_size(), 1);
    EXPECT_EQ(ToFloat(list.l().values(0).n()), value) << list.l().values(0).n();
    EXPECT_LE(list.l().values(0).n().find_last_not_of("0.-"), size_t{60});
  }
}

}  // namespace
}  // namespace itemdb::testing
