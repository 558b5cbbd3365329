#include "tools/commands/check_report.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"
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
    cells.push_back(WithSeparators(static_cast<int64_t>(figure.value)));
  }
  TextTable table(std::move(columns));
  table.AddRow(cells);
  context.Print(table);
  for (const std::string& finding : result.findings) context.out() << "finding: " << finding << '\n';
}

void PrintJson(Context& context, const CheckDatabaseResult& result, const std::vector<CheckFigure>& figures) {
  JsonValue document = JsonValue::Object().Add("change_sequence", result.change_sequence);
  for (const CheckFigure& figure : figures) {
    document.Add(figure.member, figure.value);
  }
  context.Print(document.Add("findings", result.findings));
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
