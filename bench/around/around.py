# SPDX-License-Identifier: BSD-3-Clause
"""Times of calls.c and start.c, and floods of flood.c, under each MPI: alone as it comes, alone at its best settings,
and under hocket as it comes.

  around.py [--mpi mpich,openmpi] [--cases pingpong,wait,...] [--ranks 2,4,8] [--rounds 5]

The three sides take turns. A table in Markdown on stdout, with medians and in brackets the lowest and the highest of
the rounds; progress on stderr. Microseconds, but percent of a core for `wait`, and KiB, MiB or calls ahead where the
name says so. Floods, starts, and communicators that come and go, only where --cases names them. Exit status 1 if a
run fails; a run of more than --timeout seconds is a dash."""

import argparse
import statistics
import sys
import tempfile

from runs import MPIS, SIDES, build, check_words, run

# The program of this folder, and its arguments.
CASES = {"pingpong": ("calls.c", "pingpong", "2000"), "ring": ("calls.c", "ring", "500"),
         "halo": ("calls.c", "halo", "1000"), "wait": ("calls.c", "wait", "1"),
         "late_5": ("calls.c", "late", "5"), "late_30": ("calls.c", "late", "30"),
         "communicators": ("calls.c", "communicators", "300"),
         "many_requests": ("many_requests.c", "100"),
         "start": ("start.c",),
         "come_and_go": ("calls.c", "come_and_go", "10000", "2000"),
         "bcast_flood": ("flood.c", "bcast", "100000", "1024", "2"),
         "reduce_flood": ("flood.c", "reduce", "100000", "1024", "2")}

ON_REQUEST = ("start", "come_and_go", "bcast_flood", "reduce_flood")


def measure(mpi, ranks, case, options, work):
    """{name: {side: [numbers]}} of all rounds."""
    source, *arguments = CASES[case]
    line = [build(mpi, source, work), *arguments]
    found = {}
    for number in range(options.rounds):
        sides = SIDES if MPIS[mpi].best else ("alone", "hocket")
        for side in sides if number % 2 == 0 else reversed(sides):
            print(f"{mpi}, {ranks} ranks, {case}, {side}, {number + 1} of {options.rounds}", file=sys.stderr)
            for text in (run(mpi, side, ranks, line, options.timeout) or "").splitlines():
                name, value = text.split()
                found.setdefault(name, {}).setdefault(side, []).append(float(value))
    return found


def short(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def cell(values):
    return f"{short(statistics.median(values))} ({short(min(values))} to {short(max(values))})" if values else "-"


def ratio(values):
    """How many times as fast as the better of the MPI's own sides."""
    alone = [statistics.median(values[side]) for side in ("alone", "best") if values.get(side)]
    return f"{min(alone) / statistics.median(values['hocket']):.2f}" if alone and values.get("hocket") else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--cases", default=",".join(case for case in CASES if case not in ON_REQUEST))
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=60)
    options = parser.parse_args()
    check_words(parser, options.mpi, MPIS, "MPI")
    check_words(parser, options.cases, CASES, "case")
    print("| MPI | ranks | | alone | at its best settings | under hocket | ratio |\n|---|---:|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as work:
        for mpi in options.mpi.split(","):
            for ranks in options.ranks.split(","):
                for case in options.cases.split(","):
                    for name, values in measure(mpi, int(ranks), case, options, work).items():
                        cells = [cell(values.get(side)) for side in SIDES]
                        print(f"| {mpi} | {ranks} | {name} | " + " | ".join([*cells, ratio(values)]) + " |",
                              flush=True)


if __name__ == "__main__":
    main()
