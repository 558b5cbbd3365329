// Where the sources and the programs of the build are. Tests take paths from here and not from definitions of
// the compiler: object files of tests then are the same in every folder, and ccache finds them again.

#pragma once

#include <string>
#include <string_view>

namespace itemdb::testing {

// The absolute path of a file or folder of the repository, such as SourcePath("examples").
std::string SourcePath(std::string_view path);

// The absolute path of a file or folder of this build, such as BuildPath("tests/e2e/python").
std::string BuildPath(std::string_view path);

// The absolute path of a program of this build, such as ProgramPath("itemd").
std::string ProgramPath(std::string_view name);

}  // namespace itemdb::testing
