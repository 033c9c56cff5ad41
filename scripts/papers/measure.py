#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what the figures of the papers on NIC engines and on multicast are drawn from, as those papers measured, in
labs of this machine, and keeps it: one JSON file a set in bench/results/papers/, a row a line.

    sudo scripts/papers/measure.py                            # every set; takes hours
    sudo scripts/papers/measure.py reduce-chain-redirect multicast-5ms
    scripts/papers/measure.py --dry-run                       # the sets, their commands, and how long they take

Without a name, sets whose files are there already are left out; --again measures them anew, too. What is broken off is
not kept.
scripts/papers/figures.py draws the figures.
"""
import argparse
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "bench/results/papers"
SWITCHES = ("redirect", "bridge")
DELAYS = ("500us", "5ms")
EVERY = tuple(range(2, 17))
# Yu, Buntinas, Graham, Panda: the collective protocol and the host by two algorithms (figures 5, 6); chains of
# descriptors, the broadcast of the hardware and trees (figure 7); and the protocol that acknowledges each message.
BARRIERS = ("nic", "nic:pairwise_exchange", "nic-direct", "nic-chain", "nic-chain:pairwise_exchange", "nic-broadcast",
            "nic:gather_broadcast/4", "host-udp", "host-udp:pairwise_exchange", "host-udp:gather_broadcast/4")
# Of which ranks come together, as the broadcast of the hardware wants it (4.1).
TOGETHER = ("nic", "nic-chain", "nic-broadcast", "nic:gather_broadcast/4", "host-udp")
# Buntinas, Panda: what is combined as it comes is theirs; the tree's order is what they left for later.
REDUCTIONS = ("nic-arrival", "nic", "host-udp")
# Hoefler, Siebert, Rehm: "TUNED" is Open MPI's own.
BROADCASTS = ("multicast", "multicast:openmpi", "hocket:mpich:tree_mm:degree=2", "hocket:mpich:tree_mm:degree=8",
              "mpi:mpich", "mpi:openmpi")
# In each slice: to start the ranks of a variant; and engines once, of which each loads its programs.
START_S, ENGINE_S = 0.5, 0.4
SLICES = 3


@dataclass
class Run:
    """One `hocket lab bench`."""
    collective: str
    nodes: tuple
    variants: tuple
    switch: str
    rounds: int
    slices: int
    options: list
    round_us: float = 0  # beside what the nodes' work takes
    cells: int = 1  # for each number of nodes
    has_engines: bool = True

    def command(self, hocket, file):
        return [hocket, "lab", "bench", self.collective, "--nodes", ",".join(map(str, self.nodes)), "--switch",
                self.switch, "--variants", ",".join(self.variants), "--rounds", str(self.rounds), "--slices",
                str(self.slices), *self.options, "--json", str(file)]

    def start_node_s(self):
        """Ranks of an MPI take longer."""
        return 0.02 if self.has_engines else 0.25

    def expected_s(self):
        """On two cores."""
        most = max(self.nodes)
        return sum(self.cells * (self.slices * (ENGINE_S * most * self.has_engines
                                                + len(self.variants) * (START_S + self.start_node_s() * nodes))
                                 + len(self.variants) * self.rounds * (self.round_us + 12 * nodes) / 1e6)
                   for nodes in self.nodes)


# Each number of nodes has a lab of its own: a broadcast goes to all nodes of a lab, and each node has an engine.
def barriers(switch, delay=""):
    delay_us = {"": 0, "500us": 500, "5ms": 5000}[delay]
    rounds = {"": 10000, "500us": 1000, "5ms": 200}[delay]
    options = ["--warm-up", "20", "--impair", f"delay={delay}"] if delay else ["--warm-up", "100"]
    return [Run("barrier", (nodes,), BARRIERS, switch, rounds, SLICES, options,
                delay_us * 1.2 * (nodes - 1).bit_length()) for nodes in EVERY]


def barriers_together(delay):
    delay_us = {"500us": 500, "5ms": 5000}[delay]
    options = ["--timing", "host-time", "--warm-up", "20", "--impair", f"delay={delay}"]
    return [Run("barrier", (nodes,), TOGETHER, "bridge", {"500us": 600, "5ms": 150}[delay], SLICES, options,
                delay_us * 1.2 * (nodes - 1).bit_length()) for nodes in (2, 4, 8, 12, 16, 24, 32)]


def reductions(switch, all_nodes, tree="", *, timing="latency", skews="0", elements="1"):
    options = ["--type", "int64,double", "--elements", elements, "--timing", timing]
    if timing == "host-time":
        options += ["--skew-us", skews]
    cells = 2 * len(skews.split(",")) * len(elements.split(","))
    most_us = max(map(float, skews.split(",")))
    variants = tuple(name + tree for name in REDUCTIONS)
    if tree == ":chain":  # each has one child: nothing to choose from
        variants = variants[1:]
    return [Run("reduce", (nodes,), variants, switch, 10000, SLICES, options,
                300 + most_us / 2 if timing == "host-time" else 25 * nodes, cells) for nodes in all_nodes]


def broadcasts():
    return [Run("broadcast", (nodes,), BROADCASTS, "bridge", 60, 2,
                ["--bytes", "2", "--warm-up", "20", "--settle-us", "20000", "--impair", "delay=5ms"], 80000,
                has_engines=False) for nodes in (2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 116)]


def sets():
    """{name: its runs}, in the order of the papers."""
    all_sets = {f"barrier-{switch}": barriers(switch) for switch in SWITCHES}
    all_sets |= {f"barrier-{delay}": barriers("bridge", delay) for delay in DELAYS}
    all_sets |= {f"barrier-together-{delay}": barriers_together(delay) for delay in DELAYS}
    few = (2, 4, 8, 16)
    for switch in SWITCHES:
        all_sets |= {
            f"reduce-latency-{switch}": reductions(switch, few),
            f"reduce-chain-{switch}": reductions(switch, EVERY, ":chain"),
            f"reduce-flat-{switch}": reductions(switch, EVERY, ":flat"),
            f"reduce-host-{switch}": reductions(switch, few, timing="host-time"),
            f"reduce-skew-{switch}": reductions(switch, (16,), timing="host-time", skews="0,200,400,600,800,1000"),
            f"reduce-skew-nodes-{switch}": reductions(switch, few, timing="host-time", skews="1000"),
            f"reduce-elements-{switch}": reductions(switch, (16,), elements="1,2,4,8,16,32,64"),
        }
    return all_sets | {"multicast-5ms": broadcasts()}


def keep(path, rows):
    """A row a line, so that a change of one shows as one."""
    draft = path.with_suffix(".part")
    draft.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")
    draft.rename(path)


def measure(runs, options):
    """The rows of all of them; None if one has failed."""
    rows = []
    for run in runs:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            if subprocess.run(run.command(options.hocket, file.name), check=False).returncode != 0:
                return None
            rows += json.load(file)
    return rows


def read_arguments(known):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help="(default: all) " + ", ".join(known))
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    parser.add_argument("--dry-run", action="store_true", help="what would be run, and how long it takes")
    parser.add_argument("--share", type=float, default=1,
                        help="of the rounds; each row says of how many it is (default: %(default)s)")
    parser.add_argument("--output", type=pathlib.Path, default=KEPT, help="(default: bench/results/papers)")
    parser.add_argument("--hocket", default="build/release/bin/hocket", help="the command")
    options = parser.parse_args()
    for name in options.sets:
        if name not in known:
            parser.error(f"there is no set '{name}'; there are {', '.join(known)}")
    if not 0 < options.share <= 1:
        parser.error(f"--share {options.share}: a part of the rounds, above 0 and up to 1")
    options.hocket = os.path.abspath(options.hocket)
    if not os.access(options.hocket, os.X_OK):
        sys.exit(f"papers/measure.py: there is no {options.hocket}: ./dev build, or --hocket PATH")
    return options


def main():
    all_sets = sets()
    options = read_arguments(list(all_sets))
    names = [name for name in options.sets or all_sets
             if options.again or options.sets or not (options.output / f"{name}.json").exists()]
    for name in names:
        for run in all_sets[name]:
            run.rounds = max(run.slices, int(run.rounds * options.share))
    minutes = {name: sum(run.expected_s() for run in all_sets[name]) / 60 for name in names}
    hint = "" if names else f"; all are kept in {options.output}: name some, or --again"
    print(f"{len(names)} sets, about {sum(minutes.values()):.0f} minutes{hint}", flush=True)
    if options.dry_run:
        for name in names:
            print(f"{minutes[name]:6.0f} min  {name}")
            for run in all_sets[name]:
                print("            " + shlex.join(run.command(options.hocket, "FILE")))
        return 0
    options.output.mkdir(parents=True, exist_ok=True)
    # Ended by a signal, it takes what it runs along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failures = 0
    for number, name in enumerate(names, 1):
        begin = time.monotonic()
        rows = measure(all_sets[name], options)
        if rows is None:
            failures += 1
        else:
            keep(options.output / f"{name}.json", rows)
        print(f"[{number}/{len(names)}] {name}: {'FAILED' if rows is None else 'done'} after "
              f"{(time.monotonic() - begin) / 60:.1f} min", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
