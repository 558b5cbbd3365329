# How the folders' targets are declared, and what makes building them fast: files compiled several at a time (unity
# builds), and headers from elsewhere compiled once for many targets (precompiled headers). `./dev check` compiles
# every header alone, so that neither hides a missing include.

# How many files of a target are compiled as one. More of them build faster from nothing (the 24 first files of tools/:
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

# itemdb_library(NAME [PRECOMPILED name] [deps...]): a static library of all .cc files in the current folder.
function(itemdb_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "")
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  file(GLOB headers CONFIGURE_DEPENDS *.h)
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
