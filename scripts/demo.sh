#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From nothing to the comparison: installs what is missing, builds, runs real programs with and without hocket.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

# A mistake is told before minutes of building.
case " $* " in *' -h '* | *' --help '*) exec python3 scripts/demo.py --help ;; esac
if command -v python3 >/dev/null; then python3 scripts/demo.py --check "$@"; fi

say "1 of 3: what is needed"
bash scripts/setup.sh
say "2 of 3: building hocket (the first time takes some minutes)"
# No tests: they take twice as long.
build release hocket_command hocket_mpi_mpich hocket_mpi_openmpi hocket_mpi_abi kmeans
say "3 of 3: the programs of examples/, as their MPI runs them and with hocket preloaded"
exec python3 scripts/demo.py "$@"
