# SPDX-License-Identifier: BSD-3-Clause
"""NIC engines in the nodes of a lab, and processes there that use them."""

import json
import os
import re
import signal
import subprocess
import time

from lab_command import LabTest, eventually, running

RANK = os.environ.get("NIC_RANK", os.path.join(os.path.dirname(os.path.abspath(__file__)), "nic_rank"))
NOBODY = 65534


class Rank:
    """A process in a node that does what it is told."""

    def __init__(self, test, rank, nodes, job, *, user=0):
        self.rank = rank
        addresses = [f"10.77.0.{node + 1}" for node in nodes]
        before = ["setpriv", f"--reuid={user}", "--clear-groups"] if user else []
        self.process = test.start("exec", f"n{nodes[rank]}", "--", *before, RANK, "eth0", str(job), str(rank),
                                  *addresses, stdin=subprocess.PIPE)
        self.greeting = self.process.stdout.readline().strip()

    def tell(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().strip()

    def ask(self, *words):
        self.tell(*words)
        return self.answer()

    def end(self):
        """As a process does that has finished: it leaves its group, and others may still ask its engine."""
        self.tell("leave")
        self.answer()
        self.process.stdin.close()
        self.process.wait()


class NicLab(LabTest):
    """A lab with engines, and with processes that use them."""

    def up(self, nodes, *options, switch="redirect", kinds=("up",)):
        self.lab("up", str(nodes), "--switch", switch)
        if len(kinds) == 1:
            self.lab("exec", "each", "--", self.command, "nic", *kinds, "eth0", *options)
        else:
            for node in range(nodes):
                self.nic(node, kinds[node % len(kinds)], "eth0", *options)

    def nic(self, node, *arguments, code=0):
        return self.lab("exec", f"n{node}", "--", self.command, "nic", *arguments, code=code)

    def counters(self, node):
        return json.loads(self.nic(node, "status", "--json").stdout)[0]["counters"]

    def services(self, node):
        return json.loads(self.nic(node, "status", "--json").stdout)

    def setUp(self):
        super().setUp()
        from lab_command import COMMAND  # pylint: disable=import-outside-toplevel
        self.command = COMMAND

    def ranks(self, nodes, job=77, **settings):
        ranks = [Rank(self, rank, nodes, job + 2 ** 40, **settings) for rank in range(len(nodes))]
        for rank in ranks:
            self.assertEqual(rank.greeting, "joined")
        return ranks

    def all_do(self, ranks, barriers):
        for rank in ranks:
            rank.tell("many", barriers)
        for rank in ranks:
            self.assertEqual(rank.answer(), "ok")

    def least_packets(self, bench, most):
        """Of rows of `bench()`, by variant and algorithm: less than `most`. Neighbours are looked for, and beside other
        load some messages are asked for that are only late: many in one run and few in another. That adds packets and
        takes none away, so that the least of some runs tells what the algorithm needs."""
        least = {}
        for _ in range(10):
            for row in bench():
                name = row["variant"] + ":" + row["algorithm"]
                least[name] = min(least.get(name, row["packets"]), row["packets"])
            if all(least[name] < limit for name, limit in most.items()):
                break
        for name, limit in most.items():
            self.assertLess(least[name], limit, name)
        return least

    def kill_daemon(self, node):
        refusal = self.nic(node, "up", "eth0", code=1).stderr
        daemon = int(re.search("by process ([0-9]+)", refusal)[1])
        os.kill(daemon, signal.SIGKILL)
        self.assertTrue(eventually(lambda: not running(daemon)))

    @staticmethod
    def becomes(condition, seconds):
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if condition():
                return True
            time.sleep(0.02)
        return False

    @staticmethod
    def child_of(process):
        """Of `hocket lab exec`, the rank."""
        with open(f"/proc/{process}/task/{process}/children", encoding="utf-8") as file:
            children = file.read().split()
        return int(children[0]) if children else process

    def services_of(self, node):
        """The processes of engines in a node: those of its network that are called so."""
        network = self.lab("exec", f"n{node}", "--", "readlink", "/proc/self/ns/net").stdout.strip()
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and running(int(entry)) and os.readlink(f"/proc/{entry}/ns/net") == network:
                    with open(f"/proc/{entry}/comm", encoding="utf-8") as file:
                        if file.read().strip() == "hocket-nic":
                            found.append(int(entry))
            except OSError:
                pass
        return found
