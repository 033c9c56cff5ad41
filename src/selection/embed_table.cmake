# SPDX-License-Identifier: BSD-3-Clause
# cmake -DTABLE=shipped.table -DOUTPUT=shipped_table.cc -P embed_table.cmake: a table's text as a C++ constant.
file(READ ${TABLE} text)
file(
  WRITE ${OUTPUT}
  "// Made from shipped.table by embed_table.cmake.\n"
  "#include \"selection/shipped_table.h\"\n\n"
  "namespace hocket::selection {\n\n"
  "const std::string_view kShippedTable = R\"table(${text})table\";\n\n"
  "}  // namespace hocket::selection\n")
