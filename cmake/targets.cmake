# How the folders' targets are declared, and what makes building them fast: files compiled several at a time (unity
# builds), and headers from elsewhere compiled once for many targets (precompiled headers). `./dev check` compiles
# every header alone, so that neither hides a missing include.

# How many files of a target are compiled as one. More of them build faster from nothing (24 files of tools/:
# 29 s as one, 72 s as four), fewer build faster after a change: storage/ asks for fewer. CMAKE_UNITY_BUILD=OFF compiles
# each alone.
set(ITEMDB_UNITY_FILES 24)
set(ITEMDB_UNITY_TEST_FILES 40)

# itemdb_precompiled(NAME library...): cmake/precompiled/NAME.h, for targets that link at least these libraries and
# are optimised as products are; with TEST, for tests.
function(itemdb_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST" "" "")
  set(target itemdb_precompiled_${name})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/precompiled/empty.cc)
  target_link_libraries(${target} PRIVATE itemdb_options ${arg_UNPARSED_ARGUMENTS})
  target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled/${name}.h)
  if(arg_TEST)
    target_compile_options(${target} PRIVATE ${ITEMDB_TEST_OPTIONS})
  endif()
endfunction()

# itemdb_precompile(TARGET NAME): TARGET begins with the precompiled header NAME.
function(itemdb_precompile target name)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM itemdb_precompiled_${name})
  endif()
endfunction()

# Includes are spelled from the root of the repository, but the root is not an include directory. Each target has a
# folder with symbolic links to its headers, such as build/PRESET/include/itemdb_keys/storage/keys/key_codec.h. A target
# has as include directories its own such folder and those of the targets that it links; any other include does not build.
#
# A new source folder calls itemdb_library, or itemdb_headers for a target declared by hand. A target that includes its
# headers links it. A header belongs to one target, so that it has one path.
set(ITEMDB_HEADERS ${CMAKE_BINARY_DIR}/include)
file(REMOVE_RECURSE ${ITEMDB_HEADERS})

# itemdb_headers(TARGET PUBLIC|PRIVATE|INTERFACE header...): TARGET may include these headers of the current folder.
# Unless they are PRIVATE, so may the targets that link TARGET.
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

# itemdb_library(NAME [INTERNAL] [PRECOMPILED name] [deps...]): a static library of all .cc files in the current folder,
# with its headers, which are PRIVATE when INTERNAL is given.
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

# Tests wait for disks and sockets: optimising them takes longer than it saves. Mistakes that UndefinedBehaviorSanitizer
# finds are looked for in the product, not in its tests, which it makes three times as slow to compile.
set(ITEMDB_TEST_OPTIONS -O0)
if(ITEMDB_SANITIZE STREQUAL "thread")
  # Unoptimised, what RocksDB's headers define would stay in functions of ours, instrumented, which RocksDB then calls.
  set(ITEMDB_TEST_OPTIONS -O1)
endif()
if(ITEMDB_SANITIZE MATCHES "undefined")
  list(APPEND ITEMDB_TEST_OPTIONS -fno-sanitize=undefined,fuzzer-no-link)
endif()

# ctest begins with the tests that cost most: none of them is left to run alone at the end.
set(ITEMDB_LONG_TEST_COST 100)

# itemdb_test_options(TARGET [PRECOMPILED name]): how a test, and what tests share, is compiled.
function(itemdb_test_options target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "")
  target_link_libraries(${target} PRIVATE GTest::gmock)
  target_compile_options(${target} PRIVATE ${ITEMDB_TEST_OPTIONS})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${ITEMDB_UNITY_TEST_FILES})
  if(arg_PRECOMPILED)
    itemdb_precompile(${target} ${arg_PRECOMPILED})
  endif()
endfunction()

# itemdb_test(NAME [LONG] [PRECOMPILED name] [SOURCES file...] LIBRARIES library...): a GoogleTest program of all
# *_test.cc files in the current folder. Each of its tests is one test of ctest, NAME.Suite.Test, with the folder's path
# below tests/ as its label. LONG: some take longer than half a minute, so all begin early.
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
