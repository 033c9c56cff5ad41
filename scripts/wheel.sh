#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds what pip installs: one wheel for every Python 3 and glibc 2.28 or newer, and the source. -> dist/
# This machine's GCC compiles, so that the wheel holds what the tests look at; cmake/portable/ links for the old glibc.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh
if [ $# -gt 0 ]; then misused "wheel: it takes no arguments, not '$1'; what it builds lies in dist/"; fi
need cmake ninja pkg-config clang-19 ar flock

work=$PWD/build/wheel
parts=$work/parts
if [ ! -L .venv ]; then python_environment wheel; fi # else another checkout's, as it is
python=$PWD/.venv/wheel/bin/python
need "$python"

mkdir -p build
# Of build/wheel, build/portable and dist. What is started here holds it, too.
exec {lock}>build/wheel.lock
if ! flock --nonblock "$lock"; then
  say "waiting for another ./dev wheel in this checkout"
  flock "$lock"
fi

static_library() { # static_library NAME PACKAGE LICENCE: its archive, into the parts
  local archive
  archive=$("${CC:-cc}" -print-file-name="lib$1.a")
  if [ ! -f "$archive" ]; then die "lib$1.a is missing, which Debian has in $2: run ./dev setup"; fi
  cp "$archive" "$parts/lib/"
  licence "$1" "$2" "bin/hocket" "$3"
}

licence() { # licence NAME PACKAGE FILES LICENCE: of what is linked into these
  cp "/usr/share/doc/$2/copyright" "$parts/licences/$1.txt"
  list_part "$1" "$3" "$4" "Debian source package $(dpkg-query -W -f='${source:Package} ${source:Version}' "$2")"
}

list_part() { # list_part NAME FILES LICENCE SOURCE
  printf '%-5s  into %-17s  %s\n       %s.txt  %s\n' "$1" "$2" "$3" "$1" "$4" >>"$parts/licences/README.txt"
}

licence_of_glibc() { # of the start of programs and what else zig compiles
  local glibc
  glibc=$("$python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "lib/libc/glibc")')
  { sed '/\*\//q' "$glibc/sysdeps/x86_64/start.S" && cat "$glibc/LICENSES"; } >"$parts/licences/glibc.txt"
  list_part glibc "all of these" "LGPL-2.1-or-later, with the exception in glibc.txt" \
    "PyPI $(grep '^ziglang==' scripts/requirements/wheel.txt), lib/libc/glibc"
}

package_file() { # package_file NAME VERSION LIBRARIES: so that CMake takes the archives
  printf 'Name: %s\nDescription: static\nVersion: %s\nLibs: -L"%s" %s\n' "$1" "$2" "$parts/lib" "$3" \
    >"$parts/lib/pkgconfig/$1.pc"
}

# What is linked in: archives of Debian's, and the licences of all that the wheel then holds.
prepare_parts() {
  rm -rf "$parts"
  mkdir -p "$parts/lib/pkgconfig" "$parts/licences"
  printf 'What is linked into the programs and libraries of this package, its licence, and where its source is:\n\n' \
    >"$parts/licences/README.txt"
  static_library bpf libbpf-dev "LGPL-2.1-only OR BSD-2-Clause"
  static_library elf libelf-dev "LGPL-3.0-or-later OR GPL-2.0-or-later"
  static_library z zlib1g-dev "Zlib"
  static_library hwloc libhwloc-dev "BSD-3-Clause"
  licence cli11 libcli11-dev bin/hocket "BSD-3-Clause" # these two are headers
  licence json nlohmann-json3-dev "bin/hocket, bench" "MIT"
  licence gcc "$(dpkg-query -S "$("${CXX:-c++}" -print-file-name=libstdc++.a)" | cut -d: -f1)" "all of these" \
    "GPL-3.0-or-later WITH GCC-exception-3.1"
  licence_of_glibc
  cp /usr/share/common-licenses/{GPL-2,GPL-3,LGPL-2.1,LGPL-3} "$parts/licences/"
  package_file libbpf "$(pkg-config --modversion libbpf)" "-lbpf -lelf -lz"
  package_file hwloc "$(pkg-config --modversion hwloc)" -lhwloc
  "${CC:-cc}" -O2 -fPIC -fvisibility=hidden -c cmake/portable/older_glibc.c -o "$parts/older_glibc.o"
  "${CC:-cc}" -O2 -fPIC -c cmake/portable/without_udev.c -o "$parts/without_udev.o"
  ar r "$parts/lib/libhwloc.a" "$parts/without_udev.o"
}

say "the wheel"
prepare_parts
rm -rf dist/hocket-*.whl dist/hocket-*.tar.gz "$work/plain"
# As the preset release compiles, by its own settings, in a folder beside its own: after ./dev build all of it is in
# ccache.
preset_settings=$("$python" cmake/portable/preset_settings.py release)
mapfile -t settings <<<"$preset_settings"
export CC=${CC:-cc} CXX=${CXX:-c++} CMAKE_BUILD_PARALLEL_LEVEL=$jobs
export HOCKET_ZIG=$python HOCKET_PORTABLE_PARTS=$parts PKG_CONFIG_LIBDIR=$parts/lib/pkgconfig
export ZIG_GLOBAL_CACHE_DIR=$work/zig ZIG_LOCAL_CACHE_DIR=$work/zig
settings+=(
  -Cbuild-dir=build/portable -Ccmake.toolchain-file="$PWD/cmake/portable/toolchain.cmake"
  -Ccmake.define.HOCKET_LICENCES="$parts/licences"
)
"$python" -m build --wheel --no-isolation --outdir "$work/plain" "${settings[@]}" . >"$work/build.log" 2>&1 || {
  cat "$work/build.log" >&2
  die "building the wheel failed"
}
# CMake leaves out what it finds no headers for.
lacking=$("$python" -B cmake/portable/missing_parts.py "$work"/plain/*.whl)
if [ -n "$lacking" ]; then die "the wheel would lack $lacking; $work/build.log says why: run ./dev setup"; fi
# It says of the libraries' symbols for what glibc they are, and finds no library that the wheel lacks.
PATH=$(dirname "$python"):$PATH "$python" -m auditwheel repair --plat manylinux_2_28_x86_64 --only-plat \
  --wheel-dir dist "$work"/plain/*.whl >"$work/audit.log" 2>&1 || {
  cat "$work/audit.log" >&2
  die "the wheel would not run everywhere"
}
"$python" -m build --sdist --no-isolation --outdir dist . >"$work/sdist.log" 2>&1 || {
  cat "$work/sdist.log" >&2
  die "collecting the source failed"
}
ls -l dist
say "pip install $(echo dist/hocket-*.whl)"
