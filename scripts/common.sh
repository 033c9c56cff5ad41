# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the scripts share. Sourced with the repository's root as working directory.

jobs=${JOBS:-$(nproc)}
# What one build folder compiled, another takes from ccache: paths in here are as from the folder.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1

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

python_with_venv() { # a python3 that can make environments
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import venv, ensurepip' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  die "no python3 with the venv module: apt-get install python3-venv"
}

# .venv/NAME as scripts/requirements/NAME.txt says, and the wheel
python_environment() { # python_environment NAME [WHEEL]
  local directory=.venv/$1 requirements=scripts/requirements/$1.txt python stamp
  shift
  python=$(python_with_venv)
  if [ -L .venv ]; then die ".venv is a link: environments hold the path of their checkout; remove it"; fi
  # An environment holds absolute paths: a moved checkout needs a new one.
  stamp=$({ cat "$requirements" "$@"; pwd; "$python" -VV; } | sha256sum | cut -d' ' -f1)
  if [ "$(cat "$directory/stamp" 2>/dev/null)" = "$stamp" ]; then return; fi
  say "Python environment $directory: $(grep -v '^#' "$requirements" | paste -sd' ')"
  rm -rf "$directory"
  "$python" -m venv "$directory"
  "$directory/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements" "$@"
  echo "$stamp" >"$directory/stamp"
}
