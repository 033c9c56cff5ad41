#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh BUILD_DIRECTORY THIS_FOLDER CONSUMER_SOURCE
# The installed library can be found by CMake and by pkg-config, also after the tree was moved, runs, and exports
# nothing but hocket_*.
set -euo pipefail
build=$1 here=$2 source=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix" # nothing in it may know where it was put
prefix=$scratch/prefix
library=$(find "$prefix" -name libhocket.so)
[ -n "$library" ] || { echo "no libhocket.so was installed" >&2; exit 1; }
libraries=$(dirname "$library")
[ -s "$prefix/share/doc/hocket/LICENSE" ] || { echo "the licence was not installed" >&2; exit 1; }

echo "-- exported symbols"
others=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^hocket_[a-z0-9_]*$' || true)
[ -z "$others" ] || { echo "exported but not hocket_*: $others" >&2; exit 1; }
# Every function of the header is there.
declared=$(grep -o 'hocket_[a-z_]*(' "$prefix/include/hocket/hocket.h" | tr -d '(' | sort -u)
for function in $declared; do
  if grep -q "^HOCKET_API .*\b$function(" "$prefix/include/hocket/hocket.h"; then
    nm -D --defined-only "$library" | grep -q " $function\$" || { echo "$function is not exported" >&2; exit 1; }
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

if [ -d "$build/documentation" ]; then
  echo "-- manual pages and completions"
  for file in man/man1/hocket.1 man/man1/hocket-lab-up.1 man/man3/libhocket.3 man/man3/hocket_allreduce.3 \
    man/man7/hocket-environment.7 bash-completion/completions/hocket zsh/site-functions/_hocket \
    fish/vendor_completions.d/hocket.fish; do
    [ -s "$prefix/share/$file" ] || { echo "share/$file was not installed" >&2; exit 1; }
  done
fi

echo "-- the command"
if [ -x "$build/bin/hocket" ]; then "$prefix/bin/hocket" --version; fi
echo "installed, found, run"
