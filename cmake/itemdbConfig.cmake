# find_package(itemdb CONFIG) defines itemdb::client, itemdb::order_entry, and itemdb::testing if the libraries of the fake
# database (RocksDB, spdlog, protobuf, OpenSSL, simdjson, zlib, zstd, libcurl, Expat) are installed. With `COMPONENTS testing` it is an error if they are
# not.
include(CMakeFindDependencyMacro)
find_dependency(absl CONFIG)
include(${CMAKE_CURRENT_LIST_DIR}/itemdbTargets.cmake)

find_package(Threads QUIET)
find_package(Protobuf QUIET)
find_package(RocksDB CONFIG QUIET)
find_package(spdlog CONFIG QUIET)
find_package(OpenSSL 3.0 QUIET)
find_package(simdjson CONFIG QUIET)
find_package(ZLIB QUIET)
find_package(CURL QUIET)
find_package(EXPAT QUIET)
if(Threads_FOUND AND Protobuf_FOUND AND RocksDB_FOUND AND spdlog_FOUND AND OPENSSL_FOUND AND simdjson_FOUND AND ZLIB_FOUND
   AND CURL_FOUND AND EXPAT_FOUND)
  include(${CMAKE_CURRENT_LIST_DIR}/itemdbTestingTargets.cmake)
  set(itemdb_testing_FOUND TRUE)
endif()
set(itemdb_client_FOUND TRUE)
set(itemdb_order_entry_FOUND TRUE)
foreach(component ${itemdb_FIND_COMPONENTS})
  if(itemdb_FIND_REQUIRED_${component} AND NOT itemdb_${component}_FOUND)
    set(itemdb_FOUND FALSE)
    set(itemdb_NOT_FOUND_MESSAGE
        "itemdb has no component ${component} here; there are client, order_entry and, with RocksDB, spdlog, protobuf, OpenSSL, simdjson, zlib, zstd, libcurl and Expat, testing")
  endif()
endforeach()
