#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what building and testing need: Debian packages, and one Python environment for each MPI from PyPI. Has git
# look at commit messages (.githooks/).
# Does only what is missing.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh
if [ $# -gt 0 ]; then misused "setup: it takes no arguments, not '$1'; it installs what scripts/packages.txt names"; fi

# mpi4py's own wheels have no module for the standard ABI, so one is built, with the compiler of .venv/mpich, for all
# environments. Each finds its own environment's MPI beside itself.
mpi4py_wheel() { # sets $wheel
  local directory=.venv/mpi4py-abi requirements=scripts/requirements/mpi4py-abi.txt stamp
  stamp=$(cat "$requirements" .venv/mpich/stamp | sha256sum | cut -d' ' -f1)
  if [ "$(cat "$directory/stamp" 2>/dev/null)" != "$stamp" ]; then
    say "$(cat "$requirements") for the standard ABI, from source (half a minute)"
    rm -rf "$directory"
    # Unoptimised: the compiler would take minutes. Not from pip's cache: that doesn't know for which MPI it built.
    MPI4PY_BUILD_MPIABI=1 MPICC=$PWD/.venv/mpich/bin/mpicc_abi CFLAGS="-O0 -g0" LDFLAGS="-Wl,-rpath,\$ORIGIN/../../.." \
      .venv/mpich/bin/python -m pip wheel --quiet --disable-pip-version-check --no-cache-dir --no-deps \
      --no-binary mpi4py --wheel-dir "$directory" -r "$requirements"
    echo "$stamp" >"$directory/stamp"
  fi
  wheel=$(echo "$directory"/mpi4py-*.whl)
}

use_hooks() { # the repository's, where the clone has none of its own
  local own
  if [ ! -e .git ] || ! git rev-parse --git-dir >/dev/null 2>&1; then return; fi
  own=$(git config core.hooksPath || find "$(git rev-parse --git-path hooks)" -type f ! -name '*.sample' 2>/dev/null ||
    true)
  if [ -z "$own" ]; then git config core.hooksPath .githooks; fi
}

mapfile -t packages < <(grep -vE '^(#|$)' scripts/packages.txt)
install_packages "${packages[@]}"
python_environment mpich
python_environment openmpi
mpi4py_wheel
python_environment mpich-abi "$wheel"
python_environment impi "$wheel"
python_environment wheel
use_hooks
say "everything needed is installed"
