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
  # The three warnings are g++ 12's false alarms on std::string literals that are inlined into assertions.
  target_compile_options(headrace_tests PRIVATE
    -fpch-preprocess -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
  target_include_directories(headrace_tests SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/third_party/pjrt)
  # Relative, with the tree's root as working directory: with its path in every command ccache would serve one tree only.
  target_compile_definitions(headrace_tests PRIVATE HEADRACE_TESTDATA="testdata")
  set(shards 4)
  math(EXPR last_shard "${shards} - 1")
  foreach(shard RANGE ${last_shard})
    # A folder for temporary files of its own: a suite may run in several shards at once, each setting itself up.
    set(temporary ${PROJECT_BINARY_DIR}/tmp/unit.${shard})
    file(MAKE_DIRECTORY ${temporary})
    add_test(NAME unit.${shard} COMMAND headrace_tests --gtest_brief=1 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(unit.${shard} PROPERTIES
      LABELS unit
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard};TEST_TMPDIR=${temporary};TMPDIR=${temporary}")
  endforeach()
endif()

# The fuzz targets on their committed inputs. A program of its own: it counts every allocation.
file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/*_fuzz.cpp)
add_executable(headrace_replay fuzz/replay_test.cpp fuzz/dense_test.cpp fuzz/target.cpp fuzz/memory.cpp ${fuzz_sources})
target_link_libraries(headrace_replay PRIVATE headrace headrace_options GTest::gtest_main)
target_compile_definitions(headrace_replay PRIVATE HEADRACE_TESTDATA="testdata")
add_test(NAME fuzz.replay COMMAND headrace_replay --gtest_brief=1 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(fuzz.replay PROPERTIES LABELS unit TIMEOUT 120)

# Checks in Python that need nothing but its standard library.
function(add_python_test name)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()
add_python_test(layering tests/layering/check_layering.py)
add_python_test(errors.doc scripts/errors_doc.py --check)
add_python_test(errors.coverage tests/errors/check_error_coverage.py)
add_python_test(errors.reports tests/errors/check_bug_reports.py)
if(TARGET headrace_cli)
  add_python_test(cli_golden tests/cli_golden/run.py --headrace $<TARGET_FILE:headrace_cli>)
  set_tests_properties(cli_golden PROPERTIES LABELS cli)
endif()

# A consumer is built without sanitizers, and cannot link a library that has them.
if(NOT HEADRACE_SANITIZE)
  add_test(NAME consumer COMMAND ${CMAKE_COMMAND}
    -D BUILD=${PROJECT_BINARY_DIR} -D WORK=${PROJECT_BINARY_DIR}/consumer -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)
endif()
