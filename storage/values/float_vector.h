// Vectors of 32-bit floating-point numbers: how vector indexes hold the lists of numbers of items (VEC-13).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/values/value_view.h"

namespace itemdb::storage {

// Why a value is no vector.
struct VectorProblem {
  enum class Kind {
    // It is no list.
    kNotAList,
    // It has another number of elements: `size`.
    kSize,
    // The element `element` is no number, or one beyond the range of floats. `type`: what it is.
    kElement,
  };
  Kind kind = Kind::kNotAList;
  size_t size = 0;
  size_t element = 0;
  ValueType type = ValueType::kL;
};

// Reads a list of `dimensions` numbers into `*vector`, each rounded to the nearest float; what rounds to zero
// becomes +0. nullopt: read. Otherwise `*vector` is undefined.
std::optional<VectorProblem> ReadVector(ValueView value, size_t dimensions, std::vector<float>* vector);

// The float nearest to `number`, a canonical number; nullopt: it is beyond the range of floats.
std::optional<float> ToFloat(std::string_view number);

// The bytes of the floats, little-endian, and back: UnpackVector needs 4 bytes for each element of `vector`.
std::string PackVector(std::span<const float> vector);
void UnpackVector(std::string_view packed, std::span<float> vector);

// The encoded list of numbers whose element i is the shortest decimal that rounds to float i of `packed`.
std::string EncodeVector(std::string_view packed);

}  // namespace itemdb::storage
