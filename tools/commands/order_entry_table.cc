#include "tools/commands/order_entry_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/base/text_width.h"
#include "tools/cli/output.h"

namespace itemdb::tools {
namespace {

// The largest line width of a table; terminals are rarely narrower.
constexpr size_t kTerminalColumns = 100;

// "5. Orders of a customer between two dates: customer-id cust_001, from ...", and below it the read
// operation. The arguments are on a line of their own if they do not fit into `max_width`; 0: no bound.
std::string QuestionText(const order_entry::AccessPattern& pattern, const std::vector<std::string>& arguments,
                         size_t max_width) {
  const std::string number = absl::StrCat(pattern.number, ". ");
  std::string title(pattern.title);
  title.front() = absl::ascii_toupper(title.front());
  std::vector<std::string> asked;
  for (size_t i = 0; i < pattern.parameters.size(); ++i) {
    asked.push_back(absl::StrCat(std::string(pattern.parameters[i].name), " ", Printable(arguments[i])));
  }
  const std::string indent(number.size(), ' ');
  const std::string values = absl::StrJoin(asked, ", ");
  const bool fits = max_width == 0 || TextWidth(absl::StrCat(number, title, ": ", values)) <= max_width;
  std::string text = absl::StrCat(number, title, fits ? ": " : ":\n" + indent, values, "\n", indent,
                                  std::string(pattern.name), ": ", std::string(pattern.operation), " on ");
  std::string target(pattern.table_name);
  if (pattern.index_name.has_value()) absl::StrAppend(&target, ", index ", std::string(*pattern.index_name));
  const size_t last_line = text.size() - text.rfind('\n') - 1;
  if (max_width > 0 && last_line + target.size() > max_width) text.insert(text.size() - 1, "\n" + indent);
  return text + target + "\n";
}

// The first columns of an answer. The order depends on the table only, not on the index that was read.
std::vector<std::string> ColumnOrder(std::string_view table_name) {
  if (table_name == order_entry::kEmployeeTable) {
    return {"employee_id", "name", "job_title", "warehouse_id", "hire_date", "phone_numbers"};
  }
  if (table_name == order_entry::kCustomerTable) {
    return {"customer_id", "name", "email", "phone_numbers", "account_rep_id"};
  }
  if (table_name == order_entry::kOrderTable) {
    return {"order_id", "order_date",   "customer_id", "account_rep_id", "status",
            "shard",    "total_amount", "product_id",  "quantity",       "order_items"};
  }
  return {"product_id", "warehouse_id",       "product_name",   "category",
          "unit_price", "inventory_quantity", "total_inventory"};
}

// "prod_100 x 5" for an order line, a string unchanged; empty for other values.
std::optional<std::string> ElementText(const Value& element) {
  if (const std::string* text = element.string_or_null(); text != nullptr) return *text;
  const Item* line = element.map_or_null();
  if (line == nullptr || line->size() != 2) return std::nullopt;
  const Value* product_id = line->find_or_null("product_id");
  const Value* quantity = line->find_or_null("qty");
  if (product_id == nullptr || product_id->type() != ValueType::kString) return std::nullopt;
  if (quantity == nullptr || quantity->type() != ValueType::kNumber) return std::nullopt;
  return absl::StrCat(*product_id->string_or_null(), " x ", quantity->number_or_null()->text());
}

// Empty if `value` is not a list of strings and order lines, or is an empty list; then it is printed as JSON.
std::optional<std::string> ListText(const Value& value) {
  const std::vector<Value>* list = value.list_or_null();
  if (list == nullptr || list->empty()) return std::nullopt;
  std::vector<std::string> texts;
  for (const Value& element : *list) {
    std::optional<std::string> text = ElementText(element);
    if (!text.has_value()) return std::nullopt;
    texts.push_back(*std::move(text));
  }
  return absl::StrJoin(texts, ", ");
}

bool Repeats(const std::vector<Item>& items, const char* key, const char* id) {
  return !items.empty() && std::all_of(items.begin(), items.end(), [key, id](const Item& item) {
    const Value* key_value = item.find_or_null(key);
    const Value* id_value = item.find_or_null(id);
    return key_value != nullptr && id_value != nullptr && *key_value == *id_value;
  });
}

// The key attributes PK and SK of the table Order that equal an id in every item, by the name of the id. They
// add nothing to the answer.
using RepeatingKeys = std::map<std::string, std::vector<std::string>>;

RepeatingKeys RepeatingKeysOf(const std::vector<Item>& items) {
  RepeatingKeys repeating;
  for (const char* key : {"PK", "SK"}) {
    for (const char* id : {"order_id", "product_id"}) {
      if (!Repeats(items, key, id)) continue;
      repeating[id].push_back(key);
      break;
    }
  }
  return repeating;
}

Item ForPeople(const Item& item, const RepeatingKeys& repeating) {
  Item shown = item;
  for (const Attribute& attribute : item) {
    std::optional<std::string> text = ListText(attribute.value);
    if (text.has_value()) shown.Set(attribute.name, *std::move(text));
  }
  for (const auto& [id, keys] : repeating) {
    for (const std::string& key : keys) shown.Remove(key);
  }
  return shown;
}

// "2 items; PK and SK repeat order_id".
std::string SummaryText(size_t count, const RepeatingKeys& repeating) {
  if (count == 0) return "no items";
  std::string text = absl::StrCat(count, count == 1 ? " item" : " items");
  for (const auto& [id, keys] : repeating) {
    absl::StrAppend(&text, "; ", absl::StrJoin(keys, " and "), keys.size() == 1 ? " repeats " : " repeat ",
                    id);
  }
  return text;
}

}  // namespace

void PrintPatternTable(const order_entry::AccessPattern& pattern, const std::vector<std::string>& arguments,
                       const std::vector<Item>& items, ItemForm form, Context& context) {
  const bool plain = form == ItemForm::kPlain;
  const RepeatingKeys repeating = plain ? RepeatingKeysOf(items) : RepeatingKeys{};
  context.out() << QuestionText(pattern, arguments, context.layout().max_width) << '\n';
  TableLayout layout = context.layout();
  if (layout.max_width == 0 && plain) layout = {.expanded = layout.expanded, .max_width = kTerminalColumns};
  ItemWriter writer({.format = OutputFormat::kTable,
                     .form = form,
                     .layout = layout,
                     .leading_columns = ColumnOrder(pattern.table_name)},
                    &context.out());
  for (const Item& item : items) {
    // Only csv can fail.
    writer.Write(plain ? ForPeople(item, repeating) : item).IgnoreError();
  }
  writer.Finish(JsonValue::Object());
  context.out() << SummaryText(items.size(), repeating) << '\n';
}

}  // namespace itemdb::tools
