#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh BUILD_DIRECTORY THIS_FOLDER CONSUMER_SOURCE KEPT_SYMBOLS
# The installed library can be found by CMake and by pkg-config, also after the tree was moved, and runs. It exports
# what KEPT_SYMBOLS says (debian/libhocket0.symbols). The command finds what it preloads.
set -euo pipefail
build=$1 here=$2 source=$3 kept=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix" # nothing in it may know where it was put
prefix=$scratch/prefix
library=$(find "$prefix" -name libhocket.so)
[ -n "$library" ] || { echo "no libhocket.so was installed" >&2; exit 1; }
libraries=$(dirname "$library")
for licence in LICENSE BSD-2-Clause.txt; do
  [ -s "$prefix/share/doc/hocket/$licence" ] || { echo "the licence $licence was not installed" >&2; exit 1; }
done

echo "-- names of libraries"
version=$(sed -n 's/^Version: //p' "$libraries/pkgconfig/hocket.pc")
[ "$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')" = libhocket.so.0 ] ||
  { echo "the soname of $library is not libhocket.so.0" >&2; exit 1; }
public=$(find "$libraries" -maxdepth 1 -name '*.so*' -printf '%f\n' | LC_ALL=C sort | tr '\n' ' ')
[ "$public" = "libhocket.so libhocket.so.0 libhocket.so.$version " ] ||
  { echo "$libraries has $public; what no program is linked with belongs into hocket/ there" >&2; exit 1; }

echo "-- exported symbols"
# Of a name without a version nm shows the name alone.
nm -D --defined-only --with-symbol-versions "$library" |
  awk '$2 == "A" {print $3 "@" $3; next} {sub("@@", "@", $3); print $3}' | LC_ALL=C sort >"$scratch/exported"
awk '/^ / {print $1}' "$kept" | LC_ALL=C sort >"$scratch/kept"
diff -u "$scratch/kept" "$scratch/exported" ||
  { echo "libhocket.so exports (+) other names than $kept lists (-): cmake/hocket.map says how one is added" >&2; exit 1; }
# Every function of the headers is there.
headers=("$prefix"/include/hocket/{hocket,neighbourhoods,persistent}.h)
declared=$(cat "${headers[@]}" | grep -o 'hocket_[a-z_]*(' | tr -d '(' | sort -u)
for function in $declared; do
  if cat "${headers[@]}" | grep -q "^HOCKET_API .*\b$function("; then
    grep -q "^$function@" "$scratch/exported" || { echo "$function is not exported" >&2; exit 1; }
  fi
done

echo "-- pkg-config"
export PKG_CONFIG_PATH=$libraries/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs hocket)"
cc -std=gnu11 "$source" "${flags[@]}" -pthread -o "$scratch/by_pkg_config"
LD_LIBRARY_PATH=$libraries "$scratch/by_pkg_config"

cat >"$scratch/wrapper.cc" <<'END'
#include <hocket/hocket.hpp>
int main() {
  hocket::Context context;
  hocket::Comm world = hocket::Comm::world(context);
  return world.allreduce(1, HOCKET_SUM) == world.size() ? 0 : 1;
}
END
c++ -std=c++20 "$scratch/wrapper.cc" "${flags[@]}" -pthread -o "$scratch/wrapper"
LD_LIBRARY_PATH=$libraries "$scratch/wrapper"

echo "-- find_package"
mkdir "$scratch/project"
cp "$here/consumer.cmake" "$scratch/project/CMakeLists.txt"
cmake -S "$scratch/project" -B "$scratch/project/build" -DCMAKE_PREFIX_PATH="$prefix" -DSOURCE="$source" >/dev/null
cmake --build "$scratch/project/build" >/dev/null
"$scratch/project/build/consumer"

# A sanitizer's build has none (cmake/documentation.cmake).
if [ -z "$(sed -n 's/^HOCKET_SANITIZER:[^=]*=//p' "$build/CMakeCache.txt")" ]; then
  echo "-- manual pages and completions"
  for file in man/man1/hocket.1 man/man1/hocket-lab-up.1 man/man3/libhocket.3 man/man3/hocket_allreduce.3 \
    man/man7/hocket-environment.7 bash-completion/completions/hocket zsh/site-functions/_hocket \
    fish/vendor_completions.d/hocket.fish; do
    [ -s "$prefix/share/$file" ] || { echo "share/$file was not installed" >&2; exit 1; }
  done
fi

echo "-- the command"
if [ -x "$build/bin/hocket" ]; then
  said=$("$prefix/bin/hocket" --version)
  [ "$said" = "hocket $version" ] || { echo "hocket --version says $said, hocket.pc $version" >&2; exit 1; }
  for shim in "$libraries"/hocket/libhocket-mpi-*.so; do
    [ -e "$shim" ] || continue # built where no MPI is
    mkdir -p "$prefix/lib"
    touch "$prefix/lib/${shim##*/}" # of an older layout; not to be taken
    family=${shim##*libhocket-mpi-} family=${family%.so}
    said=$("$prefix/bin/hocket" exec --mpi "$family" --dry-run -- true)
    [[ $said == *"$shim"* ]] || { echo "hocket exec does not preload $shim, but says $said" >&2; exit 1; }
  done
fi
echo "installed, found, run"
