// The real itemd with the data that itemctl's examples and golden files are about.
#pragma once

#include <string>
#include <vector>

#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {

// A CreateTable document, for the table "books".
extern const char kBooksDocument[];

// itemd on a directory of its own, with the order-entry sample data and a table "music" of two items. The
// directory also holds books.json and the examples of the repository. Fails the test that makes it when
// something of this does not work.
class RealDaemon {
 public:
  RealDaemon();

  const std::string& endpoint() const { return daemon_.endpoint(); }
  const std::string& directory() const { return directory_.path(); }

  // RunTool with the daemon's endpoint, unless the arguments begin with one.
  Outcome Call(std::vector<std::string> arguments, const std::string& input = "") const;

 private:
  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

}  // namespace itemdb::tools
