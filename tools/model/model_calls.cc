#include "tools/model/model_calls.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/model/read_advice.h"

namespace itemdb::tools {
namespace {

class Sender {
 public:
  Sender(Context& context, const Client& client, const ModelFolder& folder, size_t most_items,
         PatternFigures* figures)
      : context_(context), client_(client), folder_(folder), most_items_(most_items), figures_(*figures) {}

  absl::Status operator()(const GetItemRequest& request) {
    ITEMDB_ASSIGN_OR_RETURN(const GetItemResult result, client_.GetItem(request, context_.Call()));
    ++figures_.calls;
    Read(result.item);
    return absl::OkStatus();
  }

  absl::Status operator()(const QueryRequest& request) {
    return Pages(request, [this](const QueryRequest& page) { return client_.Query(page, context_.Call()); });
  }

  absl::Status operator()(const ScanRequest& request) {
    return Pages(request, [this](const ScanRequest& page) { return client_.Scan(page, context_.Call()); });
  }

  absl::Status operator()(const BatchGetItemRequest& request) {
    ITEMDB_ASSIGN_OR_RETURN(const BatchGetItemResult result, client_.BatchGetItem(request, context_.Call()));
    ++figures_.calls;
    for (const BatchGetItemResult::Table& table : result.tables) {
      for (const std::optional<Item>& item : table.items) Read(item);
    }
    return absl::OkStatus();
  }

  absl::Status operator()(const TransactGetItemsRequest& request) {
    ITEMDB_ASSIGN_OR_RETURN(const TransactGetItemsResult result,
                            client_.TransactGetItems(request, context_.Call()));
    ++figures_.calls;
    for (const std::optional<Item>& item : result.items) Read(item);
    return absl::OkStatus();
  }

  absl::Status operator()(const PutItemRequest& request) {
    return Wrote(client_.PutItem(request, context_.Call()));
  }
  absl::Status operator()(const UpdateItemRequest& request) {
    return Wrote(client_.UpdateItem(request, context_.Call()));
  }
  absl::Status operator()(const DeleteItemRequest& request) {
    return Wrote(client_.DeleteItem(request, context_.Call()));
  }

  absl::Status operator()(const BatchWriteItemRequest& request) {
    ++figures_.calls;
    return client_.BatchWriteItem(request, context_.Call()).status();
  }
  absl::Status operator()(const TransactWriteItemsRequest& request) {
    ++figures_.calls;
    return client_.TransactWriteItems(request, context_.Call()).status();
  }

 private:
  void Return(const Item& item) {
    if (figures_.items.size() < most_items_) {
      figures_.items.push_back(item);
    } else {
      ++figures_.items_left_out;
    }
  }

  // Counts the result of a read by key.
  void Read(const std::optional<Item>& item) {
    if (!item.has_value()) return;
    ++figures_.scanned;
    ++figures_.returned;
    Return(*item);
  }

  absl::Status Wrote(const absl::StatusOr<WriteResult>& result) {
    if (!result.ok()) return result.status();
    ++figures_.calls;
    if (result->attributes.has_value()) {
      ++figures_.returned;
      Return(*result->attributes);
    }
    return absl::OkStatus();
  }

  template <typename Request, typename Fetch>
  absl::Status Pages(Request request, Fetch fetch) {
    ObservedRead read{.is_query = std::is_same_v<Request, QueryRequest>,
                      .index_name = request.index_name,
                      .filter_expression = request.filter_expression,
                      .projection_expression = request.projection_expression,
                      .expression_attribute_names = request.expression_attribute_names,
                      .expression_attribute_values = request.expression_attribute_values};
    if constexpr (std::is_same_v<Request, QueryRequest>)
      read.key_condition_expression = request.key_condition_expression;
    request.explain = true;
    do {
      absl::StatusOr<ItemPage> fetched = fetch(request);
      // Over HTTP there are no plans: the advice then knows nothing of items fetched from the table.
      if (request.explain && absl::IsUnimplemented(fetched.status())) {
        request.explain = false;
        fetched = fetch(request);
      }
      ITEMDB_ASSIGN_OR_RETURN(ItemPage page, std::move(fetched));
      ++figures_.calls;
      read.scanned_count += page.scanned_count;
      read.count += page.count;
      if (page.plan.has_value()) read.base_items_read += page.plan->base_items_read;
      for (const Item& item : page.items) Return(item);
      if (context_.session().interrupted()) return absl::CancelledError("interrupted");
      request.exclusive_start_key = std::move(page.last_evaluated_key);
    } while (request.exclusive_start_key.has_value() && !request.limit.has_value());
    figures_.scanned += read.scanned_count;
    figures_.returned += read.count;
    Warn(request.table_name, read);
    return absl::OkStatus();
  }

  void Warn(const std::string& table_name, const ObservedRead& read) {
    if (!read.is_query) {
      AddWarning(absl::StrFormat("a scan of %s read %d items, and reads more as the table grows",
                                 read.index_name.empty()
                                     ? "the table " + table_name
                                     : "the index " + read.index_name + " of " + table_name,
                                 read.scanned_count));
    }
    const TableDefinition& table = folder_.FindTable(table_name)->definition;
    for (std::string& advice : AdviceFor(read, table)) AddWarning(std::move(advice));
  }

  void AddWarning(std::string warning) {
    std::vector<std::string>& all = figures_.warnings;
    // Of commands that differ in their values one is enough.
    const auto subject = [](const std::string& text) { return text.substr(0, text.find(": itemctl ")); };
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const std::string& one) { return subject(one) == subject(warning); });
    if (!known) all.push_back(std::move(warning));
  }

  Context& context_;
  const Client& client_;
  const ModelFolder& folder_;
  const size_t most_items_;
  PatternFigures& figures_;
};

}  // namespace

absl::Status Send(Context& context, const Client& client, const ModelFolder& folder, const Call& call,
                  size_t most_items, PatternFigures* figures) {
  return std::visit(Sender(context, client, folder, most_items, figures), call);
}

}  // namespace itemdb::tools
