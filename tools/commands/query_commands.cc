#include "tools/commands/query_commands.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/command_table.h"
#include "tools/cli/live_names.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/cli/reserved_names.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

constexpr int32_t kMaxSegments = 64;

// Copies the options into the members that QueryRequest and ScanRequest have in common.
template <typename Request>
absl::Status FillRequest(const PageOptions& options, Request& request) {
  if (options.limit.has_value() && options.page_size.has_value()) {
    return UsageError("give --limit or --page-size, not both: --limit reads one page, --page-size all pages");
  }
  if (options.page && options.page_size.has_value()) {
    return UsageError("give --page or --page-size, not both: --limit bounds the size of one page");
  }
  ITEMDB_RETURN_IF_ERROR(FillRead(options, request));
  request.return_consumed_capacity = CapacityOf(options);
  request.skip_damage = options.skip_damage;
  request.limit = options.limit.has_value() ? options.limit : options.page_size;
  if (!options.exclusive_start_key.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(
        Item start, ParseItem(options.exclusive_start_key, ReadForm::kDetect, "--exclusive-start-key"));
    request.exclusive_start_key = std::move(start);
  }
  return absl::OkStatus();
}

// The number of items that a scan will read, for its progress; 0 if not known.
int64_t ItemCount(Client& client, const PageOptions& options) {
  absl::StatusOr<TableResult> described = client.DescribeTable(options.table_name);
  if (!described.ok()) return 0;
  if (options.index_name.empty()) return described->table.item_count;
  for (const IndexDescription& index : described->table.indexes) {
    if (index.definition.index_name == options.index_name) return index.item_count;
  }
  for (const LocalIndexDescription& index : described->table.local_indexes) {
    if (index.definition.index_name == options.index_name) return index.item_count;
  }
  return 0;
}

// Writes the items to stdout or to a file.
class PageOutput {
 public:
  // UsageError: the file cannot be written.
  static absl::StatusOr<PageOutput> Open(Context& context, const std::string& path) {
    PageOutput output;
    output.path_ = path;
    output.stream_ = &context.out();
    if (path.empty()) return output;
    errno = 0;
    output.file_ = std::make_unique<std::ofstream>(path, std::ios::binary | std::ios::trunc);
    output.stream_ = output.file_.get();
    if (!output.file_->is_open()) return output.Failure();
    return output;
  }

  std::ostream& stream() { return *stream_; }

  absl::Status Close() {
    if (file_ == nullptr) return absl::OkStatus();
    errno = 0;
    file_->close();
    return file_->good() ? absl::OkStatus() : Failure();
  }

 private:
  absl::Status Failure() const {
    return UsageError(absl::StrFormat("cannot write %s: %s", path_, std::strerror(errno == 0 ? EIO : errno)));
  }

  std::string path_;
  std::unique_ptr<std::ofstream> file_;
  std::ostream* stream_ = nullptr;
};

// Returns the pages one after another; empty after the last.
using NextPage = std::function<absl::StatusOr<std::optional<ItemPage>>()>;

// `fetch` returns the page for a request.
template <typename Request, typename Fetch>
NextPage PageAfterPage(Request request, Fetch fetch) {
  return [request = std::move(request), fetch,
          ended = false]() mutable -> absl::StatusOr<std::optional<ItemPage>> {
    if (ended) return std::nullopt;
    ITEMDB_ASSIGN_OR_RETURN(ItemPage page, fetch(request));
    request.exclusive_start_key = page.last_evaluated_key;
    ended = !page.last_evaluated_key.has_value();
    return page;
  };
}

// The pages of all segments. One page of each segment is read at a time, while another page is printed.
NextPage PagesOfSegments(Client& client, Context& context, const ScanRequest& request, int32_t segments) {
  struct Segment {
    ScanRequest request;
    std::future<absl::StatusOr<ItemPage>> page;
  };
  auto reading = std::make_shared<std::deque<Segment>>();
  for (int32_t i = 0; i < segments; ++i) {
    Segment& segment = reading->emplace_back(Segment{.request = request, .page = {}});
    segment.request.segment = i;
    segment.request.total_segments = segments;
    segment.page = client.ScanAsync(segment.request, context.Call());
  }
  return [reading, &client, &context]() -> absl::StatusOr<std::optional<ItemPage>> {
    if (reading->empty()) return std::nullopt;
    Segment segment = std::move(reading->front());
    reading->pop_front();
    ITEMDB_ASSIGN_OR_RETURN(ItemPage page, segment.page.get());
    if (page.last_evaluated_key.has_value()) {
      segment.request.exclusive_start_key = std::exchange(page.last_evaluated_key, std::nullopt);
      segment.page = client.ScanAsync(segment.request, context.Call());
      reading->push_back(std::move(segment));
    }
    return page;
  };
}

