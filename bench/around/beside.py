# SPDX-License-Identifier: BSD-3-Clause
"""Times of waiting_peer.c beside each MPI alone: pairs of runs, with and without hocket in turn, medians and spread.

  beside.py [--mpi mpich,openmpi] [--cases ssend,...] [--pairs 15] [--ranks 4]

A table in Markdown on stdout, progress on stderr. Exit status 1 if a run fails."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
COUNTS = {"fetch_and_op": 5000, "accumulate": 1000, "put": 2000, "ssend": 5000, "rendezvous": 20, "nbx": 1000,
          "probe": 5000, "file": 200, "ping_pong": 20000}
FAMILIES = {"mpich": "mpich", "openmpi": "openmpi", "mpich-abi": "abi"}


def run(mpi, program, ranks, case, preload):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_mpi_yield_when_idle="1", MPIR_CVAR_CH4_PROGRESS_THROTTLE="1",
                       MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT="1")
    options = ["--oversubscribe", "--bind-to", "none"] if mpi == "openmpi" else []
    line = [f"{ROOT}/.venv/{mpi}/bin/mpiexec", *options, "-n", str(ranks), "env", *preload, program, case,
            str(COUNTS[case])]
    result = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if result.returncode != 0:
        sys.exit(f"beside.py: {' '.join(line)}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return float(result.stdout.split()[-1])


def compare(mpi, ranks, case, pairs, work):
    program = os.path.join(work, f"waiting_peer-{mpi}")
    if not os.path.exists(program):
        compiler = f"{ROOT}/.venv/{mpi}/bin/{'mpicc_abi' if mpi == 'mpich-abi' else 'mpicc'}"
        subprocess.run([compiler, "-O2", f"{HERE}/waiting_peer.c", "-o", program], check=True)
    library = f"LD_PRELOAD={ROOT}/build/release/lib/libhocket-mpi-{FAMILIES[mpi]}.so"
    alone, hocket = [], []
    for pair in range(pairs):
        sides = [(alone, []), (hocket, [library])]
        for times, preload in sides if pair % 2 == 0 else reversed(sides):
            times.append(run(mpi, program, ranks, case, preload))
    return alone, hocket


def cell(times):
    """Median, and quartiles."""
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle:.1f} ({low:.1f} to {high:.1f})" if middle < 100 else f"{middle:.0f} ({low:.0f} to {high:.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--cases", default=",".join(COUNTS))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--ranks", type=int, default=4)
    options = parser.parse_args()
    for word, known, what in [*((one, FAMILIES, "MPI") for one in options.mpi.split(",")),
                              *((one, COUNTS, "case") for one in options.cases.split(","))]:
        if word not in known:
            parser.error(f"there is no {what} '{word}': {' '.join(known)}")
    if options.pairs < 2 or options.ranks < 3:
        parser.error("--pairs is 2 at least, --ranks 3")
    print("| us | " + " | ".join(f"{mpi} alone | under hocket | ratio" for mpi in options.mpi.split(",")) + " |")
    print("|---|" + "---:|---:|---:|" * len(options.mpi.split(",")))
    with tempfile.TemporaryDirectory() as work:
        for case in options.cases.split(","):
            cells = []
            for mpi in options.mpi.split(","):
                print(f"{case}, {mpi}", file=sys.stderr)
                alone, hocket = compare(mpi, options.ranks, case, options.pairs, work)
                ratio = statistics.median(hocket) / statistics.median(alone)
                cells += [cell(alone), cell(hocket), f"{ratio:.2f}"]
            print(f"| {case} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
