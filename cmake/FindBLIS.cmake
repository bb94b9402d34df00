# Finds BLIS and defines BLIS::BLIS. Debian ships three builds of one interface (serial, pthread, openmp). Serial is what we
# want: threads are oneTBB's (src/interp/gemm.cpp), and the openmp header needs an omp.h that clang-tidy does not find. The
# others serve too.
find_path(BLIS_INCLUDE_DIR blis.h PATH_SUFFIXES blis-serial blis-pthread blis-openmp blis)
find_library(BLIS_LIBRARY blis PATH_SUFFIXES blis-serial blis-pthread blis-openmp)
mark_as_advanced(BLIS_INCLUDE_DIR BLIS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BLIS REQUIRED_VARS BLIS_LIBRARY BLIS_INCLUDE_DIR)

if(BLIS_FOUND AND NOT TARGET BLIS::BLIS)
  add_library(BLIS::BLIS UNKNOWN IMPORTED)
  set_target_properties(BLIS::BLIS PROPERTIES
    IMPORTED_LOCATION "${BLIS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${BLIS_INCLUDE_DIR}")
endif()
