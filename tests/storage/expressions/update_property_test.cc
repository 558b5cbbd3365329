// Random updates and projections of random items must have the same result as on plain objects.
#include <gtest/gtest.h>

#include "storage/expressions/projection.h"
#include "storage/expressions/update.h"
#include "storage/values/canonical.h"
#include "tests/storage/expressions/model.h"
#include "tests/storage/expressions/notation.h"
#include "tests/storage/values/test_seed.h"
#include "tests/support/repetitions.h"

namespace itemdb::storage {
namespace {

std::string PathText(const ModelPath& path) {
  std::string text;
  for (const ModelStep& step : path) {
    if (const size_t* index = std::get_if<size_t>(&step)) {
      text += "[" + std::to_string(*index) + "]";
    } else {
      if (!text.empty()) text += ".";
      text += std::get<std::string>(step);
    }
  }
  return text;
}

// The effect of an action at its path: a new value, or none to remove the old one.
struct Effect {
  ModelPath path;
  std::optional<Model> value;
};

// Applies effects one by one. Lists keep their positions until all effects are applied: a removed element
// leaves a gap, and elements set after the end wait in `appended`.
class ModelUpdate {
 public:
  explicit ModelUpdate(const Model& item) : result_(item) {}

  // False if the parent is not a list or map that the step fits.
  bool Apply(const Effect& effect) {
    Model* parent = &result_;
    for (size_t i = 0; i + 1 < effect.path.size(); ++i) {
      parent = const_cast<Model*>(Find(*parent, {effect.path[i]}));
      if (parent == nullptr) return false;
    }
    if (const size_t* index = std::get_if<size_t>(&effect.path.back())) {
      if (parent->type != ValueType::kL) return false;
      if (*index >= parent->list.size()) {
        if (effect.value) appended_[parent][*index] = *effect.value;
      } else if (effect.value) {
        parent->list[*index] = *effect.value;
      } else {
        holes_[parent].insert(*index);
      }
      return true;
    }
    if (parent->type != ValueType::kM) return false;
    const std::string& name = std::get<std::string>(effect.path.back());
    if (effect.value) {
      parent->map[name] = *effect.value;
    } else {
      parent->map.erase(name);
    }
    return true;
  }

  Model Finish() {
    FinishValue(&result_);
    return result_;
  }

 private:
  void FinishValue(Model* value) {
    for (auto& [name, attribute] : value->map) FinishValue(&attribute);
    for (Model& element : value->list) FinishValue(&element);
    std::vector<Model> list;
    for (size_t i = 0; i < value->list.size(); ++i) {
      if (!holes_[value].contains(i)) list.push_back(value->list[i]);
    }
    for (auto& [index, element] : appended_[value]) list.push_back(element);
    value->list = list;
  }

  Model result_;
  std::map<const Model*, std::set<size_t>> holes_;
  std::map<const Model*, std::map<size_t, Model>> appended_;
};

// Builds a random update.
class UpdateGenerator {
 public:
  UpdateGenerator(std::mt19937_64& random, const Model& item) : random_(random), item_(item) {}

  void AddAction() {
    ModelPath path = RandomPath(random_);
    switch (Pick(random_, 0, 5)) {
      case 0:
        sections_["REMOVE"].push_back(PathText(path));
        effects_.push_back({path, std::nullopt});
        return;
      case 1:
        AddOrDelete("ADD", path);
        return;
      case 2:
        AddOrDelete("DELETE", path);
        return;
      default: {
        auto [text, value] = SetValue();
        sections_["SET"].push_back(PathText(path) + " = " + text);
        if (value) {
          effects_.push_back({path, value});
        } else {
          fails_ = true;
        }
      }
    }
  }

  std::string Text() const {
    std::string text;
    for (const auto& [keyword, actions] : sections_) {
      text += keyword;
      const char* separator = " ";
      for (const std::string& action : actions) text += std::exchange(separator, ", ") + action;
      text += " ";
    }
    return text;
  }

