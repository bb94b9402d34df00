# Installs a build tree into an empty prefix, then configures, builds and runs the consumer project against it.
#   cmake -D BUILD=<build tree> -D WORK=<folder to use> -P run.cmake
cmake_minimum_required(VERSION 3.25)
foreach(name BUILD WORK)
  if(NOT ${name})
    message(FATAL_ERROR "-D ${name}=... is missing")
  endif()
endforeach()

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G Ninja -D CMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
file(WRITE ${WORK}/bad.gguf "this is no checkpoint\n")
run(${WORK}/build/consumer ${WORK}/bad.gguf)
