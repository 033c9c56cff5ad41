# SPDX-License-Identifier: BSD-3-Clause
"""Broadcasts of unmodified MPI programs by multicast between the nodes of a lab."""

import os
import re
import shutil
import subprocess
import sys
import unittest

from lab_command import LABS, LONG_TESTS, SWITCHES, eventually, has_its_turn, main_as_root
from mpi_lab import MpiLab, counted_multicasts

ROUNDS = 400
MOST = 20000
PENALTIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/multicast_penalties.py")


class MulticastTest(MpiLab):
    SOURCE = "broadcasts.c"

    def broadcasts(self, mpi, *words, code=0, **settings):
        settings = {"HOCKET_MULTICAST": "on", "HOCKET_BROADCAST": "multicast", "HOCKET_LOG": "info", **settings}
        words = words or (str(ROUNDS), str(MOST))
        return self.lab("mpirun", "--mpi", self.launcher(mpi), "--with-hocket", self.programs[mpi],
                        *words, code=code, **settings)

    def all_right(self, result, rounds=ROUNDS):
        self.assertIn(f"{rounds} broadcasts, 0 wrong", result.stdout)

    def test_data_are_right_whoever_is_the_root_and_however_it_waits(self):
        for mpi in self.programs:
            self.lab("down", "--all")
            self.lab("up", "4")
            is_first = mpi == next(iter(self.programs))
            for delay in ("none", "30", "random", "adaptive") if is_first or LONG_TESTS else ("adaptive",):
                with self.subTest(mpi=mpi, delay=delay):
                    result = self.broadcasts(mpi, HOCKET_MULTICAST_DELAY=delay)
                    self.all_right(result)
                    counted = counted_multicasts(result.stderr)
                    self.assertEqual(sorted(counted), [0, 1, 2, 3])
                    for counts in counted.values():
                        self.assertGreater(counts["awaited"], ROUNDS / 2)
                        self.assertGreater(counts["taken"] + counts["early"], ROUNDS / 4)
                        self.assertEqual((counts["other_jobs"], counts["refused"]), (0, 0))

    def test_one_rank_a_node_takes_part_and_serves_the_others(self):
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                self.lab("down", "--all")
                self.lab("up", "3", "--ppn", "2", "--switch", "redirect")
                result = self.broadcasts(mpi, HOCKET_BROADCAST="leader:across=multicast")
                self.all_right(result)
                self.assertEqual(len(counted_multicasts(result.stderr)), 3)

    def test_loss_and_doubled_and_mixed_packets_change_nothing(self):
        self.lab("up", "4")
        self.lab("loss", "all", "3%")
        self.lab("duplicate", "all", "10%")
        self.lab("reorder", "all", "10%")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                result = self.broadcasts(mpi, "100", "5000")
                self.all_right(result, 100)
                counted = counted_multicasts(result.stderr)
                self.assertGreater(sum(counts["missed"] for counts in counted.values()), 0)
                self.assertGreater(sum(counts["repeated"] + counts["late"] for counts in counted.values()), 0)

    def test_whatever_share_of_multicasts_is_missed(self):
        self.lab("up", "5")
        for place, percent in enumerate((10, 25, 50, 75, 100)):
            self.lab("loss", "all", f"{percent}%", "--only", "multicast")
            for number, mpi in enumerate(self.programs):
                if not has_its_turn(place, number):
                    continue
                with self.subTest(mpi=mpi, percent=percent):
                    result = self.broadcasts(mpi, "200", "1000")  # messages of one fragment
                    self.all_right(result, 200)
                    counted = counted_multicasts(result.stderr)
                    awaited = sum(counts["awaited"] for counts in counted.values())
                    # The chain may be faster than a multicast, but what is lost never comes.
                    came = sum(counts["taken"] + counts["early"] + counts["late"] for counts in counted.values())
                    self.assertAlmostEqual(came / awaited, 1 - percent / 100, delta=0.15)

    def test_long_messages_are_asked_for_block_by_block(self):
        self.lab("up", "5")
        for number, mpi in enumerate(self.programs):
            for place, algorithm in enumerate(("multicast", "multicast:segment=20K")):
                for step, share in enumerate(("0%", "40%", "100%")):
                    if not has_its_turn(number, place, step):
                        continue
                    with self.subTest(mpi=mpi, algorithm=algorithm, share=share):
                        self.lab("loss", "all", share, "--only", "multicast")
                        self.all_right(self.broadcasts(mpi, "60", "400000", HOCKET_BROADCAST=algorithm), 60)

    def test_penalty_rounds_are_as_many_as_chance_says(self):
        self.lab("up", "5")
        self.lab("loss", "all", "50%", "--only", "multicast")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                result = self.broadcasts(mpi, "1000", "1000", HOCKET_LOG="debug")
                self.all_right(result, 1000)
                told = subprocess.run([sys.executable, "-B", PENALTIES, "--ranks", "5", "--broadcasts", "1000",
                                       "--share", "0.5", "-"], input=result.stderr, capture_output=True, text=True,
                                      check=True).stdout
                rounds, predicted = map(float, re.search(r"rank: ([\d.]+), predicted ([\d.]+)", told).groups())
                self.assertAlmostEqual(predicted, (0.5 + 0.75 + 0.875 + 0.9375) / 4, delta=0.001)
                self.assertAlmostEqual(rounds / predicted, 1, delta=0.15)

    def test_each_node_may_miss_all_by_itself(self):
        self.lab("up", "4")
        for node in range(4):
            self.lab("reset")
            self.lab("loss", f"n{node}", "100%", "--only", "multicast")
            for number, mpi in enumerate(self.programs):
                if not has_its_turn(number, node):
                    continue
                with self.subTest(mpi=mpi, node=node):
                    result = self.broadcasts(mpi, "200", "3000")
                    self.all_right(result, 200)
                    for rank, counts in counted_multicasts(result.stderr).items():
                        if rank == node:
                            self.assertEqual((counts["missed"], counts["taken"]), (counts["awaited"], 0))
                        else:
                            self.assertGreater(counts["taken"] + counts["early"], 0)

    def test_where_nothing_gets_through_the_chain_does_all(self):
        self.lab("up", "4")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                result = self.broadcasts(mpi, HOCKET_MULTICAST_HOPS="0")  # no datagram leaves its machine
                self.all_right(result)
                for counts in counted_multicasts(result.stderr).values():
                    self.assertEqual((counts["missed"], counts["taken"]), (counts["awaited"], 0))

    def test_jobs_on_one_address_count_each_other_and_go_on(self):
        self.lab("up", "4")
        settings = {"HOCKET_MULTICAST": "on", "HOCKET_BROADCAST": "multicast", "HOCKET_LOG": "info",
                    "HOCKET_MULTICAST_GROUP": "239.192.7.7:50505"}
        for mpi, program in self.programs.items():
            with self.subTest(mpi=mpi):
                # Beside other load one job may have ended before the other has started: then both do more.
                for rounds in (2000, 8000, 32000):
                    words = ["--mpi", self.launcher(mpi), "--with-hocket", program, str(rounds), "2000"]
                    jobs = [self.start("mpirun", *words, **settings) for _ in range(2)]
                    said = [job.communicate(timeout=120) for job in jobs]
                    for out, _ in said:
                        self.assertIn(f"{rounds} broadcasts, 0 wrong", out)
                    counted = [counts for _, err in said for counts in counted_multicasts(err).values()]
                    self.assertEqual(len(counted), 8)
                    self.assertEqual({counts["refused"] for counts in counted}, {0})
                    if all(counts["other_jobs"] > 0 for counts in counted):
                        break
                self.assertGreater(min(counts["other_jobs"] for counts in counted), 0)

    def test_a_rank_that_comes_late_gets_everything(self):
        self.lab("up", "3")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                self.all_right(self.broadcasts(mpi, str(ROUNDS), "60000", "late"))

    def test_the_launcher_ends_a_job_of_which_a_rank_dies(self):
        self.lab("up", "3")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                for most in ("3000", "60000"):
                    result = self.broadcasts(mpi, str(ROUNDS), most, "die", code=None)
                    self.assertNotEqual(result.returncode, 0)
                    self.assertIn("a communicator of 3 ranks on 3 nodes: multicast: over UDP", result.stderr)

    def test_counts_that_do_not_match_are_told_and_end_the_job(self):
        self.lab("up", "3")
        for number, mpi in enumerate(self.programs):
            for place, (algorithm, most, who) in enumerate((
                    ("multicast", "3000", "short"), ("multicast", "60000", "short"), ("tree_mm", "60000", "part"),
                    ("tree_mm", "3000", "short"))):
                if not has_its_turn(number, place):
                    continue
                with self.subTest(mpi=mpi, algorithm=algorithm, most=most, who=who):
                    result = self.broadcasts(mpi, "1", most, who, code=None, HOCKET_BROADCAST=algorithm)
                    self.assertNotEqual(result.returncode, 0)
                    self.assertRegex(result.stderr, "MPI_Bcast on rank 1 of [23]: calls differ between ranks")
                    self.assertIn("the counts of the two ranks don't match", result.stderr)

    def test_a_table_chooses_it_only_where_it_gets_through(self):
        self.lab("up", "3")
        table = os.path.join(self.folder, "table")
        with open(table, "w", encoding="utf-8") as file:
            file.write("hocket-table 1\nbroadcast nodes=3.. multicast\nbroadcast nodes=2.. tree_mm:degree=2\n")
        for mpi in self.programs:
            with self.subTest(mpi=mpi):
                settings = {"HOCKET_MULTICAST": "auto", "HOCKET_BROADCAST": "", "HOCKET_TABLE": table}
                result = self.broadcasts(mpi, **settings)
                self.all_right(result)
                self.assertGreater(counted_multicasts(result.stderr)[1]["taken"], 0)
                result = self.broadcasts(mpi, HOCKET_MULTICAST_HOPS="0", **settings)
                self.all_right(result)
                self.assertIn("multicast does not get through: rank 0 has received 0 of 2 others and nothing for 20 ms",
                              result.stderr)
                result = self.broadcasts(mpi, **{**settings, "HOCKET_MULTICAST": "off"})
                self.all_right(result)
                self.assertIn("HOCKET_MULTICAST=off", result.stderr)
                result = self.broadcasts(mpi, **{**settings, "HOCKET_MULTICAST_OVER": "verbs"})
                self.all_right(result)
                self.assertIn("not used: rank 0: multicast over verbs", result.stderr)

    def test_the_c_api_multicasts_too_and_several_calls_at_a_time(self):
        self.lab("up", "5")
        settings = {"HOCKET_MULTICAST": "on", "HOCKET_BROADCAST": "multicast", "HOCKET_ALLREDUCE": "multicast",
                    "HOCKET_BARRIER": "multicast", "HOCKET_LOG": "info"}
        for mpi in self.programs:
            program = self.compiled_with_hocket(mpi, "own_broadcasts.c")
            for share in ("0%", "30%", "100%") if LONG_TESTS or mpi == next(iter(self.programs)) else ("30%",):
                self.lab("loss", "all", share, "--only", "multicast")
                with self.subTest(mpi=mpi, share=share):
                    result = self.lab("mpirun", "--mpi", self.launcher(mpi), program, "100", **settings)
                    self.assertIn("100 rounds, 0 wrong", result.stdout)
                    self.assertEqual(result.stderr.count("rank 0: multicast "), 9)  # all, and four times both halves
            self.lab("loss", "all", "20%", "--only", "multicast")
            leaders = {name: "leader:across=multicast" if value == "multicast" else value
                       for name, value in settings.items()}
            with self.subTest(mpi=mpi, by="leaders"):
                result = self.lab("mpirun", "--mpi", self.launcher(mpi), "-n", "10", "--ppn", "2", program, "30",
                                  **leaders)
                self.assertIn("30 rounds, 0 wrong", result.stdout)
                # By their numbers: 0, 2, ... 8 of all, 0, 2, 4 of the first half and 0, 1, 3 of the other.
                self.assertEqual(sorted(counted_multicasts(result.stderr)), [0, 1, 2, 3, 4, 6, 8])

    def test_what_cannot_be_honoured_is_refused_by_name(self):
        self.lab("up", "2")
        mpi = next(iter(self.programs))
        for settings, words in (({"HOCKET_MULTICAST_INTERFACE": "eth7"}, "HOCKET_MULTICAST_INTERFACE=eth7"),
                                ({"HOCKET_MULTICAST_GROUP": "10.0.0.1"}, "`10.0.0.1` is not a multicast address"),
                                ({"HOCKET_MULTICAST_DELAY": "soon"}, "HOCKET_MULTICAST_DELAY=soon"),
                                ({"HOCKET_MULTICAST_OVER": "verbs"}, "multicast over verbs"),
                                ({"HOCKET_MULTICAST": "off"}, "HOCKET_MULTICAST=off")):
            with self.subTest(**settings):
                result = self.broadcasts(mpi, "1", "10", code=None, **settings)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(words, result.stderr)

    def by_ipv6(self, mpi, rounds=100, most=5000):
        """What each rank counts."""
        result = self.broadcasts(mpi, str(rounds), str(most), HOCKET_MULTICAST_GROUP="ipv6")
        self.all_right(result, rounds)
        self.assertIn("multicast [ff15:", result.stderr)
        return counted_multicasts(result.stderr)

    def test_groups_of_ipv6_do_as_well(self):
        for switch in SWITCHES:
            self.lab("down", "--all")
            self.lab("up", "3", "--switch", switch)
            for mpi in self.programs:
                with self.subTest(mpi=mpi, switch=switch):
                    for counts in self.by_ipv6(mpi).values():
                        self.assertGreater(counts["taken"] + counts["early"], 0)

    def test_groups_of_ipv6_lose_what_the_lab_has_them_lose(self):
        mpi = next(iter(self.programs))
        for switch in SWITCHES:
            self.lab("down", "--all")
            self.lab("up", "3", "--switch", switch)
            for share in ("40%", "100%"):
                with self.subTest(switch=switch, share=share):
                    self.lab("loss", "all", share, "--only", "multicast")
                    counted = self.by_ipv6(mpi)
                    self.assertGreater(sum(counts["missed"] for counts in counted.values()), 0)
                    if share == "100%":
                        self.assertEqual(sum(counts["taken"] + counts["early"] for counts in counted.values()), 0)
            self.lab("loss", "all", "1%")
            self.by_ipv6(mpi, rounds=50)

    def snoop(self):
        """The bridge asks who is in which group, as a switch with a querier does, and sends to members only."""
        def in_switch(command):
            return subprocess.run(["nsenter", f"--net={LABS}/lab/switch/net", "bash", "-c", command],
                                  capture_output=True, text=True, check=True).stdout

        # It asks from an address of its own.
        in_switch("cd /proc/sys/net/ipv6/conf/switch; echo 0 >accept_dad; echo 0 >disable_ipv6")
        self.assertTrue(eventually(lambda: "fe80" in in_switch("ip -6 address show dev switch")))
        # It floods as long as answers may take, which it notes down when it begins to ask.
        for setting in ("mcast_query_response_interval 20", "mcast_snooping 1 mcast_querier 1"):
            in_switch(f"ip link set switch type bridge {setting}")

    @unittest.skipUnless(shutil.which("nsenter") and shutil.which("ip"), "no nsenter or ip here")
    def test_groups_of_ipv6_reach_members_and_nobody_else_where_the_switch_snoops(self):
        mpi = next(iter(self.programs))
        self.lab("up", "4")
        self.snoop()
        received = []
        for _ in range(20):
            before = self.status()["nodes"][3]["received"]["packets"]
            result = self.lab("mpirun", "--mpi", self.launcher(mpi), "-n", "3", "--with-hocket", self.programs[mpi],
                              "300", "1000", HOCKET_MULTICAST="on", HOCKET_BROADCAST="multicast", HOCKET_LOG="info",
                              HOCKET_MULTICAST_GROUP="ipv6")
            self.all_right(result, 300)
            for counts in counted_multicasts(result.stderr).values():
                self.assertGreater(counts["taken"] + counts["early"], 0)
            received.append(self.status()["nodes"][3]["received"]["packets"] - before)
            if received[-1] < 100:  # in the beginning it floods
                return
        self.fail(f"the node that is no member has received {received} packets")


if __name__ == "__main__":
    main_as_root()
