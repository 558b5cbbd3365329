#include "tools/cli/read_options.h"

#include "tools/cli/command_table.h"

namespace itemdb::tools {

void AddReadOptions(CLI::App* command, ReadOptions& options) {
  command->add_option(std::string(kTableName), options.table_name, "The table's name")->required();
  command
      ->add_option("--index-name,--index", options.index_name,
                   "A secondary index of the table. Default: the table itself")
      ->type_name(std::string(kIndexName));
  command
      ->add_option(
          "--filter-expression,--filter", options.filter_expression,
          "Return only items for which this is true; the others are read and counted too. Default: all")
      ->type_name("EXPRESSION");
  command
      ->add_option("--expression-attribute-names,--names", options.names,
                   "JSON object: placeholder \"#n\" to name. Default: none")
      ->type_name("JSON");
  command
      ->add_option("--expression-attribute-values,--values", options.values,
                   "JSON object: placeholder \":v\" to value, plain or DynamoDB JSON. Default: none")
      ->type_name("JSON");
  command->add_flag("--plain", options.plain, "The values are plain JSON");
}

void AddProjectionOption(CLI::App* command, ReadOptions& options) {
  command
      ->add_option("--projection-expression,--projection", options.projection_expression,
                   "Attributes to return. Default: all that the table or index has")
      ->type_name("EXPRESSION");
}

void AddKeyConditionOption(CLI::App* command, std::string& key_condition, bool required) {
  CLI::Option* option =
      command
          ->add_option("--key-condition-expression,--key-condition", key_condition,
                       std::string("Equality on the partition key, and a range of the sort key") +
                           (required ? "" : ". Default: the whole table or index"))
          ->type_name("EXPRESSION");
  if (required) option->required();
}

void AddDirectionFlag(CLI::App* command, bool& scan_index_forward) {
  command->add_flag("--scan-index-forward,!--no-scan-index-forward", scan_index_forward,
                    "Ascending sort-key order, or descending. Default: ascending");
}

}  // namespace itemdb::tools
