// Lines of DynamoDB's JSON.
#include <simdjson.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "storage/imports/line_parser.h"
#include "storage/json/json_values.h"

namespace itemdb::storage {
namespace {

// A line as an object, and the encoded item in it.
class JsonLine {
 public:
  // As LineParser::Parse.
  LineKind Parse(std::string_view line, std::string* item, std::string* reason) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return LineKind::kNothing;
    // The bytes after the line are readable, so nothing is copied.
    simdjson::dom::element root;
    const simdjson::error_code error =
        parser_.parse(line.data(), line.size(), /*realloc_if_needed=*/false).get(root);
    if (error != simdjson::SUCCESS) {
      *reason = std::string("the line is not valid JSON: ") + simdjson::error_message(error);
      return LineKind::kBadLine;
    }
    simdjson::dom::object attributes;
    if (root.get(members_) != simdjson::SUCCESS || members_["Item"].get(attributes) != simdjson::SUCCESS) {
      *reason = "the line is not an object with a member Item, which is an object";
      return LineKind::kBadLine;
    }
    absl::StatusOr<std::string> encoded = EncodeJsonItem(attributes);
    if (!encoded.ok()) {
      *reason = MessageOf(encoded.status());
      return LineKind::kBadItem;
    }
    *item = *std::move(encoded);
    return LineKind::kItem;
  }

  // After kItem: the members of the line. Valid until the next Parse.
  const simdjson::dom::object& members() const { return members_; }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::object members_;
};

class JsonLineParser final : public LineParser {
 public:
  LineKind Parse(std::string_view line, std::string* item, std::string* reason) override {
    return line_.Parse(line, item, reason);
  }

 private:
  JsonLine line_;
};

absl::Status WrongMember(std::string_view name, std::string_view wanted) {
  return ValidationError("BLK-06", std::string(name).append(" must be ").append(wanted));
}

// An empty expression must be refused (SEM-019), but an empty text is no expression, so it becomes a space.
std::string ExpressionIn(std::string_view text) { return text.empty() ? " " : std::string(text); }

absl::Status ReadNames(const simdjson::dom::element& member, wire::WriteItemRequest* put) {
  constexpr std::string_view kWanted = "an object of strings";
  simdjson::dom::object names;
  if (member.get(names) != simdjson::SUCCESS) return WrongMember("ExpressionAttributeNames", kWanted);
  // An empty map is one entry without a name and a value (storage/expressions/from_request.h).
  if (names.begin() == names.end()) put->add_expression_attribute_names();
  for (const auto [token, value] : names) {
    std::string_view name;
    if (value.get(name) != simdjson::SUCCESS) return WrongMember("ExpressionAttributeNames", kWanted);
    wire::NamedName* entry = put->add_expression_attribute_names();
    entry->set_name(std::string(token));
    entry->set_value(std::string(name));
  }
  return absl::OkStatus();
}

absl::Status ReadValues(const simdjson::dom::element& member, wire::WriteItemRequest* put) {
  simdjson::dom::object values;
  if (member.get(values) != simdjson::SUCCESS)
    return WrongMember("ExpressionAttributeValues", "an object of attribute values");
  if (values.begin() == values.end()) put->add_expression_attribute_values();
  for (const auto [token, value] : values) {
    wire::NamedValue* entry = put->add_expression_attribute_values();
    entry->set_name(std::string(token));
    ITEMDB_ASSIGN_OR_RETURN(*entry->mutable_value(), EncodeJsonValue(value));
  }
  return absl::OkStatus();
}

absl::Status ReadMember(std::string_view name, const simdjson::dom::element& member,
                        wire::WriteItemRequest* put) {
  if (name == "Item") return absl::OkStatus();
  if (name == "ConditionExpression") {
    std::string_view text;
    if (member.get(text) != simdjson::SUCCESS) return WrongMember(name, "a string");
    put->set_condition_expression(ExpressionIn(text));
    return absl::OkStatus();
  }
  if (name == "ExpressionAttributeNames") return ReadNames(member, put);
  if (name == "ExpressionAttributeValues") return ReadValues(member, put);
  return ValidationError("BLK-06", UnknownPutMember(name));
}

class JsonPutParser final : public PutLineParser {
 public:
  LineKind Parse(std::string_view line, wire::WriteItemRequest* put, std::string* reason) override {
    put->Clear();
    const LineKind kind = line_.Parse(line, put->mutable_key_or_item(), reason);
    if (kind != LineKind::kItem) return kind;
    seen_.clear();
    for (const auto [name, member] : line_.members()) {
      const bool is_repeated = std::find(seen_.begin(), seen_.end(), name) != seen_.end();
      seen_.push_back(name);
      const absl::Status read =
          is_repeated ? ValidationError("BLK-06", RepeatedPutMember(name)) : ReadMember(name, member, put);
      if (!read.ok()) {
        *reason = MessageOf(read);
        return LineKind::kBadItem;
      }
    }
    return LineKind::kItem;
  }

 private:
  JsonLine line_;
  // The members of the line that were read.
  std::vector<std::string_view> seen_;
};

}  // namespace

std::string UnknownPutMember(std::string_view name) {
  return "the member " + std::string(name.substr(0, 255)) +
         " is unknown: a line may have Item, ConditionExpression, ExpressionAttributeNames and "
         "ExpressionAttributeValues";
}

std::string RepeatedPutMember(std::string_view name) {
  return "the line has the member " + std::string(name.substr(0, 255)) + " twice";
}

std::unique_ptr<LineParser> NewJsonLineParser() { return std::make_unique<JsonLineParser>(); }
std::unique_ptr<PutLineParser> NewJsonPutParser() { return std::make_unique<JsonPutParser>(); }

}  // namespace itemdb::storage
