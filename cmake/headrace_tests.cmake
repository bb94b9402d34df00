# One test binary from every src/**/*_test.cpp, run by ctest in a few shards: a process for each test would cost more
# than the tests.
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS src/*_test.cpp src/*_testing.cpp)
if(test_sources)
  add_executable(headrace_tests ${test_sources})
  target_link_libraries(headrace_tests PRIVATE headrace headrace_options $<TARGET_NAME_IF_EXISTS:headrace_tools>
    PkgConfig::hwy PkgConfig::xxhash TBB::tbb BLIS::BLIS rapidcheck GTest::gmock_main)
  # GoogleMock costs 3 s in every file without this. Library files gain nothing: their headers are light.
  target_precompile_headers(headrace_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <nlohmann/json.hpp>)
  target_compile_options(headrace_tests PRIVATE -fpch-preprocess)
  target_compile_definitions(headrace_tests PRIVATE HEADRACE_TESTDATA="${PROJECT_SOURCE_DIR}/testdata")
  set(shards 4)
  math(EXPR last_shard "${shards} - 1")
  foreach(shard RANGE ${last_shard})
    add_test(NAME unit.${shard} COMMAND headrace_tests --gtest_brief=1)
    set_tests_properties(unit.${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}" LABELS unit)
  endforeach()
endif()
