# SPDX-License-Identifier: BSD-3-Clause
"""Ten thousand calls of each kind by NIC engines on each kind of bad wire and with late hosts, on 4 and on 8 nodes,
blocking and sixteen at a time: every bit of every result is looked at, and what makes no progress is told.

With LONG_TESTS=1, in hours; else as many of each kind as CALLS_OF_EACH says, a hundred if it says nothing.
"""

import json
import os
import select
import subprocess
import time

from lab_command import COMMAND, main_as_root
from mpi_lab import HERE, MpiLab
from nic_lab import NicLab

OF_EACH = 10_000 if os.environ.get("LONG_TESTS") else int(os.environ.get("CALLS_OF_EACH", "100"))
# Of tests/support/nic_calls.cc, each of which the dice take as often; and a little more, so that none is left behind.
KINDS = 8
CALLS = int(OF_EACH * KINDS * 1.06)
IN_FLIGHT = (1, 16)
CHUNK = 500
# A call is given up neither by engines nor by MPIs: whatever the wire does, some come to their end within this.
NO_PROGRESS_S = 120
NODES = (4, 8)
WIRES = {
    "loss 1%": (["loss", "all", "1%"],),
    "loss 20%": (["loss", "all", "20%"],),
    "delay 500us": (["delay", "all", "500us"],),
    "delay 5ms": (["delay", "all", "5ms"],),
    "twice and out of order": (["duplicate", "all", "10%"], ["reorder", "all", "10%"]),
    "slow and all of it": (["loss", "all", "1%"], ["delay", "all", "1ms", "--jitter", "1ms"],
                           ["duplicate", "all", "5%"], ["reorder", "all", "5%"], ["corrupt", "all", "1%"]),
}
# Of the hosts.
LATE_US = 10_000


