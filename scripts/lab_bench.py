#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures in the lab: clusters of several shapes inside this machine, each MPI at the settings that `hocket lab
mpirun` gives it, one JSON file a run in build/lab_bench/.

    sudo scripts/lab_bench.py                          # all shapes, MPIs and collectives; takes hours
    sudo scripts/lab_bench.py --shapes 2x4,4x2 --mpi mpich,openmpi --collectives alltoall
    sudo scripts/lab_bench.py --dry-run                # what would be run, and how long that takes

A run whose file is there already is left out, so that what was broken off goes on where it stopped; --again measures
anew. A run that fails or takes far too long leaves a file NAME.failed with what it said, and the next begins.
scripts/lab_report.py makes tables of the files, scripts/cluster_figures.py draws them.
"""
import argparse
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import collectives
from lab_results import parse_shape

SHAPES = "2x4,4x2,4x4,8x2,8x4"  # nodes x ranks a node; 16x8 on request
MPIS = "mpich,openmpi,intel,debian-mpich,debian-openmpi"
COLLECTIVES = "alltoall,allreduce,allgather,broadcast,reduce"
LONG_SHAPE = "2x4"  # which has the longest blocks, too
BLOCK_SIZES = "1,4,16,64,256,512,1K,2K,4K,8K,16K,64K"
MESSAGE_SIZES = "8,64,512,4K,32K,256K,1M"
LONGEST_BLOCK = "1M"
# The flat algorithms that change over at the switch points of Kumar, Mamidala, Panda, Scaling Alltoall
# Collective on Multi-core Systems, and their schemes, with each of these inside.
FLAT_ALLTOALLS = ("bruck", "linear", "pairwise")
SCHEMES = ("leader", "send_aggregation", "receive_distribution")
OTHER_SCHEMES = ("leader", "lanes", "node_tree", "node_tree:segment=32K")
# Starting, set-up, checking results: seconds of a run, and of a cell and variant beside its budget.
STARTING_S, CHECKING_S = 10, 0.15
# A run that takes so many times what was expected hangs, or is hopeless.
TIMEOUT_FACTOR = 6


@dataclass
class Run:
    mpi: str
    shape: str
    what: str  # a collective, or "probe"
    arguments: list
    expected_s: float

    @property
    def nodes(self):
        return parse_shape(self.shape)[0]

    @property
    def ranks_a_node(self):
        return parse_shape(self.shape)[1]

    @property
    def name(self):
        return f"{self.mpi}-{self.shape}-{self.what}"


def known_algorithms(hocket, collective):
    text = subprocess.run([hocket, "algorithms", collective, "--json"], check=True, capture_output=True,
                          text=True).stdout
    return [row["name"] for row in json.loads(text)]


def variants_of(hocket, collective):
    known = known_algorithms(hocket, collective)
    variants = ["mpi", "hocket"]
    if collective == "alltoall":
        flat = [name for name in FLAT_ALLTOALLS if name in known]
        schemes = [name for name in SCHEMES if name in known]
        return variants + flat + schemes + [f"{scheme}:across={inner}" for scheme in schemes for inner in flat]
    return variants + [scheme for scheme in OTHER_SCHEMES if scheme.split(":")[0] in known]


def sizes_of(collective, shape, options):
    if options.sizes:
        return options.sizes
    if collective == "barrier":
        return "8"
    if collective in ("alltoall", "allgather", "gather", "scatter", "reduce_scatter_block"):
        return BLOCK_SIZES + ("," + LONGEST_BLOCK if shape == LONG_SHAPE else "")
    return MESSAGE_SIZES


def plan(options):
    runs = []
    for shape in options.shapes.split(","):
        nodes, ranks_a_node = parse_shape(shape)
        # Ranks that share cores take longer for the fewest rounds that a cell has.
        slow = max(1, nodes * ranks_a_node / (os.cpu_count() or 1) / 8)
        for mpi in options.mpi.split(","):
            if not options.no_probe:
                runs.append(Run(mpi, shape, "probe", ["probe", "--budget", f"{options.probe_budget}s"],
                                STARTING_S + options.probe_budget))
            for collective in options.collectives.split(","):
                variants = variants_of(options.hocket, collective)
                sizes = sizes_of(collective, shape, options)
                cells = len(sizes.split(",")) * 2
                runs.append(Run(mpi, shape, collective,
                                ["bench", collective, "--sizes", sizes, "--variants", ";".join(variants),
                                 "--time-budget", str(options.time_budget)],
                                STARTING_S + cells * len(variants) * (options.time_budget + CHECKING_S) * slow))
    return runs


def command_of(run, options, path):
    return [options.hocket, "lab", "mpirun", "--name", options.name, "--mpi", run.mpi, "-n",
            str(run.nodes * run.ranks_a_node), "--ppn", str(run.ranks_a_node), "--", options.hocket, *run.arguments,
            "--json", str(path)]


class Lab:
    """Up with the shape that is wanted, and down in the end, whatever happens."""

    def __init__(self, options):
        self.options = options
        self.nodes = 0

    def have(self, nodes):
        if nodes == self.nodes:
            return
        self.down()
        subprocess.run([self.options.hocket, "lab", "up", str(nodes), "--name", self.options.name, "--switch",
                        self.options.switch, "--cores", self.options.cores], check=True, stdout=subprocess.DEVNULL)
        self.nodes = nodes

    def down(self):
        if self.nodes:
            subprocess.run([self.options.hocket, "lab", "down", self.options.name], check=False)
        self.nodes = 0


def carry_out(run, options, path):
    """Ends with the file at `path`, or with NAME.failed beside it."""
    draft = path.with_suffix(".part")
    failed = path.with_suffix(".failed")
    for old in (draft, failed):
        old.unlink(missing_ok=True)
    limit_s = run.expected_s * TIMEOUT_FACTOR + 30
    process = subprocess.Popen(command_of(run, options, draft), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit_s)
        problem = f"exit code {process.returncode}" if process.returncode else ""
    except subprocess.TimeoutExpired:
        # It ends what runs in the nodes, and then itself.
        os.killpg(process.pid, signal.SIGTERM)
        output, _ = process.communicate()
        problem = f"ended after {limit_s:.0f} s"
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    if not problem and draft.exists():
        draft.rename(path)
        return True
    draft.unlink(missing_ok=True)
    failed.write_text(f"{problem or 'no file was written'}\n{output}", encoding="utf-8")
    return False


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default=SHAPES, help="nodes x ranks a node (default: %(default)s)")
    parser.add_argument("--mpi", default=MPIS, help="as of `hocket lab mpirun` (default: %(default)s)")
    parser.add_argument("--collectives", default=COLLECTIVES, help="(default: %(default)s)")
    parser.add_argument("--sizes", default="", help="instead of the usual ones of each collective")
    parser.add_argument("--time-budget", type=float, default=0.05, help="seconds for each variant in each cell")
    parser.add_argument("--probe-budget", type=float, default=30, help="seconds for knowing the interface")
    parser.add_argument("--no-probe", action="store_true")
    parser.add_argument("--switch", default="bridge", choices=("bridge", "redirect"))
    parser.add_argument("--cores", default="own", choices=("shared", "own"),
                        help="as of `hocket lab up` (default: %(default)s)")
    parser.add_argument("--name", default="bench", help="the lab's name")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/lab_bench"))
    parser.add_argument("--hocket", default="build/release/bin/hocket", help="the command")
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    options.hocket = os.path.abspath(options.hocket)
    options.output = options.output.resolve()
    if not os.access(options.hocket, os.X_OK):
        sys.exit(f"lab_bench: there is no {options.hocket}: ./dev build, or --hocket PATH")
    try:
        options.collectives = ",".join(collectives.find_all(options.collectives))
    except ValueError as error:
        sys.exit(f"lab_bench: --collectives: {error}")
    for shape in options.shapes.split(","):
        try:
            parse_shape(shape)
        except ValueError as error:
            sys.exit(f"lab_bench: --shapes {error}")
    return options


def main():
    options = read_arguments()
    runs = [run for run in plan(options) if options.again or not (options.output / f"{run.name}.json").exists()]
    expected_s = sum(run.expected_s for run in runs)
    print(f"{len(runs)} runs, about {expected_s / 60:.0f} minutes", flush=True)
    if options.dry_run:
        for run in runs:
            line = shlex.join(command_of(run, options, options.output / f"{run.name}.json"))
            print(f"{run.expected_s:6.0f} s  {line}")
        return 0
    options.output.mkdir(parents=True, exist_ok=True)
    # Ended by a signal, the lab is taken down all the same.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    lab = Lab(options)
    failures = 0
    try:
        for number, run in enumerate(runs, 1):
            lab.have(run.nodes)
            begin = time.monotonic()
            good = carry_out(run, options, options.output / f"{run.name}.json")
            failures += not good
            print(f"[{number}/{len(runs)}] {run.name}: {'done' if good else 'FAILED'} after "
                  f"{time.monotonic() - begin:.0f} s", flush=True)
    finally:
        lab.down()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
