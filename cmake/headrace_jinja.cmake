# The template engine of chat templates: src/tokenizer/jinja_rs, built by cargo into one static library with the C
# functions of tokenizer/chat_jinja.h. Its dependencies are pinned by Cargo.lock; scripts/install_deps.sh fetches them, so
# that this build downloads nothing. All presets share one folder, so that it is built once.
option(HEADRACE_CHAT_TEMPLATES "Render chat templates; needs cargo. Without, they are refused at run time" ON)
set(HEADRACE_JINJA_DIR ${PROJECT_BINARY_DIR}/jinja CACHE PATH "Where cargo builds the template engine")

if(HEADRACE_CHAT_TEMPLATES)
  if(NOT CARGO_PROGRAM)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/find_cargo.sh
      OUTPUT_VARIABLE found_cargo OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(CARGO_PROGRAM "${found_cargo}" CACHE FILEPATH "Builds the template engine, with the rustc beside it" FORCE)
  endif()
  mark_as_advanced(CARGO_PROGRAM)
  if(NOT CARGO_PROGRAM)
    message(FATAL_ERROR "no cargo of version 1.71 or newer that works: install one (Debian: cargo-web), or give -D HEADRACE_CHAT_TEMPLATES=OFF to do without chat templates")
  endif()
  cmake_path(GET CARGO_PROGRAM PARENT_PATH cargo_folder)
  set(jinja_source ${PROJECT_SOURCE_DIR}/src/tokenizer/jinja_rs)
  set(HEADRACE_JINJA_LIBRARY ${HEADRACE_JINJA_DIR}/release/libheadrace_jinja.a)
  file(GLOB jinja_sources CONFIGURE_DEPENDS ${jinja_source}/src/*.rs)
  add_custom_command(
    OUTPUT ${HEADRACE_JINJA_LIBRARY}
    COMMAND ${CMAKE_COMMAND} -E env RUSTC=${cargo_folder}/rustc ${CARGO_PROGRAM} build --quiet --release --locked
      --manifest-path ${jinja_source}/Cargo.toml --target-dir ${HEADRACE_JINJA_DIR}
    # cargo leaves a library alone that is up to date; ours must be newer than its sources.
    COMMAND ${CMAKE_COMMAND} -E touch ${HEADRACE_JINJA_LIBRARY}
    DEPENDS ${jinja_sources} ${jinja_source}/Cargo.toml ${jinja_source}/Cargo.lock
    COMMENT "Building the template engine (cargo)"
    VERBATIM)
  add_custom_target(headrace_jinja_build DEPENDS ${HEADRACE_JINJA_LIBRARY})
  add_dependencies(headrace headrace_jinja_build)
  target_compile_definitions(headrace PRIVATE HEADRACE_CHAT_TEMPLATES)
  target_link_libraries(headrace PRIVATE
    $<BUILD_INTERFACE:${HEADRACE_JINJA_LIBRARY}>
    $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/libheadrace_jinja.a>
    ${CMAKE_DL_LIBS})
  install(FILES ${HEADRACE_JINJA_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
