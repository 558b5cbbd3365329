#include "storage/vectors/distance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace itemdb::storage {
namespace {

// Below this a square, or a sum of squares, has lost digits that a float should have.
constexpr float kSmallSquare = 1e-30F;

// Eight floats. GCC and clang make instructions of the machine of it.
typedef float Floats __attribute__((vector_size(32)));
constexpr size_t kLanes = sizeof(Floats) / sizeof(float);
constexpr size_t kSums = 4;

// The sum over all elements of a * b, or with kDifference of (a - b) squared.
template <bool kDifference>
[[gnu::always_inline]] inline float Sum(const float* a, const float* b, size_t count) {
  Floats sums[kSums] = {};
  size_t i = 0;
  for (; i + kSums * kLanes <= count; i += kSums * kLanes) {
    for (size_t j = 0; j < kSums; ++j) {
      Floats x, y;
      std::memcpy(&x, a + i + j * kLanes, sizeof(x));
      std::memcpy(&y, b + i + j * kLanes, sizeof(y));
      if constexpr (kDifference) {
        const Floats difference = x - y;
        sums[j] += difference * difference;
      } else {
        sums[j] += x * y;
      }
    }
  }
  const Floats all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float sum = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) sum += all[lane];
  for (; i < count; ++i) sum += kDifference ? (a[i] - b[i]) * (a[i] - b[i]) : a[i] * b[i];
  return sum;
}

using SumFunction = float (*)(const float*, const float*, size_t);

template <bool kDifference>
float PlainSum(const float* a, const float* b, size_t count) {
  return Sum<kDifference>(a, b, count);
}

#if defined(__x86_64__)
template <bool kDifference>
__attribute__((target("avx2,fma"))) float Avx2Sum(const float* a, const float* b, size_t count) {
  return Sum<kDifference>(a, b, count);
}
#endif

// The widest that the machine has.
template <bool kDifference>
SumFunction Choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Avx2Sum<kDifference>;
#endif
  return PlainSum<kDifference>;
}

const SumFunction kDotProduct = Choose<false>();
const SumFunction kSquaredDistance = Choose<true>();

double ExactDot(const float* a, const float* b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

double ExactCosine(const float* a, const float* b, size_t count) {
  const double lengths = std::sqrt(ExactDot(a, a, count)) * std::sqrt(ExactDot(b, b, count));
  return lengths == 0 ? 0 : ExactDot(a, b, count) / lengths;
}

double ExactDistance(const float* a, const float* b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

float ToFiniteFloat(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMax, kMax));
}

}  // namespace

float InverseLength(const float* vector, size_t dimensions) {
  const double length = std::sqrt(ExactDot(vector, vector, dimensions));
  if (length == 0) return 0;
  if (length < 1e-15 || length > 1e15) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(1 / length);
}

float RankOf(v1::VectorDistanceFunction distance, const float* a, float a_inverse_length, const float* b,
             float b_inverse_length, size_t dimensions) {
  switch (distance) {
    case v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN: {
      const float squared = kSquaredDistance(a, b, dimensions);
      if (squared >= kSmallSquare && std::isfinite(squared)) return std::sqrt(squared);
      return ToFiniteFloat(ExactDistance(a, b, dimensions));
    }
    case v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT: {
      const float product = kDotProduct(a, b, dimensions);
      return -(std::isfinite(product) ? product : ToFiniteFloat(ExactDot(a, b, dimensions)));
    }
    default: {
      float cosine = kDotProduct(a, b, dimensions) * a_inverse_length * b_inverse_length;
      if (!std::isfinite(cosine)) cosine = ToFiniteFloat(ExactCosine(a, b, dimensions));
      return std::clamp(1 - cosine, 0.0F, 2.0F);
    }
  }
}

VectorScorer::VectorScorer(v1::VectorDistanceFunction distance, const float* query, size_t dimensions)
    : distance_(distance),
      query_(query),
      dimensions_(dimensions),
      inverse_length_(InverseLength(query, dimensions)) {}

}  // namespace itemdb::storage
