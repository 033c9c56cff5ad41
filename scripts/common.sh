# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the scripts share. Sourced with the repository's root as working directory.

jobs=${JOBS:-$(nproc)}

say() { printf '\n== %s\n' "$*"; }

die() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

misused() { # of a command line that is not understood
  printf 'dev: %s\n' "$*" >&2
  exit 2
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

install_packages() { # install_packages DEBIAN_PACKAGE...: those of them that are missing
  command -v dpkg-query >/dev/null ||
    die "this is not Debian or a relative of it: install the likes of these by hand: $*"
  local package missing=() as_root=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      die "not root, and sudo would ask. Run this, then the same again:
  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}"
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" >/dev/null
}
