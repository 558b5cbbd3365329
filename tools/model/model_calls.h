// Sends the requests of a pattern and counts what they read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "itemdb/client.h"
#include "tools/cli/context.h"
#include "tools/json/call_json.h"
#include "tools/model/model_folder.h"

namespace itemdb::tools {

struct PatternFigures {
  // Each page counts as one call.
  int64_t calls = 0;
  // Items read, and items in the answers.
  int64_t scanned = 0;
  int64_t returned = 0;
  // The first returned items, at most `most_items` of Send.
  std::vector<Item> items = {};
  // The number of returned items that are not in `items`.
  int64_t items_left_out = 0;
  // Sentences without a full stop about requests that read more than necessary, each once.
  std::vector<std::string> warnings = {};
};

// Sends `call` and adds its result to `*figures`. A Query or Scan without a Limit reads all pages; with a
// Limit, one page. Keeps at most `most_items` items. `folder` must have the tables of the call.
absl::Status Send(Context& context, const Client& client, const ModelFolder& folder, const Call& call,
                  size_t most_items, PatternFigures* figures);

}  // namespace itemdb::tools
