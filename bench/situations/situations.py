#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls in the situations that programs put them into: each MPI alone with default settings, alone at its best settings
where ranks share cores, and with hocket.

  ./dev bench situations [--mpi mpich,openmpi] [--ranks 2,4,8] [--situation late,win,...] [--rounds 3]
                         [--minutes 15] [--json FILE] [--table FILE] [--page FILE] [--from FILE] [--quick]
                         [--long] [--estimate]

Situations: tight, first_S and dup_first_S (the first call, S seconds after the others), late_MS (after one rank's
lateness), computing (test loops with computation), win_create, win_allocate, win_allocate_shared, win_dynamic (beside
an open window), receive_posted, persistent_held, multiple (MPI_THREAD_MULTIPLE), bound, one_core (all ranks on one),
foreign (beside a process that computes), and peer_PLACE_S: accesses to a rank that has waited for S seconds in the
job's first barrier, in a later one or in MPI_Recv. --situation takes names and their first words.

The sides take turns, in rounds. A table on stdout, losses first: microseconds a call, medians, the lowest and highest
of the rounds in brackets; `ratio` is the better of the MPI's columns over hocket's. Progress is on stderr. A call that
hangs is listed first and loses no other cell. --json has every round, --table all cells in Markdown, --page writes
totals and the lowest losses into a page between two marks. After --minutes no more processes are started.

Exit status 1 if a job fails or hangs."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from jobs import MPIS, measure_start, preload_of, sides_of
from plan import chosen, seconds_of, starts_of
from results import Results, as_json, fit_into, full_text, page
from runs import check_words  # pylint: disable=wrong-import-order


# Relative to a file in bench/results/one-machine/.
TITLE = ("# One machine: situations\n\n[docs/situations.md](../../../docs/situations.md) has the situations, the "
         "method and the findings. Microseconds.\n\n")


def version_of(mpi):
    """The first line of what the launcher says of itself that has a number in it."""
    found = subprocess.run([MPIS[mpi].launcher, "--version"], capture_output=True, text=True, check=False)
    lines = [" ".join(line.split()) for line in found.stdout.splitlines() if any(letter.isdigit() for letter in line)]
    return lines[0] if lines else "?"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def heading(options):
    return {"command": shlex.join(["./dev", "bench", "situations", *sys.argv[1:]]), "processor": processor(),
            "cores": options.cores, "kernel": platform.release(), "date": datetime.date.today().isoformat(),
            "rounds": options.rounds, "mpis": {mpi: version_of(mpi) for mpi in options.mpi.split(",")}}


def plan_of(options):
    """[(MPI, ranks, start)] of a round."""
    names = options.situation.split(",") if options.situation else []
    return [(mpi, ranks, start) for mpi in options.mpi.split(",") for ranks in map(int, options.ranks.split(","))
            for start in chosen(starts_of(ranks, options.long), names)]


def estimated_seconds(plan, options):
    return options.rounds * sum(seconds_of(start, mpi, ranks) * len(sides_of(start, mpi, ranks, options.cores))
                                for mpi, ranks, start in plan)


def measure_rounds(plan, options, work, results):
    begin = time.monotonic()
    for turn in range(options.rounds):
        for at, (mpi, ranks, start) in enumerate(plan):
            seconds = time.monotonic() - begin
            if seconds > 60 * options.minutes:
                results.others.append(f"ended after {options.minutes:g} minutes, in round {turn + 1}")
                return
            print(f"[{seconds:.0f} s] round {turn + 1} of {options.rounds}, {at + 1} of {len(plan)}: {mpi}, "
                  f"{ranks} ranks, {start.name}", file=sys.stderr, flush=True)
            measure_start(start, mpi, ranks, turn, results, work, options)


def interrupt(*_):
    raise KeyboardInterrupt


def measure_all(plan, options):
    """Results up to an interruption count."""
    results = Results()
    signal.signal(signal.SIGTERM, interrupt)
    with tempfile.TemporaryDirectory(prefix="hocket-situations-") as work:
        try:
            measure_rounds(plan, options, work, results)
        except KeyboardInterrupt:
            results.others.append("interrupted")
    return results


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     prog="./dev bench situations")
    parser.add_argument("--mpi", default="mpich,openmpi", help=", ".join(MPIS))
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--situation", default="", help="names, and first words of names")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=15, help="after which no more processes are started")
    parser.add_argument("--block-ms", type=float, default=4, help="how long a block of calls takes")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help="every cell, in Markdown")
    parser.add_argument("--page", type=pathlib.Path, help="a page whose generated part is replaced")
    parser.add_argument("--from", dest="kept", type=pathlib.Path, help="measure nothing: what --json has written")
    parser.add_argument("--quick", action="store_true", help="one round of short blocks: it all runs")
    parser.add_argument("--long", action="store_true", help="first calls and peers after 11 seconds, too")
    parser.add_argument("--estimate", action="store_true", help="print about how long it takes, and measure nothing")
    options = parser.parse_args()
    check_words(parser, options.mpi, MPIS, "MPI")
    if options.quick:
        options.rounds, options.block_ms = 1, 1
    options.cores = len(os.sched_getaffinity(0))
    return parser, options


def main():
    parser, options = parse()
    if options.kept:
        data = json.loads(options.kept.read_text(encoding="utf-8"))
    else:
        plan = plan_of(options)
        if not plan:
            parser.error(f"no situation is called '{options.situation}'")
        print(f"situations: about {estimated_seconds(plan, options) / 60:.1f} minutes", file=sys.stderr)
        if options.estimate:
            return 0
        for mpi in options.mpi.split(","):
            if not preload_of(mpi).exists():
                sys.exit(f"situations: there is no {preload_of(mpi)}: ./dev build")
        data = measure_all(plan, options).as_data(heading(options))
    if options.json and not options.kept:
        options.json.write_text(as_json(data), encoding="utf-8")
    if options.table:
        options.table.write_text(TITLE + full_text(data), encoding="utf-8")
    if options.page:
        old = options.page.read_text(encoding="utf-8") if options.page.exists() else ""
        options.page.write_text(fit_into(old, page(data)), encoding="utf-8")
    print(full_text(data), end="")
    return 1 if data["troubles"] or any(cell["troubles"] for cell in data["cells"]) else 0


if __name__ == "__main__":
    sys.exit(main())
