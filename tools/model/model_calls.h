// What the requests of a pattern find and cost.
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
  // Each page is one.
  int64_t calls = 0;
  // Items read, and items in the answers.
  int64_t scanned = 0;
  int64_t returned = 0;
  // The first of the items that came back, as many as were asked for.
  std::vector<Item> items = {};
  // How many more came back.
  int64_t items_left_out = 0;
  // Sentences about requests that read more than they need, without their full stop, each once.
  std::vector<std::string> warnings = {};
};

// Sends `call` and adds what came of it. A Query or Scan reads all its pages, unless it says a Limit. At most
// `most_items` items are kept. `folder` has the tables of the call.
absl::Status Send(Context& context, const Client& client, const ModelFolder& folder, const Call& call,
                  size_t most_items, PatternFigures* figures);

}  // namespace itemdb::tools
