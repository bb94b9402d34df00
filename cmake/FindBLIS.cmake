# Finds BLIS and defines BLIS::BLIS. Debian ships three builds of one interface (openmp, pthread, serial) behind an
# alternative named libblis.so; any of them serves, so the alternative is taken first and a variant's own folder next.
find_path(BLIS_INCLUDE_DIR blis.h PATH_SUFFIXES blis blis-openmp blis-pthread blis-serial)
find_library(BLIS_LIBRARY blis PATH_SUFFIXES blis-openmp blis-pthread blis-serial)
mark_as_advanced(BLIS_INCLUDE_DIR BLIS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BLIS REQUIRED_VARS BLIS_LIBRARY BLIS_INCLUDE_DIR)

if(BLIS_FOUND AND NOT TARGET BLIS::BLIS)
  add_library(BLIS::BLIS UNKNOWN IMPORTED)
  set_target_properties(BLIS::BLIS PROPERTIES
    IMPORTED_LOCATION "${BLIS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${BLIS_INCLUDE_DIR}")
endif()
