# SPDX-License-Identifier: BSD-3-Clause
"""A job without rights that is let in gets at nothing of others': each way is tried, refused, and has harmed nobody."""

import json
import os
import subprocess
import sys

from lab_command import COMMAND, LabTest, eventually, main_as_root
import nic_lab
from nic_lab import NOBODY, RANK, Rank

JOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nic_hostile_job.py")
VICTIM_USER = 1
VICTIM = 77 + 2 ** 40
ENGINES = {0: "kernel", 1: "agent"}
SEED = int(os.environ.get("HOCKET_TEST_SEED", "20241"))
HELLO_BYTES = 296


class NicHostileJobTest(LabTest):
    services_of = nic_lab.NicLab.services_of
    child_of = staticmethod(nic_lab.NicLab.child_of)

    def setUp(self):
        super().setUp()
        print(f"seed {SEED}")
        self.lab("up", "2", "--switch", "redirect")

    def nic(self, node, *arguments, code=0, user=0):
        before = ["setpriv", f"--reuid={user}", "--clear-groups"] if user else []
        return self.lab("exec", f"n{node}", "--", *before, COMMAND, "nic", *arguments, code=code)

    def engines(self, *options):
        """A kernel's and an agent, with a group of another user over both."""
        for node, kind in enumerate(("up", "agent")):
            self.nic(node, kind, "eth0", "--user", "nobody", "--user", "daemon", "--silence-s", "0.5", *options)
        self.victims = [Rank(self, rank, [0, 1], VICTIM, user=VICTIM_USER) for rank in range(2)]
        for victim in self.victims:
            self.assertEqual(victim.greeting, "joined")
        self.barriers = 0
        self.victims_are_well()

    def report(self, node):
        return json.loads(self.nic(node, "status", "--json").stdout)[0]

    def victims_are_well(self):
        """Their groups have started and done what they were told, no more, and go on."""
        for many in (0, 20):
            for victim in self.victims:
                victim.tell("many", many)
            for victim in self.victims:
                self.assertEqual(victim.answer(), "ok")
            self.barriers += many
            for node, victim in enumerate(self.victims):
                self.assertEqual(victim.ask("done"), str(self.barriers))
                group = next(group for group in self.report(node)["groups"] if int(group["id"], 16) == VICTIM)
                self.assertEqual([group["started"], group["completed"], group["is_broken"], group["is_leaving"]],
                                 [self.barriers, self.barriers, False, False])

    def job(self, node, way, user=NOBODY, **about):
        about = {"own": f"10.77.0.{node + 1}", "other": f"10.77.0.{2 - node}", "engine": ENGINES[node], "id": 5 + node,
                 "victim": VICTIM, "seed": SEED, **about}
        before = ["setpriv", f"--reuid={user}", "--clear-groups"] if user else []
        return ["exec", f"n{node}", "--", *before, sys.executable, "-B", JOB, way, json.dumps(about)]

    def attack(self, node, way, **about):
        return json.loads(self.lab(*self.job(node, way, **about)).stdout.splitlines()[-1])

    def lasting_attack(self, node, way, **about):
        """Goes on until it is told to end; has started."""
        process = self.start(*self.job(node, way, **about), stdin=subprocess.PIPE)
        return process, process.stdout.readline()

    def test_by_maps_and_processes(self):
        self.engines()
        for node, engine in ENGINES.items():
            with self.subTest(engine=engine):
                found = self.attack(node, "maps")
                if engine == "kernel":
                    self.assertTrue(found.pop("rest of the page"))
                    self.assertTrue(found.pop("freeze"))
                    self.assertEqual([found.pop("another element"), found.pop("write another")], ["ENOENT", "E2BIG"])
                    self.assertEqual([found.pop("behind the page"), found.pop("longer than the page")], ["EINVAL"] * 2)
                for way, outcome in found.items():
                    self.assertIn(outcome, ("EPERM", ["EPERM"]), way)
                targets = {"victim": self.child_of(self.victims[node].process.pid),
                           "service": self.services_of(node)[0]}
                for way, outcome in self.attack(node, "processes", processes=targets).items():
                    self.assertIn(outcome, ("EPERM", "EACCES"), way)
                self.victims_are_well()

    def test_by_packets(self):
        self.engines()
        heard = self.received_by(1)
        for node in ENGINES:
            before = self.report(1 - node)["counters"]
            found = self.attack(node, "packets", forged=20, heard=heard)
            self.assertGreaterEqual(found.pop("ports"), {"kernel": 3, "agent": 1}[ENGINES[node]])
            self.assertEqual(found, {"raw": "EPERM", "frames": "EPERM", "mark": "EPERM", "another's address": "EPERM",
                                     "their ports": ["EADDRINUSE"]})
            self.assertTrue(eventually(lambda node=node, before=before: self.report(1 - node)["counters"]["bad_length"]
                                       > before["bad_length"]))
            after = self.report(1 - node)["counters"]
            # A kernel's engine lets no rings out, an agent does not see them.
            self.assertGreaterEqual(after["bad_tag"] - before["bad_tag"], (6 if ENGINES[node] == "kernel" else 7) * 20)
            self.assertEqual(after["operations"], before["operations"])
        self.victims_are_well()

    def received_by(self, node):
        """Packets of the victims', in hexadecimal, taken by root as somebody on the wire might."""
        listener = self.start("exec", f"n{node}", "--", sys.executable, "-u", "-c", """
import socket
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
print("listens")
heard = 0
while heard < 8:
    frame = wire.recv(200)
    if len(frame) == 82 and frame[36:38] == (46253).to_bytes(2, "big"):
        heard += 1
        print(frame[42:].hex())
""")
        listener.stdout.readline()
        self.victims_are_well()
        heard = listener.communicate()[0].split()
        self.assertEqual(len(heard), 8)
        return heard

    def test_by_what_was_lent(self):
        self.engines()
        for node, engine in ENGINES.items():
            with self.subTest(engine=engine):
                before = self.report(node)["counters"]
                found = self.attack(node, "own_doorbell")
                if engine == "kernel":
                    self.assertEqual(found, {"family": "AF_INET", "type": "SOCK_DGRAM", "owner": NOBODY,
                                             "wake-up socket's owner": NOBODY, "mark": "EPERM",
                                             "another's address": "EPERM",
                                             "raise": "EPERM", "the engine's place": "EADDRINUSE",
                                             "a low port": "EACCES"})
                else:
                    self.assertEqual([found["family"], found["type"]], ["AF_UNIX", "SOCK_DGRAM"])
                after = self.report(node)["counters"]
                for counter in ("no_program", "out_of_turn", "unknown_kind"):
                    self.assertGreater(after[counter], before[counter], counter)
                self.assertEqual(after["bells"], before["bells"])
                self.victims_are_well()

    def test_by_doorbells_with_content(self):
        self.engines()
        for node, engine in ENGINES.items():
            with self.subTest(engine=engine):
                before = self.report(node)["counters"]
                found = self.attack(node, "doorbells_with_content")
                self.assertEqual(found["done"], 0)  # the other member has said nothing
                self.assertTrue(eventually(lambda node=node, before=before: self.report(node)["counters"]["bells"]
                                           > before["bells"]))
                after = self.report(node)["counters"]
                self.assertEqual(after["unsound"] - before["unsound"], found["wrong"])
                self.assertEqual(after["bells"] - before["bells"], 1)
                self.victims_are_well()

    def test_by_what_others_have_left(self):
        self.engines()
        for node, engine in ENGINES.items():
            with self.subTest(engine=engine):
                self.assertEqual(self.attack(node, "leave_operands")["kept"], 16)
                self.assertTrue(eventually(lambda node=node: len(self.report(node)["groups"]) == 1))
                self.assertEqual(self.attack(node, "look_for_operands")["found"], 0)
                self.victims_are_well()

    def test_by_members_that_a_group_has_not(self):
        self.engines()
        process, greeting = self.lasting_attack(0, "strange_source", id=9)
        self.assertEqual(greeting, "joined\n")
        more = Rank(self, 0, [0, 1], VICTIM + 1, user=VICTIM_USER)  # its members lie behind those of the hostile group
        self.assertEqual(more.greeting, "joined")
        self.attack(1, "report_strangely", id=9)
        self.assertTrue(eventually(lambda: self.report(0)["counters"]["unexpected"] >= 38))
        self.assertEqual(json.loads(process.communicate("\n")[0]), {"heard": []})
        self.victims_are_well()

    def test_by_requests(self):
        self.engines()
        for node, engine in ENGINES.items():
            with self.subTest(engine=engine):
                for way, outcome in self.attack(node, "flaws").items():
                    self.assertIn("Invalid argument: ", outcome, way)
                self.assertIn("of that id", self.attack(node, "flaws")["another's id"])
                found = self.attack(node, "requests")
                self.assertEqual(found, {"groups": [], "down": 1, "leave": [0], "version": True})
                self.assertIn("only root", self.nic(node, "down", "eth0", code=1, user=NOBODY).stderr)
                self.victims_are_well()

    def test_by_noise_and_death(self):
        self.engines()
        for node, engine in ENGINES.items():
            with self.subTest(engine=engine):
                counts = self.attack(node, "fuzz", messages=1500)
                self.assertEqual(sum(counts.values()), 1500)
                self.assertGreater(min(counts.values()), 100)
                self.victims_are_well()
                self.assertTrue(eventually(lambda node=node: self.nobodys_groups(node) == 0))
                self.attack(node, "deaths")
                self.assertEqual(self.attack(node, "deaf"), {"greeted": HELLO_BYTES})
                self.victims_are_well()

    def nobodys_groups(self, node):
        """Those that are in use: of the others some may have asked to be remembered for a day."""
        return len([group for group in self.report(node)["groups"]
                    if group["user"] == NOBODY and not group["is_leaving"]])

    def test_by_taking_all(self):
        self.engines("--groups-per-user", "20")
        for node, engine in ENGINES.items():
            with self.subTest(engine=engine):
                found = self.attack(node, "groups", size=2)
                self.assertEqual(found["made"], 20)
                self.assertIn("Cannot allocate memory", found["refusal"])
                self.assertIn("--groups-per-user", found["refusal"])
                self.assertTrue(eventually(lambda node=node: self.report(node)["free_groups"] == 511))
                found = self.attack(node, "groups", size=4096)
                self.assertEqual(found["made"], 4)
                self.assertIn("16384", found["refusal"])
                self.assertTrue(eventually(lambda node=node: self.report(node)["free_groups"] == 511))
                found = self.attack(node, "groups", size=2, operands=48)
                self.assertEqual(found["made"], 8)
                self.assertIn("operands", found["refusal"])
                # Root's jobs know no limit but the engine's own.
                size = 4096 if engine == "kernel" else 2
                self.assertIn("is full", self.attack(node, "groups", size=size, user=0, first=1)["refusal"])
                self.victims_are_well()
                process, said = self.lasting_attack(node, "connections", most=1025)
                self.assertEqual(json.loads(said)["first"], HELLO_BYTES)
                self.assertIn("as many as one user may have", json.loads(said)["last"])
                self.victims_are_well()
                process.communicate("\n")

    def test_files_that_run_out_are_no_end(self):
        files = 40  # of the service
        self.lab("exec", "n0", "--", "prlimit", f"--nofile={files}:{files}", COMMAND, "nic", "agent", "eth0", "--user",
                 "nobody")
        process, said = self.lasting_attack(0, "connections", most=files // 4 + 1)
        self.assertEqual(json.loads(said)["first"], HELLO_BYTES)
        self.assertIn("as many as one user may have", json.loads(said)["last"])
        # Root may take all: who comes then is let out again.
        other, said = self.lasting_attack(0, "connections", most=2 * files, user=0)
        self.assertEqual(json.loads(said), {"last": "", "first": HELLO_BYTES})
        for one in (process, other):
            one.communicate("\n")
        self.assertEqual(self.report(0)["engine"], "agent")

    def test_raw_sockets_are_for_who_may_make_them(self):
        self.engines()
        self.assertEqual(self.attack(0, "doorbell", user=0), {"family": "AF_PACKET", "another": False})
        self.assertEqual(self.attack(0, "doorbell", id=50), {"family": "AF_INET", "another": True})
        deprived = self.job(0, "doorbell", user=0, id=51)
        deprived[3:3] = ["setpriv", "--bounding-set=-net_raw"]
        self.assertEqual(json.loads(self.lab(*deprived).stdout), {"family": "AF_INET", "another": True})

    def test_doorbells_ring_though_rights_change(self):
        self.engines()
        before = self.report(0)["counters"]["bells"]
        self.assertEqual(self.attack(0, "doorbells_of_changing_rights", user=0, id=52),
                         {"families": ["AF_PACKET", "AF_INET", "AF_PACKET"], "same": True})
        self.assertEqual(self.report(0)["counters"]["bells"] - before, 3)

    def test_a_neighbour_that_does_not_answer_is_not_waited_for(self):
        self.engines()
        self.assertIn("temporarily unavailable: 10.77.0.99", self.attack(0, "silent_neighbour")["answer"])
        process = self.start("exec", "n0", "--", "setpriv", f"--reuid={NOBODY}", "--clear-groups",
                             RANK, "eth0", "99", "0", "10.77.0.1", "10.77.0.99")
        self.victims_are_well()
        self.assertIn("10.77.0.99 doesn't answer", process.communicate()[0])

    def test_whose_name_is_taken_is_not_trusted(self):
        process, _ = self.lasting_attack(0, "impostor", interface="eth0")
        said = self.nic(0, "up", "eth0", code=1).stderr
        self.assertRegex(said, rf"taken already by process \d+ of user {NOBODY}")
        self.assertIn(f"kept by user {NOBODY}", Rank(self, 0, [0, 1], 5).greeting)
        process.communicate("\n")
        process, _ = self.lasting_attack(0, "impostor", interface="aaa")
        self.engines()
        status = self.nic(0, "status")
        self.assertIn("kernel engine", status.stdout)
        self.assertIn(f"kept by user {NOBODY}", status.stderr)
        self.assertIn("eth0", self.nic(0, "top", "--count", "1", "--interval", "0.1").stdout)
        process.communicate("\n")

    def test_an_agent_of_ones_own_can_not_be_looked_into(self):
        self.nic(0, "agent", "eth0", user=NOBODY)
        found = self.attack(0, "processes", processes={"service": self.services_of(0)[0]})
        self.assertEqual(found.pop("kill service"), "done")
        for way, outcome in found.items():
            self.assertIn(outcome, ("EPERM", "EACCES"), way)


if __name__ == "__main__":
    main_as_root()
