# SPDX-License-Identifier: BSD-3-Clause
"""An unmodified MPI program's barriers go through NIC engines, where every node has one, and else as ever."""

import collections
import json
import os
import re
import signal
import subprocess

from lab_command import COMMAND, LONG_TESTS, eventually, has_its_turn, main_as_root
from mpi_lab import HERE, MPIS, VENV, MpiLab

EXAMPLE = os.path.join(HERE, "../../../examples/barriers_ahead.c")
NODES = 3
BARRIERS = 200
SUMS = 80


class NicMpiTest(MpiLab):
    SOURCE = "barriers.c"

    def up(self, *kinds, ranks_a_node=1):
        """An engine takes a second to load: jobs that can share one do, and operations count from count_anew() on."""
        self.lab("down", "--all")
        self.lab("up", str(NODES), "--switch", "redirect", "--ppn", str(ranks_a_node))
        for node, kind in enumerate(kinds):
            if kind:
                self.lab("exec", f"n{node}", "--", COMMAND, "nic", kind, "eth0")
        self.counted = [0] * NODES

    def count_anew(self):
        self.counted = [0] * NODES
        self.counted = [self.operations(node) for node in range(NODES)]

    def run_barriers(self, mpi, code=0, **settings):
        result = self.lab("mpirun", "--mpi", self.launcher(mpi), "--with-hocket", self.programs[mpi],
                          str(BARRIERS), code=code, **settings)
        if code == 0:
            self.assertIn("0 barriers did not hold", result.stdout)
        return result

    def sums(self, mpi, what, **settings):
        program = self.compiled(mpi, os.path.join(HERE, "sums.c"))
        return self.lab("mpirun", "--mpi", self.launcher(mpi), "--with-hocket", program, what,
                        **settings).stdout

    def run_sums(self, mpi, **settings):
        """What the program says of its results' bits."""
        said = self.sums(mpi, str(SUMS), **settings)
        self.assertIn("\n0 results are wrong", "\n" + said)
        return re.search("bits ([0-9a-f]{16})", said)[1]

    def test_sums_go_through_the_engines_and_have_the_bits_of_the_same_schedule_by_messages(self):
        for ranks_a_node in (1, 2):
            self.up("up", "agent", "up", ranks_a_node=ranks_a_node)
            for number, mpi in enumerate(self.programs):
                for place, across in enumerate(("tree_mm/8", "recursive_doubling")):
                    if not has_its_turn(number, place, ranks_a_node):
                        continue
                    with self.subTest(mpi=mpi, ranks_a_node=ranks_a_node, across=across):
                        self.count_anew()
                        forced = {"HOCKET_ALLREDUCE": "leader:across=" + across,
                                  "HOCKET_REDUCE": "leader:across=tree_mm/8"}
                        bits = self.run_sums(mpi, HOCKET_NIC="on", **forced)
                        # Two thirds of the calls are short enough, whoever is the root.
                        operations = [self.operations(node) for node in range(NODES)]
                        self.assertTrue(all(count > 2 * SUMS for count in operations), operations)
                        self.assertEqual(bits, self.run_sums(mpi, HOCKET_NIC="off", **forced))

    def test_operands_are_combined_as_they_come_where_that_is_wanted_and_can_be(self):
        self.up("up", "agent", "up")
        for mpi in self.programs:
            for combine, across, sums in (("order", "tree_mm/8", "0 0"), ("arrival", "tree_mm/8", "1 0"),
                                          ("arrival", "recursive_doubling", "0 0")):
                with self.subTest(mpi=mpi, combine=combine, across=across):
                    if not LONG_TESTS and mpi != next(iter(self.programs)) and sums == "0 0":
                        continue  # whose MPI it is shows least where nothing changes
                    settings = {"HOCKET_NIC": "on", "HOCKET_NIC_COMBINE": combine,
                                "HOCKET_ALLREDUCE": "leader:across=" + across}
                    self.assertIn(f"\nsums {sums}\n", "\n" + self.sums(mpi, "order", **settings))
                    self.run_sums(mpi, **settings)

    def started(self, mpi, nic, choices):
        """Operations of an engine in a job with these choices."""
        self.count_anew()
        self.run_sums(mpi, HOCKET_NIC=nic, **choices)
        return self.operations(0)

    def started_more(self, mpi, held, not_held):
        """With the choices `held`, beyond those with others that engines don't hold."""
        return self.started(mpi, "on", held) - self.started(mpi, "auto", not_held)

    def test_blocks_of_several_ranks_go_through_the_engines_as_one(self):
        mpi = next(iter(self.programs))
        for ranks_a_node in (1, 2):
            with self.subTest(ranks_a_node=ranks_a_node):
                self.up("up", "up", "up", ranks_a_node=ranks_a_node)
                most = 512 // (NODES * ranks_a_node), 21 * 8 // ranks_a_node ** 2
                short = sum(1 + step * 7 % 96 <= bytes for step in range(SUMS) for bytes in most)
                # Each once from its own buffer, and once in place.
                self.assertEqual(2 * short, self.started_more(
                    mpi,
                    {"HOCKET_ALLGATHER": "leader:across=tree_mm/8", "HOCKET_ALLTOALL": "leader:across=linear"},
                    {"HOCKET_ALLGATHER": "leader:across=ring", "HOCKET_ALLTOALL": "leader:across=bruck"}))

    def test_any_rank_may_be_the_root(self):
        mpi = next(iter(self.programs))
        doubles = sum(count <= 64 for count in (1, 2, 7, 8, 33, 64, 65, 96)) * SUMS // 8
        broadcasts = sum(1 + step * 13 % 768 <= 512 for step in range(SUMS))
        # Greatest integers are always short; and two reductions count what was wrong.
        short = doubles + SUMS + broadcasts + 2
        def both(spec):
            return {f"HOCKET_{name}": spec for name in ("BROADCAST", "REDUCE")}
        self.up("up", "up", "up", ranks_a_node=2)
        others = self.started(mpi, "auto", both("node_tree"))
        for held in ("tree_mm/8", "tree_mm/2", "parents/0.2.0"):
            with self.subTest(held=held):
                self.assertEqual(short, self.started(mpi, "on", both("leader:across=" + held)) - others)

    def test_a_tree_that_engines_cannot_hold_is_an_error_where_they_are_asked_for(self):
        mpi = next(iter(self.programs))
        self.up("up", "up", "up")
        result = self.run_barriers(mpi, code=None, HOCKET_NIC="on", HOCKET_ALLREDUCE="ring")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("HOCKET_NIC=on can't be honoured: allreduce is forced to be ring", result.stderr)
        self.assertEqual(self.operations(0), 0)
        self.assertNotIn("honoured", self.run_barriers(mpi, HOCKET_ALLREDUCE="ring").stderr)
        self.assertGreater(self.operations(0), BARRIERS)

    def test_every_mode_is_there_for_programs(self):
        mpi = next(iter(self.programs))
        self.up("up", "agent", "up")

        def counters():
            status = self.lab("exec", "n1", "--", COMMAND, "nic", "status", "--json").stdout
            return collections.Counter(json.loads(status)[0]["counters"])
        for mode in ("collective", "chain", "direct", "broadcast"):
            with self.subTest(mode=mode):
                before = counters()
                settings = {"HOCKET_NIC": "on", "HOCKET_NIC_MODE": mode}
                self.run_barriers(mpi, **settings)
                counted = counters() - before
                self.assertGreater(counted["operations"], BARRIERS)
                # Messages are acknowledged one by one where that is the mode.
                self.assertEqual(counted["replied"] > BARRIERS, mode == "direct", counted)
                self.run_sums(mpi, **settings)

    def test_a_loss_on_a_wire_that_loses_nothing_is_told(self):
        mpi = next(iter(self.programs))
        self.lab("up", str(NODES), "--switch", "bridge")
        self.lab("exec", "each", "--", COMMAND, "nic", "up", "eth0")
        self.lab("loss", "3%")
        result = self.run_barriers(mpi, code=None, HOCKET_NIC="on", HOCKET_NIC_MODE="chain")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("chain takes the wire for one that loses none", result.stdout + result.stderr)

    def test_what_would_run_by_engines_is_explained(self):
        self.up("up", "up", "up", ranks_a_node=2)

        def explained(*question):
            return self.lab("exec", "n0", "--", COMMAND, "info", "--explain", *question, "--nodes", "3x2").stdout
        for question in (["barrier"], ["reduce", "64"], ["broadcast", "512"], ["allgather", "85"], ["alltoall", "8"]):
            said = explained(*question)
            self.assertIn("the kernel's on eth0 is used", said, question)
            self.assertIn("wire=nic", said, question)
        for question in (["broadcast", "513"], ["allgather", "86"], ["gather", "8"]):
            self.assertNotIn("nic", explained(*question).lower(), question)

    def test_a_program_chooses_the_tree_while_it_runs(self):
        for ranks_a_node in (1, 2):
            self.up("up", "agent", "up", ranks_a_node=ranks_a_node)
            for mpi in self.programs:
                with self.subTest(mpi=mpi, ranks_a_node=ranks_a_node):
                    program = self.compiled_with_hocket(mpi, "trees.c")
                    self.count_anew()
                    result = self.lab("mpirun", "--mpi", self.launcher(mpi), program, HOCKET_NIC="on")
                    self.assertIn("4 trees, 0 sums are wrong", result.stdout)
                    self.assertRegex(result.stdout, r"ring: refused: .*allreduce is forced to be .*ring")
                    self.assertIn("a started call: refused", result.stdout)
                    # 20 sums by each tree, as many after the refusal and by the table, two barriers, and what ranks
                    # agree by, seven times.
                    for node in range(NODES):
                        self.assertEqual(self.operations(node), 6 * 20 + 2 + 7)

    def operations(self, node):
        status = self.lab("exec", f"n{node}", "--", COMMAND, "nic", "status", "--json").stdout
        return sum(service["counters"]["operations"] for service in json.loads(status)) - self.counted[node]

    def test_barriers_go_through_the_engines(self):
        for ranks_a_node in (1, 2):
            self.up("up", "agent", "up", ranks_a_node=ranks_a_node)
            for mpi in self.programs:
                with self.subTest(mpi=mpi, ranks_a_node=ranks_a_node):
                    self.count_anew()
                    self.run_barriers(mpi, HOCKET_NIC="on")
                    for node in range(NODES):
                        # Of two communicators; and barriers of hocket's own, and short reductions.
                        self.assertGreaterEqual(self.operations(node), 2 * BARRIERS)
                        self.assertLess(self.operations(node), 2 * BARRIERS + 60)

    def test_barriers_started_ahead_go_through_the_engines(self):
        library = os.path.join(os.path.dirname(COMMAND), "../lib")
        for mpi in self.programs:
            subprocess.run([os.path.join(VENV, MPIS[mpi][0]), "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I",
                            os.path.join(HERE, "../../../include"), EXAMPLE, "-o",
                            os.path.join(self.folder, mpi + "-ahead"), "-L", library, "-lhocket",
                            "-Wl,-rpath," + os.path.realpath(library)], check=True)
        for kinds, ranks_a_node in ((("up", "up", "up"), 1), (("up", "agent", "up"), 2)):
            self.up(*kinds, ranks_a_node=ranks_a_node)
            for mpi in self.programs:
                with self.subTest(mpi=mpi, kinds=kinds, ranks_a_node=ranks_a_node):
                    self.count_anew()
                    result = self.lab("mpirun", "--mpi", self.launcher(mpi), os.path.join(self.folder, mpi + "-ahead"),
                                      str(BARRIERS), "--one-clock", HOCKET_NIC="on")
                    self.assertIn("\n0 barriers did not hold", result.stdout)
                    self.assertIn("NIC engine: in use", result.stdout)
                    for node in range(NODES):
                        self.assertGreaterEqual(self.operations(node), 2 * BARRIERS)
                        self.assertLess(self.operations(node), 2 * BARRIERS + 60)

    def test_survivors_are_told_of_a_rank_that_is_killed(self):
        if "mpich" not in self.programs:
            self.skipTest("MPICH is not installed")
        for ranks_a_node in (1, 2):
            with self.subTest(ranks_a_node=ranks_a_node):
                self.up("up", "up", "up", ranks_a_node=ranks_a_node)
                job = self.start("mpirun", "--mpi", self.launcher("mpich"), "--with-hocket",
                                 "--launcher-option", "-disable-auto-cleanup", self.programs["mpich"], "until-failure",
                                 HOCKET_NIC="on")
                self.assertEqual(job.stdout.readline(), "started\n")
                self.assertTrue(eventually(lambda: all(self.operations(node) > BARRIERS for node in range(NODES))))
                ranks = [one["process"] for one in self.status()["processes"] if one["program"] == "mpich"]
                self.assertEqual(len(ranks), NODES * ranks_a_node)
                os.kill(ranks[-1], signal.SIGKILL)
                said = job.communicate(timeout=60)[0]
                # The launcher's part on that node may take its other ranks along.
                self.assertGreaterEqual(said.count("told"), (NODES - 1) * ranks_a_node, said)
                self.assertEqual(said.count("crashed"), 0, said)

    def test_without_an_engine_on_every_node_all_ranks_do_as_ever(self):
        mpi = next(iter(self.programs))
        self.up("up", "up", None)
        self.run_barriers(mpi)
        self.assertEqual(self.operations(0), 0)

    def test_who_wants_them_by_all_means_is_told_why_not(self):
        mpi = next(iter(self.programs))
        self.up("up", None, "up")
        result = self.run_barriers(mpi, code=None, HOCKET_NIC="on", HOCKET_LOG="info")
        self.assertIn("HOCKET_NIC=on", result.stdout + result.stderr)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("rank 1", result.stdout + result.stderr)

    def test_agents_are_for_who_wants_them(self):
        mpi = next(iter(self.programs))
        self.up("up", "agent", "up")
        self.run_barriers(mpi)
        self.assertEqual(self.operations(0), 0)

    def test_who_does_not_want_them_has_none(self):
        mpi = next(iter(self.programs))
        self.up("up", "up", "up")
        self.run_barriers(mpi, HOCKET_NIC="off")
        self.assertEqual(self.operations(0), 0)


if __name__ == "__main__":
    main_as_root()
