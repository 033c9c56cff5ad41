# SPDX-License-Identifier: BSD-3-Clause
"""Allgathers of unmodified MPI programs by multicast between the nodes of a lab."""

import json
import os

from lab_command import main_as_root
from mpi_lab import MpiLab, counted_multicasts


class AllgatherTest(MpiLab):
    """Allgathers: every rank multicasts, and whatever is lost comes around the ring."""

    SOURCE = "allgathers.c"
    ROUNDS = 40

    def allgathers(self, mpi, *words, code=0, rounds=ROUNDS, most=20000, **settings):
        settings = {"HOCKET_MULTICAST": "on", "HOCKET_ALLGATHER": "multicast", "HOCKET_LOG": "info", **settings}
        # A third of the rounds, in which some blocks are empty.
        settings["HOCKET_ALLGATHERV"] = settings["HOCKET_ALLGATHER"]
        result = self.lab("mpirun", "--mpi", self.launcher(mpi), "--with-hocket", self.programs[mpi], str(rounds),
                          str(most), *words, code=code, **settings)
        if code == 0:
            self.assertIn(f"{rounds} allgathers, 0 wrong", result.stdout)
        return counted_multicasts(result.stderr)

    def test_data_are_right_with_any_number_of_chains(self):
        self.lab("up", "4")
        for mpi in self.programs:
            for algorithm in ("multicast", "multicast:chains=1", "multicast:chains=3"):
                with self.subTest(mpi=mpi, algorithm=algorithm):
                    counted = self.allgathers(mpi, HOCKET_ALLGATHER=algorithm)
                    self.assertEqual(sorted(counted), [0, 1, 2, 3])
                    for counts in counted.values():
                        self.assertGreater(counts["taken"] + counts["early"], self.ROUNDS)

    def test_whatever_share_of_multicasts_is_missed(self):
        self.lab("up", "5")
        for share in ("1%", "20%", "100%"):
            self.lab("loss", "all", share, "--only", "multicast")
            for mpi in self.programs:
                with self.subTest(mpi=mpi, share=share):
                    counted = self.allgathers(mpi, rounds=20, most=100000)
                    came = sum(counts["taken"] + counts["early"] for counts in counted.values())
                    (self.assertEqual if share == "100%" else self.assertGreater)(came, 0)
                    self.assertGreater(sum(counts["missed"] for counts in counted.values()), 0)

    def test_loss_and_doubled_and_mixed_packets_change_nothing(self):
        self.lab("up", "4")
        self.lab("loss", "all", "2%")
        self.lab("duplicate", "all", "10%")
        self.lab("reorder", "all", "10%")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                counted = self.allgathers(mpi, rounds=20, most=8000)
                self.assertGreater(sum(counts["repeated"] + counts["late"] for counts in counted.values()), 0)

    def test_two_nodes_talk_in_both_directions(self):
        self.lab("up", "2")
        self.lab("loss", "all", "30%", "--only", "multicast")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                self.allgathers(mpi, most=60000)

    def test_late_ranks_get_everything(self):
        self.lab("up", "4")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                self.allgathers(mpi, "late", rounds=30, most=60000)

    def test_a_slow_network_costs_time_only(self):
        self.lab("up", "4")
        self.lab("delay", "all", "5ms")
        self.lab("loss", "all", "20%", "--only", "multicast")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                self.allgathers(mpi, rounds=10, most=60000)

    def test_one_rank_a_node_takes_part_and_serves_the_others(self):
        self.lab("up", "3", "--ppn", "2")
        self.lab("loss", "all", "10%", "--only", "multicast")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                self.assertEqual(len(self.allgathers(mpi, HOCKET_ALLGATHER="leader:across=multicast")), 3)

    def test_counts_that_do_not_match_are_told_and_end_the_job(self):
        self.lab("up", "3")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                result = self.lab("mpirun", "--mpi", self.launcher(mpi), "--with-hocket", self.programs[mpi], "1",
                                  "3000", "short", code=None, HOCKET_MULTICAST="on", HOCKET_ALLGATHER="multicast")
                self.assertNotEqual(result.returncode, 0)
                self.assertIn("the counts of the two ranks don't match", result.stderr)

    def test_each_block_leaves_its_node_once(self):
        nodes, block, rounds = 6, 8192, 40
        rows = os.path.join(self.folder, "rows.json")
        ways = [f"hocket:{mpi}:{way}" for mpi in self.programs for way in ("multicast", "ring")]
        self.lab("bench", "allgather", "--nodes", str(nodes), "--switch", "bridge", "--slices", "1", "--warm-up", "9",
                 "--rounds", str(rounds), "--bytes", str(block), "--variants", ",".join(ways), "--json", rows)
        with open(rows, encoding="utf-8") as file:
            sent = {row["algorithm"]: row["sent_bytes"] / nodes for row in json.load(file)}
        self.assertEqual(len(sent), len(ways))
        for way, each in sent.items():
            with self.subTest(way=way):
                times = 1 if "multicast" in way else nodes - 1
                self.assertGreater(each, times * block)
                self.assertLess(each, times * block * 1.6 + 1000)


if __name__ == "__main__":
    main_as_root()
