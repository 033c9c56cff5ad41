#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Links what this machine's GCC compiled so that it runs with glibc 2.28 or newer and needs no other library: zig's
# linker brings that glibc's symbols, its start of programs and what it had in archives; GCC's own archives bring C++.
# scripts/wheel.sh sets HOCKET_ZIG and HOCKET_PORTABLE_PARTS; toolchain.cmake has CMake call this.
set -euo pipefail
: "${HOCKET_ZIG:?is to be the Python that has ziglang: ./dev wheel sets it}"
: "${HOCKET_PORTABLE_PARTS:?is to be the folder that ./dev wheel makes}"

arguments=() is_shared=0 has_map=0
for argument in "$@"; do
  case "$argument" in
    # Unknown here, and done by the map of symbols.
    -Wl,--exclude-libs,*) continue ;;
    # Done below.
    -static-libstdc++ | -static-libgcc) continue ;;
    -shared) is_shared=1 ;;
    -Wl,--version-script*) has_map=1 ;;
  esac
  arguments+=("$argument")
done
if [ $is_shared -eq 1 ] && [ $has_map -eq 0 ]; then
  echo "link.sh: a library without a map of symbols would show strangers its C++ library" >&2
  exit 1
fi
# zig's linker takes no crtbegin.o, which would run the destructors of a library when it is unloaded: exit() would call
# what is no longer there. So no library is unloaded.
if [ $is_shared -eq 1 ]; then arguments+=("-Wl,-z,nodelete"); else arguments+=(-pie); fi
# GCC's own archives, and no library of zig's: its memcpy, slower than glibc's, would be taken along.
gcc_archives=()
for archive in libstdc++.a libgcc_eh.a libgcc.a; do gcc_archives+=("$("${CXX:-c++}" -print-file-name=$archive)"); done
exec "$HOCKET_ZIG" -m ziglang cc -target x86_64-linux-gnu.2.28 -Wl,--build-id=sha1 "${arguments[@]}" \
  "$HOCKET_PORTABLE_PARTS/older_glibc.o" "${gcc_archives[@]}"
