#include "tests/e2e/e2e_fixture.h"

namespace itemdb::e2e {

CommandResult E2eTest::Itemctl(std::vector<std::string> arguments, const std::string& input) const {
  if (arguments.empty() || arguments.front() != "--endpoint") {
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint()});
  }
  return RunProgram(ITEMCTL_PROGRAM, arguments, input);
}

}  // namespace itemdb::e2e