  // The item after the update; nothing if the update must fail.
  std::optional<Model> Expected() const {
    if (fails_) return std::nullopt;
    ModelUpdate update(item_);
    for (const Effect& effect : effects_) {
      if (!update.Apply(effect)) return std::nullopt;
    }
    return update.Finish();
  }

  const PlaceholderTexts& placeholders() const { return placeholders_; }

 private:
  void AddOrDelete(const std::string& keyword, const ModelPath& path) {
    Model operand;
    do {
      operand = RandomValue(random_, 0);
    } while (!IsSet(operand) && (keyword == "DELETE" || operand.type != ValueType::kN));
    sections_[keyword].push_back(PathText(path) + " " + Placeholder(operand));
    const Model* old = Find(item_, path);
    if (old != nullptr && old->type != operand.type) {
      fails_ = true;
    } else if (keyword == "ADD") {
      Model sum = operand;
      if (old != nullptr) {
        sum.number += old->number;
        sum.numbers.insert(old->numbers.begin(), old->numbers.end());
        sum.texts.insert(old->texts.begin(), old->texts.end());
      }
      effects_.push_back({path, sum});
    } else if (old == nullptr) {
      effects_.push_back({path, std::nullopt});
    } else {
      Model rest = *old;
      for (double number : operand.numbers) rest.numbers.erase(number);
      for (const std::string& text : operand.texts) rest.texts.erase(text);
      bool empty = rest.numbers.empty() && rest.texts.empty();
      effects_.push_back({path, empty ? std::nullopt : std::optional<Model>(rest)});
    }
  }

  // The text of a right-hand side and its value; no value if its evaluation must fail.
  std::pair<std::string, std::optional<Model>> SetValue() {
    if (Pick(random_, 0, 2) > 0) return Term(2);
    bool plus = Pick(random_, 0, 1) == 1;
    auto [left_text, left] = NumberTerm();
    auto [right_text, right] = NumberTerm();
    std::string text = left_text + (plus ? " + " : " - ") + right_text;
    if (!left || !right || left->type != ValueType::kN || right->type != ValueType::kN)
      return {text, std::nullopt};
    return {text, NumberModel(plus ? left->number + right->number : left->number - right->number)};
  }

  std::pair<std::string, std::optional<Model>> NumberTerm() {
    if (Pick(random_, 0, 1)) return PathTerm();
    Model number = NumberModel(Pick(random_, -3, 3));
    return {Placeholder(number), number};
  }

  std::pair<std::string, std::optional<Model>> ListTerm(int depth) {
    // list_append inside list_append is refused (EXP-31).
    if (depth > 0 && Pick(random_, 0, 1)) return Term(depth, /*appends=*/false);
    Model list;
    list.type = ValueType::kL;
    list.list = {RandomValue(random_, 1)};
    return {Placeholder(list), list};
  }

  std::pair<std::string, std::optional<Model>> Term(int depth, bool appends = true) {
    const int64_t kind = depth > 0 ? Pick(random_, 0, 5) : Pick(random_, 0, 2);
    switch (kind == 4 && !appends ? 3 : kind) {
      case 3: {
        auto [path_text, path] = PathTerm();
        auto [other_text, other] = Term(depth - 1, appends);
        return {"if_not_exists(" + path_text + ", " + other_text + ")", path ? path : other};
      }
      case 4: {
        auto [left_text, left] = ListTerm(depth - 1);
        auto [right_text, right] = ListTerm(depth - 1);
        std::string text = "list_append(" + left_text + ", " + right_text + ")";
        if (!left || !right || left->type != ValueType::kL || right->type != ValueType::kL)
          return {text, std::nullopt};
        left->list.insert(left->list.end(), right->list.begin(), right->list.end());
        return {text, left};
      }
      case 0:
        return PathTerm();
      default: {
        Model value = RandomValue(random_, 2);
        return {Placeholder(value), value};
      }
    }
  }

  std::pair<std::string, std::optional<Model>> PathTerm() {
    ModelPath path = RandomPath(random_);
    const Model* found = Find(item_, path);
    return {PathText(path), found ? std::optional<Model>(*found) : std::nullopt};
  }

