#include "tests/support/paths.h"

namespace itemdb::testing {

std::string SourcePath(std::string_view path) {
  return std::string(ITEMDB_SOURCE_DIRECTORY "/").append(path);
}

std::string BuildPath(std::string_view path) { return std::string(ITEMDB_BUILD_DIRECTORY "/").append(path); }

std::string ProgramPath(std::string_view name) {
  return std::string(ITEMDB_PROGRAM_DIRECTORY "/").append(name);
}

}  // namespace itemdb::testing
