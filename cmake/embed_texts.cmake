# SPDX-License-Identifier: BSD-3-Clause
# Files that a program carries inside itself, as a C++ constant.
#
#   embed_texts(<source> <header> <type> <constant> <file>...)
#
# makes the source, which defines the constant: a span of the type, with a name (the file's, without its last ending)
# and a text for each file. The header declares it. This file is also the script that does it.
if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE "," ";" files "${FILES}")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  file(
    WRITE ${OUTPUT}
    "// Made by embed_texts.cmake.\n"
    "#include \"${HEADER}\"\n\n"
    "static const ${TYPE} kTexts[] = {\n${entries}};\n"
    "const std::span<const ${TYPE}> ${CONSTANT} = kTexts;\n")
  return()
endif()

set(embed_texts_script ${CMAKE_CURRENT_LIST_FILE})
function(embed_texts source header type constant)
  list(SORT ARGN)
  string(REPLACE ";" "," files "${ARGN}")
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DFILES=${files} -DOUTPUT=${source} -DHEADER=${header} -DTYPE=${type}
            -DCONSTANT=${constant} -P ${embed_texts_script}
    DEPENDS ${ARGN} ${embed_texts_script}
    VERBATIM)
endfunction()
