// Runs itemctl in process; shared by the tests of all command groups.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "itemdb/v1/item.pb.h"
#include "tests/support/fake_daemon.h"
#include "tools/itemctl.h"

namespace itemdb::tools {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// Runs itemctl in process, with `input` as standard input.
inline Outcome RunTool(std::vector<std::string> arguments, const std::string& input = "",
                       bool terminal = false) {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code =
      RunItemctl(arguments, {.in = in, .out = out, .err = err, .out_is_terminal = terminal});
  return {.exit_code = static_cast<int>(code), .out = out.str(), .err = err.str()};
}

// itemctl with a fake daemon: tests check the requests, the output and the exit code.
class ItemctlTest : public ::testing::Test {
 protected:
  // RunTool with the daemon's endpoint.
  Outcome Call(std::vector<std::string> arguments, const std::string& input = "", bool terminal = false) {
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint()});
    return RunTool(std::move(arguments), input, terminal);
  }

  FakeDaemon daemon_;
};

inline void AddString(v1::Item& item, const std::string& name, const std::string& text) {
  v1::Attribute* attribute = item.add_attributes();
  attribute->set_name(name);
  attribute->mutable_value()->set_s(text);
}

inline v1::Item ItemWithId(const std::string& id) {
  v1::Item item;
  AddString(item, "id", id);
  return item;
}

}  // namespace itemdb::tools
