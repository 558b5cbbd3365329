// Figures at volume: a table like another one, filled as fast as the daemon takes items, and what reading it
// takes.
#pragma once

#include <itemdb/bulk_writer.h>
#include <itemdb/client.h>
#include <itemdb/sharding.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace example {

// Makes an empty table with the keys and indexes of the table `like`; one that is there goes.
void CreateLike(const itemdb::Client& client, const std::string& like, const std::string& name);

// Fills a table. Errors end the program.
class Loader {
 public:
  Loader(const itemdb::Client& client, std::string table_name);
  void Put(itemdb::Item item);
  // Prints how many items there are and how long that took.
  void Finish();

 private:
  itemdb::BulkWriter writer_;
  std::string table_name_;
  absl::Time start_;
};

// Of one answer with all its pages. The time is the median of five readings.
struct Cost {
  int pages = 0;
  int64_t scanned = 0;
  int64_t found = 0;
  int64_t bytes = 0;
  // What DynamoDB would charge for it.
  double read_units = 0;
  absl::Duration time = absl::ZeroDuration();
};

Cost Measure(const itemdb::Client& client, const itemdb::QueryRequest& request);

// Prints the question and what its answer takes.
void ShowCost(const itemdb::Client& client, std::string_view question, const itemdb::QueryRequest& request);
void ShowCost(const itemdb::Client& client, std::string_view question, const itemdb::ShardedQuery& query);

}  // namespace example
