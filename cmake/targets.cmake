# Functions that declare the targets of the folders. Two things make builds faster: several files are compiled
# as one (unity builds), and headers of other libraries are compiled once for many targets (precompiled
# headers). Both can hide a missing include, so `./dev check` compiles every header alone.

# How many files of a target are compiled as one. A larger number makes a full build faster (24 files of
# tools/: 29 s as one, 72 s as four); a smaller number makes a build after a change faster, so storage/ sets a
# smaller one. CMAKE_UNITY_BUILD=OFF compiles each file alone.
set(ITEMDB_UNITY_FILES 24)
set(ITEMDB_UNITY_TEST_FILES 40)

# Includes are spelled from the root of the repository, but the root is not an include directory. Each target
# has a folder with symbolic links to its headers, such as
# build/PRESET/include/itemdb_keys/storage/keys/key_codec.h. The include directories of a target are its own
# folder of links and those of the targets that it links; any other include does not build.
#
# A new source folder calls itemdb_library, or itemdb_headers for a target declared by hand. To include the
# headers of a target, link it. A header belongs to exactly one target, so it has one path.
set(ITEMDB_HEADERS ${CMAKE_BINARY_DIR}/include)
file(REMOVE_RECURSE ${ITEMDB_HEADERS})
file(MAKE_DIRECTORY ${ITEMDB_HEADERS}/precompiled)

# itemdb_precompiled(NAME [TEST] library...): precompiles cmake/precompiled/NAME.h for targets that link at
# least these libraries, with the compile options of products, or with TEST those of tests.
function(itemdb_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST" "" "")
  set(target itemdb_precompiled_${name})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/precompiled/empty.cc)
  target_link_libraries(${target} PRIVATE itemdb_options ${arg_UNPARSED_ARGUMENTS})
  # Found through a link in the build folder, because CMake would write the absolute path of a file into the
  # header that it makes.
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/cmake/precompiled ${ITEMDB_HEADERS}/precompiled/itemdb_precompiled SYMBOLIC)
  target_include_directories(${target} PRIVATE ${ITEMDB_HEADERS}/precompiled)
  target_precompile_headers(${target} PRIVATE <itemdb_precompiled/${name}.h>)
  if(arg_TEST)
    target_compile_options(${target} PRIVATE ${ITEMDB_TEST_OPTIONS})
    set_target_properties(${target} PROPERTIES ITEMDB_TEST ON)
  endif()
endfunction()

# itemdb_precompile(TARGET NAME): all files of TARGET include the precompiled header NAME first.
function(itemdb_precompile target name)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM itemdb_precompiled_${name})
  endif()
endfunction()

# itemdb_headers(TARGET PUBLIC|PRIVATE|INTERFACE header...): TARGET may include these headers of the current
# folder. Targets that link TARGET may include them too, unless they are PRIVATE.
function(itemdb_headers target visibility)
  set(include ${ITEMDB_HEADERS}/${target})
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  file(MAKE_DIRECTORY ${include}/${folder})
  foreach(header ${ARGN})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${include}/${folder}/${header} SYMBOLIC)
  endforeach()
  target_include_directories(${target} ${visibility} ${include})
endfunction()

# itemdb_internal_headers(TARGET library...): TARGET may also include the PRIVATE headers of these libraries.
function(itemdb_internal_headers target)
  list(TRANSFORM ARGN PREPEND ${ITEMDB_HEADERS}/)
  target_include_directories(${target} PRIVATE ${ARGN})
endfunction()

# itemdb_library(NAME [INTERNAL] [PRECOMPILED name] [deps...]): a static library of all .cc files in the
# current folder. The folder's headers are its headers; with INTERNAL they are PRIVATE.
function(itemdb_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "PRECOMPILED" "")
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  file(GLOB headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.h)
  set(visibility PUBLIC)
  if(arg_INTERNAL)
    set(visibility PRIVATE)
  elseif(NOT sources)
    set(visibility INTERFACE)
  endif()
  if(sources)
    add_library(${name} STATIC ${sources} ${headers})
    target_link_libraries(${name} PUBLIC itemdb_options ${arg_UNPARSED_ARGUMENTS})
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE ${ITEMDB_UNITY_FILES})
    if(arg_PRECOMPILED)
      itemdb_precompile(${name} ${arg_PRECOMPILED})
    endif()
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE itemdb_options ${arg_UNPARSED_ARGUMENTS})
  endif()
  itemdb_headers(${name} ${visibility} ${headers})
