// A JSON document given on the command line: as the text of an option, or as a file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/context.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {

struct DocumentOptions {
  // Exactly one of `text` and `file` is given.
  std::string text;
  std::string file;
  // Read items, keys and values as plain JSON, even where they look like DynamoDB JSON.
  bool plain = false;

  ReadForm form() const { return plain ? ReadForm::kPlain : ReadForm::kDetect; }
};

// `option` is AWS's name of the option, for example "--request-items".
void AddDocumentOptions(CLI::App* command, DocumentOptions& options, const std::string& option,
                        const std::string& description);

// The document's text. UsageError: both or neither were given, or the file cannot be read.
absl::StatusOr<std::string> ReadDocument(Context& context, const DocumentOptions& options,
                                         const std::string& option);

}  // namespace itemdb::tools
