# Compiler flags, sanitizers, ccache and the linker, for every target of the project.

add_library(itemdb_options INTERFACE)
target_include_directories(itemdb_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(itemdb_options INTERFACE -Wall -Wextra -Werror=return-type -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(itemdb_options INTERFACE -Wthread-safety -Werror=thread-safety)
endif()

if(ITEMDB_SANITIZE)
  add_compile_options(-fsanitize=${ITEMDB_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ITEMDB_SANITIZE})
endif()

if(ITEMDB_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Precompiled headers need these two relaxations to be cacheable.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
               CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# itemdb_library(NAME [PUBLIC deps...]): a static library of all .cc files in the current folder.
function(itemdb_library name)
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  file(GLOB headers CONFIGURE_DEPENDS *.h)
  if(sources)
    add_library(${name} STATIC ${sources} ${headers})
    target_link_libraries(${name} PUBLIC itemdb_options ${ARGN})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE itemdb_options ${ARGN})
  endif()
endfunction()

# itemdb_test(NAME deps...): a GoogleTest program of all *_test.cc files in the current folder, and one ctest
# test that runs it.
function(itemdb_test name)
  file(GLOB sources CONFIGURE_DEPENDS *_test.cc)
  if(sources)
    add_executable(${name} ${sources})
    target_link_libraries(${name} PRIVATE itemdb_options ${ARGN} GTest::gmock itemdb_test_main)
    # Tests wait for disks and sockets; optimising them only takes time.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    add_test(NAME ${name} COMMAND ${name})
  endif()
endfunction()
