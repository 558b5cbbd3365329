// Values as plain C++ objects, for tests that compare the evaluation on encoded bytes with a simple one.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "storage/values/value_view.h"

namespace itemdb::storage {

// A value. Numbers are multiples of 0.5, which doubles hold exactly.
struct Model {
  ValueType type = ValueType::kNull;
  double number = 0;                      // kN
  std::string text = {};                  // kS, kB
  bool boolean = false;                   // kBool
  std::set<double> numbers = {};          // kNS
  std::set<std::string> texts = {};       // kSS, kBS
  std::vector<Model> list = {};           // kL
  std::map<std::string, Model> map = {};  // kM; an item is a map

  bool operator==(const Model&) const = default;
};

Model NumberModel(double number);

// One step of a path: a name or an index.
using ModelStep = std::variant<std::string, size_t>;
using ModelPath = std::vector<ModelStep>;

// Null if nothing is at `path`.
const Model* Find(const Model& item, const ModelPath& path);

// In the notation of notation.h.
std::string Notation(const Model& model);

// Small values of few kinds, so that random values are often equal, contain each other, or have matching
// types. `depth` limits the nesting of lists and maps.
Model RandomValue(std::mt19937_64& random, int depth);
Model RandomItem(std::mt19937_64& random);
ModelPath RandomPath(std::mt19937_64& random);

}  // namespace itemdb::storage
