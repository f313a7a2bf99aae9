# Data files in the binary, so that it needs none beside it. verbatim_embed_files(<directory> NAMES <glob> HEADER <header> SYMBOL <name>)
# makes string literals of the files, in order of their names, and defines in verbatim::<directory>
#   const std::span<const std::string_view> <name>
# which <header>, a path below src, declares. Changing a file builds it anew. Call it behind verbatim_directory.
function(verbatim_embed_files directory)
  cmake_parse_arguments(ARG "" "NAMES;HEADER;SYMBOL" "" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_NAMES})
  set(generated "#include \"${ARG_HEADER}\"\nnamespace verbatim::${directory} {\nnamespace {\nconstexpr std::string_view kTexts[] = {\n")
  foreach(each ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${each})
    file(READ ${each} text)
    string(APPEND generated "R\"embedded(${text})embedded\",\n")
  endforeach()
  string(APPEND generated "};\n}\nconst std::span<const std::string_view> ${ARG_SYMBOL}(kTexts);\n}\n")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${ARG_SYMBOL}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "${generated}" @ONLY)
  target_sources(verbatim_${directory} PRIVATE ${source})
endfunction()
