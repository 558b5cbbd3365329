// Measurements with many items: makes a table like an existing one, fills it as fast as the daemon accepts
// items, and measures queries.
#pragma once

#include <itemdb/bulk_writer.h>
#include <itemdb/client.h>
#include <itemdb/sharding.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace example {

// Makes an empty table with the keys and indexes of the table `like`. Deletes an existing table of that name.
void CreateLike(const itemdb::Client& client, const std::string& like, const std::string& name);

// Fills a table. An error ends the program.
class Loader {
 public:
  Loader(const itemdb::Client& client, std::string table_name);
  void Put(itemdb::Item item);
  // Prints how many items were written and how long it took.
  void Finish();

 private:
  itemdb::BulkWriter writer_;
  std::string table_name_;
  absl::Time start_;
};

// The cost of one query with all its pages. The time is the median of five runs.
struct Cost {
  int pages = 0;
  int64_t scanned = 0;
  int64_t found = 0;
  // Nothing tells them over HTTP.
  std::optional<int64_t> bytes = std::nullopt;
  // The read units that DynamoDB would charge.
  double read_units = 0;
  absl::Duration time = absl::ZeroDuration();
};

Cost Measure(const itemdb::Client& client, const itemdb::QueryRequest& request);

// Prints the question and the cost of its query.
void ShowCost(const itemdb::Client& client, std::string_view question, const itemdb::QueryRequest& request);
void ShowCost(const itemdb::Client& client, std::string_view question, const itemdb::ShardedQuery& query);

}  // namespace example
