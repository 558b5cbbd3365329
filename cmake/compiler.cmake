# Compiler flags, sanitizers, ccache and the linker, for every target of the project.

# All targets have the same definitions: the compiler uses a precompiled header only if its definitions are
# the same.
add_library(itemdb_options INTERFACE)
target_compile_options(itemdb_options INTERFACE -Wall -Wextra -Werror=return-type -Wno-unused-parameter -pthread)
target_compile_definitions(itemdb_options INTERFACE
                           $<TARGET_PROPERTY:spdlog::spdlog,INTERFACE_COMPILE_DEFINITIONS>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(itemdb_options INTERFACE -Wthread-safety)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # subobject-linkage is about types in headers; in a unity build gcc takes a .cc file for a header.
  # The others are false alarms of gcc 12 inside std::string (PR 105329, PR 105651).
  target_compile_options(itemdb_options INTERFACE -Wno-subobject-linkage -Wno-array-bounds -Wno-restrict
                                                  -Wno-stringop-overflow -Wno-stringop-overread)
endif()
option(ITEMDB_WERROR "Warnings are errors, as in the presets release and asan" OFF)
if(ITEMDB_WERROR)
  target_compile_options(itemdb_options INTERFACE -Werror)
endif()

# Hardening of the products: checks of buffer sizes in the C library, and marks at the targets of indirect jumps (CET),
# which take effect where the distribution's libraries have them too. Tests are compiled without optimisation, which
# _FORTIFY_SOURCE needs.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT ITEMDB_SANITIZE)
  set(hardening -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    list(APPEND hardening -fcf-protection)
  endif()
  target_compile_options(itemdb_options
                         INTERFACE "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:ITEMDB_TEST>>>:${hardening}>")
endif()

if(ITEMDB_SANITIZE)
  add_compile_options(-fsanitize=${ITEMDB_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ITEMDB_SANITIZE})
  # Tests that do less work, or have larger bounds, under a sanitizer use these names: gcc and clang define
  # different ones.
  if(ITEMDB_SANITIZE MATCHES "address")
    add_compile_definitions(ITEMDB_ADDRESS_SANITIZER)
    # Without -no-pie each start of a test relocates 260,000 addresses: a tenth of the time of a short test.
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  elseif(ITEMDB_SANITIZE MATCHES "thread")
    add_compile_definitions(ITEMDB_THREAD_SANITIZER)
    include_directories(BEFORE ${CMAKE_SOURCE_DIR}/cmake/thread_sanitizer)
  endif()
endif()

if(ITEMDB_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # The vptr check opens a pipe, and gives a false alarm in a test that uses up all file descriptors.
  add_compile_options(-fno-sanitize=vptr)
endif()

if(ITEMDB_COVERAGE)
  add_link_options(-fprofile-instr-generate)  # storage/ and tests/storage/ set the compile options.
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(launcher ${CMAKE_SOURCE_DIR}/cmake/ccache.sh ${CCACHE_PROGRAM} ${CMAKE_SOURCE_DIR})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
    if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
      # Clang stores absolute paths in precompiled headers. ccache passes relative ones, which
      # -working-directory makes absolute; this directory is that of the build in every clone.
      add_compile_options(-working-directory=/proc/self/cwd)
    endif()
  else()
    add_compile_options(-fpch-preprocess)
  endif()
endif()

# Object files are the same in every folder, so ccache finds those of another clone. __FILE__ begins at the root
# of the repository. Clang also maps the paths of debug information and coverage.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  file(RELATIVE_PATH ITEMDB_ROOT_OF_BUILD ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=${ITEMDB_ROOT_OF_BUILD})
  # ccache must see the paths of precompiled headers, which CMake hides behind -Xclang.
  set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -include <PCH_HEADER> -x c++-header)
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include <PCH_HEADER>)
else()
  add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
endif()

# A path of the build folder in a library would still show in its length when the library is installed.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
