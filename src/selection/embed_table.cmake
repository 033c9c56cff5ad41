# SPDX-License-Identifier: BSD-3-Clause
# cmake -DTABLE=shipped.table -DFOLDER=tables -DOUTPUT=shipped_table.cc -P embed_table.cmake: tables' texts as C++
# constants. Behind those of the folder comes what the first has for several nodes and for MPIs.
file(READ ${TABLE} text)
file(STRINGS ${TABLE} elsewhere REGEX "^[a-z].* (nodes|wire)=")
list(JOIN elsewhere "\n" elsewhere)
file(GLOB others ${FOLDER}/*.table)
set(entries "    {\"shipped table\", R\"table(${text})table\"},\n")
foreach(other ${others})
  get_filename_component(name ${other} NAME)
  file(READ ${other} text)
  string(APPEND entries "    {\"shipped table ${name}\", R\"table(${text}\n${elsewhere}\n)table\"},\n")
endforeach()
file(
  WRITE ${OUTPUT}
  "// Made from shipped.table and tables/ by embed_table.cmake.\n"
  "#include \"selection/shipped_table.h\"\n\n"
  "namespace hocket::selection {\n\n"
  "static const ShippedTable kTables[] = {\n${entries}};\n"
  "const std::span<const ShippedTable> kShippedTables = kTables;\n\n"
  "}  // namespace hocket::selection\n")
