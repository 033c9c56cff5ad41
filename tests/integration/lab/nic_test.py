# SPDX-License-Identifier: BSD-3-Clause
"""NIC engines in the nodes of a lab: barriers hold, whatever the wire does; who dies is told; nothing is left."""

import json
import os
import signal

from lab_command import LONG_TESTS, eventually, main_as_root, running
from nic_lab import NOBODY, NicLab, Rank

PATHS = ["nic", "nic:pairwise_exchange", "nic:gather_broadcast/3", "nic-chain", "nic-direct", "agent", "mixed",
         "nic-broadcast", "agent-broadcast"]


class NicTest(NicLab):
    def bench(self, *options, nodes="5", variants=PATHS, rounds=200):
        result = self.lab("bench", "barrier", "--nodes", nodes, "--switch", "redirect", "--check", "--slices", "1",
                          "--rounds", str(rounds), "--warm-up", "5", "--json", "/dev/stdout", "--variants",
                          ",".join(variants), *options)
        return json.loads(result.stdout[result.stdout.index("\n["):])

    def test_barriers_hold_with_as_many_packets_as_the_algorithm_has(self):
        expected = {"nic:dissemination": 8, "nic:pairwise_exchange": 8, "nic:gather_broadcast/3": 6,
                    "nic-chain:dissemination": 8, "nic-direct:dissemination": 16}
        least = self.least_packets(lambda: self.bench(nodes="4"),
                                   {name: packets * 1.4 for name, packets in expected.items()})
        for name, packets in expected.items():
            self.assertGreaterEqual(least[name], packets, name)

    def test_engines_send_exactly_what_the_algorithm_has(self):
        self.up(4)
        ranks = self.ranks(list(range(4)))
        self.all_do(ranks, 300)
        self.assertEqual(sum(self.counters(node)["sent"] for node in range(4)), 8 * 300)

    def test_barriers_hold_on_any_number_of_nodes(self):
        for row in self.bench(nodes="2,3,5,7" if LONG_TESTS else "2,3,7", rounds=100, variants=PATHS[:5]):
            self.assertEqual(row["rounds"], 100)

    def test_barriers_hold_where_ranks_sleep_and_compute(self):
        self.bench("--wait", "sleep", "--compute-us", "200", nodes="5" if LONG_TESTS else "3", rounds=100)

    def test_barriers_hold_on_wires_that_lose(self):
        if LONG_TESTS:  # the next test has every path on a wire that loses, too
            self.bench("--impair", "loss=2%", variants=PATHS[:3] + PATHS[4:])
        self.bench("--impair", "loss=20%", variants=["nic", "mixed"], rounds=40)

    def test_barriers_hold_on_wires_that_do_everything(self):
        self.bench("--impair", "loss=1%,duplicate=5%,corrupt=3%,reorder=3%", variants=PATHS[:3] + PATHS[4:],
                   rounds=100 if LONG_TESTS else 50)

    def test_whoever_makes_no_sure_is_measured_with_delays(self):
        rows = self.bench("--impair", "delay=1ms", nodes="3", variants=["host-udp", "nic-chain", "nic"], rounds=20)
        self.assertEqual(len(rows), 3)
        for row in rows:
            self.assertGreater(row["lowest_us"], 2000)  # two messages one after the other
        for impairment in ("delay=1ms,loss=1%", "reorder=1%", "delayed=1ms"):
            self.refused_lab("bench", "barrier", "--variants", "host-udp", "--impair", impairment,
                             words=["host-udp", "--impair"], code=2)
        self.refused_lab("bench", "barrier", "--variants", "host-packet", "--impair", "delay=1ms",
                         words=["host-packet", "without IP"], code=2)

    def test_a_wire_that_loses_is_no_place_for_who_makes_no_sure(self):
        self.refused_lab("bench", "barrier", "--variants", "host-udp", "--impair", "loss=1%",
                         words=["host-udp", "--impair"], code=2)
        self.refused_lab("bench", "barrier", "--variants", "nic", "--impair", "rain=1%", words=["rain=1%", "loss="],
                         code=2)

    def test_a_bench_that_is_killed_leaves_nothing(self):
        bench = self.start("bench", "barrier", "--nodes", "3", "--switch", "redirect", "--rounds", "100000000")
        name = f"bench-{bench.pid}"
        self.assertTrue(eventually(lambda: f"lab {name}" in self.lab("status").stdout))
        bench.kill()
        bench.communicate()
        self.assertTrue(eventually(lambda: name not in self.lab("status").stdout))

    def test_up_shows_where_and_down_leaves_nothing(self):
        self.up(1)
        self.assertEqual([service["engine"] for service in self.services(0)], ["kernel"])
        self.assertIn("tcx", self.nic(0, "status").stdout)
        again = self.nic(0, "up", "eth0", code=1).stderr
        self.assertRegex(again, "taken already by process [0-9]+ of user 0")
        self.nic(0, "down", "eth0")
        self.assertEqual(self.services(0), [])
        self.assertIn("hocket nic up eth0", self.nic(0, "down", "eth0", code=1).stderr)
        self.assertIn("eth7", self.nic(0, "up", "eth7", code=2).stderr)

    def test_kernels_without_links_get_filters(self):
        self.up(2, "--hook", "clsact")
        self.assertIn("clsact", self.nic(0, "status").stdout)
        ranks = self.ranks([0, 1])
        self.all_do(ranks, 300)
        for rank in ranks:
            rank.end()
        filters = ["exec", "n0", "--", "tc", "-j", "filter", "show", "dev", "eth0"]
        qdiscs = ["exec", "n0", "--", "tc", "qdisc", "show", "dev", "eth0"]
        self.assertIn("clsact", self.lab(*qdiscs).stdout)
        for side in ("ingress", "egress"):
            self.assertIn("nic_", self.lab(*filters, side).stdout)
        # Killed, it leaves them behind; the next one takes their place.
        self.kill_daemon(0)
        self.assertIn("clsact", self.lab(*qdiscs).stdout)
        self.nic(0, "up", "eth0", "--hook", "clsact")
        self.assertEqual(len(json.loads(self.lab(*filters, "ingress").stdout)), 2)  # the chain, and one filter
        self.nic(0, "down", "eth0")
        self.assertNotIn("clsact", self.lab(*qdiscs).stdout)
        # So does one that needs none.
        self.nic(0, "up", "eth0", "--hook", "clsact")
        self.kill_daemon(0)
        self.nic(0, "up", "eth0")
        self.assertNotIn("clsact", self.lab(*qdiscs).stdout)
        self.nic(0, "down", "eth0")
        # Others' filters stay, and what they hang on.
        self.nic(0, "up", "eth0", "--hook", "clsact")
        self.lab("exec", "n0", "--", "tc", "filter", "add", "dev", "eth0", "egress", "prio", "9", "bpf", "bytecode",
                 "1,6 0 0 4294967295", "flowid", "1:1")
        self.nic(0, "down", "eth0")
        self.assertIn('"flowid":"1:1"', self.lab(*filters, "egress").stdout)
        self.assertNotIn("nic_", self.lab(*filters, "ingress").stdout)
        self.lab("exec", "n0", "--", "tc", "qdisc", "del", "dev", "eth0", "clsact")
        # One that was there before stays.
        self.lab("exec", "n0", "--", "tc", "qdisc", "add", "dev", "eth0", "clsact")
        self.nic(0, "up", "eth0", "--hook", "clsact")
        self.nic(0, "down", "eth0")
        self.assertIn("clsact", self.lab(*qdiscs).stdout)
        self.assertNotIn("nic_", self.lab(*filters, "ingress").stdout)

    def test_what_is_counted_is_told_of(self):
        self.up(1)
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/nic.md"),
                  encoding="utf-8") as file:
            told = file.read()
        for counter in self.counters(0):
            self.assertRegex(told, rf"(?m)^\|.*`{counter}`.*\| ")

    def test_a_group_without_room_for_its_files_is_refused_and_the_next_one_works(self):
        for kind, user in (("up", 0), ("up", NOBODY), ("agent", 0)):
            with self.subTest(kind=kind, user=user):
                self.lab("down", "--all")
                self.up(2, "--user", "nobody", kinds=(kind,))
                ranks = self.ranks([0, 1], user=user)
                enough = 2 if kind == "up" and user == 0 else 3  # root's jobs have their doorbell already
                for files in range(enough + 1):
                    without, _, later = ranks[0].ask("join_without_room", files).partition(" | ")
                    self.assertEqual(later, "ok")
                    if files < enough:
                        self.assertIn("ulimit -n", without)
                    else:
                        self.assertEqual(without, "ok")
                self.all_do(ranks, 50)
                for rank in ranks:
                    rank.end()

    def test_top_shows_rates(self):
        self.up(2)
        ranks = self.ranks([0, 1])
        top = self.start("exec", "n0", "--", self.command, "nic", "top", "--interval", "0.3", "--count", "1")
        self.all_do(ranks, 2000)
        picture = top.communicate()[0]
        operations = next(line.split() for line in picture.splitlines() if line.split()[:1] == ["operations"])
        self.assertGreater(int(operations[2]), 0, picture)
        for rank in ranks:
            rank.end()

    def test_the_driver_can_answer(self):
        rows = self.bench("--impair", "loss=1%", nodes="4" if LONG_TESTS else "3", rounds=100,
                          variants=["nic-xdp", "nic-xdp:gather_broadcast"])
        self.assertEqual(len(rows), 2)
        self.refused_lab("bench", "barrier", "--nodes", "2", "--variants", "nic-xdp",
                         words=["nic-xdp", "--switch bridge"], code=2)
        self.up(2, "--hook", "xdp", switch="bridge")
        self.assertIn("XDP in the driver", self.nic(0, "status").stdout)
        # Packets on their way to a node meet its driver; what comes back out of it gets no further on such a veth.
        ranks = self.ranks([0, 1])
        for rank in ranks:
            rank.ask("begin")
        self.assertTrue(eventually(lambda: self.counters(0)["in_driver"] > 0 and self.counters(1)["in_driver"] > 0))
        for rank in ranks:
            self.assertEqual(rank.ask("wait"), "ok")
            rank.end()
        self.assertIn("--hook", self.nic(0, "up", "eth0", "--hook", "dma", code=2).stderr)

    def test_a_service_goes_with_its_interface(self):
        self.up(2)
        # Links and programs are gone when the lab is: nothing_is_left() looks for them.

    def test_sixteen_in_flight_are_done_in_order(self):
        self.up(2, kinds=("up", "agent"))
        here, there = self.ranks([0, 1])
        for _ in range(16):
            self.assertEqual(here.ask("begin"), "ok")
        self.assertIn("16 operations", here.ask("begin"))
        self.assertEqual(here.ask("done"), "0")
        for done in range(1, 17):
            self.assertEqual(there.ask("begin"), "ok")
            self.assertTrue(eventually(lambda done=done: here.ask("done") == str(done)))
        self.assertEqual(there.ask("wait"), "ok")
        for rank in (here, there):
            rank.end()

    def test_a_host_that_is_late_is_waited_for(self):
        self.up(3, "--silence-s", "0.3")
        ranks = self.ranks([2, 0, 1])
        for rank in ranks[:2]:
            self.assertEqual(rank.ask("begin"), "ok")
        # Longer than the silence after which a machine counts as gone: its engine answers for it.
        self.assertFalse(self.becomes(lambda: ranks[0].ask("health") != "ok", 1.0))
        for rank in ranks[2:]:
            rank.ask("begin")
        for rank in ranks:
            self.assertEqual(rank.ask("sleep"), "ok")
            rank.end()

    def test_several_groups_keep_to_themselves(self):
        self.up(3)
        groups = [self.ranks([0, 1, 2], job=1), self.ranks([2, 1], job=2), self.ranks([1, 2, 0], job=3)]
        for group in groups:
            for rank in group:
                rank.tell("many", 300)
        for group in groups:
            for rank in group:
                self.assertEqual(rank.answer(), "ok")
        for group in groups:
            for rank in group:
                rank.end()

    def test_a_process_that_is_killed_is_told_to_all(self):
        for kinds in (("up",), ("agent",)):
            with self.subTest(kinds=kinds):
                self.up(3, kinds=kinds)
                ranks = self.ranks([0, 1, 2])
                for rank in ranks[:2]:
                    rank.ask("begin")
                os.kill(self.child_of(ranks[2].process.pid), signal.SIGKILL)
                for rank in ranks[:2]:
                    self.assertIn("member 2 (10.77.0.3)", rank.ask("wait"))
                for rank in ranks[:2]:
                    rank.end()
                self.lab("down", "lab")

    def test_a_process_that_is_killed_is_noticed_though_its_child_lives(self):
        self.up(2, kinds=("up", "agent"))
        for victim in (0, 1):
            ranks = self.ranks([0, 1], job=80 + victim)
            process = self.child_of(ranks[victim].process.pid)
            self.assertEqual(ranks[victim].ask("fork"), "ok")
            ranks[1 - victim].ask("begin")
            os.kill(process, signal.SIGKILL)
            self.assertIn(f"member {victim} (10.77.0.{victim + 1})", ranks[1 - victim].ask("wait"))
            ranks[1 - victim].end()

    def test_signals_are_no_hindrance_to_joining(self):
        self.up(2, kinds=("up", "agent"))
        ranks = self.ranks([0, 1])
        for rank in ranks:
            self.assertEqual(rank.ask("join_under_signals"), "ok")
        self.all_do(ranks, 100)
        for rank in ranks:
            rank.end()

    def test_a_machine_that_is_silent_is_told_to_all(self):
        self.up(3, "--silence-s", "0.5")
        ranks = self.ranks([0, 1, 2])
        self.lab("cut", "n2")
        for rank in ranks:
            rank.ask("begin")
        for rank in ranks[:2]:
            self.assertIn("member 2 (10.77.0.3)", rank.ask("sleep"))
        self.assertIn("member", ranks[2].ask("wait"))

    def test_a_service_that_is_killed_is_told_to_all(self):
        self.up(2, "--silence-s", "0.5")
        ranks = self.ranks([0, 1])
        for process in self.services_of(1):
            os.kill(process, signal.SIGKILL)
        ranks[0].ask("begin")
        self.assertIn("member 1 (10.77.0.2)", ranks[0].ask("wait"))
        self.assertIn("service of this machine has ended", ranks[1].ask("health"))

    def test_users_are_let_in_by_name(self):
        self.up(2, "--user", "nobody")
        ranks = self.ranks([0, 1], user=NOBODY)
        self.all_do(ranks, 300)
        for rank in ranks:
            rank.end()

    def test_others_are_not_let_in(self):
        self.up(2)
        self.assertIn("--user", Rank(self, 0, [0, 1], 5, user=NOBODY).greeting)


if __name__ == "__main__":
    main_as_root()
