#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Small allreduces after one rank was late (after_lateness.c): alone with default settings, at the MPI's best settings,
with hocket, with hocket where ranks only spin, and by `hocket run`.

  after_lateness.py [--mpi mpich,openmpi] [--late 0.3,1,4,8,40,400] [--kinds free,bound,together] [--loads 0,1]
                    [--ranks 2] [--sides alone,best,hocket,spin,run] [--rounds 3]

The sides take turns. `--loads`: processes that compute beside the ranks. A table in Markdown on stdout: the median of
the rounds of the mean time of a call, in microseconds. Exit status 1 if a run fails; a run of more than 60 seconds is
a dash."""

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile

from runs import MPIS, ROOT, build, check_words, command_of

SIDES = ("alone", "best", "hocket", "spin", "run")
KINDS = {"free": (), "bound": ("bound",), "together": ("together",)}


def command(mpi, side, ranks, line):
    if side == "spin":
        return command_of(mpi, "hocket", ranks, line, {"HOCKET_WAIT": "spin"})
    words, environment = command_of(mpi, "alone" if side == "run" else side, ranks, line)
    return [f"{ROOT}/build/release/bin/hocket", "run", "--", *words] if side == "run" else words, environment


@contextlib.contextmanager
def load(count):
    """Processes that compute."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def mean_us(mpi, side, ranks, line):
    words, environment = command(mpi, side, ranks, line)
    try:
        result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return None
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return float(result.stdout.split()[-1])


def row(mpi, ranks, line, sides, rounds):
    times = {side: [] for side in sides}
    for number in range(rounds):
        for side in sides if number % 2 == 0 else reversed(sides):
            times[side].append(mean_us(mpi, side, ranks, line))
    return ["-" if None in values else f"{statistics.median(values):.2f}" for values in times.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--late", default="0.3,1,4,8,40,400")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--loads", default="0,1")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sides", default=",".join(SIDES))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    check_words(parser, options.mpi, MPIS, "MPI")
    check_words(parser, options.kinds, KINDS, "kind")
    check_words(parser, options.sides, SIDES, "side")
    sides = options.sides.split(",")
    print("| MPI | load | | late ms | " + " | ".join(sides) + " |\n|---|---:|---|---:|" + "---:|" * len(sides))
    with tempfile.TemporaryDirectory() as work:
        for mpi in options.mpi.split(","):
            program = build(mpi, "after_lateness.c", work)
            for loads in options.loads.split(","):
                with load(int(loads)):
                    for kind in options.kinds.split(","):
                        for late in options.late.split(","):
                            cells = row(mpi, options.ranks, [program, late, *KINDS[kind]], sides, options.rounds)
                            print(f"| {mpi} | {loads} | {kind} | {late} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
