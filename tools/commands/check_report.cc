#include "tools/commands/check_report.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/base/exit_codes.h"
#include "tools/base/text_table.h"
#include "tools/cli/output.h"

namespace itemdb::tools {
namespace {

void PrintTable(Context& context, const CheckDatabaseResult& result,
                const std::vector<CheckFigure>& figures) {
  std::vector<TableColumn> columns;
  std::vector<std::string> cells;
  for (const CheckFigure& figure : figures) {
    columns.push_back(NumberColumn(figure.heading));
    cells.push_back(absl::StrCat(figure.value));
  }
  TextTable table(std::move(columns));
  table.AddRow(cells);
  context.Print(table);
  for (const std::string& finding : result.findings) context.out() << "finding: " << finding << '\n';
}

void PrintJson(Context& context, const CheckDatabaseResult& result, const std::vector<CheckFigure>& figures) {
  JsonValue document = JsonValue::Object().Add("change_sequence", JsonValue::Number(result.change_sequence));
  for (const CheckFigure& figure : figures) {
    document.Add(figure.member, JsonValue::Number(figure.value));
  }
  JsonValue findings = JsonValue::Array();
  for (const std::string& finding : result.findings) findings.elements.push_back(JsonValue::String(finding));
  PrintDocument(document.Add("findings", std::move(findings)), context.format(), context.out());
}

}  // namespace

absl::Status ReportCheck(Context& context, const CheckDatabaseResult& result,
                         const std::vector<CheckFigure>& figures, bool repairs) {
  if (context.format() == OutputFormat::kTable) {
    PrintTable(context, result, figures);
  } else {
    PrintJson(context, result, figures);
  }
  const int64_t left = result.finding_count - result.repaired_count;
  if (left == 0) return absl::OkStatus();
  return ToolError(ExitCode::kFindings,
                   absl::StrFormat("the check found %d disagreements%s; the first: %s", result.finding_count,
                                   repairs ? absl::StrFormat(", %d of which are left", left) : "",
                                   result.findings.empty() ? "not named" : result.findings.front()));
}

}  // namespace itemdb::tools
