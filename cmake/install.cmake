# What `cmake --install` installs: the programs with manual and completion, the client library with its
# headers, the fake database for tests, files for CMake and pkg-config, and the files that run the daemon as a
# service.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS itemd itemctl RUNTIME)
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/man8/itemd.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
install(FILES ${CMAKE_BINARY_DIR}/man5/itemd.toml.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES ${CMAKE_BINARY_DIR}/completion/itemctl DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${CMAKE_BINARY_DIR}/completion/_itemctl DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
configure_file(cmake/install_packaging.cmake.in ${CMAKE_BINARY_DIR}/install/packaging.cmake @ONLY)
install(SCRIPT ${CMAKE_BINARY_DIR}/install/packaging.cmake)

install(TARGETS itemdb_client_shared itemdb_order_entry_shared EXPORT itemdbTargets)
install(TARGETS itemdb_client_http_shared LIBRARY)
install(DIRECTORY client/include/itemdb TYPE INCLUDE)

# The fake database is one static library that contains the objects of all targets it uses, storage and
# messages included. So no internal target has to be installed.
set(testing_parts
    itemdb_testing itemdb_common itemdb_compression itemdb_log itemdb_storage itemdb_base itemdb_values itemdb_json itemdb_keys itemdb_expressions itemdb_patterns
    itemdb_catalog itemdb_store itemdb_encryption itemdb_commit itemdb_archive itemdb_engine itemdb_standby itemdb_loading itemdb_backup itemdb_signature
    itemdb_buckets
    itemdb_exports
    itemdb_imports itemdb_bulk_puts
    itemdb_schema itemdb_changes
    itemdb_indexes itemdb_items itemdb_query itemdb_vectors itemdb_partiql itemdb_proto)
add_library(itemdb_testing_archive STATIC)
foreach(part ${testing_parts})
  target_sources(itemdb_testing_archive PRIVATE $<TARGET_OBJECTS:${part}>)
endforeach()
target_include_directories(itemdb_testing_archive INTERFACE $<INSTALL_INTERFACE:include>)
target_link_libraries(
  itemdb_testing_archive
  PUBLIC itemdb_client_shared
  PRIVATE RocksDB::rocksdb spdlog::spdlog protobuf::libprotobuf absl::cord absl::strings absl::str_format absl::flat_hash_map
          Threads::Threads OpenSSL::Crypto simdjson::simdjson ZLIB::ZLIB zstd CURL::libcurl EXPAT::EXPAT)
set_target_properties(itemdb_testing_archive PROPERTIES OUTPUT_NAME itemdb_testing EXPORT_NAME testing
                                                        LINKER_LANGUAGE CXX)
install(TARGETS itemdb_testing_archive EXPORT itemdbTestingTargets)
install(DIRECTORY client/testing/include/itemdb TYPE INCLUDE)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/itemdb)
install(EXPORT itemdbTargets NAMESPACE itemdb:: DESTINATION ${package_directory})
install(EXPORT itemdbTestingTargets NAMESPACE itemdb:: DESTINATION ${package_directory})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/install/itemdbConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/itemdbConfig.cmake ${CMAKE_BINARY_DIR}/install/itemdbConfigVersion.cmake
        DESTINATION ${package_directory})

# A .pc file finds the prefix relative to its own place, so that an installation can be moved.
file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(module itemdb itemdb-order-entry itemdb-testing)
  configure_file(cmake/${module}.pc.in ${CMAKE_BINARY_DIR}/install/${module}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/install/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

add_subdirectory(tests/install)
