#include "tests/e2e/e2e_fixture.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {

CommandResult E2eTest::Itemctl(std::vector<std::string> arguments, const std::string& input) const {
  if (arguments.empty() || arguments.front() != "--endpoint") {
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint()});
  }
  return RunProgram(testing::ProgramPath("itemctl"), arguments, input);
}

}  // namespace itemdb::e2e
