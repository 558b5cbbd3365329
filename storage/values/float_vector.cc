#include "storage/values/float_vector.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "storage/values/number.h"

namespace itemdb::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "packed vectors are little-endian");

// Returns the canonical number text of the shortest decimal that rounds to `value`.
std::string NumberText(float value) {
  char text[32];
  const auto written = std::to_chars(text, text + sizeof(text), value);
  const std::string_view shortest(text, static_cast<size_t>(written.ptr - text));
  // Bytes from disk may hold what no number is.
  const auto number = Number::Parse(shortest);
  return number.ok() ? number->ToString() : "0";
}

}  // namespace

std::optional<float> ToFloat(std::string_view number) {
  float value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  if (read.ec == std::errc::result_out_of_range) {
    // Too large, or so small that it rounds to zero or nearly so.
    double exact = 0;
    const auto again = std::from_chars(number.data(), number.data() + number.size(), exact);
    if (again.ec != std::errc() || std::abs(exact) > 1) return std::nullopt;
    value = static_cast<float>(exact);
  } else if (read.ec != std::errc()) {
    return std::nullopt;
  }
  if (!std::isfinite(value)) return std::nullopt;
  return value == 0 ? 0 : value;
}

std::optional<VectorProblem> ReadVector(ValueView value, size_t dimensions, std::vector<float>* vector) {
  if (value.type() != ValueType::kL) return VectorProblem{.kind = VectorProblem::Kind::kNotAList};
  const ListView list(value.payload());
  vector->clear();
  std::optional<VectorProblem> problem;
  size_t size = 0;
  for (const ValueView element : list) {
    std::optional<float> number;
    if (element.type() == ValueType::kN) number = ToFloat(element.payload());
    if (!number.has_value() && !problem.has_value())
      problem = {.kind = VectorProblem::Kind::kElement, .element = size, .type = element.type()};
    if (size++ < dimensions) vector->push_back(number.value_or(0));
  }
  if (size != dimensions) return VectorProblem{.kind = VectorProblem::Kind::kSize, .size = size};
  return problem;
}

std::string PackVector(std::span<const float> vector) {
  return std::string(reinterpret_cast<const char*>(vector.data()), vector.size_bytes());
}

void UnpackVector(std::string_view packed, std::span<float> vector) {
  std::memcpy(vector.data(), packed.data(), vector.size_bytes());
}

std::string EncodeVector(std::string_view packed) {
  std::string list;
  for (; packed.size() >= sizeof(float); packed.remove_prefix(sizeof(float))) {
    float value = 0;
    std::memcpy(&value, packed.data(), sizeof(value));
    AppendListElement(EncodeValue(ValueType::kN, NumberText(value)), &list);
  }
  return EncodeValue(ValueType::kL, list);
}

}  // namespace itemdb::storage
