// The files of the console's page, as the build has bundled them from web/.
#pragma once

#include <span>
#include <string_view>

namespace itemdb::daemon {

struct ConsoleFile {
  // "/" or "/console-1A2B3C4D.js": the name changes with the content, except for "/".
  std::string_view path;
  std::string_view content_type;
  std::string_view gzip;
};

// Empty when itemd was built without the console.
std::span<const ConsoleFile> ConsoleFiles();
// Why it was; empty with the console.
std::string_view WhyNoConsole();

}  // namespace itemdb::daemon