endfunction()

# itemdb_hardened(TARGET): a program whose tables of functions in other libraries are read-only once it runs: the
# loader looks all functions up at the start. gcc makes it position-independent by itself.
function(itemdb_hardened target)
  target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now)
endfunction()

# itemdb_link_installed_library(TARGET): for the shared libraries of programs outside the tree. They offer the names of
# the public headers only, and are small: relocations are packed if the linker can, and then the libraries need
# glibc 2.36 (GLIBC_ABI_DT_RELR), also where their newest symbol is older. That takes GNU ld, because mold 1.10 leaves
# out the version by which the loader knows that. GNU ld only warns of a -z that it does not know.
include(CheckLinkerFlag)
set(ITEMDB_PACK_RELOCATIONS -fuse-ld=bfd -Wl,-z,pack-relative-relocs)
check_linker_flag(CXX "-Wl,--fatal-warnings;${ITEMDB_PACK_RELOCATIONS}" ITEMDB_PACKS_RELOCATIONS)
function(itemdb_link_installed_library target)
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,-z,defs -Wl,--exclude-libs,ALL)
  if(ITEMDB_PACKS_RELOCATIONS AND NOT ITEMDB_SANITIZE)
    target_link_options(${target} PRIVATE ${ITEMDB_PACK_RELOCATIONS})
  endif()
endfunction()

# itemdb_allocator: makes jemalloc the allocator of a program. Sanitizers have their own.
add_library(itemdb_allocator INTERFACE)
if(NOT ITEMDB_SANITIZE)
  target_sources(itemdb_allocator INTERFACE ${CMAKE_SOURCE_DIR}/daemon/allocator.cc)
  target_link_libraries(itemdb_allocator INTERFACE PkgConfig::jemalloc)
endif()

# Tests mostly wait for disks and sockets: compiling them optimised takes longer than it saves.
# UndefinedBehaviorSanitizer checks the products but not the tests, because it makes compiling them three
# times as slow.
set(ITEMDB_TEST_OPTIONS -O0)
if(ITEMDB_SANITIZE STREQUAL "thread")
  # Without optimisation, inline functions of RocksDB's headers become instrumented functions of the tests,
  # and RocksDB calls them.
  set(ITEMDB_TEST_OPTIONS -O1)
endif()
if(ITEMDB_SANITIZE MATCHES "undefined")
  list(APPEND ITEMDB_TEST_OPTIONS -fno-sanitize=undefined,fuzzer-no-link)
endif()

# ctest starts tests with the highest cost first, so that no long test runs alone at the end.
set(ITEMDB_LONG_TEST_COST 100)

# itemdb_test_options(TARGET [PRECOMPILED name]): sets the compile options of a test, or of a library that
# tests share.
function(itemdb_test_options target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "")
  target_link_libraries(${target} PRIVATE GTest::gmock)
  target_compile_options(${target} PRIVATE ${ITEMDB_TEST_OPTIONS})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${ITEMDB_UNITY_TEST_FILES} ITEMDB_TEST ON)
  if(arg_PRECOMPILED)
    itemdb_precompile(${target} ${arg_PRECOMPILED})
  endif()
endfunction()

# itemdb_test(NAME [LONG] [PRECOMPILED name] [SOURCES file...] LIBRARIES library...): a GoogleTest program of
# all *_test.cc files in the current folder. Each of its tests is one test of ctest, NAME.Suite.Test, with the
# folder's path below tests/ as its label. LONG: some tests take longer than half a minute, so all tests of
# the program start early.
function(itemdb_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "PRECOMPILED" "SOURCES;LIBRARIES")
  file(GLOB sources CONFIGURE_DEPENDS *_test.cc)
  add_executable(${name} ${sources} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE itemdb_options ${arg_LIBRARIES} GTest::gmock itemdb_test_main)
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED test)
  endif()
  itemdb_test_options(${name} PRECOMPILED ${arg_PRECOMPILED})
  file(RELATIVE_PATH label ${CMAKE_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  set(cost 1)
  if(arg_LONG)
    set(cost ${ITEMDB_LONG_TEST_COST})
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${name}. NO_PRETTY_VALUES DISCOVERY_TIMEOUT 120
                       PROPERTIES LABELS ${label} TIMEOUT 500 ENVIRONMENT "${ITEMDB_TEST_ENVIRONMENT}" COST ${cost})
endfunction()
