# Options and the flags that follow from them. One interface target carries all of them: verbatim_flags.
option(VERBATIM_TESTS "build the unit tests" ON)
option(VERBATIM_BENCHMARKS "build the benchmarks" OFF)
option(VERBATIM_FUZZ "build the libFuzzer targets (clang only)" OFF)
option(VERBATIM_WERROR "treat warnings as errors" ON)
set(VERBATIM_SANITIZE "" CACHE STRING "sanitizers, as given to -fsanitize=")

add_library(verbatim_flags INTERFACE)
target_include_directories(verbatim_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(verbatim_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Wno-missing-field-initializers)
if(VERBATIM_WERROR)
  target_compile_options(verbatim_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these in its own standard library headers and in coroutine frames.
  target_compile_options(verbatim_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer
    -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-free-nonheap-object)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 calls its own deprecated std::get_temporary_buffer in std::stable_sort.
  target_compile_options(verbatim_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(VERBATIM_SANITIZE)
  target_compile_options(verbatim_flags INTERFACE -fsanitize=${VERBATIM_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(verbatim_flags INTERFACE -fsanitize=${VERBATIM_SANITIZE})
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
