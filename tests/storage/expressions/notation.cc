#include "tests/storage/expressions/notation.h"

#include "storage/base/check.h"
#include "storage/values/canonical.h"

namespace itemdb::storage {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::string ReadValue() {
    Skip();
    if (Accept("true")) return EncodeBool(true);
    if (Accept("false")) return EncodeBool(false);
    if (Accept("null")) return EncodeNull();
    if (Accept("[")) return EncodeValue(ValueType::kL, ReadList());
    if (Accept("{")) return EncodeValue(ValueType::kM, ReadMap());
    if (Accept("<")) return ReadSet();
    auto [type, text] = ReadScalar();
    return EncodeValue(type, text);
  }

  std::string ReadMap() {
    std::string contents;
    while (!Accept("}")) {
      Skip();
      std::string name(Take(rest_.find(':')));
      ITEMDB_CHECK(Accept(":"));
      AppendAttribute(name, ReadValue(), &contents);
      Accept(",");
    }
    return contents;
  }

  void CheckAtEnd() {
    Skip();
    ITEMDB_CHECK(rest_.empty());
  }

 private:
  std::string ReadList() {
    std::string contents;
    while (!Accept("]")) {
      AppendListElement(ReadValue(), &contents);
      Accept(",");
    }
    return contents;
  }

  std::string ReadSet() {
    std::string contents;
    ValueType member_type = ValueType::kS;
    while (!Accept(">")) {
      Skip();
      auto [type, text] = ReadScalar();
      member_type = type;
      AppendSetElement(text, &contents);
      Accept(",");
    }
    ValueType type = member_type == ValueType::kS   ? ValueType::kSS
                     : member_type == ValueType::kN ? ValueType::kNS
                                                    : ValueType::kBS;
    return EncodeValue(type, contents);
  }

  std::pair<ValueType, std::string> ReadScalar() {
    bool binary = Accept("b'");
    if (!binary && !Accept("'")) {
      return {ValueType::kN, std::string(Take(rest_.find_first_not_of("+-.0123456789eE")))};
    }
    std::string text(Take(rest_.find('\'')));
    ITEMDB_CHECK(Accept("'"));
    return {binary ? ValueType::kB : ValueType::kS, text};
  }

  void Skip() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  bool Accept(std::string_view token) {
    Skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::string_view Take(size_t length) {
    std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
};

std::string Quote(std::string_view open, std::string_view text) {
  std::string quoted(open);
  quoted += text;
  quoted += "'";
  return quoted;
}

std::string ShowSet(ValueView set) {
  std::string text = "<";
  for (std::string_view member : SetView(set.payload())) {
    if (text.size() > 1) text += ", ";
    switch (set.type()) {
      case ValueType::kSS:
        text += Quote("'", member);
        break;
      case ValueType::kNS:
        text += member;
        break;
      default:
        text += Quote("b'", member);
        break;
    }
  }
  return text + ">";
}

}  // namespace

std::string Value(std::string_view notation) {
  Reader reader(notation);
  absl::StatusOr<std::string> value = CanonicalizeValue(reader.ReadValue());
  reader.CheckAtEnd();
  ITEMDB_CHECK(value.ok());
  return *value;
}

std::string Item(std::string_view notation) {
  ITEMDB_CHECK(notation.starts_with('{'));
  Reader reader(notation.substr(1));
  absl::StatusOr<std::string> item = CanonicalizeItem(reader.ReadMap());
  reader.CheckAtEnd();
  ITEMDB_CHECK(item.ok());
  return *item;
}

std::string Show(ValueView value) {
  switch (value.type()) {
    case ValueType::kS:
      return Quote("'", value.payload());
    case ValueType::kN:
      return std::string(value.payload());
    case ValueType::kB:
      return Quote("b'", value.payload());
    case ValueType::kBool:
      return value.boolean() ? "true" : "false";
    case ValueType::kNull:
      return "null";
    case ValueType::kM:
      return ShowItem(value.payload());
    case ValueType::kL: {
      std::string text = "[";
      for (ValueView element : ListView(value.payload()))
        text += (text.size() > 1 ? ", " : "") + Show(element);
      return text + "]";
    }
    default:
      return ShowSet(value);
  }
}

std::string ShowItem(std::string_view item) {
  std::string text = "{";
  for (const AttributeView& attribute : ItemView(item)) {
    text += (text.size() > 1 ? ", " : "") + std::string(attribute.name) + ": " + Show(attribute.value);
  }
  return text + "}";
}

Placeholders MakePlaceholders(const PlaceholderTexts& texts) {
  std::vector<std::pair<std::string, std::string>> names, values;
  for (const auto& [token, text] : texts) {
    if (token.starts_with('#')) {
      names.emplace_back(token, text);
    } else {
      values.emplace_back(token, Value(text));
    }
  }
  absl::StatusOr<Placeholders> placeholders = Placeholders::Make(std::move(names), std::move(values));
  ITEMDB_CHECK(placeholders.ok());
  return *std::move(placeholders);
}

}  // namespace itemdb::storage
