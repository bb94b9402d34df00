# cmake --install: the program, the library, its headers (included as "base/result.h", as inside the project), and a
# package that find_package(headrace) reads.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/headrace)

if(TARGET headrace_cli)
  install(TARGETS headrace_cli)
endif()
install(TARGETS headrace EXPORT headraceTargets)
install(DIRECTORY src/ ${PROJECT_BINARY_DIR}/generated/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headrace
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def"
  PATTERN "tools" EXCLUDE
  PATTERN "testing.h" EXCLUDE
  PATTERN "*_testing.h" EXCLUDE)

configure_package_config_file(cmake/headraceConfig.cmake.in headraceConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(headraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT headraceTargets NAMESPACE headrace:: DESTINATION ${package_dir})
install(FILES
  ${PROJECT_BINARY_DIR}/headraceConfig.cmake
  ${PROJECT_BINARY_DIR}/headraceConfigVersion.cmake
  cmake/FindBLIS.cmake
  DESTINATION ${package_dir})
