#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What short blocking calls take from C, by `import hocket`, and by mpi4py under `hocket exec`: barrier, broadcast and
allreduce of one double, on one rank and on two. The sides take turns in rounds, rank i on core i; each runs blocks of
calls. Prints the median block (of the rounds' medians the median) and the quickest block of all, in microseconds a
call, and what each side takes more than C.

Run it by an interpreter with cffi, NumPy and mpi4py, after ./dev build:

    .venv/mpich/bin/python bench/python/calls.py [--ranks 1,2] [--rounds 5] [--blocks 200] [--calls 500] [--alone]
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
NAMES = ("barrier", "broadcast", "allreduce")
SIDES = {"c": "C", "hocket": "import hocket", "mpi4py": "mpi4py, hocket", "alone": "mpi4py, MPI alone"}


def calls_of_hocket():
    """(rank, the three calls)"""
    import hocket
    comm = hocket.world()
    return comm.rank, (comm.barrier, comm.broadcast, comm.allreduce)


def calls_of_mpi4py():
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    return comm.rank, (comm.Barrier, comm.Bcast, comm.Allreduce)


def make(call, name, source, target, calls):
    """As often as that, with what the call wants, as programs write it."""
    if name == "barrier":
        for _ in range(calls):
            call()
    elif name == "broadcast":
        for _ in range(calls):
            call(target)
    else:
        for _ in range(calls):
            call(source, target)


def be_a_rank(side, blocks, calls):
    import numpy as np
    rank, made = calls_of_hocket() if side == "hocket" else calls_of_mpi4py()
    meet, source, target = made[0], np.ones(1), np.zeros(1)
    for name, call in zip(NAMES, made):
        times = []
        for _ in range(blocks + 1):
            meet()
            begin = time.perf_counter_ns()
            make(call, name, source, target, calls)
            times.append((time.perf_counter_ns() - begin) / calls / 1000)
        times = sorted(times[1:])
        if rank == 0:
            print(name, f"{times[len(times) // 2]:.4f}", f"{times[0]:.4f}")


def line_of(side, ranks, program, options):
    hocket, launcher = BUILD / "bin" / "hocket", pathlib.Path(sys.executable).parent / "mpiexec"
    python = [sys.executable, __file__, "--side", side, *options]
    run = [hocket, "run", "--bind", "cores", "-n", str(ranks)]
    if side == "c":
        return [*run, program, options[1], options[3]]
    if side == "hocket":
        return [*run, *python]
    under = [hocket, "exec", "--mpi", "mpich", "--"] if side == "mpi4py" else []
    return [*under, launcher, "-bind-to", "core", "-n", str(ranks), *python]


def measured(line):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "OPENBLAS_NUM_THREADS": "1",
                   "HOCKET_LIBRARY": str(BUILD / "lib" / "libhocket.so.0")}
    answer = subprocess.run(list(map(str, line)), env=environment, stdout=subprocess.PIPE, text=True, check=True)
    rows = [row.split() for row in answer.stdout.splitlines()]
    if [row[0] for row in rows] != list(NAMES):
        sys.exit(f"calls.py: {line[0]} printed {answer.stdout!r}")
    return {name: (float(median), float(least)) for name, median, least in rows}


def report(ranks, results):
    """`results`: of each side a dictionary for each round."""
    print(f"\n{ranks} rank{'s' * (ranks > 1)}; microseconds a call: the median block (the quickest)")
    heads = "".join(f"{SIDES[side]:>20}{'over C':>18}" for side in results if side != "c")
    print(f"{'':10}{SIDES['c']:>20}{heads}")
    for name in NAMES:
        figures = {side: (statistics.median(each[name][0] for each in rounds), min(each[name][1] for each in rounds))
                   for side, rounds in results.items()}
        text = f"{name:10}"
        for side, pair in figures.items():
            text += f"{'{:.3f} ({:.3f})'.format(*pair):>20}"
            if side != "c":
                over = (mine - of_c for mine, of_c in zip(pair, figures["c"]))
                text += f"{'{:+.3f} ({:+.3f})'.format(*over):>18}"
        print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--blocks", default="200")
    parser.add_argument("--calls", default="500")
    parser.add_argument("--alone", action="store_true", help="also mpi4py by its MPI alone")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        be_a_rank(options.side, int(options.blocks), int(options.calls))
        return
    sides = ["c", "hocket", "mpi4py"] + ["alone"] * options.alone
    with tempfile.TemporaryDirectory(prefix="hocket-calls-") as folder:
        program = pathlib.Path(folder, "calls")
        source = pathlib.Path(__file__).with_name("calls.c")
        subprocess.run(["cc", "-O2", "-o", program, source, f"-I{ROOT / 'include'}", f"-L{BUILD / 'lib'}",
                        f"-Wl,-rpath,{BUILD / 'lib'}", "-lhocket"], check=True)
        for ranks in map(int, options.ranks.split(",")):
            results = {side: [] for side in sides}
            for _ in range(options.rounds):
                for side in sides:
                    results[side].append(measured(line_of(side, ranks, program, [
                        "--blocks", options.blocks, "--calls", options.calls])))
            report(ranks, results)


if __name__ == "__main__":
    main()