class NicEnduranceTest(NicLab):
    def answer_of(self, rank, nodes):
        """None of a rank has more to say than one line, so nothing of it is in a buffer."""
        if not select.select([rank.process.stdout], [], [], NO_PROGRESS_S)[0]:
            counters = {node: self.services(node) for node in range(nodes)}
            self.fail(f"rank {rank.rank}: no answer within {NO_PROGRESS_S} s; engines: {json.dumps(counters)}")
        return rank.answer()

    def calls(self, ranks, count, in_flight, seed):
        for begin in range(0, count, CHUNK):
            for rank in ranks:
                rank.tell("calls", min(CHUNK, count - begin), in_flight, seed)
            for rank in ranks:
                self.assertEqual(self.answer_of(rank, len(ranks)), "ok")

    def endure(self, effects, late_us):
        for nodes in NODES:
            self.lab("down", "--all")
            self.up(nodes)
            for effect in effects:
                self.lab(*effect)
            ranks = self.ranks(range(nodes))
            for rank in ranks:
                self.assertEqual(rank.ask("late", late_us), "ok")
            for in_flight in IN_FLIGHT:
                begin = time.monotonic()
                self.calls(ranks, CALLS // len(IN_FLIGHT), in_flight, seed=nodes)
                print(f"{CALLS // len(IN_FLIGHT)} calls on {nodes} nodes, {in_flight} at a time: "
                      f"{time.monotonic() - begin:.0f} s", flush=True)
            counters = [self.counters(node) for node in range(nodes)]
            for name in ("unsound", "disagreement"):
                self.assertEqual([one[name] for one in counters], [0] * nodes, name)
            for rank in ranks:
                rank.end()

    def test_every_bit_is_right_on_every_wire(self):
        for name, effects in WIRES.items():
            with self.subTest(wire=name):
                print(name, flush=True)
                self.endure(effects, 0)

    def test_every_bit_is_right_where_hosts_are_late(self):
        for name, effects in {"a good wire": (), "delay 500us": WIRES["delay 500us"],
                              "loss 1%": WIRES["loss 1%"]}.items():
            with self.subTest(wire=name):
                print(f"{name}, hosts late by up to {LATE_US} us", flush=True)
                self.endure(effects, LATE_US)

    def test_barriers_hold(self):
        for impairment in ("loss=1%", "loss=20%", "delay=500us", "delay=5ms", "duplicate=10%,reorder=10%"):
            for late_us in (0, LATE_US):
                with self.subTest(wire=impairment, late_us=late_us):
                    rounds = max(OF_EACH // 10, 100) if late_us else OF_EACH
                    bench = self.start("bench", "barrier", "--nodes", "4,8", "--switch", "redirect", "--check",
                                       "--slices", "1", "--rounds", str(rounds), "--warm-up", "5", "--json",
                                       "/dev/stdout", "--variants", "nic,nic:gather_broadcast/8,nic-direct",
                                       "--impair", impairment, "--compute-us", str(late_us))
                    said, complaints = bench.communicate(timeout=20 * NO_PROGRESS_S)
                    self.assertEqual(bench.returncode, 0, complaints)
                    self.assertEqual([row["rounds"] for row in json.loads(said[said.index("\n["):])], [rounds] * 6)


class MpiEnduranceTest(MpiLab):
    """What programs call, most of which engines carry out; MPIs' messages over TCP make up for the rest."""

    SOURCE = "sums.c"
    LABS = {"mpich": 4, "openmpi": 8}
    EFFECTS = {name: WIRES[name] for name in ("loss 1%", "delay 500us", "delay 5ms", "twice and out of order")}

    def operations(self, nodes):
        told = [json.loads(self.lab("exec", f"n{node}", "--", COMMAND, "nic", "status", "--json").stdout)
                for node in range(nodes)]
        return sum(service["counters"]["operations"] for services in told for service in services)

    def watched(self, mpi, nodes, *program):
        """What a job says that has to make progress."""
        job = self.start("mpirun", "--mpi", self.launcher(mpi), "--with-hocket", *program, HOCKET_NIC="on")
        before, since = self.operations(nodes), time.monotonic()
        while True:
            try:
                said = "".join(job.communicate(timeout=NO_PROGRESS_S / 20))
                self.assertEqual(job.returncode, 0, said)
                return said
            except subprocess.TimeoutExpired:  # not yet
                now = self.operations(nodes)
                if now != before:
                    before, since = now, time.monotonic()
                self.assertLess(time.monotonic() - since, NO_PROGRESS_S, f"no progress after {now} operations")

    def endure(self, mpi, nodes, effects, late_us):
        self.lab("down", "--all")
        self.lab("up", str(nodes), "--switch", "redirect")
        self.lab("exec", "each", "--", COMMAND, "nic", "up", "eth0")
        for effect in effects:
            self.lab(*effect)
        begin = time.monotonic()
        self.assertIn("0 barriers did not hold",
                      self.watched(mpi, nodes, self.compiled(mpi, os.path.join(HERE, "barriers.c")), str(OF_EACH)))
        said = self.watched(mpi, nodes, self.programs[mpi], str(OF_EACH), str(late_us))
        self.assertIn(f"\n0 results are wrong of {nodes * 10 * OF_EACH} calls", "\n" + said)
        program = self.compiled(mpi, os.path.join(HERE, "../mpi/nonblocking.c"), "-ldl", "-lpthread")
        # Each round has three of each kind and more.
        said = self.watched(mpi, nodes, program, str(OF_EACH // 3 + 1), "engines")
        self.assertIn("nonblocking: passed", said)
        self.assertGreater(self.operations(nodes), nodes * 10 * OF_EACH)
        print(f"{mpi} on {nodes} nodes: {time.monotonic() - begin:.0f} s", flush=True)

    def test_every_bit_is_right_on_every_wire(self):
        for mpi in self.programs:
            for name, effects in self.EFFECTS.items():
                with self.subTest(mpi=mpi, wire=name):
                    print(name, flush=True)
                    self.endure(mpi, self.LABS[mpi], effects, 0)

    def test_every_bit_is_right_where_ranks_are_late(self):
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                self.endure(mpi, self.LABS[mpi], (), LATE_US)


if __name__ == "__main__":
    main_as_root()
