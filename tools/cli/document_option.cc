#include "tools/cli/document_option.h"

#include "absl/strings/str_format.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/command_table.h"

namespace itemdb::tools {

void AddDocumentOptions(CLI::App* command, DocumentOptions& options, const std::string& option,
                        const std::string& description) {
  command->add_option(option, options.text, description + ". Default: the content of --file")
      ->type_name("JSON");
  command
      ->add_option(
          "-f,--file", options.file,
          "Read the document from this file, - for standard input. Default: the " + option + " value")
      ->type_name(std::string(kFileName));
  command->add_flag("--plain", options.plain, "Items, keys and values are plain JSON");
}

absl::StatusOr<std::string> ReadDocument(Context& context, const DocumentOptions& options,
                                         const std::string& option) {
  if (options.text.empty() == options.file.empty()) {
    return UsageError(
        absl::StrFormat("give the document either with %s or with --file (- for standard input)", option));
  }
  if (!options.file.empty()) return context.ReadFile(options.file);
  return options.text;
}

}  // namespace itemdb::tools