  std::string Placeholder(const Model& value) {
    std::string token = ":" + std::to_string(placeholders_.size());
    placeholders_.emplace_back(token, Notation(value));
    return token;
  }

  static bool IsSet(const Model& model) {
    return model.type == ValueType::kSS || model.type == ValueType::kNS || model.type == ValueType::kBS;
  }

  std::mt19937_64& random_;
  const Model& item_;
  std::map<std::string, std::vector<std::string>> sections_;
  std::vector<Effect> effects_;
  PlaceholderTexts placeholders_;
  bool fails_ = false;
};

TEST(UpdateProperty, AgreesWithTheModel) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int succeeded = 0, failed = 0;
  for (int i = 0; i < testing::Repetitions(40'000); ++i) {
    Model item = RandomItem(random);
    UpdateGenerator generator(random, item);
    for (int64_t actions = Pick(random, 1, 4); actions > 0; --actions) generator.AddAction();
    Placeholders placeholders = MakePlaceholders(generator.placeholders());
    std::string text = generator.Text();
    auto update = UpdateExpression::Compile(text, placeholders);
    // Refused because of overlapping paths or the types of literals.
    if (!update.ok()) {
      ASSERT_EQ(MessageOf(update.status()).find("yntax"), std::string::npos) << text;
      continue;
    }
    std::string before = Item(Notation(item));
    absl::StatusOr<std::string> after = update->Apply(ItemView(before));
    std::optional<Model> expected = generator.Expected();
    ASSERT_EQ(after.ok(), expected.has_value())
        << text << "of " << ShowItem(before) << ": " << after.status();
    if (!expected) {
      ++failed;
      continue;
    }
    ++succeeded;
    ASSERT_EQ(ShowItem(*after), ShowItem(Item(Notation(*expected)))) << text << "of " << ShowItem(before);
    ASSERT_EQ(*after, *CanonicalizeItem(*after)) << text << "of " << ShowItem(before);
  }
  EXPECT_GT(succeeded, testing::Repetitions(2'500));
  EXPECT_GT(failed, testing::Repetitions(2'000));
}

// The parts of `value` that the paths keep; `paths` are the remaining steps of paths that lead to `value`.
std::optional<Model> Project(const Model& value, const std::vector<ModelPath>& paths) {
  std::map<ModelStep, std::vector<ModelPath>> by_step;
  for (const ModelPath& path : paths) {
    if (path.empty()) return value;
    by_step[path[0]].emplace_back(path.begin() + 1, path.end());
  }
  Model kept;
  kept.type = value.type;
  for (const auto& [step, rests] : by_step) {
    const Model* child = Find(value, {step});
    std::optional<Model> part = child ? Project(*child, rests) : std::nullopt;
    if (!part) continue;
    if (std::holds_alternative<size_t>(step)) {
      kept.list.push_back(*part);
    } else {
      kept.map[std::get<std::string>(step)] = *part;
    }
  }
  if (kept.list.empty() && kept.map.empty()) return std::nullopt;
  return kept;
}

TEST(ProjectionProperty, AgreesWithTheModel) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int kept = 0;
  for (int i = 0; i < testing::Repetitions(20'000); ++i) {
    Model item = RandomItem(random);
    std::vector<ModelPath> paths;
    std::string text;
    for (int64_t count = Pick(random, 1, 4); count > 0; --count) {
      paths.push_back(RandomPath(random));
      text += (text.empty() ? "" : ", ") + PathText(paths.back());
    }
    Placeholders placeholders;
    absl::StatusOr<Projection> projection = Projection::Compile(text, placeholders);
    if (!projection.ok()) continue;
    std::string encoded = Item(Notation(item));
    std::string projected;
    projection->Apply(ItemView(encoded), &projected);
    std::optional<Model> expected = Project(item, paths);
    kept += expected.has_value();
    ASSERT_EQ(projected, expected ? Item(Notation(*expected)) : "") << text << " of " << ShowItem(encoded);
  }
  EXPECT_GT(kept, testing::Repetitions(3'000));
}

}  // namespace
}  // namespace itemdb::storage
