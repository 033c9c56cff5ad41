# SPDX-License-Identifier: BSD-3-Clause
# cmake -DFOLDER=networks -DOUTPUT=networks.cc -P embed_networks.cmake: networks' files as C++ constants.
file(GLOB files ${FOLDER}/*.network)
list(SORT files)
foreach(network ${files})
  get_filename_component(name ${network} NAME_WLE)
  file(READ ${network} text)
  string(APPEND entries "    {\"${name}\", R\"network(${text})network\"},\n")
endforeach()
file(
  WRITE ${OUTPUT}
  "// Made from networks/ by embed_networks.cmake.\n"
  "#include \"simulation/network/network_file.h\"\n\n"
  "namespace hocket::simulation {\n\n"
  "static const BuiltInNetwork kNetworks[] = {\n${entries}};\n"
  "const std::span<const BuiltInNetwork> kBuiltInNetworks = kNetworks;\n\n"
  "}  // namespace hocket::simulation\n")
