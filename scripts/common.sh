# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the scripts share. Sourced with the repository's root as working directory.

jobs=${JOBS:-$(nproc)}

say() { printf '\n== %s\n' "$*"; }

die() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

need() { # need PROGRAM...: ends with the remedy if one is missing
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || die "$program is missing: run ./dev setup"
  done
}

configure() { # configure PRESET [CMAKE ARGUMENT...]
  need cmake ninja
  cmake --preset "$1" "${@:2}" >"build/$1.configure.log" 2>&1 ||
    {
      cat "build/$1.configure.log" >&2
      die "configuring preset $1 failed"
    }
}

build() { # build PRESET [TARGET...]
  mkdir -p build
  configure "$1"
  local targets=()
  if [ $# -gt 1 ]; then targets=(--target "${@:2}"); fi
  cmake --build "build/$1" -j "$jobs" "${targets[@]}"
}