// Prints the pages of a read of `total` items; 0: not known.
absl::Status PrintPages(Context& context, Client& client, const PageOptions& options, int64_t total,
                        const NextPage& next_page) {
  const bool one_page = options.page || options.limit.has_value();
  ITEMDB_ASSIGN_OR_RETURN(PageOutput output, PageOutput::Open(context, options.to_file));
  Progress progress(options.to_file.empty() ? ProgressTerminal(nullptr) : ProgressStream(context),
                    {.doing = "reading " + options.table_name, .unit = "items", .total = total});
  ItemWriter::Options writer_options{.format = context.format(),
                                     .form = options.typed ? ItemForm::kTyped : ItemForm::kPlain,
                                     .layout = options.to_file.empty() ? context.layout() : TableLayout{},
                                     .with_count = true};
  if (context.format() == OutputFormat::kTable || context.format() == OutputFormat::kCsv)
    writer_options.leading_columns = LeadingColumns(client, options.table_name, options.index_name);
  ItemWriter writer(std::move(writer_options), &output.stream());
  int64_t count = 0;
  int64_t scanned_count = 0;
  size_t skipped_places = 0;
  ConsumedTotal consumed;
  std::optional<JsonValue> last_evaluated_key;
  // If the reader of stdout has ended (`| head`), reading stops; RunItemctl reports the stream's error.
  while (output.stream().good()) {
    ITEMDB_ASSIGN_OR_RETURN(std::optional<ItemPage> next, next_page());
    if (!next.has_value()) break;
    const ItemPage& page = *next;
    for (const Item& item : page.items) ITEMDB_RETURN_IF_ERROR(writer.Write(item));
    PrintSkippedDamage(context, page);
    skipped_places += page.skipped_damage.size();
    count += page.count;
    scanned_count += page.scanned_count;
    consumed.Add(page.consumed_capacity);
    progress.Set(scanned_count);
    if (one_page) {
      if (page.last_evaluated_key.has_value())
        last_evaluated_key = ItemToJson(*page.last_evaluated_key, ItemForm::kTyped);
      break;
    }
    if (context.session().interrupted()) return absl::CancelledError("interrupted");
  }
  JsonValue summary = JsonValue::Object().Add("Count", count).Add("ScannedCount", scanned_count);
  if (last_evaluated_key.has_value()) summary.Add("LastEvaluatedKey", *last_evaluated_key);
  writer.Finish(summary);
  if (last_evaluated_key.has_value() && context.format() != OutputFormat::kJson) {
    context.err() << "LastEvaluatedKey: " << OneLine(*last_evaluated_key) << '\n';
  }
  consumed.Print(context);
  ITEMDB_RETURN_IF_ERROR(output.Close());
  return SkippedDamageError(skipped_places);
}

}  // namespace

void PrintSkippedDamage(Context& context, const ItemPage& page) {
  const auto text = [](const std::optional<Item>& key, const char* none) {
    return key.has_value() ? OneLine(ItemToJson(*key, ItemForm::kPlain)) : std::string(none);
  };
  for (const SkippedDamage& skipped : page.skipped_damage) {
    context.err() << absl::StrFormat("skipped damage: between %s and %s\n",
                                     text(skipped.after_key, "the beginning of the page"),
                                     text(skipped.before_key, "the end of the page"));
  }
}

absl::Status SkippedDamageError(size_t places) {
  if (places == 0) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrFormat("%d place%s with damage skipped; \"itemctl damage list\" names the keys", places,
                      places == 1 ? "" : "s"));
}

absl::Status RunQuery(Context& context, const QueryOptions& options) {
  QueryRequest request;
  ITEMDB_RETURN_IF_ERROR(FillRequest(options, request));
  request.key_condition_expression = options.key_condition_expression;
  request.scan_index_forward = options.scan_index_forward;
  AliasReservedWords(request);
  absl::StatusOr<Client> client = context.OpenClient();
  if (!client.ok()) return client.status();
  return PrintPages(context, *client, options, /*total=*/0,
                    PageAfterPage(std::move(request), [&client, &context](const QueryRequest& page) {
                      return client->Query(page, context.Call());
                    }));
}

