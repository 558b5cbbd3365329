#include "tests/storage/expressions/model.h"

#include "tests/storage/values/test_seed.h"

namespace itemdb::storage {
namespace {

const char* const kTexts[] = {"", "a", "b", "ab", "ba", "aab"};
const char* const kNames[] = {"p", "q", "r"};

std::string NumberText(double number) {
  std::string text =
      std::to_string(static_cast<int>(number * 10));  // In tenths: the notation accepts an exponent.
  return text + "e-1";
}

template <typename Container, typename Write>
std::string Join(const char* open, const Container& container, const char* close, Write write) {
  std::string text = open;
  for (const auto& element : container) {
    if (text.size() > 1) text += ", ";
    text += write(element);
  }
  return text + close;
}

std::string Quoted(const char* open, const std::string& text) {
  return std::string(open).append(text).append("'");
}

double RandomNumber(std::mt19937_64& random) { return static_cast<double>(Pick(random, -4, 7)) / 2; }
std::string RandomText(std::mt19937_64& random) { return kTexts[Pick(random, 0, std::size(kTexts) - 1)]; }

}  // namespace

Model NumberModel(double number) {
  Model model;
  model.type = ValueType::kN;
  model.number = number;
  return model;
}

const Model* Find(const Model& item, const ModelPath& path) {
  const Model* at = &item;
  for (const ModelStep& step : path) {
    if (const size_t* index = std::get_if<size_t>(&step)) {
      if (at->type != ValueType::kL || *index >= at->list.size()) return nullptr;
      at = &at->list[*index];
    } else {
      if (at->type != ValueType::kM) return nullptr;
      auto found = at->map.find(std::get<std::string>(step));
      if (found == at->map.end()) return nullptr;
      at = &found->second;
    }
  }
  return at;
}

std::string Notation(const Model& model) {
  switch (model.type) {
    case ValueType::kS:
      return Quoted("'", model.text);
    case ValueType::kB:
      return Quoted("b'", model.text);
    case ValueType::kN:
      return NumberText(model.number);
    case ValueType::kBool:
      return model.boolean ? "true" : "false";
    case ValueType::kNull:
      return "null";
    case ValueType::kSS:
      return Join("<", model.texts, ">", [](const std::string& text) { return Quoted("'", text); });
    case ValueType::kBS:
      return Join("<", model.texts, ">", [](const std::string& text) { return Quoted("b'", text); });
    case ValueType::kNS:
      return Join("<", model.numbers, ">", NumberText);
    case ValueType::kL:
      return Join("[", model.list, "]", Notation);
    case ValueType::kM:
      return Join("{", model.map, "}",
                  [](const auto& entry) { return entry.first + ": " + Notation(entry.second); });
  }
  return "";
}

Model RandomValue(std::mt19937_64& random, int depth) {
  // Scalars are more frequent than sets; at depth 0 there are no lists and maps.
  constexpr ValueType kTypes[] = {ValueType::kS,    ValueType::kN,    ValueType::kB,  ValueType::kS,
                                  ValueType::kN,    ValueType::kBool, ValueType::kSS, ValueType::kNS,
                                  ValueType::kNull, ValueType::kBS,   ValueType::kL,  ValueType::kM,
                                  ValueType::kL,    ValueType::kM};
  Model model;
  model.type = kTypes[Pick(random, 0, depth > 0 ? 13 : 9)];
  int64_t count = Pick(random, 0, 3);
  switch (model.type) {
    case ValueType::kN:
      model.number = RandomNumber(random);
      break;
    case ValueType::kS:
    case ValueType::kB:
      model.text = RandomText(random);
      break;
    case ValueType::kBool:
      model.boolean = Pick(random, 0, 1) == 1;
      break;
    case ValueType::kNull:
      break;
    case ValueType::kNS:
      for (int64_t i = 0; i <= count; ++i) model.numbers.insert(RandomNumber(random));
      break;
    case ValueType::kSS:
    case ValueType::kBS:
      for (int64_t i = 0; i <= count; ++i) model.texts.insert(RandomText(random));
      break;
    case ValueType::kL:
      for (int64_t i = 0; i < count; ++i) model.list.push_back(RandomValue(random, depth - 1));
      break;
    case ValueType::kM:
      for (int64_t i = 0; i < count; ++i) {
        model.map[kNames[Pick(random, 0, 2)]] = RandomValue(random, depth - 1);
      }
      break;
  }
  return model;
}

Model RandomItem(std::mt19937_64& random) {
  Model item;
  item.type = ValueType::kM;
  for (char name = 'a'; name <= 'f'; ++name) {
    if (Pick(random, 0, 3) > 0) item.map[std::string(1, name)] = RandomValue(random, 3);
  }
  return item;
}

ModelPath RandomPath(std::mt19937_64& random) {
  ModelPath path = {std::string(1, static_cast<char>('a' + Pick(random, 0, 5)))};
  for (int64_t i = Pick(random, 0, 5); i > 3; --i) path.push_back(size_t(Pick(random, 0, 3)));
  for (int64_t i = Pick(random, 0, 5); i > 3; --i) path.push_back(std::string(kNames[Pick(random, 0, 2)]));
  return path;
}

}  // namespace itemdb::storage
