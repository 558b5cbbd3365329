// Lines of DynamoDB's JSON.
#include <simdjson.h>

#include "storage/imports/line_parser.h"
#include "storage/json/json_values.h"

namespace itemdb::storage {
namespace {

class JsonLineParser final : public LineParser {
 public:
  LineKind Parse(std::string_view line, std::string* item, std::string* reason) override {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return LineKind::kNothing;
    // The bytes after the line are readable, so nothing is copied.
    simdjson::dom::element root;
    const simdjson::error_code error =
        parser_.parse(line.data(), line.size(), /*realloc_if_needed=*/false).get(root);
    if (error != simdjson::SUCCESS) {
      *reason = std::string("the line is not valid JSON: ") + simdjson::error_message(error);
      return LineKind::kBadLine;
    }
    simdjson::dom::object members;
    simdjson::dom::object attributes;
    if (root.get(members) != simdjson::SUCCESS || members["Item"].get(attributes) != simdjson::SUCCESS) {
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

 private:
  simdjson::dom::parser parser_;
};

}  // namespace

std::unique_ptr<LineParser> NewJsonLineParser() { return std::make_unique<JsonLineParser>(); }

}  // namespace itemdb::storage