absl::Status RunScan(Context& context, const ScanOptions& options) {
  ScanRequest request;
  ITEMDB_RETURN_IF_ERROR(FillRequest(options, request));
  if (options.segments > 1 &&
      (options.page || options.limit.has_value() || !options.exclusive_start_key.empty())) {
    return UsageError(
        "--segments reads everything at once: it excludes --limit, --page and --exclusive-start-key");
  }
  if (options.segments > 1 && options.skip_damage)
    return UsageError("give --segments or --skip-damage, not both: damage is skipped in key order");
  AliasReservedWords(request);
  absl::StatusOr<Client> client = context.OpenClient();
  if (!client.ok()) return client.status();
  const int64_t total = options.to_file.empty() ? 0 : ItemCount(*client, options);
  if (options.segments > 1) {
    return PrintPages(context, *client, options, total,
                      PagesOfSegments(*client, context, request, options.segments));
  }
  return PrintPages(context, *client, options, total,
                    PageAfterPage(std::move(request), [&client, &context](const ScanRequest& page) {
                      return client->Scan(page, context.Call());
                    }));
}

// ---- command line --------------------------------------------------------------------------------

namespace {

void AddPageOptions(CLI::App* command, PageOptions& options) {
  AddReadOptions(command, options);
  AddProjectionOption(command, options);
  command
      ->add_option("--exclusive-start-key", options.exclusive_start_key,
                   "Continue after this LastEvaluatedKey. Default: from the first item")
      ->type_name("JSON");
  command
      ->add_option("--limit", options.limit,
                   "Read one page of at most this many items, counted before the filter, 1 to 2147483647. "
                   "Default: all pages")
      ->check(PositiveInt32())
      ->type_name("ITEMS");
  command
      ->add_option("--page-size", options.page_size,
                   "Read all pages, at most this many items in each, 1 to 2147483647. Default: 1 MiB a page")
      ->check(PositiveInt32())
      ->type_name("ITEMS");
  command->add_flag("--page", options.page, "Read one page of at most 1 MiB");
  command
      ->add_option("--to-file", options.to_file,
                   "Write to this file instead, showing progress on a terminal. Default: standard output")
      ->type_name(std::string(kFileName));
  AddCapacityOption(command, options);
  command->add_flag("--typed", options.typed, "Print DynamoDB JSON");
  command->add_flag("--skip-damage", options.skip_damage,
                    "Read on behind items that cannot be read, print where on stderr, and end with an error");
}

}  // namespace

void RegisterQueryCommands(CommandTable& table) {
  auto query = std::make_shared<QueryOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "query",
       .summary = "Read an item collection of a table or index, in sort-key order",
       .details = "Prints all pages as they arrive. With --limit or --page it reads one page, whose "
                  "LastEvaluatedKey is in the document with -o json, and otherwise on stderr.",
       .examples =
           {{R"(itemctl query Product --key-condition 'product_id = :p' --values '{":p": "prod_100"}')",
             "all items of one partition key"},
            {R"(itemctl query Order --index OrderByCustomerDate --key-condition )"
             R"('customer_id = :c AND order_date >= :d' --values '{":c": "cust_001", ":d": "2025-12-01"}' )"
             R"(--no-scan-index-forward --limit 10)",
             "the latest ten of an index, newest first"}},
       .pages = true},
      [query](Context& context) { return RunQuery(context, *query); });
  AddPageOptions(command, *query);
  AddKeyConditionOption(command, query->key_condition_expression, /*required=*/true);
  AddDirectionFlag(command, query->scan_index_forward);

  auto scan = std::make_shared<ScanOptions>();
  command = table.Add(
      &table.root(),
      {.name = "scan",
       .summary = "Read all items of a table or all entries of an index",
       .details = "Prints all pages as they arrive, or with --limit or --page one page.",
       .examples = {{R"(itemctl scan Employee --filter 'job_title = :t' --values '{":t": "Manager"}')",
                     "the items for which a filter is true"},
                    {"itemctl scan Order --typed --to-file orders.jsonl -o jsonl",
                     "a whole table into a file, lossless"}},
       .pages = true},
      [scan](Context& context) { return RunScan(context, *scan); });
  AddPageOptions(command, *scan);
  command
      ->add_option("--segments", scan->segments,
                   "Read this many segments in parallel, 1 to 64; the items then have no order. Default: 1")
      ->check(WholeNumberBetween(1, kMaxSegments))
      ->type_name("COUNT");
}

}  // namespace itemdb::tools
