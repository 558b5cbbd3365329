// The real itemd with the data for itemctl's examples and golden files.
#pragma once

#include <string>
#include <vector>

#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {

// A CreateTable document for the table "books".
extern const char kBooksDocument[];

// itemd with a directory of its own, the order-entry sample data, and a table "music" with two items. The
// directory also has books.json and the examples of the repository. The constructor fails the test if a step
// fails.
class RealDaemon {
 public:
  RealDaemon();

  const std::string& endpoint() const { return daemon_.endpoint(); }
  const std::string& directory() const { return directory_.path(); }

  // RunTool with the daemon's endpoint, unless `arguments` begin with --endpoint.
  Outcome Call(std::vector<std::string> arguments, const std::string& input = "") const;

 private:
  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

}  // namespace itemdb::tools
