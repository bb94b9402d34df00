# One binary for each bench/*_bench.cpp, named after the file.
find_package(benchmark REQUIRED)
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*_bench.cpp)
foreach(source IN LISTS bench_sources)
  get_filename_component(bench ${source} NAME_WE)
  add_executable(${bench} ${source})
  target_link_libraries(${bench} PRIVATE headrace headrace_options PkgConfig::hwy PkgConfig::xxhash TBB::tbb BLIS::BLIS
    benchmark::benchmark)
  target_compile_definitions(${bench} PRIVATE HEADRACE_TESTDATA="${PROJECT_SOURCE_DIR}/testdata")
endforeach()
